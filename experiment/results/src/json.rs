//! The object that `--json` prints.

use crate::figures::{COST, FlowResult};
use crate::schema::{Results, Run};
use crate::swept::{SweptKey, point, swept};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// Returns one object: `schema`, `host`, and `runs`. Each run has the figures of its summary, and `controller`,
/// `replication`, `seed`, `params` (swept values as numbers), and `shares` where several controllers meet.
pub fn to_json(results: &Results) -> String {
    let keys = swept(&results.runs);
    let runs: Vec<Value> = results.runs.iter().map(|run| flattened(run, &keys)).collect();
    json!({ "schema": results.schema, "host": results.host.name, "runs": runs }).to_string() + "\n"
}

fn flattened(run: &Run, keys: &[SweptKey]) -> Value {
    let mut fields = Map::new();
    fields.insert("controller".to_string(), json!(run.controller));
    fields.insert("seed".to_string(), json!(run.seed));
    fields.insert("replication".to_string(), json!(run.replication));
    fields.insert("params".to_string(), json!(point(keys, &run.params)));
    if !run.shares.is_empty() {
        fields.insert("shares".to_string(), json!(run.shares));
    }
    fields.extend(run.summary.fields());
    Value::Object(fields)
}

/// A run as one line of JSON, with its swept values as numbers, and without its cost, which differs from machine to
/// machine.
///
/// Its flows are written one by one: as one value, a million take gigabytes.
pub(crate) struct Line<'a> {
    /// All but the flows, which are empty here.
    fields: Value,
    flows: &'a [FlowResult],
}

impl<'a> Line<'a> {
    pub(crate) fn of(run: &'a Run, keys: &[SweptKey]) -> Line<'a> {
        let mut fields = json!(run.without_flows());
        fields["params"] = json!(point(keys, &run.params));
        if let Some(summary) = fields.get_mut("summary").and_then(Value::as_object_mut) {
            summary.remove(COST);
        }
        Line { fields, flows: &run.flows }
    }
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.fields.as_object().into_iter().flatten();
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in fields {
            match key.as_str() {
                "flows" => map.serialize_entry(key, self.flows)?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}
