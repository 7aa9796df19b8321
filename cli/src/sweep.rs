//! `packetscale plan`, `run --shard` and `merge`: a plan divided among commands.

use crate::args::{Division, Merge, Plan};
use crate::run::{met, named, shown, unwritable, write_page};
use crate::terminal::Terminal;
use crate::{Failure, PROGRAM, say};
use experiment::scenario::{Experiment, Scenario};
use harness::runner::{Error, Files, Head, Host, Job, Keep, Runner, Shards, Swept, divide, shards_of};
use packetscale_models::units::Span;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Shards of which `merge` names the command.
const MOST_NAMED: usize = 20;

pub fn plan(arguments: &Plan, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let (_, plan) = read(&arguments.file, &arguments.set)?;
    let host = named(&arguments.on, hosts)?;
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

/// Reads a scenario, and unfolds it.
pub fn read(file: &Path, changes: &[String]) -> Result<(Scenario, Vec<Experiment>), Failure> {
    let scenario = Scenario::read(file, changes).map_err(|error| Failure::Input(error.to_string()))?;
    let plan = scenario.plan();
    Ok((scenario, plan))
}

/// What the plan consists of on this host.
pub fn jobs<'a>(plan: &'a [Experiment], host: &dyn Host) -> Result<Vec<Job<'a>>, Failure> {
    let files = Files::of(plan)?;
    Job::all(plan, &files, host, &PROGRAM, Keep::Everything).map_err(Failure::Machine)
}

/// How many shards are asked for, with so many runs at the same time in each.
pub fn shards(division: &Division, jobs: &[Job<'_>], at_once: u16) -> Option<u32> {
    let each = |each: Span| shards_of(jobs, each.saturating_mul(u64::from(at_once)));
    division.shards.or_else(|| division.per_shard.map(each))
}

pub fn merge(arguments: &Merge, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let shards = Shards::read(folder, &PROGRAM)?;
    let head = shards.head.clone();
    let host = named(&head.host, hosts)?;
    let read = Scenario::parse(&head.scenario, &head.file, &[]);
    let scenario = read.map_err(|error| Failure::Input(error.to_string()))?;
    let plan = scenario.plan();
    let swept = Swept { scenario: &scenario, plan: &plan, file: &head.file, changes: &head.changes };
    let (replace, progress) = (arguments.replace, &Terminal::new(true));
    let runner = Runner { host, program: &PROGRAM, jobs: None, replace, progress };
    // Results without all of their files look whole to whoever finds them, and the shards are still there.
    let before = files(folder);
    let undo = || files(folder).difference(&before).for_each(|begun| _ = std::fs::remove_file(begun));
    let results = runner.merge(&swept, shards, folder).map_err(|error| {
        // Where another command makes runs in the folder, what is new is not of this one.
        if matches!(&error, Error::Unwritable { error, .. } if error.kind() != ErrorKind::WouldBlock) {
            undo();
        }
        missing(error, &head, folder)
    })?;
    write_page(&results, folder, !arguments.no_page).map_err(|error| {
        undo();
        unwritable(folder, &error)
    })?;
    shown(&results, folder)?;
    met(&results)
}

/// The files of a folder, without those in its folders.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}

/// What is missing, and the commands that make it.
fn missing(error: Error, head: &Head, folder: &Path) -> Failure {
    let Error::Missing { shards, .. } = &error else { return error.into() };
    let run = command("packetscale", &head.file, &head.host, &head.changes, folder);
    let named: String = shards.iter().take(MOST_NAMED).map(|shard| format!("\n  {run} --shard {shard}")).collect();
    let more = shards.len().saturating_sub(MOST_NAMED);
    let more = if more == 0 { String::new() } else { format!("\nand {more} more shards") };
    Failure::Input(format!("{error}. What makes them:{named}{more}"))
}

/// The command that makes a shard, as a shell reads it, but for which shard.
pub fn command(program: &str, file: &Path, host: &str, changes: &[String], folder: &Path) -> String {
    let [file, folder] = [file, folder].map(|path| path.display().to_string());
    let words = [program, "run", &file, "--on", host, "--out", &folder];
    quoted(words.into_iter().chain(changes.iter().flat_map(|change| ["--set", change])))
}

/// Words as a shell reads them.
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quote = |word: &'a str| shlex::try_quote(word).map_or_else(|_| word.to_string(), |word| word.into_owned());
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_quoted_for_the_shell() {
        let changes = ["path.rate=\"1 Gbit/s\"".to_string()];
        let found = command("packetscale", Path::new("my own.toml"), "simulator", &changes, Path::new("out"));
        let words = shlex::split(&found).expect("words");
        let expected = ["packetscale", "run", "my own.toml", "--on", "simulator", "--out", "out", "--set", &changes[0]];
        assert_eq!(words, expected);
    }
}
