//! Which shard a command makes, and what it says of it.

use crate::outcome::Failure;
use harness::runner::{Shard, ShardDone, shard_file};
use std::path::Path;

/// Where batch systems say which task of an array a command is.
const TASKS: [&str; 2] = ["SLURM_ARRAY_TASK_ID", "HQ_TASK_ID"];

/// The shard that `--shard` names: `3/7`, or `task/7`, where the environment says which.
pub fn numbered(text: &str, environment: impl Fn(&str) -> Option<String>) -> Result<Shard, Failure> {
    let wrong = |message: String| Failure::Input(format!("--shard: {message}"));
    let Some(of) = text.strip_prefix("task/") else { return text.parse().map_err(wrong) };
    let [slurm, hyperqueue] = TASKS;
    let Some(task) = TASKS.iter().find_map(|name| environment(name)) else {
        return Err(wrong(format!("found {text} where neither {slurm} nor {hyperqueue} is set; expected one of them")));
    };
    format!("{task}/{of}").parse().map_err(wrong)
}

/// What is said of a shard.
pub fn done(shard: Shard, ShardDone { runs, planned, .. }: ShardDone, folder: &Path) -> String {
    let file = shard_file(folder, shard);
    let merged = format!("When all shards are there: packetscale sweep merge {}", folder.display());
    format!("Shard {shard}: {runs} of {planned} runs are in {}\n{merged}\n", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_number_comes_from_batch_system() {
        let set = |name: &'static str| move |asked: &str| (asked == name).then(|| "3".to_string());
        let number = |found: Result<Shard, Failure>| found.ok().map(|shard| shard.to_string());
        assert_eq!(number(numbered("task/7", set("SLURM_ARRAY_TASK_ID"))), Some("3/7".to_string()));
        assert_eq!(number(numbered("task/7", set("HQ_TASK_ID"))), Some("3/7".to_string()));
        assert_eq!(number(numbered("2/7", set("HQ_TASK_ID"))), Some("2/7".to_string()));
        assert_eq!(number(numbered("task/2", set("HQ_TASK_ID"))), None);
        assert_eq!(number(numbered("task/7", set("OTHER"))), None);
    }
}
