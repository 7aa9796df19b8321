//! CoDel's control law against its closed form, and its states by hand.

use super::*;
use crate::queueing::contract::Limit;
use crate::units::{Ecn, Rate};
use alloc::vec::Vec;

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn built() -> CodelQueue<u32> {
    let setup = Setup { rate: Rate::from_mbps(8), limit: Limit::Unlimited, packet: Bytes::new(1000), seed: 1 };
    CodelQueue::build(&setup, &Settings::new()).expect("defaults are valid")
}

fn packet(ecn: bool) -> Packet<u32> {
    let ecn = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
    Packet { ecn, ..Packet::new(0, Bytes::new(1000), 0) }
}

/// `packets` packets arrive at once, and one leaves every 100 us. Returns, in microseconds, when some were dropped, or marked.
fn strikes(packets: u64, until_us: u64, ecn: bool) -> Vec<u64> {
    let mut queue = built();
    (0..packets).for_each(|_| {
        queue.enqueue(at(0), packet(ecn));
    });
    let mut strikes = Vec::new();
    for us in (0..until_us).step_by(100) {
        let sent = queue.dequeue(at(us)).expect("it is backlogged");
        queue.departed(at(us), sent.size);
        let dropped = core::iter::from_fn(|| queue.take_dropped()).count();
        strikes.extend(core::iter::repeat_n(us, dropped + usize::from(sent.marks.congestion)));
    }
    strikes
}

/// The first packet above 5 ms leaves at 5 ms, so the first drop is at 105 ms. Pauses of 100, 70.71 and 57.74 ms follow,
/// each drop at the first departure that is due.
#[test]
fn early_drops_follow_the_inverse_root_of_their_number() {
    assert_eq!(strikes(20_000, 340_000, false), [105_000, 205_000, 275_800, 333_500]);
}

/// The sum of 1/sqrt(k) up to m is 2 sqrt(m) + zeta(1/2) + 1/(2 sqrt(m)), up to an error of 1/(24 m^1.5): below 25 us of an
/// interval from m = 30 on. Departures are 100 us apart.
#[test]
fn drop_times_follow_the_closed_form() {
    const ZETA_OF_HALF: f64 = -1.460_354_508_809_586_8;
    let found = strikes(60_000, 3_000_000, false);
    assert!(found.len() > 200, "{}", found.len());
    for (m, us) in found.iter().enumerate().skip(30) {
        let root = (m as f64).sqrt();
        let expected = 105e3 + 100e3 * (2.0 * root + ZETA_OF_HALF + 0.5 / root);
        assert!((-30.0..=130.0).contains(&(*us as f64 - expected)), "{m}: {us}, closed form {expected}");
    }
}

#[test]
fn marks_capable_packets_where_others_are_dropped() {
    assert_eq!(strikes(60_000, 3_000_000, true), strikes(60_000, 3_000_000, false));
}

/// One packet waits behind the one that leaves: no more than a full packet, so nothing is dropped however late it is.
#[test]
fn a_queue_of_one_packet_is_left_alone() {
    let mut queue = built();
    for us in (0..1_000_000).step_by(10_000) {
        queue.enqueue(at(us), packet(false));
        queue.enqueue(at(us), packet(false));
        for wait in [6_000, 9_000] {
            let sent = queue.dequeue(at(us + wait)).expect("two came");
            queue.departed(at(us + wait), sent.size);
        }
        assert!(queue.take_dropped().is_none());
    }
}

/// Three rounds of a standing queue, by hand. It strikes at 105, 205 and 275.8 ms, then stays below the target. Some
/// 10 ms later it is above again for an interval: the count starts from 3 - 1 = 2, so the second drop follows after
/// 70.71 ms.
#[test]
fn a_soon_repeated_dropping_state_resumes_its_rate() {
    let mut codel = Codel::default();
    let params = Params { target: Span::from_millis(5), interval: Span::from_millis(100), packet: Bytes::new(1000) };
    let mut leave = |us: u64, wait_us: u64| {
        let mut queue = Timed::new();
        (0..5).for_each(|_| queue.push(at(us - wait_us), packet(false)));
        let mut dropped = 0;
        codel.dequeue(&params, at(us), &mut queue, |_| dropped += 1);
        dropped
    };
    let struck = |leave: &mut dyn FnMut(u64, u64) -> usize, from: u64, to: u64, wait: u64| {
        (from..to).step_by(100).filter(|us| leave(*us, wait) > 0).collect::<Vec<u64>>()
    };
    assert_eq!(struck(&mut leave, 10_000, 300_000, 6_000), [110_000, 210_000, 280_800]);
    assert!(struck(&mut leave, 300_000, 310_000, 1_000).is_empty());
    assert_eq!(struck(&mut leave, 310_000, 500_000, 6_000), [410_000, 480_800]);
}

#[test]
fn a_target_of_zero_is_refused() {
    let setup = Setup { rate: Rate::from_mbps(8), limit: Limit::Unlimited, packet: Bytes::new(1000), seed: 1 };
    let settings = Settings::from([("target".into(), crate::settings::Setting::Span(Span::ZERO))]);
    let error = CodelQueue::<()>::build(&setup, &settings).expect_err("refused");
    assert_eq!(error, SettingError::invalid("target", "a time above 0"));
}
