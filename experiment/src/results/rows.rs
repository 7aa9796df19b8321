//! Runs as rows of tables, in the columns of the table of figures.

use crate::results::figures::{Definition, Kind, RUN, tables as written};
use crate::results::schema::{Results, Run};
use crate::results::swept::{SweptKey, swept};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::iter::once;

/// A table: its columns, and rows that are made as they are read. A million rows of values take gigabytes.
pub struct Table<'a> {
    /// Name of its files.
    pub name: &'static str,
    /// Names and kinds of its columns.
    pub columns: Vec<(String, Kind)>,
    /// Columns that identify a run, of which the first stands in every table.
    identity: Vec<Definition>,
    figures: Vec<Definition>,
    /// Swept keys, whose columns come after those that identify a run.
    swept: Vec<SweptKey>,
    runs: &'a [Run],
}

/// Returns all tables of the results.
pub fn tables(results: &Results) -> impl Iterator<Item = Table<'_>> {
    written().into_iter().map(|(name, columns)| Table::new(name, columns, &results.runs))
}

impl<'a> Table<'a> {
    fn new(name: &'static str, mut identity: Vec<Definition>, runs: &'a [Run]) -> Table<'a> {
        let swept = if name == "runs" { swept(runs) } else { Vec::new() };
        let figures = identity.split_off(if name == "runs" { RUN.len() } else { 1 });
        let named = |figure: &Definition| figure.kind.map(|kind| (figure.name.to_string(), kind));
        let params = swept.iter().map(|key| (key.column(), key.kind()));
        let columns = identity.iter().filter_map(named).chain(params).chain(figures.iter().filter_map(named));
        Table { name, columns: columns.collect(), identity, figures, swept, runs }
    }

    /// Its rows, with one value for each column. `Value::Null` marks a missing value.
    pub fn rows(&self) -> impl Iterator<Item = Vec<Value>> {
        (0..self.runs.len()).flat_map(|number| self.rows_of(number))
    }

    /// The rows of the run of this number; none where there is no such run.
    pub fn rows_of(&self, number: usize) -> impl Iterator<Item = Vec<Value>> {
        self.runs.get(number).into_iter().flat_map(move |run| {
            let objects = objects(self.name, run).map(move |object| with(object, "run", json!(number)));
            objects.map(move |object| self.row(&object, run))
        })
    }

    fn row(&self, object: &Map<String, Value>, run: &Run) -> Vec<Value> {
        let value = |figure: &Definition| object.get(figure.name).cloned().unwrap_or(Value::Null);
        let point = self.swept.iter().map(|key| run.params.get(&key.key).map_or(Value::Null, |text| key.value(text)));
        self.identity.iter().map(value).chain(point).chain(self.figures.iter().map(value)).collect()
    }
}

/// What a run has to say in a table, one object per row.
fn objects<'a>(table: &str, run: &'a Run) -> Box<dyn Iterator<Item = Map<String, Value>> + 'a> {
    match table {
        "runs" => {
            let mut row = run.summary.fields();
            row.extend(object(&json!({
                "controller": run.controller, "replication": run.replication, "seed": run.seed,
            })));
            Box::new(once(row))
        }
        "timing" => Box::new(once(run.summary.fields())),
        "flows" => Box::new(run.flows.iter().map(object)),
        "completions" => Box::new(run.completions.iter().map(object)),
        "transfers" => Box::new(run.transfers.iter().map(object)),
        "phases" => Box::new(run.phases.iter().map(object)),
        "shares" => Box::new(run.shares.iter().map(object)),
        "traffic" => {
            let numbered = run.traffic.iter().enumerate();
            Box::new(numbered.map(|(source, traffic)| with(object(traffic), "source", json!(source))))
        }
        "windows" => Box::new(run.windows.iter().map(object)),
        "links" => Box::new(run.links.iter().map(object)),
        _ => Box::new(points(run)),
    }
}

fn points(run: &Run) -> impl Iterator<Item = Map<String, Value>> {
    run.series.iter().flat_map(|series| {
        series.values.iter().enumerate().map(|(at, value)| {
            let time = nearest_ns(series.start_s + series.step_s * at as f64);
            let point = json!({
                "metric": series.metric, "flow": series.flow, "unit": series.unit, "time_s": time, "value": value,
            });
            point.as_object().cloned().unwrap_or_default()
        })
    })
}

/// A time without the rounding errors of its sum: `0.15`, not `0.15000000000000002`.
fn nearest_ns(time_s: f64) -> f64 {
    (time_s * 1e9).round() / 1e9
}

fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn with(mut object: Map<String, Value>, key: &str, value: Value) -> Map<String, Value> {
    object.insert(key.to_string(), value);
    object
}
