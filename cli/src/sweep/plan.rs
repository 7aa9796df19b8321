//! `packetscale sweep plan`: the runs of a plan, and how shards divide them.

use crate::args::sweep::Plan;
use crate::hosts::chosen;
use crate::outcome::Failure;
use crate::output::say;
use crate::sweep::division::{jobs, read, shards};
use experiment::scenario::Experiment;
use harness::runner::{Host, divide};
use serde_json::json;
use std::io::Write;

pub fn plan(arguments: &Plan, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let (_, plan) = read(&arguments.file, &arguments.set)?;
    let host = chosen(arguments.on.as_deref(), hosts)?;
    let jobs = jobs(&plan, host)?;
    let shards = shards(&arguments.division, &jobs, 1);
    let numbers = shards.map(|shards| divide(&jobs, shards));
    let mut text = String::new();
    for (index, job) in jobs.iter().enumerate() {
        let Experiment { controller, replication, seed, params, .. } = job.experiment;
        let mut line = json!({
            "id": job.id, "index": index, "controller": controller, "params": params, "replication": replication,
            "seed": seed, "cost_s": job.cost.as_secs_f64(),
        });
        if let Some(numbers) = &numbers {
            line["shard"] = json!(numbers[index]);
        }
        text.push_str(&format!("{line}\n"));
    }
    say(&text)?;
    let cost: f64 = jobs.iter().map(|job| job.cost.as_secs_f64()).sum();
    let divided = shards.map_or(String::new(), |shards| format!(", {shards} shards"));
    let _ = writeln!(std::io::stderr(), "{} runs, about {cost:.1} s of one processor{divided}", jobs.len());
    Ok(())
}
