//! CUBIC by hand, and its laws.

use super::*;
use crate::congestion::testing::{self, setup};
use proptest::prelude::*;

const RTT: Span = Span::from_millis(100);

fn cubic(window: u32) -> Cubic {
    Cubic::build(&setup(1000, RTT, window), &Settings::new()).expect("defaults are valid")
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// One packet acknowledged.
fn ack(now: Time) -> AckSample<'static> {
    testing::ack(now, 1, RTT)
}

fn loss() -> Loss<'static> {
    testing::loss(at(0), RTT)
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected, "found {found}, expected {expected}");
}

/// Acknowledges a window's worth evenly over every round trip from `from` to `to`, in milliseconds.
fn grow(cubic: &mut Cubic, from: u64, to: u64) {
    for round in (from..to).step_by(100) {
        let acks = u64::from(cubic.decision().window);
        (0..acks).for_each(|i| cubic.on_ack(&ack(at(round) + Span::from_millis(100) * i / acks)));
    }
}

/// 1000 packets: threshold 700, K = cbrt(300 / 0.4) = 9.0856 s, and the window is back at 1000 then.
#[test]
fn the_window_returns_to_its_maximum_after_k() {
    let mut cubic = cubic(1000);
    cubic.on_loss(&loss());
    assert_eq!(cubic.decision().window, 700);
    cubic.on_ack(&ack(at(0)));
    near(cubic.course.epoch.expect("began").k, 9.085_603);
    grow(&mut cubic, 0, 9100);
    assert!((998..=1001).contains(&cubic.decision().window), "{}", cubic.decision().window);
}

/// 1000, then 700. At t = 0.1 s the cubic, 709.80, is above Reno's 700.00, and the target is a round trip ahead:
/// 0.4 (0.2 - 9.085603)^3 + 1000 = 719.3789. One acknowledgment goes a seven-hundredth of the 19.378 to go.
#[test]
fn an_acknowledgment_moves_the_window_by_its_share() {
    let mut cubic = cubic(1000);
    cubic.on_loss(&loss());
    cubic.on_ack(&ack(at(0)));
    let before = cubic.course.window;
    cubic.on_ack(&ack(at(100)));
    let step = cubic.course.window - before;
    assert!((step - 19.378 / 700.0).abs() < 1e-5, "{step}");
}

/// 1000, then a loss at 800, below the last maximum: the plateau is put at 800 (1 + 0.7) / 2 = 680, the window at 560.
#[test]
fn fast_convergence_lowers_the_maximum_of_a_shrinking_window() {
    let mut cubic = cubic(1000);
    cubic.on_loss(&loss());
    cubic.course.window = 800.0;
    cubic.on_loss(&loss());
    near(cubic.course.w_max.expect("set"), 680.0);
    near(cubic.course.window, 560.0);
}

/// Ten packets, 100 ms: alpha = 3 * 0.3 / 1.7 = 0.52941. After the loss the window is 7 and each of seven
/// acknowledgments adds alpha / 7 to the estimate, while the cubic has K = cbrt(3 / 0.4) = 1.957 s to go.
#[test]
fn at_small_windows_it_grows_as_reno_would() {
    let mut cubic = cubic(10);
    cubic.on_loss(&loss());
    (0..7).for_each(|_| cubic.on_ack(&ack(at(0))));
    let estimate = cubic.course.epoch.expect("began").w_est;
    assert!((7.5..7.53).contains(&estimate), "{estimate}");
}

/// At 10 packets, the window before the loss: an acknowledgment adds 1 / 10 to the estimate by RFC 9438, and
/// 0.52941 / 10 in Linux. The cubic, from 7 at the same time, is still below.
#[test]
fn above_the_old_window_the_estimate_grows_as_reno_except_in_linux() {
    for (full_reno, expected) in [(true, 10.1), (false, 10.052_941)] {
        let mut cubic = cubic(10);
        cubic.full_reno = full_reno;
        cubic.on_loss(&loss());
        cubic.course.window = 10.0;
        cubic.course.epoch = Some(Epoch { start: at(0), k: 1.957, w_max: 10.0, w_est: 10.0 });
        cubic.on_ack(&ack(at(0)));
        assert!((cubic.course.window - expected).abs() < 1e-6, "{}", cubic.course.window);
    }
}

