//! A flow that has fallen to its floor begins anew (`anew.h`), on a path of any capacity whose queue the test says.

use super::*;

const RTT: Span = Span::from_millis(40);
/// A stream at the floor: 16 packets, two per round trip.
const STREAM: u64 = 8;

/// A flow whose timer has expired until it stands at its floor: two packets per round trip.
fn fallen() -> ScriptedFlow {
    let mut flow = ScriptedFlow::new(&Params::new(PACKET), RTT);
    fall(&mut flow);
    flow
}

fn fall(flow: &mut ScriptedFlow) {
    (0..20).for_each(|_| flow.law.on_timeout());
}

/// The same until all streams are back that were sent faster: they take the rate up again.
fn fall_for_long(flow: &mut ScriptedFlow) {
    for _ in 0..4 {
        fall(flow);
        flow.run(RTT * 2);
    }
    fall(flow);
}

/// Runs until start-up begins, or for so many round trips. Returns how many it took.
fn until_anew(flow: &mut ScriptedFlow, rounds: u64) -> Option<f64> {
    let began = flow.now;
    flow.run_until(RTT * rounds, |law| law.probe().startup).then(|| flow.rounds_since(began))
}

/// The same, but the flow falls again after every ten round trips without it, so that it does not grow out of the range.
fn until_anew_held(flow: &mut ScriptedFlow, rounds: u64) -> Option<f64> {
    let began = flow.now;
    for _ in 0..rounds / 10 {
        if until_anew(flow, 10).is_some() {
            return Some(flow.rounds_since(began));
        }
        fall(flow);
    }
    None
}

#[test]
fn over_an_empty_path_it_begins_anew_after_one_stream() {
    let mut flow = fallen();
    assert!((flow.packets_per_round() - 2.0).abs() < 0.01);
    // A stream is 16 packets, which take eight round trips, and one more to come back. The first was begun faster.
    let took = until_anew(&mut flow, 30).expect("begins anew");
    assert!((8.0..=9.0).contains(&took), "{took} round trips");
}

/// The receiver's timer makes round trips of so few packets longer than they are. The pace is found during the second stream: that one is of
/// two clocks, and the third says that the path is empty.
#[test]
fn behind_a_fast_clock_and_a_receivers_timer_it_begins_anew_after_three_streams() {
    let rtt = Span::from_millis(200);
    let mut flow = ScriptedFlow::new(&Params::new(PACKET), rtt);
    flow.clock_ppm = 40_000;
    flow.run(rtt / 2);
    fall(&mut flow); // its first chirp is not back yet
    flow.run(rtt * 2);
    flow.acknowledges_after = Span::from_millis(40);
    let began = flow.now;
    assert!(flow.run_until(rtt * 100, |law| law.probe().startup), "begins anew");
    let took = flow.rounds_since(began);
    assert!(took < (3 * STREAM + 2) as f64, "{took} round trips");
}

/// A clock that becomes fast says nothing of the first window, in which it was right: the base delay stays, and the queue is seen.
#[test]
fn a_clock_that_becomes_fast_hides_no_queue() {
    let rtt = Span::from_millis(200);
    let mut flow = ScriptedFlow::new(&Params::new(PACKET), rtt);
    for _ in 0..300 {
        flow.run(rtt);
        fall(&mut flow);
    }
    flow.clock_ppm = 40_000;
    flow.clock_from = flow.now;
    flow.queue = Span::from_millis(30);
    flow.run(rtt * 60);
    let queue = flow.law.probe().queue;
    assert!(queue > Span::from_millis(25) && queue < Span::from_millis(35), "a queue of {queue}, not of 30 ms");
}

#[test]
fn over_a_short_queue_it_begins_anew_after_two_streams() {
    let mut flow = fallen();
    // The empty path is known.
    flow.run(RTT * 3);
    flow.queue = RTT / 32;
    let took = until_anew(&mut flow, 40).expect("begins anew");
    assert!(took >= 1.5 * STREAM as f64, "{took} round trips");
}

#[test]
fn a_flow_that_may_compete_begins_anew_after_two_streams() {
    let mut flow = ScriptedFlow::new(&Params { competitive: true, ..Params::new(PACKET) }, RTT);
    fall(&mut flow);
    let took = until_anew(&mut flow, 40).expect("begins anew");
    assert!((1.5 * STREAM as f64..=18.0).contains(&took), "{took} round trips");
}

