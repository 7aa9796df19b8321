//! Size: how far ours is from print in the mean, in a single cell, and against a constant.
//!
//! With `d` the logarithm of ours over print: the bias is its mean, with the 95 % interval of Student's t; the limits of
//! agreement are `mean ± 1.96 s` (Bland and Altman, Lancet 327, 1986); the skill is `1 - sum d² / sum (print - mean print)²`
//! of logarithms: 1 is print itself, 0 the best constant.

use experiment::results::Interval;
use serde::Serialize;

/// Standard deviations within which 95 % of normal values lie.
const NINETY_FIVE: f64 = 1.96;

/// Factors of ours to print, and the skill.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Size {
    /// Geometric mean of ours over print.
    pub bias: f64,
    /// Its 95 % interval; none for fewer than three cells.
    pub bias_interval: Option<(f64, f64)>,
    /// Factors between which 95 % of the cells lie.
    pub limits: (f64, f64),
    /// Skill against the best constant; none where print is constant.
    pub skill: Option<f64>,
}

impl Size {
    /// Judges logarithms of print and ours; none for fewer than two.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Size> {
        if pairs.len() < 2 {
            return None;
        }
        let n = pairs.len() as f64;
        let distances: Vec<f64> = pairs.iter().map(|(printed, ours)| ours - printed).collect();
        let Interval { mean, half_width } = Interval::of(&distances)?;
        let deviation = (distances.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        let printed = pairs.iter().map(|pair| pair.0).sum::<f64>() / n;
        let spread: f64 = pairs.iter().map(|pair| (pair.0 - printed).powi(2)).sum();
        let error: f64 = distances.iter().map(|d| d * d).sum();
        Some(Size {
            bias: mean.exp(),
            bias_interval: half_width.map(|half| ((mean - half).exp(), (mean + half).exp())),
            limits: ((mean - NINETY_FIVE * deviation).exp(), (mean + NINETY_FIVE * deviation).exp()),
            skill: (spread > f64::EPSILON).then(|| 1.0 - error / spread),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logarithms(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
        pairs.iter().map(|(printed, ours)| (printed.ln(), ours.ln())).collect()
    }

    #[test]
    fn twice_print_has_bias_two_without_width() {
        let size = Size::of(&logarithms(&[(1.0, 2.0), (4.0, 8.0), (16.0, 32.0)])).unwrap();
        assert!((size.bias - 2.0).abs() < 1e-12 && (size.limits.1 - 2.0).abs() < 1e-9);
        // Distances ln 2 each; print is ln 4 from its mean twice: 1 - 3 ln²2 / (2 ln²4) = 1 - 3 / 8.
        assert!((size.skill.unwrap() - 0.625).abs() < 1e-12);
    }

    #[test]
    fn best_constant_has_no_skill() {
        let size = Size::of(&logarithms(&[(1.0, 4.0), (4.0, 4.0), (16.0, 4.0)])).unwrap();
        assert!(size.skill.unwrap().abs() < 1e-12 && (size.bias - 1.0).abs() < 1e-12);
    }
}
