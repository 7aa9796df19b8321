//! Scenarios: read, changed, resolved.

use crate::fault::Fault;
use crate::values::written;
use experiment::scenario::Scenario as Resolved;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments that recreate a [`Scenario`] in another process.
type Parts<'py> = (Bound<'py, PyAny>, String, PathBuf, Vec<String>);

/// What to run: a scenario file, checked and resolved. It does not change; `set` returns another one.
///
/// Quantities are text with a unit, as in the file: "10 Gbit/s", "30 ms", "2 MB", "1 bdp".
#[pyclass(frozen, module = "packetscale")]
pub struct Scenario {
    text: Arc<str>,
    path: PathBuf,
    changes: Vec<String>,
    pub resolved: Arc<Resolved>,
}

impl Scenario {
    fn read(text: Arc<str>, path: PathBuf, changes: Vec<String>) -> PyResult<Scenario> {
        let resolved = Arc::new(Resolved::parse(&text, &path, &changes).map_err(Fault::from)?);
        Ok(Scenario { text, path, changes, resolved })
    }

    /// The changes with which it was read, as `--set` takes them.
    pub fn changes(&self) -> &[String] {
        &self.changes
    }

    /// The file that it was read from, or as if from.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario file. Its paths are relative to its folder.
    ///
    /// Raises InputError with file, line and key.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Scenario> {
        let resolved = Arc::new(Resolved::read(&path, &[]).map_err(Fault::from)?);
        let text = std::fs::read_to_string(&path)?.into();
        Ok(Scenario { text, path, changes: Vec::new(), resolved })
    }

    /// Reads the text of a scenario as if it were the file `path`: for messages, and as the base of relative paths.
    #[staticmethod]
    #[pyo3(signature = (text, path=PathBuf::from("scenario.toml")))]
    fn from_text(text: &str, path: PathBuf) -> PyResult<Scenario> {
        Scenario::read(text.into(), path, Vec::new())
    }

    /// Returns the scenario with keys changed, as `--set` changes them: {"run.duration": "20 s", "flow.0.count": 4}. A
    /// list under "sweep.KEY" sweeps that key.
    fn set(&self, changes: &Bound<'_, PyDict>) -> PyResult<Scenario> {
        let change = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<String> {
            Ok(format!("{}={}", key.extract::<String>()?, written(&value)?))
        };
        let new = changes.iter().map(change).collect::<PyResult<Vec<String>>>()?;
        Scenario::read(Arc::clone(&self.text), self.path.clone(), [&self.changes[..], &new].concat())
    }

    /// Reads the text with these changes, as `--set` takes them.
    #[staticmethod]
    fn _read(text: &str, path: PathBuf, changes: Vec<String>) -> PyResult<Scenario> {
        Scenario::read(text.into(), path, changes)
    }

    /// Arguments for another process to read the same scenario: its controllers in Python, and its source.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let plan = self.resolved.plan();
        let own = plan.iter().flat_map(|experiment| experiment.controllers()).filter_map(|one| one.own.as_ref());
        let sources: BTreeSet<&str> = own.map(|own| &*own.source).collect();
        let module = py.import("packetscale._controller")?;
        let controllers = module.call_method1("given", (sources.into_iter().collect::<Vec<_>>(),))?;
        let path = std::path::absolute(&self.path)?;
        Ok((module.getattr("scenario")?, (controllers, self.text.to_string(), path, self.changes.clone())))
    }

    /// Its name: `run.name`, by default the name of its file.
    #[getter]
    fn name(&self) -> &str {
        self.resolved.name()
    }

    /// The seeds of its replications.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.resolved.seeds()
    }

    /// How many runs it plans: sweep points times controllers times replications.
    #[getter]
    fn planned(&self) -> usize {
        self.resolved.plan().len()
    }

    /// The resolved file, with changes and defaults filled in.
    fn to_toml(&self) -> String {
        self.resolved.to_toml()
    }

    fn __repr__(&self) -> String {
        format!("<packetscale.Scenario {}: {} runs>", self.name(), self.planned())
    }
}
