//! Scores a method on streams with known available bandwidth.
//!
//! ```text
//! error = estimate / truth - 1
//! R2    = 1 - sum (estimate - truth)^2 / sum (truth - mean truth)^2
//! ```
//!
//! "Within 10 %" alone means little: with a range of 50 %, a constant guess in its middle is within 10 % for up to two
//! thirds of the streams. R2 is the part of the truth's own variance that the estimates explain. A constant has R2 = 0;
//! a method with R2 below 0 is worse than any constant.
//!
//! Source of the error and of the rule that only streams whose rates cover the truth are scored: Q. Yin, "TCP RAPID: from
//! theory to practice", section 5.3.3; of decision errors and ambiguity: sections 5.2 and 6.1. Here:
//!  1. Refused streams are counted separately, and left out of the shares; `all_within_10` counts them as missed.
//!  2. A stream with rates that do not cover the truth is judged by whether its estimate is, within 5 %, the end of the
//!     range that is nearer to the truth.

use crate::estimation::contract::{Abstain, Estimate};
use alloc::vec::Vec;

/// The estimate from one stream, and the truth.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The available bandwidth, bit/s.
    pub truth: f64,
    /// Lowest and highest rate of the stream, bit/s.
    pub range: (f64, f64),
    /// The estimate in bit/s, or why it is missing.
    pub estimate: Result<f64, Abstain>,
}

/// Shares, errors and explained variance over many streams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Streams with rates that cover the truth.
    pub covering: usize,
    /// Covering streams that were read.
    pub read: usize,
    /// Share of the streams read that are within 10 %.
    pub within_10: f64,
    /// Share of the streams read that are within 15 %.
    pub within_15: f64,
    /// Share of the covering streams that were read and are within 10 %.
    pub all_within_10: f64,
    /// Mean error.
    pub bias: f64,
    /// Part of the truth's variance that is explained; not a number if the truth does not vary.
    pub r2: f64,
    /// Mean of the truth over the streams read, bit/s.
    pub mean_truth: f64,
    /// Errors of the streams read, in order.
    pub errors: Vec<f64>,
    /// Share of the other streams that were read as the nearer end of their range.
    pub clamped: f64,
    /// Number of these other streams.
    pub outside: usize,
}

impl Score {
    /// Returns the score of these readings.
    pub fn of(readings: &[Reading]) -> Score {
        let covers = |reading: &&Reading| reading.range.0 <= reading.truth && reading.truth <= reading.range.1;
        let covering: Vec<&Reading> = readings.iter().filter(covers).collect();
        let pair = |reading: &&Reading| Some((reading.truth, reading.estimate.ok()?));
        let pairs: Vec<(f64, f64)> = covering.iter().filter_map(pair).collect();
        let read = pairs.len() as f64;
        let mean = |value: fn(&(f64, f64)) -> f64| pairs.iter().map(value).sum::<f64>() / read;
        let mean_truth = mean(|(truth, _)| *truth);
        let variance: f64 = pairs.iter().map(|(truth, _)| square(truth - mean_truth)).sum();
        let missed: f64 = pairs.iter().map(|(truth, estimate)| square(estimate - truth)).sum();
        let mut errors: Vec<f64> = pairs.iter().map(|(truth, estimate)| estimate / truth - 1.0).collect();
        errors.sort_by(f64::total_cmp);
        let below = |most: f64| errors.iter().filter(|error| error.abs() <= most).count() as f64;
        let outside: Vec<&Reading> = readings.iter().filter(|reading| !covers(reading)).collect();
        let clamped = outside.iter().filter(|reading| clamped(reading)).count() as f64;
        Score {
            covering: covering.len(),
            read: pairs.len(),
            within_10: below(0.1) / read,
            within_15: below(0.15) / read,
            all_within_10: below(0.1) / covering.len() as f64,
            bias: errors.iter().sum::<f64>() / read,
            r2: 1.0 - missed / variance,
            mean_truth,
            clamped: clamped / outside.len() as f64,
            outside: outside.len(),
            errors,
        }
    }

