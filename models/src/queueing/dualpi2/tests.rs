//! The coupling, the ramp and the schedule, by hand.

use super::*;
use crate::queueing::contract::Limit;
use crate::settings::Setting;
use crate::units::{Marks, Rate};

fn with(settings: &[(&str, Setting)]) -> DualPi2<u32> {
    let setup = Setup { rate: Rate::from_mbps(8), limit: Limit::Unlimited, packet: Bytes::new(1000), seed: 3 };
    let settings = settings.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    DualPi2::build(&setup, &settings).expect("valid settings")
}

fn packet(ecn: Ecn) -> Packet<u32> {
    Packet { ecn, ..Packet::new(0, Bytes::new(1000), 0) }
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// RTT_max 100 ms: update = min(15, 33.3) = 15 ms, alpha = 0.1 0.015 / 0.01 = 0.15 Hz, beta = 3 Hz.
/// 35 ms: 0.15 0.020 + 3 0.035 = 0.108. 25 ms: 0.15 0.010 - 3 0.010 = -0.0285. Then p_CL = 2 0.0795, p_C = 0.0795^2.
#[test]
fn coupled_probabilities_match_hand_calculation() {
    let mut queue = with(&[]);
    for (delay_ms, expected) in [(35, 0.108), (25, 0.0795)] {
        queue.control.update(Span::from_millis(delay_ms));
        assert!((queue.control.p - expected).abs() < 1e-12, "{}", queue.control.p);
    }
    for _ in 0..2 {
        queue.enqueue(at(0), packet(Ecn::NotEct));
    }
    let (p_cl, p_c) = queue.coupled();
    assert!((p_cl - 0.159).abs() < 1e-12 && (p_c - 0.006_320_25).abs() < 1e-12, "{p_cl} {p_c}");
}

/// Passes `count` packets with this codepoint through a queue with this p', each with two more behind it at least. None waits.
/// Returns parts marked and dropped.
fn fate(ecn: Ecn, p: f64, count: u32) -> (f64, f64) {
    fate_before(3, ecn, p, count)
}

/// The same, where a packet has this number behind it, and the one after a dropped packet one less.
fn fate_before(behind: u64, ecn: Ecn, p: f64, count: u32) -> (f64, f64) {
    let mut queue = with(&[]);
    queue.control.p = p;
    let (mut passed, mut marked, mut dropped) = (0, 0, 0);
    while passed + dropped < count {
        while queue.low.waiting.packets() + queue.classic.waiting.packets() <= behind {
            queue.enqueue(at(0), packet(ecn));
        }
        if let Some(sent) = queue.dequeue(at(0)) {
            queue.departed(at(0), sent.size);
            passed += 1;
            marked += u32::from(sent.marks.congestion);
        }
        dropped += core::iter::from_fn(|| queue.take_dropped()).count() as u32;
    }
    let share = |part: u32| f64::from(part) / f64::from(passed + dropped);
    (share(marked), share(dropped))
}

/// p' = 0.1: L is marked with 2 p' = 0.2, C with p'^2 = 0.01, which is (p_CL / k)^2. Choices are counted, not drawn, so
/// of 10 000 packets they are off by one at most.
#[test]
fn l_marks_are_k_times_the_root_of_c_drops() {
    let near = |found: (f64, f64), expected: (f64, f64)| {
        assert!((found.0 - expected.0).abs() <= 1.1e-4 && (found.1 - expected.1).abs() <= 1.1e-4, "{found:?}");
    };
    near(fate(Ecn::Ect1, 0.1, 10_000), (0.2, 0.0));
    near(fate(Ecn::NotEct, 0.1, 10_000), (0.0, 0.01));
    near(fate(Ecn::Ect0, 0.1, 10_000), (0.01, 0.0));
}

/// p' = 0.6: p_CL is above 1 and p_C = 0.36 above 1/4. No packet is spared, and all that L sends is marked.
#[test]
fn overload_drops_in_both_queues() {
    for (ecn, marked) in [(Ecn::Ect1, 0.64), (Ecn::Ect0, 0.0), (Ecn::NotEct, 0.0)] {
        let found = fate(ecn, 0.6, 10_000);
        assert!((found.0 - marked).abs() <= 1.1e-4 && (found.1 - 0.36).abs() <= 1.1e-4, "{ecn:?}: {found:?}");
    }
}

/// Linux (sch_dualpi2): "Never mark/drop if we have a standing queue of less than 2 MTUs".
#[test]
fn spares_every_packet_with_less_than_two_behind() {
    for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct] {
        assert_eq!(fate_before(1, ecn, 1.0, 100), (0.0, 0.0), "{ecn:?}");
    }
}

/// Half way up the ramp, at 1 ms, every other packet; from 1.2 ms on all; below 0.8 ms none; a packet alone never.
#[test]
fn the_low_queue_marks_by_its_own_wait() {
    let ramp = |settings: &[(&str, Setting)], us: u64, behind: bool| {
        let mut queue = with(settings);
        if behind {
            queue.enqueue(at(0), packet(Ecn::Ect1));
        }
        queue.ramp(Span::from_micros(us))
    };
    let found = [500, 800, 1000, 1200, 3000].map(|us| ramp(&[], us, true));
    assert!(found.iter().zip([0.0, 0.0, 0.5, 1.0, 1.0]).all(|(found, expected)| (found - expected).abs() < 1e-9));
    assert_eq!(ramp(&[], 3000, false), 0.0);
    let step = [("ramp_from", Setting::Span(Span::from_millis(1))), ("ramp", Setting::Span(Span::ZERO))];
    assert_eq!([1000, 1001].map(|us| ramp(&step, us, true)), [0.0, 1.0]);
}

/// ECT(1) and CE go to L, which is served first: they overtake what came before them.
#[test]
fn ect1_and_ce_overtake_the_others() {
    let mut queue = with(&[]);
    let ce = Packet { marks: Marks { congestion: true, burstiness: false }, note: 3, ..packet(Ecn::Ect0) };
    for packet in [Packet { note: 1, ..packet(Ecn::NotEct) }, Packet { note: 2, ..packet(Ecn::Ect0) }, ce] {
        queue.enqueue(at(0), packet);
    }
    queue.enqueue(at(0), Packet { note: 4, ..packet(Ecn::Ect1) });
    let order: alloc::vec::Vec<u32> = core::iter::from_fn(|| queue.dequeue(at(0))).map(|packet| packet.note).collect();
    // After one packet of L, C has credit for a part of a packet, and is next.
    assert_eq!(order, [3, 1, 4, 2]);
}

/// Both always wait: C gets a tenth, 100 packets of 1000, within one packet.
#[test]
fn the_classic_queue_keeps_its_share() {
    let mut queue = with(&[]);
    for _ in 0..1000 {
        queue.enqueue(at(0), packet(Ecn::Ect1));
        queue.enqueue(at(0), packet(Ecn::NotEct));
    }
    let classic = (0..1000).filter(|_| queue.dequeue(at(0)).is_some_and(|sent| sent.ecn == Ecn::NotEct)).count();
    assert!(classic.abs_diff(100) <= 1, "{classic}");
}

/// Two hours of silence are over in no time, and leave nothing behind.
#[test]
fn idle_updates_reach_a_fixed_point() {
    let mut queue = with(&[]);
    queue.control.p = 0.9;
    queue.enqueue(at(7_200_000_000), packet(Ecn::NotEct));
    assert_eq!(queue.control.p, 0.0);
}
