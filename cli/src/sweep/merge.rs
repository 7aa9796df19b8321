//! `packetscale sweep merge`: the results of a plan whose runs are in shards.

use crate::args::sweep::Merge;
use crate::finished::{met, shown, write_page};
use crate::hosts::named;
use crate::outcome::{Failure, unwritable};
use crate::program::PROGRAM;
use crate::sweep::division::command;
use crate::terminal::Terminal;
use experiment::scenario::Scenario;
use harness::runner::{Error, Head, Host, Runner, Shard, Shards, Swept};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Shards of which `merge` names the command.
const MOST_NAMED: usize = 20;

pub fn merge(arguments: &Merge, hosts: &[&dyn Host]) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let shards = Shards::read(folder, &PROGRAM)?;
    let (head, divided_otherwise) = (shards.head.clone(), shards.divided_otherwise.clone());
    let host = named(&head.host, hosts)?;
    let read = Scenario::parse(&head.scenario, &head.file, &[]);
    let scenario = read.map_err(|error| Failure::Input(error.to_string()))?;
    let plan = scenario.plan();
    let swept = Swept { scenario: &scenario, plan: &plan, file: &head.file, changes: &head.changes };
    let (replace, progress) = (arguments.output.replace, &Terminal::new(true));
    let runner = Runner { host, program: &PROGRAM, jobs: None, replace, progress };
    // Results without all of their files look whole to whoever finds them, and the shards are still there.
    let before = files(folder);
    let undo = || files(folder).difference(&before).for_each(|begun| _ = std::fs::remove_file(begun));
    let results = runner.merge(&swept, shards, folder).map_err(|error| {
        // Where another command makes runs in the folder, what is new is not of this one.
        if matches!(&error, Error::Unwritable { error, .. } if error.kind() != ErrorKind::WouldBlock) {
            undo();
        }
        unmerged(error, &head, &divided_otherwise, host, folder)
    })?;
    write_page(&results, folder, !arguments.no_page).map_err(|error| {
        undo();
        unwritable(folder, &error)
    })?;
    shown(&results, folder, arguments.wide)?;
    met(&results)
}

/// The files of a folder, without those in its folders.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}

/// Why nothing was merged: what may be replaced, or the commands that make what is missing, in place of shards that are
/// `divided_otherwise`.
fn unmerged(error: Error, head: &Head, divided_otherwise: &BTreeSet<u32>, host: &dyn Host, folder: &Path) -> Failure {
    if let Error::Occupied { .. } = &error {
        return Failure::Input(format!("{error}; replace it with --replace"));
    }
    let Error::Missing { shards, .. } = &error else { return error.into() };
    let run = command("packetscale", &head.file, host.word(), &head.changes, folder);
    let line = |shard: &Shard| {
        let replace = if divided_otherwise.contains(&shard.number()) { " --replace" } else { "" };
        format!("\n  {run} --shard {shard}{replace}")
    };
    let named: String = shards.iter().take(MOST_NAMED).map(line).collect();
    let more = shards.len().saturating_sub(MOST_NAMED);
    let more = if more == 0 { String::new() } else { format!("\nand {more} more shards") };
    Failure::Input(format!("{error}. Commands that make them:{named}{more}"))
}
