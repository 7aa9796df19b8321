//! Competitive mode (`contest.h`), on a path whose queue the test says.

use packetscale_rapid::{Law, Params};
use std::collections::VecDeque;
use units::{Bytes, Ratio, Span, Time};

const PACKET: Bytes = Bytes::new(1500);
const RTT: Span = Span::from_millis(30);
/// A packet per round trip more, per round trip: 12 kbit / (30 ms)^2.
const GROWTH_BPS_PER_S: f64 = 12_000.0 / 0.03 / 0.03;

/// A flow, and a path of any capacity with a queue that others made.
struct Beside {
    law: Law,
    queue: Span,
    now: Time,
    sent: u64,
    flying: VecDeque<(Time, u64, Time)>,
}

impl Beside {
    fn new(competitive: bool) -> Beside {
        let params = Params { competitive, margin: Ratio::ZERO, ..Params::new(PACKET) };
        let law = Law::new(&params, Time::ZERO, RTT, 1);
        Beside { law, queue: Span::ZERO, now: Time::ZERO, sent: 0, flying: VecDeque::new() }
    }

    /// Half a second on the empty path, then beside a queue of 15 to 17 ms for `span`.
    fn beside_a_queue(competitive: bool, span: Span) -> Beside {
        let mut flow = Beside::new(competitive);
        flow.law.on_timeout(); // ends start-up
        flow.run(Span::from_millis(500));
        flow.meet_a_queue(span);
        flow
    }

    fn meet_a_queue(&mut self, span: Span) {
        for step in 0..span.nanos() / 50_000_000 {
            self.queue = Span::from_millis(15 + 2 * (step % 2));
            self.run(Span::from_millis(50));
        }
    }

    fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            let departure = self.law.departure().max(self.now);
            match self.flying.front() {
                Some((acked, number, arrival)) if *acked <= departure => {
                    self.now = *acked;
                    if self.now >= end {
                        return;
                    }
                    self.law.on_rtt(RTT + self.queue);
                    self.law.on_arrival(self.now, *number, *arrival);
                    self.flying.pop_front();
                }
                _ => {
                    self.now = departure;
                    if self.now >= end {
                        return;
                    }
                    self.law.on_sent(self.now, self.sent, PACKET, false);
                    let arrival = self.now + RTT / 2 + self.queue;
                    self.flying.push_back((arrival + RTT / 2, self.sent, arrival));
                    self.sent += 1;
                }
            }
        }
    }

    fn mbps(&self) -> f64 {
        self.law.rate().bps() as f64 / 1e6
    }
}

fn a_loss_is_no_reason(flow: &mut Beside) {
    let before = flow.mbps();
    flow.law.on_recovery();
    assert!((flow.mbps() - before).abs() < 1e-9, "{before} to {}", flow.mbps());
}

#[test]
fn a_standing_queue_makes_it_grow_as_reno_does() {
    let mut flow = Beside::beside_a_queue(true, Span::from_secs(1));
    let before = flow.mbps();
    flow.meet_a_queue(Span::from_secs(1));
    let grown = (flow.mbps() - before) * 1e6 / GROWTH_BPS_PER_S;
    assert!((0.95..1.05).contains(&grown), "{grown} of a packet per round trip, per round trip");
}

#[test]
fn a_loss_recovery_leaves_seven_tenths() {
    let mut flow = Beside::beside_a_queue(true, Span::from_secs(1));
    let before = flow.mbps();
    flow.law.on_recovery();
    assert!((flow.mbps() / before - 0.7).abs() < 1e-3, "{before} to {}", flow.mbps());
}

#[test]
fn it_ends_with_the_queue() {
    let mut flow = Beside::beside_a_queue(true, Span::from_secs(1));
    flow.queue = Span::ZERO;
    flow.run(Span::from_millis(200));
    a_loss_is_no_reason(&mut flow);
}

#[test]
fn without_the_setting_a_loss_beside_a_queue_is_no_reason() {
    let mut flow = Beside::beside_a_queue(false, Span::from_secs(1));
    a_loss_is_no_reason(&mut flow);
}

#[test]
fn a_queue_of_less_than_ten_round_trips_does_not_begin_it() {
    let mut flow = Beside::beside_a_queue(true, Span::from_millis(250));
    a_loss_is_no_reason(&mut flow);
}