#[test]
fn then_it_grows_eightfold_for_each_chirp() {
    let mut flow = fallen();
    until_anew(&mut flow, 30).expect("begins anew");
    let before = flow.packets_per_round();
    // A chirp at two packets per round trip takes 3.2 of them, the next 0.4; each is a round trip on its way.
    flow.run(RTT * 7);
    assert!(flow.packets_per_round() >= 60.0 * before, "{before} to {}", flow.packets_per_round());
}

#[test]
fn beside_a_queue_of_others_it_does_not() {
    let mut flow = fallen();
    // The empty path is known.
    flow.run(RTT * 3);
    flow.queue = RTT / 2;
    assert_eq!(until_anew(&mut flow, 60), None);
}

#[test]
fn a_lost_packet_makes_it_wait_for_another_stream() {
    let without = until_anew(&mut fallen(), 30).expect("begins anew");
    let mut flow = fallen();
    // In the first stream. The next are of eight packets.
    flow.loses = |number| number == 10;
    let took = until_anew(&mut flow, 60).expect("begins anew");
    assert!(took >= without + 0.5 * STREAM as f64, "{took} round trips, {without} without a loss");
}

/// Such a flow's streams are of eight packets.
#[test]
fn with_a_packet_lost_of_each_stream_it_does_not() {
    let mut flow = fallen();
    flow.loses = |number| number % 8 == 4;
    assert_eq!(until_anew(&mut flow, 60), None);
}

#[test]
fn what_the_application_limits_shows_no_clear_path() {
    let mut flow = fallen();
    flow.app_limited = true;
    assert_eq!(until_anew(&mut flow, 80), None);
    flow.app_limited = false;
    let took = until_anew(&mut flow, 40).expect("begins anew");
    // What is on its way counts for nothing, nor does a stream that began before. The next is of eight packets, as what the application sent.
    assert!(took >= 0.5 * STREAM as f64, "{took} round trips");
}

#[test]
fn a_mark_makes_it_wait_for_another_stream() {
    let without = until_anew(&mut fallen(), 30).expect("begins anew");
    let mut flow = fallen();
    // The first stream is on its way.
    flow.run(RTT * (STREAM - 2));
    flow.law.on_marked();
    let took =
        flow.rounds_since(packetscale_models::units::Time::ZERO) + until_anew(&mut flow, 60).expect("begins anew");
    assert!(took > without + 1.0, "{took} round trips, {without} without a mark");
}

#[test]
fn what_has_failed_is_tried_later() {
    let mut flow = fallen();
    until_anew(&mut flow, 30).expect("begins anew");
    let first = flow.now;
    fall(&mut flow);
    until_anew(&mut flow, 60).expect("begins anew again");
    let waited = flow.rounds_since(first);
    assert!(waited >= 16.0, "after {waited} round trips");
    let second = flow.now;
    fall(&mut flow);
    until_anew(&mut flow, 80).expect("and again");
    let waited = flow.rounds_since(second);
    assert!(waited >= 32.0, "after {waited} round trips");
}

/// Fails twice, so that the next try is 32 round trips away, and the one after it 64; then comes to ten packets per round
/// trip and more, or does not; fails twice more. Returns the round trips between these two, if they are less than 60.
fn waits_after_two_failures(recovers: bool) -> Option<f64> {
    let mut flow = fallen();
    until_anew(&mut flow, 30).expect("begins anew");
    fall(&mut flow);
    until_anew(&mut flow, 60).expect("begins anew again");
    if recovers {
        flow.run_until(RTT * 20, |law| law.rate() >= packetscale_models::units::Rate::from_mbps(100));
    }
    flow.law.on_timeout(); // ends start-up
    flow.run(RTT * 4);
    fall_for_long(&mut flow);
    until_anew_held(&mut flow, 80).expect("and again");
    let third = flow.now;
    fall_for_long(&mut flow);
    until_anew_held(&mut flow, 50).map(|_| flow.rounds_since(third))
}

#[test]
fn a_flow_that_has_been_at_ten_packets_is_tried_soon_again() {
    let waited = waits_after_two_failures(true).expect("and once more");
    assert!((16.0..32.0).contains(&waited), "after {waited} round trips");
    assert_eq!(waits_after_two_failures(false), None);
}
