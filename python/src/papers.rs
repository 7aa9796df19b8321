//! Figures of papers: published values compared with ours.

use crate::fault::{Fault, input, unwritable};
use crate::run::a_folder;
use crate::values;
use crate::waiting::{After, Stoppable, Watch, wait};
use experiment::results::reproduction;
use harness::runner::{Made, Runner};
use pyo3::prelude::*;
use simulator::Simulator;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// Reproduces a paper or a figure. See `packetscale.reproduce`.
#[pyfunction]
#[pyo3(signature = (what, quick, jobs, out, replace, progress))]
pub fn reproduce<'py>(
    py: Python<'py>,
    what: String,
    quick: bool,
    jobs: Option<NonZero<u16>>,
    out: Option<PathBuf>,
    replace: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let json = wait(py, progress, After::TheEnd, move |watch| {
        let jobs = jobs.map(NonZero::get);
        let papers = match out {
            Some(folder) => found(&what, quick, jobs, replace, &folder, true, watch)?,
            None => found(&what, quick, jobs, replace, a_folder()?.path(), false, watch)?,
        };
        serde_json::to_string(&papers).map_err(|error| Fault::Machine(error.to_string()))
    })?;
    values::read(py, &json)
}

fn found(
    what: &str,
    quick: bool,
    jobs: Option<u16>,
    replace: bool,
    out: &Path,
    with_page: bool,
    watch: &Watch,
) -> Result<Vec<reproduction::Paper>, Fault> {
    let host = &Stoppable { host: &Simulator, watch };
    let runner = Runner { host, program: &packetscale_cli::PROGRAM, jobs, replace, progress: watch };
    let mut made = Made::new();
    let mut papers = Vec::new();
    for (paper, figures) in
        packetscale_cli::read(packetscale_cli::chosen(Some(what)).map_err(input)?, quick, out).map_err(input)?
    {
        let folder = out.join(&paper.name);
        let outcome = |figure: &studies::papers::Figure| {
            packetscale_cli::outcome(figure, &folder.join(&figure.name), &runner, &mut made)
        };
        let outcome = paper.outcome(figures.iter().map(outcome).collect::<Result<_, _>>()?);
        if with_page {
            packetscale_cli::write_page(&outcome, &folder).map_err(unwritable(&folder))?;
        }
        papers.push(outcome);
    }
    Ok(papers)
}
