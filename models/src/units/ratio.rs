//! A fraction in fixed point, so that gains are the same on every machine.

/// A non-negative fraction in 1/2^32, up to 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ratio(u64);

impl Ratio {
    /// Nothing.
    pub const ZERO: Ratio = Ratio(0);
    /// The whole.
    pub const ONE: Ratio = Ratio(1 << 32);

    /// `numerator / denominator`, rounded down; zero when the denominator is zero, saturated above 2^32.
    pub const fn of(numerator: u64, denominator: u64) -> Ratio {
        if denominator == 0 {
            return Ratio::ZERO;
        }
        let q = ((numerator as u128) << 32) / denominator as u128;
        Ratio(if q > u64::MAX as u128 { u64::MAX } else { q as u64 })
    }

    /// From parts in 2^32.
    pub const fn from_q32(q32: u64) -> Ratio {
        Ratio(q32)
    }

    /// Parts in 2^32.
    pub const fn q32(self) -> u64 {
        self.0
    }

    /// The nearest fraction to `x`; negative and NaN become zero.
    pub fn from_f64(x: f64) -> Ratio {
        Ratio((x * 4_294_967_296.0 + 0.5) as u64)
    }

    /// For display and statistics.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 4_294_967_296.0
    }

    /// `n * self`, rounded down, saturated.
    pub const fn of_u64(self, n: u64) -> u64 {
        let p = (n as u128 * self.0 as u128) >> 32;
        if p > u64::MAX as u128 { u64::MAX } else { p as u64 }
    }

    /// `1 - self`, or zero.
    pub const fn complement(self) -> Ratio {
        Ratio(Ratio::ONE.0.saturating_sub(self.0))
    }
}
