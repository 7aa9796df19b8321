//! The command inside the module: a wheel cannot contain a separate program next to a module.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these words, the first of which is its own name. Returns the exit code.
#[pyfunction]
pub fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| packetscale_cli::code_with(&packetscale_cli::hosts(), words))
}
