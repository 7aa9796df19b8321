//! Flows that arrive during a run, and end when all their data has arrived.

use super::FlowSpec;
use crate::scenario::canonical;
use packetscale_models::units::{Bytes, Ratio, Span, Time};
use serde::Serialize;
use std::path::PathBuf;

/// The flows of one `[[flow]]` table with `arrivals`. They have everything in common but their starts and sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Arrivals {
    /// Number of the table, from 0.
    pub table: u32,
    /// What its flows have in common.
    pub flow: FlowSpec,
    /// When they arrive.
    pub process: ArrivalProcess,
    /// How much each sends, as bytes on the wire.
    pub size: SizeLaw,
    /// None arrives before this ...
    pub start: Time,
    /// ... or from this time on.
    pub stop: Time,
}

/// When flows arrive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum ArrivalProcess {
    /// Independent of each other, with this mean time between two.
    Poisson(Span),
    /// The same. They fill this share of the slowest link of their route.
    Load(Ratio),
    /// At these times, in order.
    Times(Vec<Time>),
    /// As listed in a file.
    Listed {
        /// The file.
        #[serde(serialize_with = "canonical::file::serialize")]
        file: PathBuf,
        /// Start and size of each, in order of start: its content.
        #[serde(skip)]
        flows: Vec<(Time, Bytes)>,
    },
    /// On request: each client requests its next flow after its last is complete, and a pause.
    Requests {
        /// Number of clients.
        clients: u32,
        /// Mean pause, drawn from the exponential law; zero: none.
        think: Span,
    },
}

/// How much a flow sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum SizeLaw {
    /// This much.
    Fixed(Bytes),
    /// By the exponential law with this mean; one byte at least.
    Exponential(Bytes),
    /// By the bounded Pareto law.
    Pareto {
        /// Smallest size.
        least: Bytes,
        /// Largest size.
        most: Bytes,
        /// Tail index.
        shape: f64,
    },
    /// By a distribution in a file.
    Cdf {
        /// The file.
        #[serde(serialize_with = "canonical::file::serialize")]
        file: PathBuf,
        /// Its points: a size, and the share of the flows that are not larger. Both rise, the share to 1. Between two
        /// points the law is uniform. The first point's share has its size exactly.
        #[serde(skip)]
        points: Vec<(Bytes, f64)>,
    },
    /// As listed in the file of the arrivals.
    Listed,
}

impl Arrivals {
    /// The files that its settings come from.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let listed = match &self.process {
            ArrivalProcess::Listed { file, .. } => Some(file),
            _ => None,
        };
        let sizes = match &self.size {
            SizeLaw::Cdf { file, .. } => Some(file),
            _ => None,
        };
        listed.into_iter().chain(sizes)
    }
}
