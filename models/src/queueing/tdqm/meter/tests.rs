//! Compares the bookkeeping with the literal definitions: `V` counted down step by step.

use super::*;
use crate::units::Random;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use proptest::prelude::*;

/// 8 Gbit/s: a byte takes a nanosecond. All instants are whole nanoseconds, so that steps of one are exact.
const RATE: Rate = Rate::from_gbps(8);

/// For each packet, the gap to the previous packet and the size.
type Arrivals = Vec<(u64, u64)>;

type Pairs = Vec<(u64, u64)>;

/// Returns what the meter finds for these arrivals, and then for a long rest.
fn metered(arrivals: &Arrivals, window: u64, shortest: u64, delay: Delay) -> Vec<Known> {
    let mut meter = Meter::new(RATE, Span::from_nanos(window), Span::from_nanos(shortest), delay);
    let mut known = Vec::new();
    let mut now = Time::ZERO;
    for (gap, size) in arrivals {
        now += Span::from_nanos(*gap);
        known.extend(core::iter::from_fn(|| meter.next(now)));
        meter.arrival(now, Bytes::new(*size));
    }
    let rest = Time::from_nanos(end_of(arrivals, window));
    known.extend(core::iter::from_fn(|| meter.next(rest)));
    known
}

/// A time some windows after everything is served.
fn end_of(arrivals: &Arrivals, window: u64) -> u64 {
    let work: u64 = arrivals.iter().map(|(gap, size)| gap + size).sum();
    (work / window + 3) * window
}

/// Steps through time. Returns busy periods as (length, twice the area), and busy and offered time per window.
fn stepped(arrivals: &Arrivals, window: u64, delay: Delay) -> (Pairs, Pairs) {
    let mut due: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    for (gap, size) in arrivals {
        at += gap;
        due.push((at, *size));
    }
    let (mut periods, mut windows) = (Vec::new(), Vec::new());
    let (mut waiting, mut in_service, mut length, mut doubled) = (VecDeque::new(), 0u64, 0, 0);
    let mut coming = due.into_iter().peekable();
    for t in 0..end_of(arrivals, window) {
        if t % window == 0 {
            windows.push((0, 0));
        }
        let this = windows.last_mut().expect("a window has begun");
        while let Some((_, size)) = coming.next_if(|(when, _)| *when == t) {
            waiting.push_back(size);
            this.1 += size;
        }
        if in_service == 0 {
            in_service = waiting.pop_front().unwrap_or(0);
        }
        if in_service > 0 {
            let waits = 2 * waiting.iter().sum::<u64>();
            // Over a step, the mean of the service time left is half a step below its value at the beginning.
            doubled += if delay == Delay::Waiting { waits } else { waits + 2 * in_service - 1 };
            length += 1;
            in_service -= 1;
            this.0 += 1;
        } else if length > 0 {
            periods.push((length, doubled));
            (length, doubled) = (0, 0);
        }
    }
    (periods, windows)
}

fn eta_of((length, doubled): (u64, u64)) -> f64 {
    doubled as f64 / (length * length) as f64
}

/// Returns the values of eta: long periods one by one, short ones joined.
fn etas(periods: &[(u64, u64)], shortest: u64) -> Vec<f64> {
    let (mut values, mut together) = (Vec::new(), (0, 0));
    for &(length, doubled) in periods {
        if length > shortest {
            values.push(eta_of((length, doubled)));
            continue;
        }
        together = (together.0 + length, together.1 + doubled);
        if together.0 > shortest {
            values.push(eta_of(core::mem::take(&mut together)));
        }
    }
    values
}

fn assert_same(arrivals: &Arrivals, window: u64, shortest: u64, delay: Delay) -> Result<(), TestCaseError> {
    let known = metered(arrivals, window, shortest, delay);
    let (periods, windows) = stepped(arrivals, window, delay);
    let found = known.iter().filter_map(|known| match known {
        Known::Burstiness(eta) => Some(*eta),
        _ => None,
    });
    for (found, expected) in found.clone().zip(etas(&periods, shortest)) {
        // Integers on both sides until the last division, in picoseconds here and nanoseconds there.
        prop_assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected, "{} {}", found, expected);
    }
    prop_assert_eq!(found.count(), etas(&periods, shortest).len());
    let mut found = Vec::new();
    for known in &known {
        match known {
            Known::Window { busy, offered, .. } => found.push((*busy, *offered)),
            Known::IdleWindows(count) => (0..*count).for_each(|_| found.push((0.0, 0.0))),
            Known::Burstiness(_) => {}
        }
    }
    let share = |part: u64| part as f64 / window as f64;
    let expected: Vec<(f64, f64)> = windows.iter().map(|(busy, offered)| (share(*busy), share(*offered))).collect();
    prop_assert_eq!(found, expected);
    Ok(())
}

