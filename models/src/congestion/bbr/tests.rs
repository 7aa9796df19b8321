//! One transition per test. The path is 100 ms long and, where the test uses its rate, 8 Mbit/s wide: 1000 packets of 1000 bytes
//! per second, 100 per round trip.

use super::*;
use crate::congestion::testing::{ack, loss, sent, setup};
use crate::settings::Setting;
use alloc::vec::Vec;

const RTT: Span = Span::from_millis(100);
const PACKET: Bytes = Bytes::new(1000);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A host with scripted deliveries.
struct Script {
    bbr: Bbr,
    now: Time,
    delivered: u64,
    /// Packets in flight, reported with each acknowledgment and as the flight of the packet sampled.
    in_flight: u32,
}

impl Script {
    fn new() -> Script {
        Script::with(&Settings::new())
    }

    fn with(settings: &Settings) -> Script {
        let bbr = Bbr::build(&Setup { seed: 3, ..setup(1000, RTT, 10) }, settings).expect("valid");
        Script { bbr, now: Time::ZERO, delivered: 0, in_flight: 100 }
    }

    /// A round trip later, one acknowledgment for all of a round at this many packets per second.
    fn round(&mut self, rate: u64) -> State {
        self.sampled(RTT, rate, 0, None)
    }

    fn sampled(&mut self, after: Span, rate: u64, lost: u64, rtt: Option<Span>) -> State {
        self.now += after;
        let delivered = rate / 10;
        let sample = RateSample {
            delivered,
            interval: RTT,
            prior_delivered: self.delivered,
            is_app_limited: false,
            tx_in_flight: self.in_flight,
            lost,
        };
        self.delivered += delivered;
        self.bbr.on_ack(&AckSample {
            prior_in_flight: self.in_flight,
            in_flight: self.in_flight,
            rtt: Some(rtt.unwrap_or(RTT)),
            in_recovery: lost > 0,
            rate: Some(sample),
            ..ack(self.now, delivered as u32, RTT)
        });
        self.bbr.state
    }

    /// Packets lost, every second number, of a flight of `in_flight`.
    fn lose(&mut self, lost: u64) {
        let flights: Vec<LostFlight> = (1..=lost)
            .map(|n| LostFlight { sequence: 2 * n, tx_in_flight: self.in_flight, lost: n, is_app_limited: false })
            .collect();
        self.bbr.on_loss(&Loss {
            flights: &flights,
            lost: lost as u32,
            enters_recovery: !self.bbr.recovering,
            prior_in_flight: self.in_flight,
            ..loss(self.now, RTT)
        });
    }

    /// In a path of 1000 packets per second, with this many in flight.
    fn filled(in_flight: u32) -> Script {
        let mut script = Script { in_flight, ..Script::new() };
        for _ in 0..4 {
            script.round(1000);
        }
        script
    }

    /// Past Startup and Drain.
    fn cruising() -> Script {
        let script = Script::filled(100);
        assert_eq!(script.bbr.state, State::Cruise);
        script
    }

    fn until(&mut self, state: State) {
        let rounds = (0..40).find(|_| self.round(1000) == state);
        assert!(rounds.is_some(), "still in {:?}", self.bbr.state);
    }
}

/// 10 packets in 100 ms are 100 packets per second; times 2.77 at 8000 bits each: 2.216 Mbit/s.
#[test]
fn starts_at_the_initial_window_per_round_trip() {
    let bbr = Script::new().bbr;
    assert_eq!(bbr.decision(), Decision { window: 10, departure: Time::ZERO });
    assert_eq!(bbr.pacing_rate.bps() / 1000, 2215);
}

/// 1000 packets per second are 8 Mbit/s; 2.77 of that less 1 % is 21.938 Mbit/s, 8000 bits of which take 364.66 us.
#[test]
fn packets_leave_at_the_pacing_rate() {
    let mut script = Script::new();
    script.round(1000);
    for _ in 0..2 {
        script.bbr.on_sent(&Sent { in_flight: 5, ..sent(script.now, 1000) });
    }
    let gap = script.bbr.decision().departure.since(script.now);
    assert_eq!(gap.nanos() / 1000, 729);
}

/// Up to 550 packets per second each round grows by more than a quarter; 600 three times does not.
#[test]
fn startup_ends_after_three_rounds_without_growth() {
    let mut script = Script { in_flight: 1000, ..Script::new() };
    for rate in [100, 130, 170, 220, 280, 350, 440, 550, 600, 600] {
        assert_eq!(script.round(rate), State::Startup, "{rate}");
    }
    assert_eq!(script.round(600), State::Drain);
}

