//! How far an average of the integer laws may lie from its reading in floating point: the rounding in
//! `law/include/queueing/numbers.h`, added up. Known before any comparison.

/// A unit of the averages, 2^-24.
pub(crate) const Q24: f64 = 1.0 / 16_777_216.0;
/// A unit of the fractions, 2^-31.
pub(crate) const Q31: f64 = 1.0 / 2_147_483_648.0;
/// A product is rounded to within this part of a unit.
const ROUNDING: f64 = 0.5 + 1.0 / 2048.0;
/// What the reading itself may be off: 2^-53 of its value at each step, with values below 2^10 and weights above 2^-10.
const READING: f64 = 1.0 / 8_589_934_592.0;

/// A fraction in Q31, and what it stands for exactly.
pub(crate) fn quantised(fraction: f64) -> (u32, f64) {
    let units = (fraction / Q31).round();
    (units as u32, units * Q31)
}

/// The bound of one average, step by step.
pub(crate) struct AverageError {
    weight: f64,
    bound: f64,
}

impl AverageError {
    pub fn new(weight: f64) -> AverageError {
        AverageError { weight, bound: 0.0 }
    }

    pub fn bound(&self) -> f64 {
        self.bound + READING
    }

    /// The error of `(1 - weight)^count`: errors of squares double with each squaring and shrink with the power itself.
    fn of_power(&self, count: u64) -> f64 {
        let steps = (2.0 * count as f64).min(1.5 / self.weight) + 34.0;
        if count < 2 { 0.0 } else { steps * Q31 * ROUNDING }
    }

    /// `count` samples came that lie `distance` from the average, each wrong by at most `sample`.
    pub fn step(&mut self, distance: f64, count: u64, sample: f64) {
        if count == 0 {
            return;
        }
        let stays = (1.0 - self.weight).powi(i32::try_from(count).unwrap_or(i32::MAX));
        self.bound = stays * self.bound
            + (1.0 - stays) * sample
            + (distance + self.bound) * self.of_power(count)
            + ROUNDING * Q24;
    }
}
