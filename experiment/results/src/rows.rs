//! Runs as rows of tables, in the columns of the dictionary.

use crate::dictionary::{Column, FLOW, Kind, RUN, SERIES, SUMMARY, TIMING, TRAFFIC, WINDOW};
use crate::schema::{Results, Run};
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
    let runs = &results.runs;
    vec![
        run_table(runs),
        table("timing", TIMING, runs, |run| vec![object(&run.summary)]),
        table("flows", FLOW, runs, |run| run.flows.iter().map(object).collect()),
        table("traffic", TRAFFIC, runs, |run| {
            let numbered = run.traffic.iter().enumerate();
            numbered.map(|(source, traffic)| with(object(traffic), "source", json!(source))).collect()
        }),
        table("windows", WINDOW, runs, |run| run.windows.iter().map(object).collect()),
        table("series", SERIES, runs, points),
    ]
}

/// Returns the table of runs. Each row has what identifies the run, the swept keys, and its figures.
fn run_table(runs: &[Run]) -> Table {
    let swept: Vec<&String> = runs.first().map_or(Vec::new(), |run| run.params.keys().collect());
    let named = |columns: &[Column]| columns.iter().map(|column| (column.name.to_string(), column.kind)).collect();
    let params = swept.iter().map(|key| ((*key).clone(), Kind::Text)).collect();
    let rows = runs.iter().enumerate().map(|(number, run)| {
        let identity = object(run);
        let summary = object(&run.summary);
        let identified = RUN.iter().map(|column| match column.name {
            "run" => json!(number),
            name => field(&identity, name),
        });
        let point = swept.iter().map(|key| json!(run.params.get(*key)));
        identified.chain(point).chain(SUMMARY.iter().map(|column| field(&summary, column.name))).collect()
    });
    let columns: [Vec<(String, Kind)>; 3] = [named(RUN), params, named(SUMMARY)];
    Table { name: "runs", rows: rows.collect(), columns: columns.concat() }
}

/// Returns a table whose first column is the run's number.
fn table(
    name: &'static str,
    columns: &[Column],
    runs: &[Run],
    objects: impl Fn(&Run) -> Vec<Map<String, Value>>,
) -> Table {
    let numbered = runs.iter().enumerate();
    let rows = numbered.flat_map(|(number, run)| {
        let objects = objects(run).into_iter().map(move |object| with(object, "run", json!(number)));
        objects.map(|object| columns.iter().map(|column| field(&object, column.name)).collect()).collect::<Vec<_>>()
    });
    Table {
        name,
        rows: rows.collect(),
        columns: columns.iter().map(|column| (column.name.to_string(), column.kind)).collect(),
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

fn field(object: &Map<String, Value>, name: &str) -> Value {
    object.get(name).cloned().unwrap_or(Value::Null)
}