    /// Returns the error that this part of the readings does not exceed: the ceil(p n)-th of n in order. Not a number
    /// if no stream was read.
    pub fn quantile(&self, part: f64) -> f64 {
        let rank = (part * self.errors.len() as f64 - 1e-9).max(0.0) as usize;
        self.errors.get(rank.min(self.errors.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }
}

fn square(x: f64) -> f64 {
    x * x
}

/// Whether the estimate is the end of the range that is nearer to the truth, or beyond that end.
fn clamped(reading: &Reading) -> bool {
    const NEAR: f64 = 0.05;
    let (lowest, highest) = reading.range;
    match reading.estimate {
        Ok(estimate) if reading.truth > highest => estimate >= highest * (1.0 - NEAR),
        Ok(estimate) => estimate <= lowest * (1.0 + NEAR),
        Err(_) => false,
    }
}

/// A stream of one rate: its rate and the available bandwidth, both in bit/s, and the estimate.
type Judged = (f64, f64, Result<Estimate, Abstain>);

/// Shares of streams of one rate that were judged wrongly, or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decisions {
    /// Number of streams.
    pub streams: usize,
    /// Share for which "too high" or "not too high" was wrong.
    pub wrong: f64,
    /// Share for which the tests did not agree.
    pub ambiguous: f64,
    /// Share that was refused for another reason.
    pub refused: f64,
    /// Share for which the rate was above the available bandwidth.
    pub above: f64,
}

impl Decisions {
    /// Returns the shares for these streams.
    pub fn of(streams: &[Judged]) -> Decisions {
        let share =
            |is: fn(&Judged) -> bool| streams.iter().filter(|stream| is(stream)).count() as f64 / streams.len() as f64;
        Decisions {
            streams: streams.len(),
            wrong: share(|(rate, truth, said)| said.is_ok_and(|said| said.high.is_some() != (rate > truth))),
            ambiguous: share(|(_, _, said)| *said == Err(Abstain::Ambiguous)),
            refused: share(|(_, _, said)| said.is_err_and(|reason| reason != Abstain::Ambiguous)),
            above: share(|(rate, truth, _)| rate > truth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn reading(truth: f64, estimate: f64) -> Reading {
        Reading { truth, range: (4.0, 8.0), estimate: Ok(estimate) }
    }

    #[test]
    fn errors_and_explained_variance_match_hand_calculation() {
        // Errors 0, +10 %, -20 %; truths 5, 5, 6.5 with mean 5.5 and squares 0.25, 0.25, 1; misses 0, 0.25, 1.69.
        let score = Score::of(&[reading(5.0, 5.0), reading(5.0, 5.5), reading(6.5, 5.2), reading(9.0, 7.8)]);
        assert_eq!((score.covering, score.read, score.outside), (3, 3, 1));
        assert!((score.within_15 - 2.0 / 3.0).abs() < 1e-9);
        assert!((score.bias + 0.1 / 3.0).abs() < 1e-9);
        assert!((score.r2 - (1.0 - 1.94 / 1.5)).abs() < 1e-9);
        assert!((score.clamped - 1.0).abs() < 1e-9);
        assert!((score.quantile(0.5)).abs() < 1e-12 && (score.quantile(0.05) + 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_constant_explains_nothing_at_best() {
        let guess = |constant| [5.0, 6.0, 7.0].map(|truth| reading(truth, constant));
        assert!(Score::of(&guess(6.0)).r2.abs() < 1e-12);
        assert!(Score::of(&guess(6.5)).r2 < 0.0);
    }

    #[test]
    fn shares_exclude_refused_streams() {
        let refused = Reading { estimate: Err(Abstain::OneBatch), ..reading(5.0, 0.0) };
        let score = Score::of(&[reading(5.0, 5.0), refused]);
        assert_eq!((score.covering, score.read), (2, 1));
        assert!((score.within_10 - 1.0).abs() < 1e-12 && (score.all_within_10 - 0.5).abs() < 1e-12);
    }

    #[test]
    fn decisions_are_wrong_ambiguous_or_refused() {
        let rate = Rate::from_gbps(6);
        let streams = [
            (6e9, 5e9, Ok(Estimate::at_most(rate))),
            (6e9, 5e9, Ok(Estimate::at_least(rate))),
            (6e9, 7e9, Err(Abstain::Ambiguous)),
            (6e9, 7e9, Err(Abstain::OneBatch)),
        ];
        let found = Decisions::of(&streams);
        assert_eq!(found, Decisions { streams: 4, wrong: 0.25, ambiguous: 0.25, refused: 0.25, above: 0.5 });
    }
}
