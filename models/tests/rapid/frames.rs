//! A link that sends what waits as one frame, as Wi-Fi does (`coalescing.h`). At a steady rate of `x` of the link's a frame takes
//! `overhead / (1 - x)`, the pause between frames. With 300 us and 150 Mbit/s frames take 0.6 ms at one half, and 1.2 ms at
//! three quarters: a delay that grows, and no queue.

use super::*;

const LINK: Rate = Rate::from_mbps(150);
const OVERHEAD: Span = Span::from_micros(300);
const MOST_PACKETS: usize = 32;
const RTT: Span = Span::from_millis(20);

/// A packet on the way: its number, and when it left.
struct Waiting {
    number: u64,
    sent: Time,
}

/// A flow, and the link.
struct Framed {
    law: Law,
    now: Time,
    sent: u64,
    arrived: u64,
    waiting: VecDeque<Waiting>,
    /// The frame that is being sent, and when it has arrived.
    frame: Vec<Waiting>,
    frame_arrives: Time,
    /// What the sender will hear of: when, the packet, and when that arrived.
    heard: VecDeque<(Time, Waiting, Time)>,
    longest_wait: usize,
}

impl Framed {
    fn new() -> Framed {
        Framed {
            law: Law::new(&Params::new(PACKET), Time::ZERO, RTT, 1),
            now: Time::ZERO,
            sent: 0,
            arrived: 0,
            waiting: VecDeque::new(),
            frame: Vec::new(),
            frame_arrives: Time::ZERO,
            heard: VecDeque::new(),
            longest_wait: 0,
        }
    }

    fn begin_frame(&mut self) {
        let packets = self.waiting.len().min(MOST_PACKETS);
        self.frame.extend(self.waiting.drain(..packets));
        self.frame_arrives = self.now + OVERHEAD + LINK.time_for(PACKET * packets as u64);
    }

    fn end_frame(&mut self) {
        for packet in self.frame.drain(..) {
            self.arrived += 1;
            self.heard.push_back((self.now + RTT, packet, self.now));
        }
    }

    fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            if self.frame.is_empty() && !self.waiting.is_empty() {
                self.begin_frame();
            }
            let under_way = self.waiting.len() + self.frame.len() + self.heard.len();
            let may_send = under_way < self.law.window() as usize;
            let departure = if may_send { self.law.departure().max(self.now) } else { end };
            let frame = if self.frame.is_empty() { end } else { self.frame_arrives };
            let heard = self.heard.front().map_or(end, |heard| heard.0);
            self.now = departure.min(frame).min(heard);
            if self.now >= end {
                self.now = end;
                return;
            }
            if heard == self.now {
                let (_, packet, arrival) = self.heard.pop_front().expect("a packet");
                self.law.on_rtt(self.now.since(packet.sent));
                self.law.on_arrival(self.now, packet.number, arrival);
            } else if frame == self.now {
                self.end_frame();
            } else {
                self.law.on_sent(self.now, self.sent, PACKET, false);
                self.waiting.push_back(Waiting { number: self.sent, sent: self.now });
                self.sent += 1;
                self.longest_wait = self.longest_wait.max(self.waiting.len());
            }
        }
    }

    /// The part of the link's rate that arrives in a time.
    fn used(&mut self, span: Span) -> f64 {
        let before = self.arrived;
        self.run(span);
        (self.arrived - before) as f64 * PACKET.bits() as f64 / (LINK.bps() as f64 * span.as_secs_f64())
    }
}

#[test]
fn a_flow_fills_frames() {
    let mut path = Framed::new();
    path.run(Span::from_secs(5));
    let used = path.used(Span::from_secs(10));
    // Three quarters are frames of 11 packets, 12 000 bits each, in 1.2 ms. Full frames carry 0.895 of the link's rate.
    assert!((0.75..0.895).contains(&used), "{used}");
}

#[test]
fn a_flow_that_fills_frames_makes_no_queue() {
    let mut path = Framed::new();
    path.run(Span::from_secs(5));
    path.longest_wait = 0;
    path.run(Span::from_secs(10));
    // What waits while a full frame is sent are up to 32 packets; a quarter of a round trip more are 56 at the rate of full frames.
    assert!(path.longest_wait < MOST_PACKETS + 56, "{}", path.longest_wait);
}
