//! A plan as it is divided, and the command that makes a part of it.

use crate::args::sweep::Division;
use crate::outcome::Failure;
use crate::program::PROGRAM;
use experiment::scenario::{Experiment, Scenario};
use harness::runner::{Files, Host, Job, Keep, shards_of};
use packetscale_models::units::Span;
use std::path::Path;

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

/// How many shards are asked for, with this number of parallel runs in each.
pub fn shards(division: &Division, jobs: &[Job<'_>], at_once: u16) -> Option<u32> {
    let each = |each: Span| shards_of(jobs, each.saturating_mul(u64::from(at_once)));
    division.shards.or_else(|| division.per_shard.map(each))
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
