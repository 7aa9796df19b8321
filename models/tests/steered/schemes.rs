//! Both schemes on intervals made by hand. The arithmetic is above each expectation.

use packetscale_models::congestion::{AckSample, Controller, Extras, Loss, Sent, Setup};
use packetscale_models::steered::{Guided, Policy, Scheme, Steered};
use packetscale_models::units::{Bytes, Rate, Span, Time};

const RTT: Span = Span::from_millis(100);

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn setup() -> Setup {
    Setup { now: Time::ZERO, packet: Bytes::new(1500), handshake_rtt: RTT, initial_window: 10, seed: 0 }
}

fn aurora() -> Steered {
    Steered::new(Scheme::Aurora { most: Rate::from_mbps(12) }, 2, &setup()).expect("it has no settings")
}

fn orca() -> Steered {
    Steered::new(Scheme::Orca, 1, &setup()).expect("it has no settings")
}

fn sent(controller: &mut impl Controller, now: Time) {
    let size = Bytes::new(1500);
    controller.on_sent(&Sent {
        now,
        paced_from: now,
        transmission: 0,
        size,
        in_flight: 1,
        app_limited: false,
        retransmission: false,
    });
}

fn acked(controller: &mut impl Controller, now: Time, packets: u32, rtt_ms: u64) {
    let rtt = Span::from_millis(rtt_ms);
    controller.on_ack(&AckSample {
        now,
        delivered: packets,
        cumulative: packets,
        prior_in_flight: packets,
        in_flight: 0,
        rtt: Some(rtt),
        srtt: rtt,
        min_rtt: RTT,
        next_unacked: 0,
        next_unsent: 0,
        window_limited: false,
        in_recovery: false,
        arrivals: &[],
        rate: None,
    });
}

fn lost(controller: &mut impl Controller, now: Time, packets: u32) {
    controller.on_loss(&Loss {
        now,
        transmissions: &[],
        flights: &[],
        lost: packets,
        enters_recovery: false,
        prior_in_flight: packets,
        srtt: RTT,
    });
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "found {found}, expected {expected}");
}

/// In 100 ms: 12 packets sent, 6 acknowledged, 2 lost; round trips of 100, 100, 120 and 120 ms.
/// gradient = (0.12 - 0.10) / 0.1 = 0.2, ratio = 1 (the first interval), sending = 12 / 6 = 2;
/// reward = (10 * 60 - 1000 * 0.11 - 2000 * 2 / 8) / 1000 = (600 - 110 - 500) / 1000 = -0.01.
#[test]
fn aurora_observes_and_rewards_as_published() {
    let mut aurora = aurora();
    for _ in 0..12 {
        sent(&mut aurora, at_ms(10));
    }
    for (packets, rtt_ms) in [(2, 100), (1, 100), (2, 120), (1, 120)] {
        acked(&mut aurora, at_ms(50), packets, rtt_ms);
    }
    lost(&mut aurora, at_ms(60), 2);
    near(aurora.end_interval(at_ms(100)).reward, -0.01);
    // The interval before it has the values of a quiet path.
    let expected = [0.0, 1.0, 1.0, 0.2, 1.0, 2.0];
    for (found, expected) in aurora.observation().iter().zip(expected) {
        near(f64::from(*found), expected);
    }
    // The next lasts half of 110 ms.
    assert_eq!(aurora.due(), at_ms(155));
}

/// An interval of 165 ms mean after a smallest one of 110 ms: 1.5. One without a sample keeps it, and its latency.
#[test]
fn a_latency_is_relative_to_the_smallest_interval() {
    let mut aurora = aurora();
    acked(&mut aurora, at_ms(50), 1, 110);
    aurora.end_interval(at_ms(100));
    acked(&mut aurora, at_ms(150), 1, 165);
    aurora.end_interval(at_ms(200));
    near(f64::from(aurora.observation()[4]), 1.5);
    // -1000 * 0.165 / 1000, and nothing acknowledged or lost.
    near(aurora.end_interval(at_ms(300)).reward, -0.165);
    near(f64::from(aurora.observation()[4]), 1.5);
}

