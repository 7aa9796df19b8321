//! One transition per test. The path is 100 ms long and, unless noted, 8 Mbit/s wide: 1000 packets of 1000
//! bytes per second, 100 per round trip. Expected values are computed by hand from the law.

use super::*;
use crate::congestion::testing::{ack, loss, sent, setup};
use alloc::vec::Vec;

const RTT: Span = Span::from_millis(100);
const PACKET: Bytes = Bytes::new(1000);

/// A host with scripted deliveries.
struct Script {
    bbr: Bbr1,
    now: Time,
    delivered: u64,
    in_flight: u32,
    in_recovery: bool,
    rtt: Span,
}

impl Script {
    fn new() -> Script {
        let bbr = Bbr1::build(&Setup { seed: 3, ..setup(1000, RTT, 10) }, &Settings::new()).expect("valid");
        Script { bbr, now: Time::ZERO, delivered: 0, in_flight: 100, in_recovery: false, rtt: RTT }
    }

    /// A round trip later, one acknowledgment for all of a round at this many packets per second.
    fn round(&mut self, rate: u64) -> Mode {
        self.now += RTT;
        let delivered = rate / 10;
        let sample = RateSample {
            delivered,
            interval: RTT,
            prior_delivered: self.delivered,
            is_app_limited: false,
            tx_in_flight: self.in_flight,
            lost: 0,
        };
        self.delivered += delivered;
        self.bbr.on_ack(&AckSample {
            prior_in_flight: self.in_flight,
            in_flight: self.in_flight,
            rtt: Some(self.rtt),
            in_recovery: self.in_recovery,
            rate: Some(sample),
            ..ack(self.now, delivered as u32, RTT)
        });
        self.bbr.mode
    }

    fn lose(&mut self, lost: u32) {
        let enters_recovery = !self.in_recovery;
        self.in_recovery = true;
        self.bbr.on_loss(&Loss { lost, enters_recovery, prior_in_flight: self.in_flight, ..loss(self.now, RTT) });
    }

    /// In ProbeBW, at 1000 packets per second.
    fn probing() -> Script {
        let mut script = Script::new();
        let states: Vec<Mode> = (0..4).map(|_| script.round(1000)).collect();
        assert_eq!(states.last(), Some(&Mode::ProbeBw));
        script
    }

    /// Until this phase begins; the packets in flight are what the phase before aims at.
    fn until_phase(&mut self, phase: usize) {
        let found = (0..20).find(|_| {
            self.in_flight = if self.bbr.phase == 0 { 140 } else { 100 };
            self.round(1000);
            self.bbr.phase == phase
        });
        assert!(found.is_some(), "still in phase {}", self.bbr.phase);
    }
}

/// 10 packets in 100 ms are 100 packets per second; times 2.885 at 8000 bits each, less 1 %: 2.28492 Mbit/s.
#[test]
fn starts_at_the_initial_window_per_round_trip() {
    let bbr = Script::new().bbr;
    assert_eq!(bbr.decision(), Decision { window: 10, departure: Time::ZERO });
    assert_eq!(bbr.pacing_rate.bps() / 1000, 2284);
}

/// 100, 200, 400 packets per second grow by more than a quarter; 440 three times does not.
#[test]
fn startup_ends_after_three_rounds_without_growth() {
    let mut script = Script { in_flight: 1000, ..Script::new() };
    for rate in [100, 200, 400, 440, 440] {
        assert_eq!(script.round(rate), Mode::Startup);
    }
    assert_eq!(script.round(440), Mode::Drain);
    // 440 packets per second are 3.52 Mbit/s, divided by 2.885, less 1 %.
    assert_eq!(script.bbr.pacing_rate.bps() / 1000, 1207);
}

/// The pipe holds 100 packets, and three quanta of 2 in Drain: 2.745 Mbit/s for 1/1024 s are 335 B, so two packets.
#[test]
fn drain_ends_when_the_flight_fits_the_pipe() {
    let mut script = Script { in_flight: 107, ..Script::new() };
    (0..5).for_each(|_| assert_ne!(script.round(1000), Mode::ProbeBw));
    assert_eq!(script.bbr.mode, Mode::Drain);
    script.in_flight = 106;
    assert_eq!(script.round(1000), Mode::ProbeBw);
}

/// 1.25 of 8 Mbit/s less 1 % is 9.9 Mbit/s, 0.75 of it 5.94, once 7.92.
#[test]
fn a_cycle_probes_drains_and_cruises_six_rtts() {
    let mut script = Script::probing();
    script.until_phase(0);
    let mut rates = Vec::new();
    for phase in 0..8 {
        assert_eq!(script.bbr.phase, phase);
        rates.push(script.bbr.pacing_rate.bps().div_ceil(10_000));
        // A phase lasts longer than a round trip of 100 ms.
        script.until_phase((phase + 1) % 8);
    }
    assert_eq!(rates, [990, 594, 792, 792, 792, 792, 792, 792]);
}

