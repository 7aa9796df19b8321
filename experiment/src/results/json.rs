//! The object that `--json` prints.

use crate::results::distribution::Histogram;
use crate::results::figures::{
    COST, CompletionResult, ControllerShare, FlowResult, LinkResult, PhaseResult, SequenceRecord, StreamRecord,
    TrafficResult, TransferResult, WindowResult,
};
use crate::results::schema::{Results, Run};
use crate::results::series::Series;
use crate::results::swept::{SweptKey, point, swept};
use serde::Serialize;
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
    if !run.phases.is_empty() {
        fields.insert("phases".to_string(), json!(run.phases));
    }
    if !run.shares.is_empty() {
        fields.insert("shares".to_string(), json!(run.shares));
    }
    fields.extend(run.summary.fields());
    Value::Object(fields)
}

/// A run as one line of JSON: borrowed, but with its swept values as numbers, and without its cost, which differs from
/// machine to machine.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    controller: &'a str,
    colour: &'a str,
    seed: u64,
    replication: u32,
    params: Map<String, Value>,
    #[serde(skip_serializing_if = "str::is_empty")]
    measured: &'a str,
    summary: Map<String, Value>,
    flows: &'a [FlowResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    completions: &'a [CompletionResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    transfers: &'a [TransferResult],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    phases: &'a [PhaseResult],
    shares: &'a [ControllerShare],
    traffic: &'a [TrafficResult],
    windows: &'a [WindowResult],
    links: &'a [LinkResult],
    series: &'a [Series],
    queue_delay: &'a Histogram,
    streams: &'a [StreamRecord],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sequences: &'a [SequenceRecord],
}

impl<'a> Line<'a> {
    pub(crate) fn of(run: &'a Run, keys: &[SweptKey]) -> Line<'a> {
        // Every field is named, so that none that is added is forgotten.
        let Run {
            controller,
            colour,
            seed,
            replication,
            params,
            measured,
            summary,
            flows,
            completions,
            transfers,
            phases,
            shares,
            traffic,
            windows,
            links,
            series,
            queue_delay,
            streams,
            sequences,
        } = run;
        let mut summary = summary.fields();
        summary.remove(COST);
        let (seed, replication, params) = (*seed, *replication, point(keys, params));
        Line {
            controller,
            colour,
            seed,
            replication,
            params,
            measured,
            summary,
            flows,
            completions,
            transfers,
            phases,
            shares,
            traffic,
            windows,
            links,
            series,
            queue_delay,
            streams,
            sequences,
        }
    }
}
