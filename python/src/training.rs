//! Probe streams to learn from.

use crate::fault::{Fault, input, unwritable};
use crate::streams::{NoStreams, Order, generate};
use crate::waiting::{After, wait};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Writes probe streams with what was really available. See `packetscale.training.streams`.
#[pyfunction]
#[pyo3(signature = (rows, gaps, runs, seed, settings))]
pub fn streams(
    py: Python<'_>,
    rows: PathBuf,
    gaps: Option<PathBuf>,
    runs: u64,
    seed: u64,
    settings: BTreeMap<String, String>,
) -> PyResult<()> {
    let order = Order { rows, gaps, runs, seed, settings };
    wait(py, None, After::TheEnd, move |watch| {
        generate(order, || watch.stopped()).map_err(|why| match why {
            NoStreams::Wrong(message) => input(message),
            NoStreams::Unwritable { file, error } => unwritable(&file)(error),
            NoStreams::Stopped => Fault::Interrupted,
        })
    })
}
