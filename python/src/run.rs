//! Runs of a scenario, in the simulator.

use crate::fault::{Fault, input, unwritable};
use crate::results::Results;
use crate::scenario::Scenario;
use crate::waiting::{After, Stoppable, Watch, wait};
use experiment::scenario::Scenario as Resolved;
use harness::runner::{Made, Refusal, Runner, Shard, Shards, Swept};
use pyo3::prelude::*;
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
    let order = Order::of(&scenario, jobs, replace);
    drop(scenario);
    wait(py, progress, After::TheEnd, move |watch| match out {
        Some(folder) => Ok(Results::of(order.make(watch, &folder)?)),
        None => {
            let folder = a_folder()?;
            Ok(Results::of(order.make(watch, folder.path())?))
        }
    })
}

/// Makes the missing runs of one shard of a scenario in `out`, one at a time. Returns the shard's number of runs.
#[pyfunction]
#[pyo3(signature = (scenario, number, of, out, replace))]
pub fn shard(
    py: Python<'_>,
    scenario: PyRef<'_, Scenario>,
    number: u32,
    of: u32,
    out: PathBuf,
    replace: bool,
) -> PyResult<usize> {
    let order = Order::of(&scenario, NonZero::new(1), replace);
    drop(scenario);
    let shard =
        Shard::new(number, of).ok_or_else(|| input(format!("shards: found {number} of {of}; expected fewer")))?;
    wait(py, None, After::TheEnd, move |watch| {
        order.with(watch, |runner, swept| Ok(runner.shard(swept, shard, &out, &Made::new())?.runs))
    })
}

/// Writes the results of a scenario from its complete shards in `out`.
#[pyfunction]
#[pyo3(signature = (scenario, out, replace))]
pub fn merge(py: Python<'_>, scenario: PyRef<'_, Scenario>, out: PathBuf, replace: bool) -> PyResult<Results> {
    let order = Order::of(&scenario, None, replace);
    drop(scenario);
    wait(py, None, After::TheEnd, move |watch| {
        order
            .with(watch, |runner, swept| runner.merge(swept, Shards::read(&out, &packetscale_cli::PROGRAM)?, &out))
            .map(Results::of)
    })
}

/// A temporary folder, deleted when dropped.
pub fn a_folder() -> Result<tempfile::TempDir, Fault> {
    tempfile::tempdir().map_err(unwritable(&std::env::temp_dir()))
}

/// A plan, and how to run it.
struct Order {
    scenario: Arc<Resolved>,
    path: PathBuf,
    changes: Vec<String>,
    jobs: Option<u16>,
    replace: bool,
}

impl Order {
    fn of(scenario: &Scenario, jobs: Option<NonZero<u16>>, replace: bool) -> Order {
        let (path, changes) = (scenario.path().to_path_buf(), scenario.changes().to_vec());
        Order { scenario: Arc::clone(&scenario.resolved), path, changes, jobs: jobs.map(NonZero::get), replace }
    }

    fn make(&self, watch: &Watch, folder: &Path) -> Result<experiment::results::Results, Fault> {
        self.with(watch, |runner, swept| {
            runner.record(swept.scenario, swept.plan, swept.name(), folder, &mut Made::new())
        })
    }

    /// Applies a runner to the plan.
    fn with<T>(
        &self,
        watch: &Watch,
        work: impl FnOnce(&Runner<'_>, &Swept<'_>) -> Result<T, harness::runner::Error>,
    ) -> Result<T, Fault> {
        let plan = self.scenario.plan();
        if plan.iter().any(|experiment| experiment.probe.is_some()) {
            let found = "probe streams, which `packetscale estimate --from-simulator` sends and judges";
            return Err(self.scenario.refuse(&self.path, "probe", found, "flows").into());
        }
        let host = &Stoppable { host: &Simulator, watch };
        let runner = Runner {
            host,
            program: &packetscale_cli::PROGRAM,
            jobs: self.jobs,
            replace: self.replace,
            progress: watch,
        };
        let swept = Swept { scenario: &self.scenario, plan: &plan, file: &self.path, changes: &self.changes };
        work(&runner, &swept).map_err(|error| match error {
            harness::runner::Error::Refused(Refusal::Unfit(unfit)) => {
                self.scenario.refuse(&self.path, &unfit.key, unfit.found, unfit.expected).into()
            }
            other => other.into(),
        })
    }
}
