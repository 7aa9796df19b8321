//! Controllers judged by RFC 9743, and in pairs.

use crate::fault::Fault;
use crate::run::a_folder;
use crate::values;
use crate::waiting::{After, Stoppable, Watch, wait};
use harness::runner::{Error, Runner};
use pyo3::prelude::*;
use serde::Serialize;
use simulator::Simulator;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Evaluates a controller by RFC 9743. See `packetscale.evaluate`.
#[pyfunction]
#[pyo3(signature = (controller, only, quick, jobs, out, replace, progress))]
#[expect(clippy::too_many_arguments, reason = "those of the function in Python")]
pub fn evaluate<'py>(
    py: Python<'py>,
    controller: String,
    only: Option<String>,
    quick: bool,
    jobs: Option<NonZero<u16>>,
    out: Option<PathBuf>,
    replace: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    answer(py, jobs, out, replace, progress, move |runner, folder| {
        let controller = packetscale_cli::controller_written(&controller);
        studies::evaluation::Asked { controller: &controller, only: only.as_deref(), quick }.answer(runner, folder)
    })
}

/// Runs controllers in pairs. See `packetscale.matrix`.
#[pyfunction]
#[pyo3(signature = (controllers, only, quick, jobs, out, replace, progress))]
#[expect(clippy::too_many_arguments, reason = "those of the function in Python")]
pub fn matrix<'py>(
    py: Python<'py>,
    controllers: Vec<String>,
    only: Vec<String>,
    quick: bool,
    jobs: Option<NonZero<u16>>,
    out: Option<PathBuf>,
    replace: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    answer(py, jobs, out, replace, progress, move |runner, folder| {
        let controllers: Vec<String> =
            controllers.iter().map(|word| packetscale_cli::controller_written(word)).collect();
        studies::matrix::Asked { controllers: &controllers, only: &only, quick }.answer(runner, folder)
    })
}

/// Runs the question, with its page and data in `out`, or in a temporary folder.
fn answer<'py, Answer: Serialize>(
    py: Python<'py>,
    jobs: Option<NonZero<u16>>,
    out: Option<PathBuf>,
    replace: bool,
    progress: Option<Py<PyAny>>,
    ask: impl FnOnce(&Runner<'_>, &Path) -> Result<Answer, Error> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let json = wait(py, progress, After::TheEnd, move |watch: &Watch| {
        let host = &Stoppable { host: &Simulator, watch };
        let jobs = jobs.map(NonZero::get);
        let runner = Runner { host, program: &packetscale_cli::PROGRAM, jobs, replace, progress: watch };
        let answer = match out {
            Some(folder) => ask(&runner, &folder)?,
            None => ask(&runner, a_folder()?.path())?,
        };
        serde_json::to_string(&answer).map_err(|error| Fault::Machine(error.to_string()))
    })?;
    values::read(py, &json)
}
