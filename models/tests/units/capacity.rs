//! Wires with varying rates, compared with arithmetic by hand and with queues that are drained step by step.

use packetscale_models::units::{Bytes, Capacity, CapacityPoint, Rate, Span, Time, VaryingSerialiser};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::VecDeque;
use std::sync::Arc;

const OPPORTUNITY: u64 = 1500;

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_millis(n)
}

fn steps(rates: &[(u64, u64)], period_ms: Option<u64>) -> Capacity {
    let point = |(at, mbps): &(u64, u64)| CapacityPoint {
        at: Span::from_millis(*at),
        burst: Bytes::ZERO,
        rate: Rate::from_mbps(*mbps),
    };
    Capacity::new(rates.iter().map(point).collect(), period_ms.map(Span::from_millis)).unwrap()
}

/// Delivery opportunities at these milliseconds, as a trace of Mahimahi has them: the last ends the period.
fn opportunities(at_ms: &[u64]) -> Capacity {
    let point =
        |at: &u64| CapacityPoint { at: Span::from_millis(*at), burst: Bytes::new(OPPORTUNITY), rate: Rate::ZERO };
    let period = at_ms.last().map(|last| Span::from_millis(*last));
    Capacity::new(at_ms.iter().map(point).collect(), period).unwrap()
}

/// When packets (arrival, size) begin and depart.
fn served(capacity: Capacity, packets: &[(Time, u64)]) -> Vec<(Time, Time)> {
    let mut wire = VaryingSerialiser::new(Arc::new(capacity));
    let serve = |(arrival, size): &(Time, u64)| {
        wire.idle_until(*arrival);
        (wire.begins(), wire.next(Bytes::new(*size)))
    };
    packets.iter().map(serve).collect()
}

#[test]
fn a_packet_across_a_rate_step_is_sent_in_two_parts() {
    // 8 Mbit/s is 1000 B per ms. The second packet has 500 B left at 2 ms; at 4 Mbit/s they take 1 ms. Then nothing moves
    // until 10 ms, when 2 Mbit/s begin: 1000 B in 4 ms.
    let capacity = steps(&[(0, 8), (2, 4), (3, 0), (10, 2)], None);
    let half = Time::ZERO + Span::from_micros(500);
    let times = served(capacity, &[(half, 1000), (half, 1000), (half, 1000), (ms(20), 500)]);
    let middle = Time::ZERO + Span::from_micros(1500);
    assert_eq!(times, [(half, middle), (middle, ms(3)), (ms(10), ms(14)), (ms(20), ms(22))]);
}

#[test]
fn a_permanently_stopped_link_never_serves_again() {
    let times = served(steps(&[(0, 8), (2, 0)], None), &[(ms(0), 1000), (ms(1), 1500), (ms(5), 100)]);
    assert_eq!(times, [(ms(0), ms(1)), (ms(1), Capacity::NEVER), (Capacity::NEVER, Capacity::NEVER)]);
}

#[test]
fn unused_opportunities_are_lost_and_small_packets_share_one() {
    // A trace of 1, 3, 3 and 5 ms, again from 5 ms on: 1 3 3 5 6 8 8 10.
    let capacity = opportunities(&[1, 3, 3, 5]);
    let packets = [(ms(2), 700), (ms(2), 700), (ms(2), 700), (ms(4), 1500), (ms(6), 3000), (ms(7), 1)];
    let times = served(capacity, &packets);
    // The third has 100 B in the first opportunity at 3 ms and the rest in the second, the remainder of which is lost. A
    // packet at 6 ms is too late for the opportunity of 6 ms.
    let expected = [(3, 3), (3, 3), (3, 3), (5, 5), (8, 8), (10, 10)];
    assert_eq!(times, expected.map(|(begins, departs)| (ms(begins), ms(departs))));
}

