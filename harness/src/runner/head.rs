//! The first line of a shard's file: what it is a part of.

use crate::runner::shard::Shard;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The plan that a shard is a part of. Shards that agree in program, host and scenario can be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Which part it is.
    pub shard: Shard,
    /// The program that makes the runs: version and commit.
    pub program: String,
    /// The name of the host.
    pub host: String,
    /// The name of the scenario's file, without its folder.
    pub scenario_name: String,
    /// The resolved scenario, as TOML.
    pub scenario: String,
    /// The scenario's file; files that it mentions are relative to it.
    pub file: PathBuf,
    /// The changes of keys that the command was given, as `--set` takes them: they are in the scenario already.
    pub changes: Vec<String>,
}

impl Head {
    /// As a line, without its end.
    pub(crate) fn line(&self) -> String {
        serde_json::json!(self).to_string()
    }

    /// From a line.
    pub(crate) fn parse(line: &[u8]) -> Option<Head> {
        serde_json::from_slice(line).ok()
    }

    /// The difference that prevents merging with another: this value, and the other's.
    pub(crate) fn apart(&self, other: &Head) -> Option<(String, String)> {
        let by = |head: &Head| format!("runs by packetscale {}", head.program);
        let on = |head: &Head| format!("runs on {}", head.host);
        let of = |head: &Head| format!("runs of {}", head.scenario_name);
        let differ = |what: &dyn Fn(&Head) -> String| {
            let (own, others) = (what(self), what(other));
            (own != others).then_some((own, others))
        };
        let settings = || {
            let own = format!("{} with other settings", of(self));
            (self.scenario != other.scenario).then(|| (own, format!("{} as in the other shards", of(other))))
        };
        differ(&by).or_else(|| differ(&on)).or_else(|| differ(&of)).or_else(settings)
    }

    /// The error in the first line of a file for this shard; `None`: it is right.
    pub(crate) fn wrong(&self, line: &[u8]) -> Option<String> {
        let Some(there) = Head::parse(line) else { return Some("a file other than a shard".to_string()) };
        let shard = (there.shard != self.shard).then(|| format!("shard {}", there.shard));
        shard.or_else(|| there.apart(self).map(|(found, _)| found))
    }
}
