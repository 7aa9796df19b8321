//! One flow on a path of any capacity with a scripted queue.

use super::*;

pub const PACKET: Bytes = Bytes::new(1500);

/// A packet under way: when its acknowledgment arrives, its number, and when it arrived, if it did.
struct InFlight {
    acked: Time,
    number: u64,
    arrival: Option<Time>,
}

/// The flow, and its scripted path. All of it may change while it runs.
pub struct ScriptedFlow {
    pub law: Law,
    pub rtt: Span,
    pub queue: Span,
    /// An acknowledgment waits for this long at the receiver,
    pub acknowledges_after: Span,
    /// with a clock faster by this, in parts per million, from a time on.
    pub clock_ppm: u64,
    pub clock_from: Time,
    pub now: Time,
    pub sent: u64,
    /// Packets that are lost, by their number.
    pub loses: fn(u64) -> bool,
    /// The application has nothing more to send, each time.
    pub app_limited: bool,
    in_flight: VecDeque<InFlight>,
}

impl ScriptedFlow {
    pub fn new(params: &Params, rtt: Span) -> ScriptedFlow {
        ScriptedFlow {
            law: Law::new(params, Time::ZERO, rtt, 1),
            rtt,
            queue: Span::ZERO,
            acknowledges_after: Span::ZERO,
            clock_ppm: 0,
            clock_from: Time::ZERO,
            now: Time::ZERO,
            sent: 0,
            loses: |_| false,
            app_limited: false,
            in_flight: VecDeque::new(),
        }
    }

    /// Round trips since a time.
    pub fn rounds_since(&self, time: Time) -> f64 {
        self.now.since(time).as_secs_f64() / self.rtt.as_secs_f64()
    }

    pub fn packets_per_round(&self) -> f64 {
        self.law.rate().bps() as f64 * self.rtt.as_secs_f64() / PACKET.bits() as f64
    }

    pub fn run(&mut self, span: Span) {
        self.run_until(span, |_| false);
    }

    /// Runs for this time, or until the condition holds. Returns whether it does.
    pub fn run_until(&mut self, span: Span, so: impl Fn(&Law) -> bool) -> bool {
        let end = self.now + span;
        loop {
            let departure = self.law.departure().max(self.now);
            let acked = self.in_flight.front().map(|in_flight| in_flight.acked).filter(|acked| *acked <= departure);
            let next = acked.unwrap_or(departure);
            if next >= end {
                return false;
            }
            self.now = next;
            if acked.is_some() {
                self.on_ack();
            } else {
                self.send();
            }
            if so(&self.law) {
                return true;
            }
        }
    }

    fn on_ack(&mut self) {
        let InFlight { number, arrival, .. } = self.in_flight.pop_front().expect("a packet");
        match arrival {
            Some(arrival) => {
                self.law.on_rtt(self.rtt + self.queue + self.acknowledges_after);
                self.law.on_arrival(self.now, number, arrival);
            }
            None => self.law.on_lost(self.now, number),
        }
    }

    fn send(&mut self) {
        self.law.on_sent(self.now, self.sent, PACKET, self.app_limited);
        let arrival = self.now + self.rtt / 2 + self.queue;
        let fast = arrival.since(self.clock_from.min(arrival)) * self.clock_ppm / 1_000_000;
        let arrived = (!(self.loses)(self.sent)).then_some(arrival + fast);
        let acked = arrival + self.rtt / 2 + self.acknowledges_after;
        self.in_flight.push_back(InFlight { acked, number: self.sent, arrival: arrived });
        self.sent += 1;
    }
}