/// 8 Mbit/s, 1000 B per ms, until 6 ms, then 2 Mbit/s, 250 B per ms, in grants every 4 ms: 4000, 2500, 1000, 1000, ... B.
#[test]
fn a_grant_carries_what_the_rate_offered_since_the_last() {
    let capacity = steps(&[(0, 8), (6, 2)], None).in_grants(Span::from_millis(4));
    assert_eq!(capacity.amount(ms(0), ms(11)), Bytes::new(6500));
    assert_eq!((capacity.amount(ms(3), ms(4)), capacity.amount(ms(4), ms(7))), (Bytes::new(4000), Bytes::ZERO));
    assert!(!capacity.is_smooth());
    let packets = [(0, 1500), (0, 1500), (0, 1500), (0, 1500), (0, 1000), (14, 100), (16, 1000), (16, 1)];
    let times = served(capacity, &packets.map(|(at, size)| (ms(at), size)));
    // The third takes 1000 B of the first grant and 500 of the second; the fifth 500 and 500. What comes at 16 ms comes too
    // late for that grant, and the next is its own.
    let expected = [(4, 4), (4, 4), (4, 8), (8, 8), (8, 12), (16, 16), (20, 20), (24, 24)];
    assert_eq!(times, expected.map(|(begins, departs)| (ms(begins), ms(departs))));
}

#[test]
fn grants_of_a_permanently_stopped_link_end() {
    let capacity = steps(&[(0, 8), (2, 0)], None).in_grants(Span::from_millis(4));
    let times = served(capacity, &[(ms(0), 1000), (ms(0), 1000), (ms(0), 1)]);
    assert_eq!(times, [(ms(4), ms(4)), (ms(4), ms(4)), (Capacity::NEVER, Capacity::NEVER)]);
}

#[test]
fn amounts_and_means_are_those_of_the_graph() {
    let cell = opportunities(&[1, 3, 3, 5]);
    assert_eq!(cell.amount(ms(0), ms(5)), Bytes::new(4 * OPPORTUNITY));
    // After 1 ms, up to and with 6 ms: 3, 3, 5 and 6.
    assert_eq!(cell.amount(ms(1), ms(6)), Bytes::new(4 * OPPORTUNITY));
    assert_eq!(cell.mean_of_period(), Some(Rate::from_bps(4 * OPPORTUNITY * 8 * 200)));
    assert!(!cell.is_smooth());
    let saw = steps(&[(0, 8), (10, 4)], Some(20));
    assert_eq!(saw.mean(ms(0), ms(40)), Rate::from_mbps(6));
    assert_eq!(saw.mean(ms(5), ms(15)), Rate::from_mbps(6));
    assert_eq!(saw.rates(ms(40)), [(0, 8), (10, 4), (20, 8), (30, 4)].map(|(at, m)| (ms(at), Rate::from_mbps(m))));
    assert!(saw.is_smooth());
}

#[test]
fn refuses_capacity_that_is_zero_or_out_of_order() {
    let point = |at, mbps| CapacityPoint { at: Span::from_millis(at), burst: Bytes::ZERO, rate: Rate::from_mbps(mbps) };
    let period = |n| Some(Span::from_millis(n));
    for (points, period) in [
        (vec![], None),
        (vec![point(0, 0)], None),
        (vec![point(5, 1), point(2, 1)], None),
        (vec![point(0, 1), point(5, 1)], period(4)),
        (vec![point(0, 1)], period(0)),
        // The rate at the very end of the period lasts for no time.
        (vec![point(0, 0), point(5, 1)], period(5)),
    ] {
        assert_eq!(Capacity::new(points.clone(), period), None, "{points:?}");
    }
}

/// A queue that is drained at each instant from 1 on: packets that came before it leave with what is offered then, the
/// last perhaps in part, and the rest of it is lost. Returns when packets begin and depart.
fn drained(packets: &[(u64, u64)], mut offered: impl FnMut(u64) -> u64) -> Vec<(u64, u64)> {
    let mut waiting: VecDeque<(u64, u64)> = packets.iter().copied().collect();
    let (mut times, mut begun) = (Vec::new(), None);
    for at in 1u64.. {
        let mut left = offered(at);
        while left > 0
            && let Some((arrival, size)) = waiting.front_mut()
            && *arrival < at
        {
            let part = left.min(*size);
            let begins = *begun.get_or_insert(at);
            (left, *size) = (left - part, *size - part);
            if *size == 0 {
                waiting.pop_front();
                times.push((begins, at));
                begun = None;
            }
        }
        if waiting.is_empty() {
            break;
        }
    }
    times
}