/// Six ranges lost of a flight of 100 are above 2 %; five ranges are too few, and two packets are not above 2 %.
#[test]
fn startup_ends_on_losses_in_six_ranges() {
    for (ranges, share, left) in [(6, 6, true), (5, 6, false), (6, 2, false)] {
        let mut script = Script::new();
        script.in_flight = 100;
        script.round(1000);
        script.lose(ranges);
        let state = script.sampled(RTT, 2000, share, None);
        assert_eq!(state != State::Startup, left, "{ranges} ranges, {share} lost");
        // What was delivered in the last round is the safe volume: 200 packets.
        assert_eq!(script.bbr.bounds.inflight_longterm, if left { 200 } else { UNBOUNDED });
    }
}

/// The pipe holds 100 packets: with 101 in flight it drains. At 100 it is done, with Down at the same time.
#[test]
fn drain_ends_when_the_flight_fits_the_pipe() {
    let mut script = Script::filled(101);
    assert_eq!(script.bbr.state, State::Drain);
    assert_eq!(script.bbr.pacing_rate.bps(), 8_000_000 / 2 * 99 / 100 - 1);
    script.in_flight = 100;
    assert_eq!(script.round(1000), State::Cruise);
}

#[test]
fn drain_gives_up_after_three_rounds() {
    let mut script = Script::filled(1000);
    for _ in 0..3 {
        assert_eq!(script.round(1000), State::Drain);
    }
    assert_eq!(script.round(1000), State::Down);
}

/// Two to three seconds from the start of Down, then one round of Refill; Up paces at 1.25 of 8 Mbit/s less 1 %.
#[test]
fn a_cycle_waits_2_to_3_s_before_it_probes() {
    let mut script = Script::cruising();
    let began = script.bbr.cycle_start;
    script.until(State::Refill);
    let waited = script.now.since(began);
    assert!(waited >= Span::from_secs(2) && waited <= Span::from_millis(3100), "{waited:?}");
    assert_eq!(script.round(1000), State::Up);
    assert_eq!(script.bbr.pacing_rate.bps().div_ceil(1000), 9900);
}

/// A pipe of 20 packets probes after 20 rounds as Reno would: at 10 ms each, long before two seconds.
#[test]
fn a_small_pipe_probes_as_often_as_reno() {
    let mut script = Script::cruising();
    script.bbr.delay = Delay::new(script.now, Span::from_millis(20));
    let began = script.bbr.cycle_start;
    let rounds =
        (0..30).find(|_| script.sampled(Span::from_millis(20), 1000, 0, Some(Span::from_millis(20))) == State::Refill);
    assert!((17..=20).contains(&rounds.expect("probed")), "{rounds:?}");
    assert!(script.now.since(began) < Span::from_millis(600));
}

#[test]
fn a_probe_ends_after_three_rounds_without_gain() {
    let mut script = Script::cruising();
    script.until(State::Up);
    assert_eq!(script.round(1000), State::Up);
    assert_eq!(script.round(1100), State::Up);
    assert_eq!(script.round(1100), State::Down);
}

/// Three of 100 are above 2 %: 99 still fitted.
#[test]
fn a_lossy_probe_sets_the_safe_volume() {
    let mut script = Script::cruising();
    script.until(State::Up);
    script.lose(2);
    assert_eq!((script.bbr.state, script.bbr.bounds.inflight_longterm), (State::Up, UNBOUNDED));
    script.lose(3);
    assert_eq!((script.bbr.state, script.bbr.bounds.inflight_longterm), (State::Down, 99));
}

/// The estimate was 100 packets and the window more: 0.7 of 100 bounds the estimate from a flight of 20.
#[test]
fn the_safe_volume_falls_by_at_most_beta() {
    let mut script = Script::cruising();
    script.until(State::Up);
    script.in_flight = 20;
    script.lose(1);
    assert_eq!(script.bbr.bounds.inflight_longterm, 70);
}

/// 0.85 of 99: 99 - 14.
#[test]
fn cruising_leaves_headroom_below_the_safe_volume() {
    let mut script = Script::cruising();
    script.bbr.bounds.inflight_longterm = 99;
    script.in_flight = 50;
    script.round(1000);
    assert_eq!(script.bbr.window, 85);
}

