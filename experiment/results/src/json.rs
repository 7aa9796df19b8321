//! The object that `--json` prints.

use crate::figures::COST;
use crate::schema::{Results, Run};
use serde_json::{Map, Value, json};

/// Returns one object: `schema`, `host`, and `runs`. Each run has the figures of its summary, and `controller`,
/// `replication`, `seed` and `params`.
pub fn to_json(results: &Results) -> String {
    let runs: Vec<Value> = results.runs.iter().map(flattened).collect();
    json!({ "schema": results.schema, "host": results.host.name, "runs": runs }).to_string() + "\n"
}

fn flattened(run: &Run) -> Value {
    let mut fields = Map::new();
    fields.insert("controller".to_string(), json!(run.controller));
    fields.insert("seed".to_string(), json!(run.seed));
    fields.insert("replication".to_string(), json!(run.replication));
    fields.insert("params".to_string(), json!(run.params));
    fields.extend(run.summary.fields());
    Value::Object(fields)
}

/// A run as one line of JSON, without its cost, which differs from machine to machine.
pub(crate) fn without_cost(run: &Run) -> Value {
    let mut value = json!(run);
    if let Some(summary) = value.get_mut("summary").and_then(Value::as_object_mut) {
        summary.remove(COST);
    }
    value
}