proptest! {
    #[test]
    fn eta_and_rho_match_their_definitions(
        arrivals in prop::collection::vec((0u64..40, 1u64..30), 1..60),
        window in 1u64..200,
        shortest in prop_oneof![Just(0u64), 1u64..100],
        delay in prop_oneof![Just(Delay::Unfinished), Just(Delay::Waiting)],
    ) {
        assert_same(&arrivals, window, shortest, delay)?;
    }

    /// Long rests, and packets that arrive at the instant at which the link would rest.
    #[test]
    fn eta_and_rho_match_with_idle_times_and_ties(
        arrivals in prop::collection::vec((prop_oneof![Just(0u64), Just(10), Just(1000)], Just(10u64)), 1..40),
        window in 1u64..50,
    ) {
        assert_same(&arrivals, window, 0, Delay::Unfinished)?;
    }

    #[test]
    fn eta_is_between_one_over_n_and_one(gaps in prop::collection::vec(0u64..10, 0..50)) {
        // Ten bytes each, no rest between them: one busy period.
        let arrivals: Arrivals = core::iter::once((0, 10)).chain(gaps.iter().map(|gap| (*gap, 10))).collect();
        let n = arrivals.len() as f64;
        for known in metered(&arrivals, 100_000, 0, Delay::Unfinished) {
            if let Known::Burstiness(eta) = known {
                prop_assert!(eta >= 1.0 / n * (1.0 - 1e-12) && eta <= 1.0, "{} of {}", eta, n);
            }
        }
    }
}

fn only_eta(arrivals: &Arrivals, shortest: u64, delay: Delay) -> Vec<f64> {
    metered(arrivals, 1_000_000, shortest, delay)
        .into_iter()
        .filter_map(|known| match known {
            Known::Burstiness(eta) => Some(eta),
            _ => None,
        })
        .collect()
}

/// Four packets at once: 1. Four just in time, one after the other: the area is four triangles, 4 * 10^2 / 40^2 = 1/4.
/// Without the packet in service each value is less by a quarter.
#[test]
fn eta_is_one_at_once_and_one_over_n_just_in_time() {
    assert_eq!(only_eta(&alloc::vec![(0, 10); 4], 0, Delay::Unfinished), [1.0]);
    assert_eq!(only_eta(&alloc::vec![(10, 10); 4], 0, Delay::Unfinished), [0.25]);
    assert_eq!(only_eta(&alloc::vec![(0, 10); 4], 0, Delay::Waiting), [0.75]);
    assert_eq!(only_eta(&alloc::vec![(10, 10); 4], 0, Delay::Waiting), [0.0]);
}

/// Lone packets of 10 are joined beyond 25: three of them give 3 * 100 / 30^2 = 1/3. Five at once are 50 long and remain
/// separate.
#[test]
fn joins_short_busy_periods_around_a_long_one() {
    let arrivals = alloc::vec![(0, 10), (100, 10), (100, 10), (0, 10), (0, 10), (0, 10), (0, 10), (100, 10)];
    let found = only_eta(&arrivals, 25, Delay::Unfinished);
    assert_eq!(found, [1.0, 1.0 / 3.0]);
}

/// Packets of 10 at 0 and 4. Up to 6: 10 t - t^2/2 to 4 (32), then 16 t' - t'^2/2 - from 16 at 4 (30): 62 / (36 / 2).
#[test]
fn an_unfinished_busy_period_has_a_provisional_eta() {
    let mut meter = Meter::new(RATE, Span::from_secs(1), Span::ZERO, Delay::Unfinished);
    meter.arrival(Time::ZERO, Bytes::new(10));
    meter.arrival(Time::from_nanos(4), Bytes::new(10));
    assert_eq!(meter.so_far(Time::from_nanos(6)), Some(62.0 / 18.0));
    assert_eq!(meter.so_far(Time::from_nanos(21)), None);
}

/// Ramanujan's function of n, divided by n: the mean of eta over busy periods of n packets for Poisson arrivals,
/// whatever the load (Knuth, TAOCP 1, section 1.2.11.3, has the function).
fn closed_form(n: u32) -> f64 {
    let n = f64::from(n);
    let (mut sum, mut term, mut k) = (0.0, 1.0, 1.0);
    while k <= n {
        sum += term;
        term *= (n - k) / n;
        k += 1.0;
    }
    sum / n
}

#[test]
fn mean_eta_of_poisson_arrivals_matches_the_closed_form() {
    const SIZE: u64 = 1000;
    for load in [0.4, 0.8] {
        let mut random = Random::new(9);
        let mut meter = Meter::new(RATE, Span::from_secs(100), Span::ZERO, Delay::Unfinished);
        // Sum, sum of squares and number of values of eta, by number of packets in the period.
        let mut by_length = [(0.0, 0.0, 0u32); 7];
        let (mut now, mut packets) = (Time::ZERO, 0usize);
        for _ in 0..400_000 {
            let gap = -(1.0 - random.uniform()).ln() * SIZE as f64 * 1000.0 / load;
            now += Span::from_picos(gap as u64);
            while let Some(known) = meter.next(now) {
                if let (Known::Burstiness(eta), Some(entry)) = (known, by_length.get_mut(packets)) {
                    *entry = (entry.0 + eta, entry.1 + eta * eta, entry.2 + 1);
                }
                packets = 0;
            }
            meter.arrival(now, Bytes::new(SIZE));
            packets += 1;
        }
        for (n, (sum, squares, count)) in by_length.into_iter().enumerate().skip(1) {
            let (mean, count) = (sum / f64::from(count), f64::from(count));
            let error = ((squares / count - mean * mean).max(0.0) / count).sqrt();
            let expected = closed_form(n as u32);
            assert!((mean - expected).abs() <= 4.0 * error + 1e-12, "load {load}, {n}: {mean} +- {error}, {expected}");
            assert!(count > 1000.0, "load {load}: only {count} of {n}");
        }
    }
}