/// The next probe after one that lost too much stops at the safe volume; if that lost nothing, another follows at once.
#[test]
fn a_probe_after_losses_is_cautious_then_repeated() {
    let mut script = Script::cruising();
    script.until(State::Up);
    script.lose(3);
    script.in_flight = 80;
    script.bbr.delay.probed(script.now);
    script.until(State::Up);
    script.in_flight = 99;
    assert_eq!(script.round(1000), State::Down);
    script.in_flight = 80;
    assert_eq!(script.round(1000), State::Refill);
    assert_eq!(script.round(1000), State::Up);
}

/// While cruising a round with a loss delivered 60 packets: 600 a second are below 0.7 of 1000. The bounds are 70 %
/// of 8 Mbit/s, and of the window of 200 and what came in bursts.
#[test]
fn losses_while_cruising_lower_the_short_term_bounds() {
    let mut script = Script::cruising();
    let window = script.bbr.window;
    script.lose(1);
    script.bbr.latest.reset();
    script.bbr.latest.lossy = true;
    script.sampled(RTT, 600, 1, None);
    assert_eq!(script.bbr.bounds.bw_shortterm.bps().div_ceil(1000), 5600);
    assert_eq!(script.bbr.bounds.inflight_shortterm, window * 7 / 10);
    assert_eq!(script.bbr.bounds.inflight_longterm, UNBOUNDED);
}

#[test]
fn refilling_forgets_the_short_term_bounds() {
    let mut script = Script::cruising();
    script.bbr.bounds.bw_shortterm = Rate::from_mbps(1);
    script.bbr.bounds.inflight_shortterm = 10;
    script.until(State::Refill);
    assert_eq!(script.bbr.bounds, Bounds::NONE);
}

/// The maximum of two cycles: 1000, and 500 when both have passed.
#[test]
fn the_bandwidth_is_the_largest_of_two_cycles() {
    let mut bandwidth = Bandwidth::default();
    let rate = Rate::from_mbps;
    bandwidth.see(rate(8), false);
    bandwidth.advance();
    bandwidth.see(rate(4), false);
    assert_eq!(bandwidth.max(), rate(8));
    bandwidth.advance();
    assert_eq!(bandwidth.max(), rate(4));
    bandwidth.see(rate(2), true);
    bandwidth.see(rate(5), true);
    assert_eq!(bandwidth.max(), rate(5));
}

/// No lower delay for five seconds: half of the pipe's 100 packets until 200 ms and a round have passed.
#[test]
fn probe_rtt_halves_the_flight_every_5s() {
    let mut script = Script::cruising();
    let slow = Some(Span::from_millis(110));
    let entered = (0..60).find(|_| script.sampled(RTT, 1000, 0, slow) == State::ProbeRtt);
    assert!(entered.is_some());
    assert_eq!(script.now, at(5100));
    assert_eq!(script.bbr.window, 50);
    script.in_flight = 50;
    let states = [State::ProbeRtt, State::ProbeRtt, State::ProbeRtt, State::Cruise];
    assert_eq!([(); 4].map(|()| script.round(500)), states);
    assert_eq!(script.bbr.delay.min_rtt(), RTT);
    assert_eq!(script.bbr.bandwidth.max(), Rate::from_mbps(8), "its own samples do not count");
    assert!(script.bbr.window > 150, "{}", script.bbr.window);
}

/// After ten seconds a higher delay is believed.
/// Startup with a rate that grows by half each round: with round trips of 2 s, ProbeRTT is due after three. By the draft it
/// begins then; whole probes have it wait until three rounds without growth have ended Startup.
#[test]
fn probe_rtt_does_not_cut_startup_off() {
    let probed = |whole: bool| {
        let settings = [("whole_probes".into(), Setting::Switch(whole))].into_iter().collect();
        let mut script = Script { in_flight: 100, ..Script::with(&settings) };
        let slow = Span::from_secs(2);
        [100, 150, 225, 340, 510].map(|rate| script.sampled(slow, rate, 0, Some(slow))).contains(&State::ProbeRtt)
    };
    assert_eq!([true, false].map(probed), [false, true]);
}

