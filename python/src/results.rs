//! Results: tables that other libraries take by the Arrow PyCapsule interface, the files of the command, the page.

use crate::fault::{Fault, input, unwritable};
use crate::page;
use crate::shown::{self, Picture};
use crate::values;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ffi::FFI_ArrowSchema;
use experiment::results::{Batches, figures, tables};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// Results: tables, expectations, and how to reproduce them.
#[pyclass(frozen, module = "packetscale")]
pub struct Results(Arc<experiment::results::Results>);

impl Results {
    pub fn of(results: experiment::results::Results) -> Results {
        Results(Arc::new(results))
    }
}

/// One getter for each table of the results. `table` finds those that are added later.
macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        #[pymethods]
        impl Results {
            $($(#[$doc])* #[getter] fn $name(&self) -> PyResult<Table> { self.table(stringify!($name)) })*

            /// Returns the table of this name.
            fn table(&self, name: &str) -> PyResult<Table> {
                let mut all = tables(&self.0);
                let found = all.find(|table| table.name == name).map(|table| table.name);
                let results = Arc::clone(&self.0);
                found.map(|name| Table { results, name }).ok_or_else(|| {
                    let known: Vec<&str> = tables(&self.0).map(|table| table.name).collect();
                    input(format!("table: found \"{name}\"; expected one of {}", known.join(", "))).into()
                })
            }

            /// The names of all tables.
            #[getter]
            fn tables(&self) -> Vec<&'static str> {
                tables(&self.0).map(|table| table.name).collect()
            }

            /// Whether every expectation of the scenario was met.
            #[getter]
            fn met(&self) -> bool {
                self.0.expectations.iter().all(|expectation| expectation.met)
            }

            /// Each expectation: metric, selected, bound, found, met, why.
            #[getter]
            fn expectations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                values::read(py, &json(&self.0.expectations)?)
            }

            /// How to get the same numbers again: version, commit, the resolved scenario, seeds, machine.
            #[getter]
            fn manifest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                values::read(py, &json(&self.0.manifest)?)
            }

            /// Writes the interactive page: one HTML file without network requests.
            #[pyo3(signature = (path="report.html".into()))]
            fn report(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
                py.detach(|| page::write(&path, &::report::page(&self.0))).map_err(PyErr::from)
            }

            /// The names of the pictures of the page.
            #[getter]
            fn pictures(&self, py: Python<'_>) -> Vec<String> {
                py.detach(|| ::report::pictures(&self.0))
            }

            /// Returns a picture of the page, by default its first, for a notebook to show.
            #[pyo3(signature = (picture=None))]
            fn plot(&self, py: Python<'_>, picture: Option<&str>) -> PyResult<Picture> {
                py.detach(|| Picture::of(&self.0, picture))
            }

            /// Writes all files that the command writes but the page: CSV, Parquet, runs.ndjson, manifest.json.
            fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
                let written = || std::fs::create_dir_all(&folder).and_then(|()| experiment::results::write(&self.0, &folder));
                py.detach(written).map_err(unwritable(&folder)).map_err(PyErr::from)
            }

            fn __len__(&self) -> usize {
                self.0.runs.len()
            }

            /// The table that the command prints with --wide.
            fn __str__(&self) -> String {
                let print = experiment::results::Print { wide: true, colours: false };
                experiment::results::to_table(&self.0, print)
            }

            /// That table in a notebook.
            fn _repr_html_(&self, py: Python<'_>) -> String {
                py.detach(|| shown::results(&self.0))
            }

            fn __repr__(&self) -> String {
                format!("<packetscale.Results of {}: {} runs>", self.0.manifest.scenario_name, self.0.runs.len())
            }
        }
    };
}

