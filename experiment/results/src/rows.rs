//! Runs as rows of tables, in the columns of the table of figures.

use crate::figures::{Definition, Kind, RUN, tables as written};
use crate::schema::{Results, Run};
use crate::swept::swept;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A table: its columns, and rows with one value for each column. `Value::Null` marks a missing value.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of its files.
    pub name: &'static str,
    /// Names and kinds of its columns.
    pub columns: Vec<(String, Kind)>,
    /// Its rows.
    pub rows: Vec<Vec<Value>>,
}

/// Returns all tables of the results.
pub fn tables(results: &Results) -> Vec<Table> {
    written().into_iter().map(|(name, columns)| table(name, &columns, &results.runs)).collect()
}

/// One table: the number of the run, and one value for each of the other columns. After the columns that identify a run
/// come the swept keys.
fn table(name: &'static str, figures: &[Definition], runs: &[Run]) -> Table {
    let swept = if name == "runs" { swept(runs) } else { Vec::new() };
    let (identity, figures) = figures.split_at(if name == "runs" { RUN.len() } else { 1 });
    let named = |figure: &Definition| figure.kind.map(|kind| (figure.name.to_string(), kind));
    let params = swept.iter().map(|key| (key.column(), key.kind()));
    let columns = identity.iter().filter_map(named).chain(params).chain(figures.iter().filter_map(named));
    let row = |object: &Map<String, Value>, run: &Run| {
        let value = |figure: &Definition| object.get(figure.name).cloned().unwrap_or(Value::Null);
        let point = swept.iter().map(|key| run.params.get(&key.key).map_or(Value::Null, |text| key.value(text)));
        identity.iter().map(value).chain(point).chain(figures.iter().map(value)).collect()
    };
    let rows = runs.iter().enumerate().flat_map(|(number, run)| {
        let objects = objects(name, run).into_iter().map(move |object| with(object, "run", json!(number)));
        objects.map(|object| row(&object, run)).collect::<Vec<_>>()
    });
    Table { name, columns: columns.collect(), rows: rows.collect() }
}

/// What a run has to say in a table, one object per row.
fn objects(table: &str, run: &Run) -> Vec<Map<String, Value>> {
    match table {
        "runs" => {
            let mut row = run.summary.fields();
            row.extend(object(&json!({
                "controller": run.controller, "replication": run.replication, "seed": run.seed,
            })));
            vec![row]
        }
        "timing" => vec![run.summary.fields()],
        "flows" => run.flows.iter().map(object).collect(),
        "completions" => run.completions.iter().map(object).collect(),
        "transfers" => run.transfers.iter().map(object).collect(),
        "shares" => run.shares.iter().map(object).collect(),
        "traffic" => {
            let numbered = run.traffic.iter().enumerate();
            numbered.map(|(source, traffic)| with(object(traffic), "source", json!(source))).collect()
        }
        "windows" => run.windows.iter().map(object).collect(),
        "links" => run.links.iter().map(object).collect(),
        _ => points(run),
    }
}

fn points(run: &Run) -> Vec<Map<String, Value>> {
    let curves = run.series.iter().flat_map(|series| {
        series.values.iter().enumerate().map(|(at, value)| {
            let time = series.start_s + series.step_s * at as f64;
            let point = json!({
                "metric": series.metric, "flow": series.flow, "unit": series.unit, "time_s": time, "value": value,
            });
            point.as_object().cloned().unwrap_or_default()
        })
    });
    curves.collect()
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