/// The loop of `mm-link`, by microseconds: opportunities at these times of each period.
fn drained_by_opportunities(at_ms: &[u64], packets: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let period = at_ms.last().unwrap();
    let is_now = |now_ms: u64, at: u64| now_ms >= at && (now_ms - at).is_multiple_of(*period);
    drained(packets, |us| {
        let now = at_ms.iter().filter(|at| us % 1000 == 0 && is_now(us / 1000, **at));
        OPPORTUNITY * now.count() as u64
    })
}

/// At the end of each `grant` what the rates, in bytes per ps, offered in it.
fn drained_by_grants(rates: &[(u64, u64)], period: u64, grant: u64, packets: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut offered = 0;
    drained(packets, |at| {
        offered += rates.iter().rev().find(|(from, _)| *from <= (at - 1) % period).map_or(0, |(_, rate)| *rate);
        if at % grant == 0 { std::mem::take(&mut offered) } else { 0 }
    })
}

/// Rates in bytes per ps, each from a ps on, again after each period.
fn by_picoseconds(rates: &[(u64, u64)], period: u64) -> Capacity {
    let point = |(at, rate): &(u64, u64)| CapacityPoint {
        at: Span::from_picos(*at),
        burst: Bytes::ZERO,
        rate: Rate::from_bps(rate * 8_000_000_000_000),
    };
    Capacity::new(rates.iter().map(point).collect(), Some(Span::from_picos(period))).unwrap()
}

/// Arrivals in order of time, from gaps and sizes.
fn arrivals(gaps: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut at = 0;
    let next = |(gap, size): &(u64, u64)| {
        at += gap;
        (at, *size)
    };
    gaps.iter().map(next).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn opportunities_serve_as_the_loop_of_mm_link(
        gaps in prop::collection::vec(0u64..4, 1..12),
        packets in prop::collection::vec((0u64..3_000, 40u64..4_000), 1..40),
    ) {
        let mut at_ms: Vec<u64> = arrivals(&gaps.iter().map(|gap| (*gap, 0)).collect::<Vec<_>>()).iter().map(|a| a.0).collect();
        *at_ms.last_mut().unwrap() += 1;
        let packets = arrivals(&packets);
        let handed: Vec<(Time, u64)> = packets.iter().map(|(us, size)| (Time::ZERO + Span::from_micros(*us), *size)).collect();
        let us = |at: Time| at.nanos() / 1000;
        let times: Vec<_> = served(opportunities(&at_ms), &handed).iter().map(|(b, d)| (us(*b), us(*d))).collect();
        prop_assert_eq!(times, drained_by_opportunities(&at_ms, &packets));
    }

    #[test]
    fn rates_and_grants_serve_as_a_stepwise_queue(
        first in 1u64..9,
        more in prop::collection::vec((1u64..30, 0u64..9), 0..6),
        tail in 1u64..30,
        grant in 1u64..40,
        packets in prop::collection::vec((0u64..40, 1u64..120), 1..30),
    ) {
        let rates: Vec<(u64, u64)> = [(0, first)].into_iter().chain(arrivals(&more)).collect();
        let period = rates.last().unwrap().0 + tail;
        let packets = arrivals(&packets);
        let handed: Vec<(Time, u64)> = packets.iter().map(|(at, size)| (Time::from_picos(*at), *size)).collect();
        let times = |capacity: Capacity| -> Vec<(u64, u64)> {
            served(capacity, &handed).iter().map(|(begins, departs)| (begins.picos(), departs.picos())).collect()
        };
        let departures = |times: Vec<(u64, u64)>| times.into_iter().map(|(_, departs)| departs).collect::<Vec<_>>();
        let capacity = by_picoseconds(&rates, period);
        let granted = times(capacity.clone().in_grants(Span::from_picos(grant)));
        prop_assert_eq!(granted, drained_by_grants(&rates, period, grant, &packets));
        // Whole packets share a picosecond of the drained queue, and begin with it: only their ends agree.
        let drained = departures(drained_by_grants(&rates, period, 1, &packets));
        prop_assert_eq!(departures(times(capacity)), drained);
    }
}