getters! {
    /// One row per run: controller, replication, seed, swept values, and the figures of the run.
    runs,
    /// Cost of each run. It differs between machines.
    timing,
    /// One row per flow of each run.
    flows,
    /// Flows that arrived, by size.
    completions,
    /// Each flow that arrived and ended, with `record.transfers`.
    transfers,
    /// One row per phase, in which the same flows are active.
    phases,
    /// One row per phase and controller, where several share a run.
    shares,
    /// One row per source of traffic that does not react.
    traffic,
    /// Data that left the measured link, per window, with `record.windows`.
    windows,
    /// One row per link, with `record.links`.
    links,
    /// Curves over time: metric, flow, unit, time_s, value.
    series,
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| Fault::File(error.to_string()).into())
}

/// Reads results that the command or `Results.write` has written.
#[pyfunction]
pub fn read(py: Python<'_>, folder: PathBuf) -> PyResult<Results> {
    py.detach(|| experiment::results::read(&folder)).map(Results::of).map_err(|error| input(error).into())
}

/// Writes one page of the results in these folders. See `packetscale.report`.
#[pyfunction]
pub fn report(py: Python<'_>, folders: Vec<PathBuf>, out: PathBuf) -> PyResult<()> {
    py.detach(|| page::write(&out, &packetscale_cli::page_of(&folders).map_err(input)?)).map_err(PyErr::from)
}

/// A table of results. It is an Arrow stream: `polars.DataFrame(table)`, `pyarrow.table(table)`,
/// `pandas.DataFrame.from_arrow(table)`, DuckDB, ...
#[pyclass(frozen, module = "packetscale")]
pub struct Table {
    results: Arc<experiment::results::Results>,
    name: &'static str,
}

impl Table {
    /// Does something with the table.
    fn with<T>(&self, work: impl FnOnce(&experiment::results::Table<'_>) -> T) -> PyResult<T> {
        let found = tables(&self.results).find(|table| table.name == self.name);
        found.map(|table| work(&table)).ok_or_else(|| input(format!("no table {}", self.name)).into())
    }
}

#[pymethods]
impl Table {
    /// The name of the table, and of its files.
    #[getter]
    fn name(&self) -> &'static str {
        self.name
    }

    /// The names of its columns. A name ends in its unit where it has one.
    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        self.with(|table| table.columns.iter().map(|(name, _)| name.clone()).collect())
    }

    /// Its columns: a dict of name to (unit, meaning), without swept keys.
    #[getter]
    fn dictionary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dictionary = PyDict::new(py);
        let known = figures::tables().into_iter().find(|(name, _)| *name == self.name);
        for column in known.into_iter().flat_map(|(_, columns)| columns) {
            dictionary.set_item(column.name, (column.unit.symbol(), column.meaning))?;
        }
        Ok(dictionary)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| self.with(|table| table.rows().count()))
    }

    /// The table as an Arrow stream, made batch by batch as it is read.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to answer with the stream's own schema where another is wished for.
        let _ = requested_schema;
        let batches = Batches::of(&self.results, self.name)
            .ok_or_else(|| PyErr::from(input(format!("no table {}", self.name))))?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// The columns as an Arrow schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.with(|table| FFI_ArrowSchema::try_from(experiment::results::schema(table)))?;
        let schema = schema.map_err(|error| PyErr::from(Fault::Machine(error.to_string())))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The table as a polars.DataFrame.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.getattr("DataFrame")?.call1((slf,))
    }

    /// The table as a pyarrow.Table.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// The table as a pandas.DataFrame, by way of pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Table::to_pyarrow(slf)?.call_method0("to_pandas")
    }

    /// The text of the table's CSV file, as the command writes it.
    fn to_csv(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = Vec::new();
        let written = py.detach(|| self.with(|table| experiment::results::csv(table, &mut text)))?;
        written.map_err(|error| PyErr::from(Fault::File(error.to_string())))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The first rows, in a notebook.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.with(shown::first_rows))
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<packetscale.Table {}: {}>", self.name, self.columns()?.join(", ")))
    }
}
