//! Runs of a scenario, in the simulator.

use crate::fault::{Fault, unwritable};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::waiting::{After, Stoppable, Watch, wait};
use ::scenario::Scenario as Resolved;
use pyo3::prelude::*;
use runner::{Made, Refusal, Runner};
use simulator::Simulator;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Makes the runs of a scenario. See `packetscale.run`.
#[pyfunction]
#[pyo3(signature = (scenario, jobs, out, replace, progress))]
pub fn run(
    py: Python<'_>,
    scenario: PyRef<'_, Scenario>,
    jobs: Option<NonZero<u16>>,
    out: Option<PathBuf>,
    replace: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Results> {
    let order = Order {
        scenario: Arc::clone(&scenario.resolved),
        path: scenario.path().to_path_buf(),
        jobs: jobs.map(NonZero::get),
        replace,
    };
    drop(scenario);
    wait(py, progress, After::TheEnd, move |watch| match out {
        Some(folder) => Ok(Results::of(order.make(watch, &folder)?)),
        None => {
            let folder = a_folder()?;
            Ok(Results::of(order.make(watch, folder.path())?))
        }
    })
}

/// A folder that goes away with what is returned.
pub fn a_folder() -> Result<tempfile::TempDir, Fault> {
    tempfile::tempdir().map_err(unwritable(&std::env::temp_dir()))
}

/// What is to be run, and how.
struct Order {
    scenario: Arc<Resolved>,
    path: PathBuf,
    jobs: Option<u16>,
    replace: bool,
}

impl Order {
    fn make(&self, watch: &Watch, folder: &Path) -> Result<results::Results, Fault> {
        let plan = self.scenario.plan();
        if plan.iter().any(|experiment| experiment.probe.is_some()) {
            let found = "probe streams, which `packetscale estimate --from-simulator` sends and judges";
            return Err(self.scenario.refuse(&self.path, "probe", found, "flows").into());
        }
        let host = &Stoppable { host: &Simulator, watch };
        let runner = Runner { host, program: &cli::PROGRAM, jobs: self.jobs, replace: self.replace, progress: watch };
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        runner.record(&self.scenario, &plan, name, folder, &mut Made::new()).map_err(|error| match error {
            runner::Error::Refused(Refusal::Unfit(unfit)) => {
                self.scenario.refuse(&self.path, &unfit.key, unfit.found, unfit.expected).into()
            }
            other => other.into(),
        })
    }
}
