//! Distributions of waiting times and durations, in nanoseconds.

use hdrhistogram::Histogram;

/// The median and the 99th percentile of waiting times, seconds; `None` where no packet passed.
pub(crate) type Waits = Option<(f64, f64)>;

/// The longest time that is resolved: 1000 s.
const LONGEST_NS: u64 = 1_000_000_000_000;

/// An empty distribution, to three digits.
pub(crate) fn histogram_ns() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("bounds are in range")
}

/// The median and the 99th percentile.
pub(crate) fn quantiles(waits_ns: &Histogram<u64>) -> Waits {
    let quantile_s = |q| waits_ns.value_at_quantile(q) as f64 * 1e-9;
    (!waits_ns.is_empty()).then(|| (quantile_s(0.5), quantile_s(0.99)))
}
