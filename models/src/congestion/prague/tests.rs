//! The law by hand.

use super::*;
use crate::congestion::testing::{self, loss, sent, setup};

fn prague(window: u32, rtt: Span) -> Prague {
    Prague::build(&setup(1500, rtt, window), &Settings::new()).expect("defaults are valid")
}

/// Out of slow start for this many rounds, with marks seen.
fn settled(window: f64, alpha: f64, rounds: u32, rtt: Span) -> Prague {
    let course = Course { window, threshold: window };
    Prague { course, alpha, saw_mark: true, rounds, ..prague(10, rtt) }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// `delivered` packets at this time, up to `unacked`; some were marked.
fn ack(prague: &mut Prague, now: Time, delivered: u32, marked: u32, unacked: u64, answer: bool) {
    let srtt = prague.srtt;
    if marked > 0 {
        prague.on_mark(&Marked { now, congestion: marked, burstiness: 0, answer, srtt });
    }
    prague.on_ack(&AckSample {
        rtt: None,
        next_unacked: unacked,
        next_unsent: unacked + 100,
        ..testing::ack(now, delivered, srtt)
    });
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
}

/// Slow start to 40. The first mark finds 39 more unmarked ones: half of 40, then 9/20 more.
#[test]
fn the_first_mark_halves_and_ends_slow_start() {
    let mut prague = prague(10, Span::from_millis(50));
    ack(&mut prague, at(50), 30, 0, 30, false);
    near(prague.course.window, 40.0);
    ack(&mut prague, at(60), 10, 1, 40, true);
    near(prague.course.window, 20.0 + 9.0 / 20.0);
    assert_eq!((prague.decision().window, prague.slow_start_threshold()), (21, 20));
}

/// alpha = 0.2 leaves 0.9 of 100, and the nine unmarked packets of ten add 9/90.
#[test]
fn a_mark_cuts_by_half_of_alpha() {
    let mut prague = settled(100.0, 0.2, 9, Span::from_millis(50));
    ack(&mut prague, at(100), 10, 1, 0, true);
    near(prague.course.window, 90.0 + 9.0 / 90.0);
}

/// A quarter of 40 packets: 0 + 1/16 (1/4 - 0) = 1/64, then 1/64 + 1/16 (0 - 1/64).
#[test]
fn alpha_moves_by_a_sixteenth_per_round() {
    let mut prague = settled(100.0, 0.0, 9, Span::from_millis(50));
    ack(&mut prague, at(100), 40, 10, 1, false);
    near(prague.alpha, 1.0 / 64.0);
    ack(&mut prague, at(150), 40, 0, 102, false);
    near(prague.alpha, 15.0 / 1024.0);
}

/// 5 ms are a fifth of 25 ms: a window of 50 grows by 1/25 for 50 packets, but by 1 in the first four rounds.
#[test]
fn a_short_rtt_grows_as_a_longer_one() {
    let mut prague = settled(50.0, 0.0, TRANSITION, Span::from_millis(5));
    ack(&mut prague, at(100), 50, 0, 0, false);
    near(prague.course.window, 50.0 + 1.0 / 25.0);
    let mut young = settled(50.0, 0.0, 0, Span::from_millis(5));
    ack(&mut young, at(100), 50, 0, 0, false);
    near(young.course.window, 51.0);
}

/// At 5 ms, marks at 100, 110 and 126 ms: the second comes within 25 ms of the first.
#[test]
fn it_answers_once_in_a_virtual_round_trip() {
    let mut prague = settled(100.0, 0.2, 9, Span::from_millis(5));
    let windows = [100, 110, 126].map(|ms| {
        ack(&mut prague, at(ms), 1, 1, 0, true);
        prague.course.window
    });
    windows.iter().zip([90.0, 90.0, 81.0]).for_each(|(found, expected)| near(*found, expected));
}

#[test]
fn an_undo_restores_the_window_halved_by_a_loss() {
    let mut prague = settled(100.0, 0.1, 9, Span::from_millis(50));
    prague.on_loss(&loss(at(100), Span::from_millis(50)));
    near(prague.course.window, 50.0);
    prague.on_undo(&Undo { now: at(100) });
    near(prague.course.window, 100.0);
}

/// 100 packets of 1500 B in 50 ms are 24 Mbit/s: 500 us each. In slow start twice as fast.
#[test]
fn packets_are_paced_over_the_round_trip() {
    let gap = |prague: &mut Prague| {
        prague.on_sent(&sent(at(7), 1500));
        prague.decision().departure.since(at(7))
    };
    let mut settled = settled(100.0, 0.0, 9, Span::from_millis(50));
    settled.pace();
    assert_eq!(gap(&mut settled), Span::from_micros(500));
    assert_eq!(gap(&mut prague(100, Span::from_millis(50))), Span::from_micros(250));
}

#[test]
fn packets_carry_ect1() {
    assert_eq!(prague(10, Span::from_millis(50)).needs().ecn, Ecn::Ect1);
}

/// 40 packets time out and are repaired: from 1 the window doubles to half of 40 (RFC 5681, section 3.1). A later loss stops it.
#[test]
fn after_a_timeout_the_window_grows_while_losses_are_repaired() {
    let mut prague = settled(40.0, 0.0, 9, Span::from_millis(50));
    prague.on_timeout(&Timeout { now: at(300), in_flight: 40, first: true });
    let repair = |prague: &mut Prague, packets: u32| {
        let srtt = prague.srtt;
        prague.on_ack(&AckSample { in_recovery: true, ..testing::ack(at(350), packets, srtt) });
    };
    repair(&mut prague, 1);
    near(prague.course.window, 2.0);
    repair(&mut prague, 30);
    near(prague.course.window, 20.0);
    prague.on_loss(&loss(at(400), Span::from_millis(50)));
    repair(&mut prague, 10);
    near(prague.course.window, 10.0);
}
