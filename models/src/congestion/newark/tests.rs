use super::*;
use crate::congestion::testing::{ack, sent, setup};
use crate::settings::Setting;
use alloc::vec::Vec;

const RTT: Span = Span::from_millis(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn newark(initial_window: u32, settings: &[(&str, Setting)]) -> Newark {
    let settings = settings.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    Newark::build(&Setup { seed: 11, ..setup(1000, RTT, initial_window) }, &settings).expect("valid settings")
}

/// In avoidance.
fn avoiding(window: u32) -> Newark {
    let mut newark = newark(window, &[]);
    newark.window.threshold = window;
    newark
}

/// An acknowledgment of one packet with these bits; `answer`: the first rho-bit of its window.
fn marked(newark: &mut Newark, now: Time, rho: bool, eta: bool, answer: bool) {
    let (congestion, burstiness) = (u32::from(rho), u32::from(eta));
    if rho || eta {
        newark.on_mark(&Marked { now, congestion, burstiness, answer, srtt: RTT });
    }
    newark.on_ack(&ack(now, 1, RTT));
}

/// Sends whenever it may, until `end`: when.
fn backlogged(newark: &mut Newark, end: Time) -> Vec<Time> {
    let (mut times, mut now) = (Vec::new(), Time::ZERO);
    loop {
        now = now.max(newark.decision().departure);
        if now > end {
            return times;
        }
        newark.on_sent(&sent(now, 1000));
        times.push(now);
    }
}

/// W_p = 20 per 100 ms: after the initial bucket, 200 packets a second, 40 000 in 200 s with a deviation of 200; gaps of
/// 5 ms with a deviation equal to their mean.
#[test]
fn a_backlogged_sender_is_a_poisson_process_of_w_per_rtt() {
    for bucket in [1, 240] {
        let mut newark = newark(20, &[("bucket_max", Setting::Integer(bucket))]);
        let times = backlogged(&mut newark, at(200_000));
        let gaps: Vec<f64> = times.windows(2).skip(20).map(|pair| pair[1].since(pair[0]).as_secs_f64()).collect();
        assert!(times.len().abs_diff(40_000) < 5 * 200 + 20, "{}", times.len());
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n;
        // The variation of 40 000 exponential gaps has a standard error of 1 / sqrt n = 0.005.
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.025, "{}", variance.sqrt() / mean);
    }
}

#[test]
fn a_larger_g_sends_as_much_less() {
    let mut newark = newark(20, &[("g", Setting::Ratio(Ratio::of(4, 1)))]);
    let sent = backlogged(&mut newark, at(200_000)).len();
    assert!(sent.abs_diff(10_000) < 5 * 100 + 20, "{sent}");
    assert_eq!(newark.rate(), Some(Rate::from_bps(20 * 8000 * 10 / 4)));
}

/// Idle for 10 s: the bucket is full, and all of it may leave at once, then one by one.
#[test]
fn an_idle_sender_saves_a_bucket_of_tokens() {
    let mut newark = newark(20, &[("bucket_max", Setting::Integer(30))]);
    while newark.decision().departure == Time::ZERO {
        newark.on_sent(&sent(at(0), 1000));
    }
    let mut burst = 0;
    while newark.decision().departure <= at(10_000) {
        newark.on_sent(&sent(at(10_000), 1000));
        burst += 1;
    }
    assert_eq!(burst, 30);
    assert!(newark.decision().departure > at(10_000));
}

/// 240, 120, 60, 30, 15, 7, 3, 1: once per round trip; then the window, from 64, in its place.
#[test]
fn eta_bits_halve_the_bucket_then_the_window() {
    let mut newark = avoiding(64);
    let mut sizes = Vec::new();
    for rtt in 1..=9 {
        marked(&mut newark, at(100 * rtt), false, true, false);
        marked(&mut newark, at(100 * rtt + 50), false, true, false);
        sizes.push((newark.bucket.size, newark.window.size));
    }
    let bucket: Vec<u32> = sizes.iter().map(|(bucket, _)| *bucket).collect();
    assert_eq!(bucket, [120, 60, 30, 15, 7, 3, 1, 1, 1]);
    assert_eq!(sizes[6].1, 64);
    assert_eq!((sizes[7].1, sizes[8].1), (32, 16));
}

#[test]
fn tokens_above_a_smaller_bucket_are_lost() {
    let mut newark = avoiding(64);
    newark.run_clock(at(10_000));
    assert_eq!(newark.tokens, 240);
    marked(&mut newark, at(10_000), false, true, false);
    assert_eq!(newark.tokens, 120);
}

/// 4 + 1/4 per acknowledgment: 4 of them make 5, 5 more make 6.
#[test]
fn the_bucket_grows_by_the_inverse_of_its_size_per_ack() {
    let mut newark = avoiding(64);
    newark.bucket = Window::new(4);
    for (acks, size) in [(4, 5), (5, 6), (30_000, 240)] {
        (0..acks).for_each(|_| marked(&mut newark, at(1), true, false, false));
        assert_eq!(newark.bucket.size, size);
    }
}

#[test]
fn a_rho_bit_halves_only_the_window() {
    let mut newark = avoiding(64);
    marked(&mut newark, at(100), true, false, true);
    assert_eq!((newark.window.size, newark.bucket.size), (32, 240));
    // Further ones of the same window neither halve it nor let it grow; eta-bits let it grow.
    (0..40).for_each(|_| marked(&mut newark, at(150), true, false, false));
    assert_eq!((newark.window.size, newark.window.credit), (32, 0));
    (0..32).for_each(|_| marked(&mut newark, at(160), false, true, false));
    assert_eq!(newark.window.size, 33);
}

#[test]
fn both_bits_at_once_halve_the_window_once() {
    let mut newark = avoiding(64);
    newark.bucket = Window::new(1);
    marked(&mut newark, at(100), true, true, true);
    assert_eq!(newark.window.size, 32);
}

#[test]
fn an_unused_window_grows_only_without_validation() {
    for (validate, size) in [(true, 10), (false, 12)] {
        let mut newark = newark(10, &[("validate", Setting::Switch(validate))]);
        newark.on_ack(&AckSample { window_limited: false, ..ack(at(1), 2, RTT) });
        assert_eq!(newark.window.size, size);
    }
}

/// The clock clears the timeout: it leaves one token and adds none.
#[test]
fn a_timeout_leaves_one_token_and_a_window_of_one() {
    let mut newark = avoiding(64);
    newark.run_clock(at(10_000));
    newark.on_timeout(&Timeout { now: at(10_000), in_flight: 10, first: true });
    assert_eq!((newark.window.size, newark.window.threshold, newark.tokens), (1, 32, 240));
    let expiry = newark.expiry;
    newark.run_clock(expiry);
    assert_eq!((newark.tokens, newark.timed_out), (1, false));
    let next = newark.expiry;
    newark.run_clock(next);
    assert_eq!(newark.tokens, 2);
}

#[test]
fn a_bucket_for_nothing_is_refused() {
    let settings = Settings::from([("bucket_max".into(), Setting::Integer(0))]);
    assert!(matches!(
        Newark::build(&setup(1000, RTT, 10), &settings),
        Err(SettingError::Invalid { name: "bucket_max", .. })
    ));
}
