//! Curves, thinned to the capacity of a page, and distributions.
//!
//! A curve with too many points is cut into bins of equal length. The metric decides a bin's value: rates are averaged,
//! losses are summed, and longest delays keep the largest. Delays keep the smallest, the mean and the largest,
//! so that thinning hides no peak.

use experiment::results::{Histogram, Series, mean};
use serde::Serialize;

/// A thinned curve. Values are integers in units of `q`, so that they are short in the page.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Metric of the series.
    pub metric: String,
    /// Flow number.
    pub flow: Option<u32>,
    /// Time of the first value.
    pub t0: f64,
    /// Distance between values.
    pub dt: f64,
    /// Value of one unit.
    pub q: f64,
    /// The values.
    pub v: Vec<Option<i64>>,
    /// Smallest value in each bin, for delays where a bin holds several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lo: Vec<Option<i64>>,
    /// Largest value in each bin.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hi: Vec<Option<i64>>,
}

/// Steps between zero and the largest value: finer than any screen.
const RESOLUTION: f64 = 20_000.0;

/// Returns `series` in at most `most` bins.
pub fn thin(series: &Series, most: usize) -> Curve {
    let per_bin = series.values.len().div_ceil(most.max(1)).max(1);
    let bins: Vec<Vec<f64>> = series.values.chunks(per_bin).map(present).collect();
    let middle = match series.metric.as_str() {
        "losses" => sum,
        "queue_delay_max" => largest,
        _ => mean,
    };
    let spread = per_bin > 1 && matches!(series.metric.as_str(), "queue_delay" | "rtt");
    let centre = pick(&bins, middle);
    let (lo, hi) = if spread { (pick(&bins, smallest), pick(&bins, largest)) } else { (vec![], vec![]) };
    let top = centre.iter().chain(&hi).flatten().fold(0.0, |top: f64, v| top.max(v.abs()));
    let q = if series.metric == "losses" || top == 0.0 { 1.0 } else { short(top / RESOLUTION) };
    let quantise = |values: Vec<Option<f64>>| values.iter().map(|v| v.map(|v| (v / q).round() as i64)).collect();
    Curve {
        metric: series.metric.clone(),
        flow: series.flow,
        t0: short(series.start_s + series.step_s * (per_bin - 1) as f64 / 2.0),
        dt: short(series.step_s * per_bin as f64),
        q,
        v: quantise(centre),
        lo: quantise(lo),
        hi: quantise(hi),
    }
}

fn present(values: &[Option<f32>]) -> Vec<f64> {
    values.iter().flatten().map(|v| f64::from(*v)).filter(|v| v.is_finite()).collect()
}

fn pick(bins: &[Vec<f64>], of: fn(&[f64]) -> f64) -> Vec<Option<f64>> {
    bins.iter().map(|bin| (!bin.is_empty()).then(|| of(bin))).collect()
}

fn sum(bin: &[f64]) -> f64 {
    bin.iter().sum()
}

fn largest(bin: &[f64]) -> f64 {
    bin.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn smallest(bin: &[f64]) -> f64 {
    bin.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns `value` with nine significant digits; zero if it is not a number.
pub fn short(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.8e}").parse().unwrap_or(0.0) } else { 0.0 }
}

/// Returns pairs `(x, P(delay > x))` at the edges where the probability falls: from the lower edge of the first bin
/// with a count, where it is one, to the upper edge of the last, where it is zero. The very first bin begins at a tenth
/// of its upper edge, because a logarithmic axis has no zero.
pub fn ccdf(histogram: &Histogram) -> Vec<(f64, f64)> {
    let total: u64 = histogram.count.iter().sum();
    let mut above = total;
    let mut points = Vec::new();
    for (i, (upper, count)) in histogram.upper_s.iter().zip(&histogram.count).enumerate() {
        if *count == 0 || !upper.is_finite() {
            continue;
        }
        if points.is_empty() {
            let lower = if i == 0 { upper / 10.0 } else { histogram.upper_s[i - 1] };
            points.push((short(lower), 1.0));
        }
        above -= count;
        points.push((short(*upper), short(above as f64 / total as f64)));
    }
    points
}

/// Returns pairs `(x, P(value <= x))` at the edges where the probability rises, for the same bins.
pub fn cdf(histogram: &Histogram) -> Vec<(f64, f64)> {
    ccdf(histogram).into_iter().map(|(x, above)| (x, short(1.0 - above))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(metric: &str, values: &[f32]) -> Series {
        let values = values.iter().map(|v| Some(*v)).collect();
        Series { metric: metric.into(), flow: None, unit: "s".into(), start_s: 0.5, step_s: 1.0, values }
    }

    fn read(curve: &Curve, values: &[Option<i64>]) -> Vec<f64> {
        values.iter().map(|v| v.unwrap() as f64 * curve.q).collect()
    }

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-3)
    }

    #[test]
    fn a_short_curve_keeps_every_value() {
        let curve = thin(&series("rtt", &[1.0, 2.0, 3.0]), 10);
        assert!(near(&read(&curve, &curve.v), &[1.0, 2.0, 3.0]));
        assert!(curve.lo.is_empty() && curve.t0 == 0.5 && curve.dt == 1.0);
    }

    #[test]
    fn a_thinned_delay_keeps_its_extremes() {
        let curve = thin(&series("queue_delay", &[1.0, 9.0, 2.0, 4.0]), 2);
        assert!(near(&read(&curve, &curve.v), &[5.0, 3.0]));
        assert!(near(&read(&curve, &curve.lo), &[1.0, 2.0]));
        assert!(near(&read(&curve, &curve.hi), &[9.0, 4.0]));
        assert_eq!((curve.t0, curve.dt), (1.0, 2.0));
    }

    #[test]
    fn losses_add_up_and_rates_average() {
        let losses = thin(&series("losses", &[1.0, 0.0, 2.0, 5.0]), 2);
        assert!(near(&read(&losses, &losses.v), &[1.0, 7.0]));
        let rate = thin(&series("throughput", &[1.0, 0.0, 2.0, 5.0]), 2);
        assert!(near(&read(&rate, &rate.v), &[0.5, 3.5]));
    }

    #[test]
    fn missing_and_infinite_values_leave_holes() {
        let mut holed = series("rtt", &[1.0, f32::INFINITY]);
        holed.values.push(None);
        let curve = thin(&holed, 10);
        assert_eq!(curve.v.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn ccdf_counts_values_above_edges() {
        let histogram = Histogram { upper_s: vec![1.0, 2.0, 3.0, 4.0], count: vec![5, 0, 4, 1] };
        assert_eq!(ccdf(&histogram), [(0.1, 1.0), (1.0, 0.5), (3.0, 0.1), (4.0, 0.0)]);
        assert!(ccdf(&Histogram::default()).is_empty());
        assert_eq!(cdf(&histogram), [(0.1, 0.0), (1.0, 0.5), (3.0, 0.9), (4.0, 1.0)]);
    }
}
