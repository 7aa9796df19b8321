//! A flow that has fallen to its floor begins anew (`startup.h`), on a path of any capacity whose queue the test says.

use packetscale_rapid::{Law, Params};
use std::collections::VecDeque;
use units::{Bytes, Span, Time};

const PACKET: Bytes = Bytes::new(1500);
const RTT: Span = Span::from_millis(40);

/// A flow whose timer has expired until it stands at its floor: two packets per round trip.
struct Fallen {
    law: Law,
    queue: Span,
    now: Time,
    sent: u64,
    flying: VecDeque<(Time, u64, Time)>,
}

impl Fallen {
    fn new() -> Fallen {
        let law = Law::new(&Params::new(PACKET), Time::ZERO, RTT, 1);
        let mut flow = Fallen { law, queue: Span::ZERO, now: Time::ZERO, sent: 0, flying: VecDeque::new() };
        flow.fall();
        flow
    }

    fn fall(&mut self) {
        (0..20).for_each(|_| self.law.on_timeout());
    }

    fn packets_per_round(&self) -> f64 {
        self.law.rate().bps() as f64 * RTT.as_secs_f64() / PACKET.bits() as f64
    }

    /// Runs until start-up begins, or for so many round trips. Returns how many it took.
    fn until_anew(&mut self, rounds: u64) -> Option<f64> {
        let began = self.now;
        self.run(rounds, |law| law.probe().startup).then(|| self.now.since(began).as_secs_f64() / RTT.as_secs_f64())
    }

    /// Runs for so many round trips, or until it is so.
    fn run(&mut self, rounds: u64, so: impl Fn(&Law) -> bool) -> bool {
        let end = self.now + RTT * rounds;
        while self.now < end {
            let departure = self.law.departure().max(self.now);
            match self.flying.front().copied() {
                Some((acked, number, arrival)) if acked <= departure => {
                    self.flying.pop_front();
                    self.now = acked;
                    self.law.on_rtt(RTT + self.queue);
                    self.law.on_arrival(self.now, number, arrival);
                }
                _ => {
                    self.now = departure;
                    self.law.on_sent(self.now, self.sent, PACKET, false);
                    let arrival = self.now + RTT / 2 + self.queue;
                    self.flying.push_back((arrival + RTT / 2, self.sent, arrival));
                    self.sent += 1;
                }
            }
            if so(&self.law) {
                return true;
            }
        }
        false
    }
}

#[test]
fn over_a_clear_path_it_begins_anew_after_two_streams() {
    let mut flow = Fallen::new();
    assert!((flow.packets_per_round() - 2.0).abs() < 0.01);
    // A stream is 16 packets, which take eight round trips, and one more to come back.
    let took = flow.until_anew(30).expect("begins anew");
    assert!((9.0..=18.0).contains(&took), "{took} round trips");
}

#[test]
fn then_it_grows_eightfold_for_each_chirp() {
    let mut flow = Fallen::new();
    flow.until_anew(30).expect("begins anew");
    let before = flow.packets_per_round();
    // A chirp at two packets per round trip takes 3.2 of them, the next 0.4; each is a round trip on its way.
    flow.run(7, |_| false);
    assert!(flow.packets_per_round() >= 60.0 * before, "{before} to {}", flow.packets_per_round());
}

#[test]
fn beside_a_queue_of_others_it_does_not() {
    let mut flow = Fallen::new();
    // The empty path is known.
    flow.run(3, |_| false);
    flow.queue = RTT / 2;
    assert_eq!(flow.until_anew(60), None);
}

#[test]
fn what_has_failed_is_tried_later() {
    let mut flow = Fallen::new();
    flow.until_anew(30).expect("begins anew");
    let first = flow.now;
    flow.fall();
    flow.until_anew(60).expect("begins anew again");
    let waited = flow.now.since(first).as_secs_f64() / RTT.as_secs_f64();
    assert!(waited >= 16.0, "after {waited} round trips");
    let second = flow.now;
    flow.fall();
    flow.until_anew(80).expect("and again");
    let waited = flow.now.since(second).as_secs_f64() / RTT.as_secs_f64();
    assert!(waited >= 32.0, "after {waited} round trips");
}
