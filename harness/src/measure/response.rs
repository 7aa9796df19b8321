//! How fast the flows answer when the available capacity changes: start-up, steps up and down, standing queues.

use crate::measure::bins::Bins;
use crate::measure::capacity::LinkCapacity;
use crate::measure::detail::Detail;
use packetscale_models::units::{Rate, Span, Time};

/// Half-width of the band around the available capacity in which a rate counts as arrived.
const BAND: f64 = 0.10;

/// Share of the available capacity that ends start-up.
const STARTED: f64 = 0.95;

/// Least peak of a standing queue.
const STANDING: Span = Span::from_millis(1);

/// ... and it is gone when it is below this share of its peak.
const GONE: f64 = 0.05;

/// From the start of the last flow until the flows' throughput over one round trip reaches 95 % of what was available
/// over that round trip. Seconds.
pub(crate) fn convergence(flows: &Bins, traffic: &Bins, capacity: &LinkCapacity, rtt: Span) -> Option<f64> {
    let per_rtt = rtt.picos().div_ceil(flows.step.picos()).max(1) as usize;
    let carried = capacity.amounts(flows.origin, flows.step, flows.amounts.len());
    let whole = |end: usize| carried[end - per_rtt..end].iter().sum::<f64>();
    let sum = |bins: &Bins, end: usize| bins.amounts[end - per_rtt..end].iter().sum::<u64>() as f64;
    (per_rtt..flows.amounts.len())
        .find(|end| sum(flows, *end) >= STARTED * (whole(*end) - sum(traffic, *end)))
        .map(|end| flows.step.as_secs_f64() * end as f64)
}

/// The flows' response to steps of the available capacity, in base round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StepResponse {
    pub(crate) rise: Option<f64>,
    pub(crate) fall: Option<f64>,
    pub(crate) settle: Option<f64>,
    pub(crate) hold: Option<f64>,
}

/// Reads the response off a sampled rate. `steps`: the available capacity from each time on.
pub(crate) fn step_response(rate: &[f64], step: Span, steps: &[(Time, Rate)], warm: Time, rtt: Span) -> StepResponse {
    let mut response = StepResponse::default();
    let end = Time::ZERO + step * rate.len() as u64;
    let sample = |at: Time| ((at.picos() + step.picos() / 2) / step.picos()) as usize;
    for (i, &(at, available)) in steps.iter().enumerate().skip(1) {
        let (before, available) = (steps[i - 1].1.bps() as f64, available.bps() as f64);
        let until = steps.get(i + 1).map_or(end, |next| next.0).min(end);
        if at < warm || (available - before).abs() < BAND * before || until <= at + rtt * 12 {
            continue;
        }
        let slice = &rate[sample(at).min(rate.len())..sample(until).min(rate.len())];
        if slice.is_empty() {
            continue;
        }
        let inside = |r: &f64| (r / available - 1.0).abs() <= BAND;
        let rtts = |n: usize| n as f64 * step.as_secs_f64() / rtt.as_secs_f64();
        let first = slice.iter().position(inside);
        let entered = first.map_or(f64::INFINITY, rtts);
        if available > before {
            worst(&mut response.rise, entered);
            let after = &slice[first.unwrap_or(slice.len())..];
            let held = after.iter().filter(|r| inside(r)).count() as f64 / after.len().max(1) as f64;
            response.hold = Some(response.hold.map_or(held, |least: f64| least.min(held)));
        } else {
            worst(&mut response.fall, entered);
            let last_out = slice.iter().rposition(|r| !inside(r)).map_or(0, |n| n + 1);
            worst(&mut response.settle, if last_out == slice.len() { f64::INFINITY } else { rtts(last_out) });
        }
    }
    response
}

fn worst(kept: &mut Option<f64>, new: f64) {
    *kept = Some(kept.map_or(new, |old| old.max(new)));
}

/// From the end of the highest standing queue's making until it is gone, in base round trips: from its peak until the
/// largest wait in an interval falls below 5 % of the peak.
pub(crate) fn drain(detail: &Detail, warm: Time, rtt: Span) -> Option<f64> {
    let bins = &detail.wait_max_ns;
    let first = (warm.picos() / bins.step.picos()) as usize;
    let after = bins.amounts.get(first..)?;
    let (peak_at, &peak) = after.iter().enumerate().max_by_key(|(i, wait)| (**wait, std::cmp::Reverse(*i)))?;
    if peak < STANDING.nanos() {
        return None;
    }
    let served = &detail.served.amounts[first..];
    let gone = (peak_at..after.len()).find(|i| served[*i] > 0 && (after[*i] as f64) < GONE * peak as f64);
    Some(gone.map_or(f64::INFINITY, |i| (i - peak_at) as f64 * bins.step.as_secs_f64() / rtt.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Span = Span::from_millis(1);

    fn at(ms: u64) -> Time {
        Time::ZERO + MS * ms
    }

    fn bps(rate: u64) -> Rate {
        Rate::from_bps(rate)
    }

    #[test]
    fn a_step_up_is_answered_when_the_rate_enters_the_band() {
        // 10 ms round trip; 7 becomes 10 at 1000 ms; the rate reaches 9 (the edge of the band) 30 ms later.
        let rate: Vec<f64> = (0..2000).map(|ms| if ms < 1030 { 7.0 } else { 9.0 }).collect();
        let response = step_response(&rate, MS, &[(at(0), bps(7)), (at(1000), bps(10))], Time::ZERO, MS * 10);
        assert_eq!(response.rise, Some(3.0));
        assert_eq!(response.hold, Some(1.0));
        assert_eq!(response.fall, None);
    }

    #[test]
    fn a_step_down_settles_at_the_last_entry_into_the_band() {
        // 10 becomes 7 at 1000 ms: 6.9 from 20 ms on, an undershoot to 6 between 40 and 80 ms, then 6.9.
        let level = |ms: u64| match ms {
            0..1020 => 10.0,
            1040..1080 => 6.0,
            _ => 6.9,
        };
        let rate: Vec<f64> = (0..2000).map(level).collect();
        let response = step_response(&rate, MS, &[(at(0), bps(10)), (at(1000), bps(7))], Time::ZERO, MS * 10);
        assert_eq!((response.fall, response.settle), (Some(2.0), Some(8.0)));
    }

    #[test]
    fn rate_that_misses_the_band_has_infinite_rise_time() {
        let response = step_response(&[5.0; 2000], MS, &[(at(0), bps(5)), (at(1000), bps(10))], Time::ZERO, MS * 10);
        assert_eq!(response.rise, Some(f64::INFINITY));
    }

    #[test]
    fn start_up_ends_at_95_percent_of_the_rate() {
        // 8 Mbit/s = 1000 bytes per ms; round trip 4 ms. Full rate from the 6th ms on: the first window of 4 ms with
        // at least 3800 bytes ends after 10 ms.
        let mut flows = Bins::new(Time::ZERO, MS, 50);
        let traffic = Bins::new(Time::ZERO, MS, 50);
        flows.amounts.iter_mut().skip(6).for_each(|bytes| *bytes = 1000);
        let found = convergence(&flows, &traffic, &LinkCapacity::constant(Rate::from_mbps(8)), MS * 4);
        assert!((found.unwrap() - 0.010).abs() < 1e-12);
    }
}
