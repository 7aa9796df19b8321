//! How uneven what leaves the measured link is: its bytes, counted in windows of several lengths.
//!
//! Only windows of the first length are counted; the others are whole multiples of it. A window of length `w` with the
//! counts `X_1 ... X_n` has
//!
//! ```text
//! variation       = standard deviation / mean             deviation = standard deviation / w
//! allan variance  = mean of (X_2k - X_2k-1)^2 / 2                       ~ w^(2 H)
//! ```
//!
//! The second is the energy of the Haar wavelet at `w`, so that half its slope in logarithms estimates the Hurst
//! parameter (P. Abry, D. Veitch, "Wavelet analysis of long-range-dependent traffic", IEEE Trans. Inf. Theory 44(1),
//! 1998). Differences do not see the mean: its own error, which makes the variance of few long windows too small,
//! drops out. The logarithm of a mean of `m` squares has a variance near `2 / m`: lengths are weighted with `m`.

use crate::measure::bins::Bins;
use experiment::results::{Summary, WindowResult};
use packetscale_models::units::{Span, Time};

/// Counts in windows.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    lengths: Vec<Span>,
    /// Departures from the measured link.
    out: Bins,
    /// Packets that traffic sources sent into the path.
    into: Bins,
}

impl Windows {
    /// Whole windows between `from` and `to`; `None` without lengths.
    pub(crate) fn new(lengths: &[Span], from: Time, to: Time) -> Option<Box<Windows>> {
        let first = *lengths.first()?;
        let count = to.saturating_since(from) / first;
        let bins = || Bins::new(from, first, count as usize);
        Some(Box::new(Windows { lengths: lengths.to_vec(), out: bins(), into: bins() }))
    }

    pub(crate) fn left(&mut self, at: Time, bytes: u64) {
        self.out.add(at, bytes);
    }

    pub(crate) fn entered(&mut self, at: Time, bytes: u64) {
        self.into.add(at, bytes);
    }

    /// The figures of each length.
    pub(crate) fn results(&self) -> Vec<WindowResult> {
        self.lengths.iter().map(|length| figures(&self.out, *length)).collect()
    }

    /// The figures of all lengths together.
    pub(crate) fn summarise(&self, results: &[WindowResult], flows: bool, summary: &mut Summary) {
        summary.rate_variation = results.first().and_then(|result| result.variation);
        let entered = self.lengths.first().and_then(|length| figures(&self.into, *length).variation);
        let comparable = entered.filter(|entered| *entered > 0.0 && !flows);
        summary.variation_left = summary.rate_variation.zip(comparable).map(|(left, entered)| left / entered);
        summary.hurst = hurst(results);
    }
}

fn figures(bins: &Bins, length: Span) -> WindowResult {
    let together = (length / bins.step) as usize;
    let counts: Vec<f64> = bins.amounts.chunks_exact(together).map(|part| part.iter().sum::<u64>() as f64).collect();
    let n = counts.len() as f64;
    let mean = (n > 0.0).then(|| counts.iter().sum::<f64>() / n);
    let from_mean = |count: &f64| count - mean.unwrap_or_default();
    let squares: f64 = counts.iter().map(|count| from_mean(count) * from_mean(count)).sum();
    let deviation = (n > 1.0).then(|| (squares / (n - 1.0)).sqrt());
    let differences = counts.chunks_exact(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0]) / 2.0);
    let pairs = counts.len() / 2;
    WindowResult {
        window_s: length.as_secs_f64(),
        windows: counts.len() as u64,
        mean_bytes: mean,
        variation: deviation.zip(mean).filter(|(_, mean)| *mean > 0.0).map(|(deviation, mean)| deviation / mean),
        deviation_bps: deviation.map(|deviation| deviation * 8.0 / length.as_secs_f64()),
        allan_variance_bytes2: (pairs > 0).then(|| differences.sum::<f64>() / pairs as f64),
    }
}

