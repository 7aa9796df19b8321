//! Distributions.

use serde::{Deserialize, Serialize};

/// A distribution, as counts over growing bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Upper edges of the bins, seconds, ascending.
    pub upper_s: Vec<f64>,
    /// Packets, or whatever is counted, in each bin.
    pub count: Vec<u64>,
}
