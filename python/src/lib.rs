//! The module `packetscale._native`. The Python package `packetscale`, in the folder next to this one, wraps it, with types and
//! defaults of Python.
//!
//! It contains no computations: it converts Python's values to Rust's ([`values`]) and errors to exceptions ([`fault`]), and
//! runs long work on another thread, while the calling one handles Ctrl-C ([`waiting`]).

mod command;
mod controller;
mod fault;
mod gym;
mod judging;
mod page;
mod papers;
mod questions;
mod results;
mod run;
mod scenario;
mod shown;
mod streams;
mod training;
mod values;
mod waiting;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::command::main;
    #[pymodule_export]
    use crate::controller::{Ack, Expired, Left, Lost, Marks, Start, Undone, register};
    #[pymodule_export]
    use crate::gym::{Environments, guide};
    #[pymodule_export]
    use crate::judging::{evaluate, matrix};
    #[pymodule_export]
    use crate::papers::reproduce;
    #[pymodule_export]
    use crate::questions::{estimates, theory};
    #[pymodule_export]
    use crate::results::{Results, Table, read, report};
    #[pymodule_export]
    use crate::run::{merge, run, shard};
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::shown::Picture;
    #[pymodule_export]
    use crate::training::streams;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", packetscale_cli::PROGRAM.version())?;
        module.add("COMMIT", packetscale_cli::PROGRAM.commit())
    }
}