/// From 20: threshold 14. Slow start to 14; then the cubic starts on its plateau, K = 0.
#[test]
fn after_a_timeout_avoidance_starts_at_the_plateau() {
    let mut cubic = cubic(20);
    cubic.on_timeout(&Timeout { now: at(0), in_flight: 20, first: true });
    assert_eq!((cubic.decision().window, cubic.slow_start_threshold()), (1, 14));
    (0..14).for_each(|_| cubic.on_ack(&ack(at(100))));
    let epoch = cubic.course.epoch.expect("began");
    near(epoch.w_max, 14.0);
    assert!(epoch.k == 0.0);
}

#[test]
fn an_undo_restores_the_whole_course() {
    let mut cubic = cubic(1000);
    cubic.on_loss(&loss());
    grow(&mut cubic, 0, 1000);
    let (window, epoch) = (cubic.course.window, cubic.course.epoch.expect("began"));
    cubic.on_loss(&loss());
    cubic.on_undo(&Undo { now: at(1000) });
    assert!(cubic.course.window == window && cubic.course.epoch.expect("restored").start == epoch.start);
}

#[test]
fn time_with_an_unused_window_does_not_count() {
    let mut cubic = cubic(1000);
    cubic.on_loss(&loss());
    cubic.on_ack(&ack(at(0)));
    cubic.on_ack(&AckSample { window_limited: false, ..ack(at(5000)) });
    let epoch = cubic.course.epoch.expect("began");
    assert_eq!(epoch.start, at(5000));
}

/// Rounds of ten packets. 100 ms, then 112.5 ms: an eighth more, which ends exponential growth; five rounds at a
/// quarter of the pace follow, then avoidance.
#[test]
fn a_rising_delay_ends_slow_start_gently() {
    let mut cubic = cubic(10);
    let mut round = |delay_us: u64, number: u64| {
        let before = cubic.course.window;
        for i in 1..=10 {
            let rtt = Some(Span::from_micros(delay_us));
            let (next_unacked, next_unsent) = (10 * number + i, 10 * number + i + 10);
            cubic.on_ack(&AckSample { rtt, next_unacked, next_unsent, ..ack(at(100 * number)) });
        }
        cubic.course.window - before
    };
    near(round(100_000, 0), 10.0);
    near(round(100_000, 1), 10.0);
    // The first nine of this round see seven and eight samples: the eighth confirms the rise, two are left.
    let turning = round(112_500, 2);
    assert!((8.0..10.0).contains(&turning), "{turning}");
    for number in 3..7 {
        near(round(112_500, number), 2.5);
    }
    round(112_500, 7);
    assert!(cubic.slow_start_threshold() < u32::MAX);
}

#[test]
fn a_setting_means_the_number_that_was_written() {
    assert!(decimal(Ratio::from_f64(0.7)) == 0.7 && decimal(Ratio::from_f64(0.4)) == 0.4);
}

#[test]
fn a_falling_delay_resumes_slow_start() {
    let mut hystart = HyStart::new();
    hystart.conservative = Some((Span::from_millis(120), 1));
    hystart.round_end = u64::MAX;
    (0..8).for_each(|_| {
        hystart.on_ack(&ack(at(0)));
    });
    assert!(hystart.conservative.is_none());
}

/// A mark of 100 packets leaves 70, or with `abe` 85.
#[test]
fn a_mark_cuts_as_a_loss_and_less_with_abe() {
    let after = |abe: bool| {
        let settings = Settings::from([("abe".into(), crate::settings::Setting::Switch(abe))]);
        let mut cubic = Cubic::build(&setup(1500, RTT, 100), &settings).expect("valid settings");
        cubic.on_mark(&Marked { now: at(0), congestion: 1, burstiness: 0, answer: true, srtt: RTT });
        cubic.decision().window
    };
    assert_eq!([after(false), after(true)], [70, 85]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_cube_root_is_exact_to_fourteen_digits(root in prop_oneof![1e-6..1.0_f64, 1.0..1e9_f64]) {
        let found = cube_root(root * root * root);
        prop_assert!((found / root - 1.0).abs() < 1e-14, "{found} for {root}");
    }

    #[test]
    fn the_window_stays_finite_and_above_zero(events in proptest::collection::vec(0u8..8, 1..400)) {
        let mut cubic = cubic(10);
        let mut now = 0;
        for event in events {
            now += 10;
            match event {
                0 => cubic.on_loss(&loss()),
                1 => cubic.on_timeout(&Timeout { now: at(now), in_flight: 5, first: true }),
                2 => cubic.on_undo(&Undo { now: at(now) }),
                _ => cubic.on_ack(&ack(at(now))),
            }
            prop_assert!(cubic.course.window.is_finite() && cubic.decision().window >= 1);
        }
    }
}