/// It begins with 10 packets in 100 ms. An action of 4 makes 100 packets a second 110, one of -4 makes 110 again 100. The
/// bounds: 12 Mbit/s, and 40 packets a second, which are 480 kbit/s.
#[test]
fn an_action_changes_auroras_rate() {
    let mut aurora = aurora();
    let kbps = |aurora: &Steered| (aurora.rate().expect("it has a rate").bps() + 500) / 1000;
    assert_eq!(kbps(&aurora), 1200);
    aurora.act(4.0);
    assert_eq!(kbps(&aurora), 1320);
    aurora.act(-4.0);
    assert_eq!(kbps(&aurora), 1200);
    aurora.act(f32::NAN);
    assert_eq!(kbps(&aurora), 1200);
    // 40 at most: twice the rate.
    aurora.act(1000.0);
    assert_eq!(kbps(&aurora), 2400);
    (0..9).for_each(|_| aurora.act(40.0));
    assert_eq!(kbps(&aurora), 12_000);
    (0..9).for_each(|_| aurora.act(-40.0));
    assert_eq!(kbps(&aurora), 480);
}

/// 1500 bytes at 1.2 Mbit/s take 10 ms. A sender that is late does not catch up.
#[test]
fn aurora_spaces_its_packets() {
    let mut aurora = aurora();
    sent(&mut aurora, at_ms(0));
    assert_eq!(aurora.decision().departure, at_ms(10));
    sent(&mut aurora, at_ms(30));
    assert_eq!(aurora.decision().departure, at_ms(40));
}

/// In 20 ms: 8 acknowledged, 1 lost, srtt 250 ms against 100: delay = 1.25 * 100 / 250 = 0.5. The window is still 10 (to
/// CUBIC the window never limits it). most = 8 / 0.02 s = 400 per s; window / srtt = 40 per s, a tenth of it;
/// 5 * 50 per s lost is 0.625 of it. reward = (1 - 0.625) * 0.5 = 0.1875.
#[test]
fn orca_observes_and_rewards_as_published() {
    let mut orca = orca();
    acked(&mut orca, at_ms(10), 8, 250);
    lost(&mut orca, at_ms(15), 1);
    near(orca.end_interval(at_ms(20)).reward, 0.1875);
    let expected = [1.0, 0.1, 0.625, 0.8, 0.02, 0.4, 0.5];
    for (found, expected) in orca.observation().iter().zip(expected) {
        near(f64::from(*found), expected);
    }
    assert_eq!(orca.due(), at_ms(40));
}

/// 10 * 4^0.5 = 20; 20 / 4 = 5; no less than 4.
#[test]
fn an_action_multiplies_orcas_window() {
    let mut orca = orca();
    orca.act(0.5);
    assert_eq!(orca.decision().window, 20);
    orca.act(-1.0);
    assert_eq!(orca.decision().window, 5);
    orca.act(-1.0);
    assert_eq!(orca.decision().window, 4);
}

/// Doubles the rate after each interval.
#[derive(Clone, Debug)]
struct Double;

impl Policy for Double {
    fn act(&mut self, observation: &[f32]) -> f32 {
        assert_eq!(observation.len(), 6);
        40.0
    }
}

/// The first interval lasts 150 ms: an acknowledgment at 149 ms is in it, that at 150 ms ends it.
#[test]
fn a_policy_acts_at_the_first_event_after_an_interval() {
    let mut guided = Guided::new(aurora(), Double);
    acked(&mut guided, at_ms(149), 1, 100);
    assert_eq!(guided.rate(), Some(Rate::from_bps(1_200_000)));
    acked(&mut guided, at_ms(150), 1, 100);
    assert_eq!(guided.rate(), Some(Rate::from_bps(2_400_000)));
}