/// While probing, 125 packets and three quanta of 2, rounded up to an even number, and two more must be in flight: 134.
#[test]
fn a_probe_ends_with_its_volume_or_a_loss() {
    for (in_flight, lost, over) in [(131, 0, false), (132, 0, true), (100, 1, true)] {
        let mut script = Script::probing();
        script.until_phase(0);
        script.in_flight = 100;
        script.round(1000);
        script.in_flight = in_flight;
        if lost > 0 {
            script.lose(lost);
        }
        script.round(1000);
        assert_eq!(script.bbr.phase == 1, over, "{in_flight} in flight, {lost} lost");
    }
}

/// A rate counts in its own round and the next ten.
#[test]
fn the_largest_rate_is_forgotten_after_ten_rounds() {
    let mut rates = MaxRate::default();
    rates.take(1, Rate::from_mbps(9));
    for round in 2..=11 {
        rates.take(round, Rate::from_mbps(3));
        assert_eq!(rates.value(), Rate::from_mbps(9), "round {round}");
    }
    rates.take(12, Rate::from_mbps(3));
    assert_eq!(rates.value(), Rate::from_mbps(3));
}

/// 10 s after the last smallest round-trip time the window is 4, for 200 ms and a round from when 4 are in flight.
#[test]
fn the_base_delay_is_probed_after_ten_seconds() {
    let mut script = Script::probing();
    script.rtt = RTT + Span::from_millis(1);
    let entered = (0..120).find(|_| script.round(1000) == Mode::ProbeRtt);
    assert!(entered.is_some());
    // The smallest was the handshake's, at 0 s; later ones of 100 ms are not smaller.
    assert_eq!(script.now, Time::ZERO + Span::from_millis(10_100));
    assert_eq!(script.bbr.decision().window, 4);
    script.in_flight = 4;
    let rounds = (1..10).find(|_| script.round(40) == Mode::ProbeBw);
    assert_eq!(rounds, Some(4), "200 ms begin at the first acknowledgment and are over after them");
    assert!(script.bbr.decision().window >= 100);
}

/// The first round of a recovery conserves packets; its end restores the window.
#[test]
fn a_loss_costs_a_round_of_conservation() {
    let mut script = Script::probing();
    let before = script.bbr.window;
    script.lose(1);
    script.in_flight = 60;
    script.now += Span::from_millis(1);
    script.bbr.set_window(2, 60, true);
    assert_eq!(script.bbr.window, 62);
    assert!(before > 100);
    script.bbr.newly_lost = 0;
    script.bbr.set_window(2, 60, false);
    assert_eq!(script.bbr.window, before);
}

/// The first round is over, and recovery ends and begins with one acknowledgment: the window stays.
#[test]
fn back_to_back_recoveries_conserve_nothing() {
    let mut script = Script::probing();
    script.lose(1);
    script.round(1000);
    script.round(1000);
    assert!(script.bbr.episode == Episode::Recovery && !script.bbr.conserving);
    script.in_recovery = false;
    script.lose(1);
    let before = script.bbr.window;
    assert!(before > 100);
    script.bbr.set_window(2, 60, true);
    // One packet was lost and two arrived, below the target.
    assert_eq!((script.bbr.window, script.bbr.conserving), (before + 1, false));
}

/// A packet of 8000 bits at 2.28492 Mbit/s takes 3.5 ms. The tenth is the first to be waited for.
#[test]
fn the_first_ten_packets_are_not_paced() {
    let mut bbr = Script::new().bbr;
    for in_flight in 1..=10 {
        assert_eq!(bbr.decision().departure, Time::ZERO);
        bbr.on_sent(&Sent { in_flight, ..sent(Time::ZERO, 1000) });
    }
    assert_eq!(bbr.decision().departure.nanos() / 1000, 3501);
}

/// Two intervals, to the fourth and to the eighth round, with a quarter lost and the same rate: 1000 packets per second
/// delivered. That is used for 48 rounds.
#[test]
fn two_intervals_of_one_rate_reveal_a_policer() {
    let mut policer = Policer::default();
    let seen = |round: u64, lost: u64| policer::Seen {
        now: Time::ZERO + RTT.saturating_mul(round),
        packet: PACKET,
        delivered: 100 * round,
        lost,
        newly_lost: true,
        round_started: true,
        is_app_limited: false,
        probes: true,
    };
    let quarter = |policer: &mut Policer, rounds: core::ops::RangeInclusive<u64>| {
        rounds.for_each(|round| assert!(!policer.see(&seen(round, 25 * round))));
    };
    quarter(&mut policer, 1..=4);
    assert_eq!(policer.rate(), None);
    quarter(&mut policer, 5..=8);
    assert_eq!(policer.rate(), Some(Rate::from_mbps(8)));
    let over = (9..100).find(|round| policer.see(&seen(*round, 0)));
    assert_eq!(over, Some(56));
    assert_eq!(policer.rate(), None);
}