/// Half the slope of the logarithm of the Allan variance over that of the length.
fn hurst(results: &[WindowResult]) -> Option<f64> {
    let varies = |result: &WindowResult| result.allan_variance_bytes2.filter(|variance| *variance > 0.0);
    let point = |result: &WindowResult| {
        let (x, y) = (libm::log(result.window_s), libm::log(varies(result)?));
        Some(((result.windows / 2) as f64, x, y))
    };
    let points = results.iter().map(point).collect::<Option<Vec<(f64, f64, f64)>>>()?;
    if points.len() < 3 {
        return None;
    }
    let mean = |of: fn((f64, f64, f64)) -> f64| {
        let (sum, weight) =
            points.iter().fold((0.0, 0.0), |(sum, all), point| (sum + point.0 * of(*point), all + point.0));
        sum / weight
    };
    let (x, y) = (mean(|point| point.1), mean(|point| point.2));
    let (products, squares) = points.iter().fold((0.0, 0.0), |(products, squares), (weight, at, value)| {
        (products + weight * (at - x) * (value - y), squares + weight * (at - x) * (at - x))
    });
    (squares > 0.0).then(|| products / squares / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: &[u64], lengths_ms: &[u64]) -> Windows {
        let lengths: Vec<Span> = lengths_ms.iter().map(|ms| Span::from_millis(*ms)).collect();
        let end = Time::ZERO + lengths[0] * counts.len() as u64;
        let mut windows = Windows::new(&lengths, Time::ZERO, end).unwrap();
        for (i, count) in counts.iter().enumerate() {
            windows.left(Time::ZERO + lengths[0] * i as u64, *count);
        }
        *windows
    }

    #[test]
    fn figures_use_whole_windows_only() {
        // 1 3 5 7 | 9: mean 5, sample variance (16 + 4 + 0 + 4 + 16) / 4 = 10, pairs (4 + 4) / 2 / 2 = 2.
        // Two together: 4 12, the 9 left out: mean 8, variance 32, one pair 64 / 2.
        let results = counted(&[1, 3, 5, 7, 9], &[5, 10]).results();
        let counts = |result: &WindowResult| (result.windows, result.mean_bytes, result.allan_variance_bytes2);
        assert_eq!(counts(&results[0]), (5, Some(5.0), Some(2.0)));
        assert!((results[0].variation.unwrap() - 10f64.sqrt() / 5.0).abs() < 1e-15);
        // 3.162 B, in 5 ms.
        assert!((results[0].deviation_bps.unwrap() - 5059.6).abs() < 0.1);
        assert_eq!(counts(&results[1]), (2, Some(8.0), Some(32.0)));
        assert!((results[1].variation.unwrap() - 32f64.sqrt() / 8.0).abs() < 1e-15);
    }

    #[test]
    fn ignores_values_outside_windows() {
        let from = Time::ZERO + Span::from_millis(10);
        let mut windows = Windows::new(&[Span::from_millis(5)], from, from + Span::from_millis(12)).unwrap();
        for ms in [9, 10, 14, 15, 20] {
            windows.left(Time::ZERO + Span::from_millis(ms), 1);
        }
        assert_eq!((windows.results()[0].windows, windows.results()[0].mean_bytes), (2, Some(1.5)));
    }

    #[test]
    fn a_window_longer_than_the_run_has_no_figures() {
        let results = counted(&[1], &[5, 10, 20]).results();
        assert_eq!(
            (results[0].mean_bytes, results[0].variation, results[0].allan_variance_bytes2),
            (Some(1.0), None, None)
        );
        assert_eq!((results[1].windows, results[1].mean_bytes, results[1].variation), (0, None, None));
        assert_eq!(hurst(&results), None);
    }

    /// Independent counts add up as any independent variables: H = 1/2. A walk's windows differ by sums of independent
    /// steps: the Allan variance of windows of length w grows as w^3, H = 3/2.
    #[test]
    fn hurst_parameter_of_white_noise_is_half_and_of_a_walk_three_halves() {
        let mut state = 1u64;
        let mut draw = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 54
        };
        let independent: Vec<u64> = (0..1 << 16).map(|_| draw()).collect();
        let mut level = 1u64 << 40;
        let walk: Vec<u64> = independent
            .iter()
            .map(|step| {
                level = level + step - 512;
                level
            })
            .collect();
        let lengths = [5, 10, 20, 40, 80, 160, 320];
        let of = |counts: &[u64]| hurst(&counted(counts, &lengths).results()).unwrap();
        assert!((of(&independent) - 0.5).abs() < 0.02, "{}", of(&independent));
        // Short windows still see the steps one by one: the slope is below its limit.
        assert!((of(&walk) - 1.5).abs() < 0.1, "{}", of(&walk));
    }
}
