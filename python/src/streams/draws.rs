//! Random draws, and their scales.

use packetscale_models::units::Span;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Numbers from chance.
pub struct Draws(Pcg64);

impl Draws {
    /// Those of run number `run`.
    pub fn of_run(seed: u64, run: u64) -> Draws {
        Draws(Pcg64::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ run))
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.0.random_range(0..all.len())]
    }

    /// The seed of an experiment.
    pub fn seed(&mut self) -> u64 {
        self.0.random()
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    /// Equal ratios are equally likely.
    pub fn geometric(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }
}

/// Units of sizes and times.
pub struct Scale {
    pub capacity_bps: f64,
    /// Of cross traffic, in capacities.
    pub load: f64,
    /// Time of a stream at the rate that is left on average, and of one of its gaps.
    pub stream_s: f64,
    pub gap_s: f64,
}

/// A span of this many seconds.
pub fn span(seconds: f64) -> Span {
    Span::from_picos((seconds * 1e12) as u64)
}