/// The round after a probe takes 4 s, longer than the wait of 2 to 3 s for the next probe: it comes only after that round.
#[test]
fn the_next_probe_waits_for_the_result_of_the_last() {
    let next = |whole: bool| {
        let interval = ("probe_rtt_interval".into(), Setting::Span(Span::from_secs(100)));
        let settings = [("whole_probes".into(), Setting::Switch(whole)), interval].into_iter().collect();
        let mut script = Script::with(&settings);
        script.in_flight = 100;
        for _ in 0..4 {
            script.round(1000);
        }
        script.until(State::Up);
        script.until(State::Down);
        // A packet that left before the probe ended.
        script.delivered -= 100;
        script.sampled(Span::from_secs(4), 1000, 0, Some(Span::from_secs(4)))
    };
    assert_ne!(next(true), State::Refill);
    assert_eq!(next(false), State::Refill);
}

#[test]
fn a_longer_path_is_believed_after_ten_seconds() {
    let mut delay = Delay::new(at(0), RTT);
    let interval = Span::from_secs(5);
    for ms in (100..=10_000).step_by(100) {
        delay.see(at(ms), Some(Span::from_millis(150)), Some(interval));
        assert_eq!(delay.min_rtt(), RTT);
    }
    delay.see(at(10_100), Some(Span::from_millis(150)), Some(interval));
    assert_eq!(delay.min_rtt(), Span::from_millis(150));
}

/// 1000 packets per second explain 10 packets in 10 ms; 30 came: 20 in excess.
#[test]
fn packets_acknowledged_in_bursts_widen_the_window() {
    let mut script = Script::cruising();
    let mut aggregation = Aggregation::new(at(0));
    let rounds = Rounds::default();
    let mut seen = Seen {
        now: at(0),
        rtt: None,
        delivered: 10,
        in_flight: 0,
        in_recovery: false,
        sample: RateSample {
            delivered: 0,
            interval: RTT,
            prior_delivered: 0,
            is_app_limited: false,
            tx_in_flight: 0,
            lost: 0,
        },
        rate: Rate::ZERO,
    };
    aggregation.see(&seen, Rate::from_mbps(8), PACKET, 100, &rounds);
    seen.now = at(9);
    seen.delivered = 20;
    aggregation.see(&seen, Rate::from_mbps(8), PACKET, 100, &rounds);
    assert_eq!(aggregation.extra(true, &rounds), 21);
    script.bbr.aggregation = aggregation;
    script.bbr.window = 1000;
    script.bbr.set_window(0);
    assert_eq!(script.bbr.window, 221);
}

#[test]
fn a_timeout_leaves_one_packet_until_recovery_restores_the_window() {
    let mut script = Script::cruising();
    let window = script.bbr.window;
    script.bbr.on_timeout(&Timeout { now: script.now, in_flight: 100, first: true });
    assert_eq!(script.bbr.decision().window, 1);
    script.sampled(RTT, 10, 1, None);
    assert_eq!(script.bbr.decision().window, 4);
    script.sampled(RTT, 1000, 0, None);
    assert!(script.bbr.window >= window / 2, "{} after {window}", script.bbr.window);
}

#[test]
fn an_undo_takes_back_what_losses_set() {
    let mut script = Script::cruising();
    script.until(State::Up);
    script.lose(3);
    assert_eq!(script.bbr.state, State::Down);
    script.bbr.on_undo(&Undo { now: script.now });
    assert_eq!((script.bbr.state, script.bbr.bounds), (State::Refill, Bounds::NONE));
}

#[test]
fn restart_after_idle_paces_at_the_bandwidth() {
    let mut script = Script::cruising();
    script.bbr.state = State::Down;
    script.bbr.on_sent(&Sent { in_flight: 2, app_limited: true, ..sent(script.now, 1000) });
    script.now += Span::from_secs(8);
    script.bbr.on_sent(&sent(script.now, 1000));
    assert_eq!(script.bbr.pacing_rate.bps(), 8_000_000 * 99 / 100 - 1);
    assert_ne!(script.round(1000), State::ProbeRtt);
}

#[test]
fn settings_out_of_range_are_refused() {
    for (name, value) in [
        ("beta", Setting::Ratio(Ratio::ONE)),
        ("headroom", Setting::Ratio(Ratio::ZERO)),
        ("loss_threshold", Setting::Integer(2)),
        ("probe_rtt_interval", Setting::Span(Span::ZERO)),
    ] {
        let settings = Settings::from([(name.into(), value)]);
        let error = Bbr::build(&setup(1000, RTT, 10), &settings).expect_err(name);
        assert!(matches!(error, SettingError::Invalid { name: found, .. } if found == name));
    }
}
