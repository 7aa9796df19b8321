//! Queues and losses over many runs, with standard errors.
//!
//! The queue is counted in cells of 1/1024 of an octave of `q + 1`, 0.1 % at most, and a quantile interpolates within
//! its cell. That is far below the sampling error, and any number of packets fits in a quarter of a megabyte.
//!
//! Standard errors are the jackknife's: with runs in `G` groups and a statistic `s_g` of all groups but one,
//! `se^2 = (G - 1) / G * sum (s_g - mean s)^2`. It holds for means, and also for quantiles of the pool, to which runs
//! contribute very unequally.

use alloc::vec;
use alloc::vec::Vec;
use libm::sqrt;

/// Cells per octave are 2 to this power.
const FINENESS: u32 = 10;
/// Octaves of `q + 1`; enough for the largest number of flows.
const OCTAVES: usize = 28;

#[derive(Clone, Debug)]
pub(super) struct Histogram(Vec<u64>);

impl Histogram {
    #[inline]
    pub(super) fn add(&mut self, queue: f64) {
        let bits = (queue + 1.0).to_bits() >> (52 - FINENESS);
        let cell = (bits - (1.0f64.to_bits() >> (52 - FINENESS))) as usize;
        if let Some(count) = self.0.get_mut(cell) {
            *count += 1;
        }
    }

    /// Returns where a cell begins.
    fn edge(cell: usize) -> f64 {
        f64::from_bits(((cell as u64) << (52 - FINENESS)) + 1.0f64.to_bits()) - 1.0
    }
}

/// What the packets of some runs found.
#[derive(Clone, Debug)]
pub struct Tally {
    pub(super) histogram: Histogram,
    pub(super) waiting: f64,
    pub(super) below_one: u64,
    pub(super) accepted: u64,
    pub(super) offered: u64,
}

impl Default for Tally {
    fn default() -> Tally {
        let histogram = Histogram(vec![0; OCTAVES << FINENESS]);
        Tally { histogram, waiting: 0.0, below_one: 0, accepted: 0, offered: 0 }
    }
}

impl Tally {
    /// Adds another tally to this one.
    pub fn merge(&mut self, other: &Tally) {
        self.histogram.0.iter_mut().zip(&other.histogram.0).for_each(|(mine, theirs)| *mine += theirs);
        self.waiting += other.waiting;
        self.below_one += other.below_one;
        self.accepted += other.accepted;
        self.offered += other.offered;
    }

    /// The queue that a packet finds on average, in packets.
    pub fn mean_packets(&self) -> f64 {
        self.waiting / self.accepted as f64
    }

    /// The queue exceeded by this fraction of all packets, in packets.
    pub fn top_packets(&self, fraction: f64) -> f64 {
        let rank = (1.0 - fraction) * self.accepted as f64;
        let mut below = 0.0;
        for (cell, &count) in self.histogram.0.iter().enumerate() {
            let through = below + count as f64;
            if count > 0 && through >= rank {
                let (from, to) = (Histogram::edge(cell), Histogram::edge(cell + 1));
                return from + (to - from) * (rank - below) / count as f64;
            }
            below = through;
        }
        0.0
    }

    /// The fraction of packets that find less than one packet.
    pub fn no_queue_fraction(&self) -> f64 {
        self.below_one as f64 / self.accepted as f64
    }

    /// The fraction of packets lost.
    pub fn loss_ratio(&self) -> f64 {
        (self.offered - self.accepted) as f64 / self.offered as f64
    }
}

/// A value and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value for all runs together.
    pub value: f64,
    /// `None` for a single group.
    pub standard_error: Option<f64>,
}

/// A statistic of the pool of all groups, with the jackknife's standard error.
pub fn pooled(groups: &[Tally], statistic: impl Fn(&Tally) -> f64) -> Estimate {
    let pool = |left_out: Option<usize>| {
        let mut all = Tally::default();
        groups.iter().enumerate().filter(|&(g, _)| Some(g) != left_out).for_each(|(_, group)| all.merge(group));
        statistic(&all)
    };
    let value = pool(None);
    let count = groups.len() as f64;
    if groups.len() < 2 {
        return Estimate { value, standard_error: None };
    }
    let without: Vec<f64> = (0..groups.len()).map(|g| pool(Some(g))).collect();
    let mean = without.iter().sum::<f64>() / count;
    let squares: f64 = without.iter().map(|s| (s - mean) * (s - mean)).sum();
    Estimate { value, standard_error: Some(sqrt((count - 1.0) / count * squares)) }
}
