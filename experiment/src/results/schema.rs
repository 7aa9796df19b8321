//! The schema: what surrounds the figures. The figures themselves are in [`crate::results::figures`].

use crate::results::distribution::Histogram;
use crate::results::figures::{
    CompletionResult, ControllerShare, FlowResult, LinkResult, PhaseResult, SequenceRecord, StreamRecord, Summary,
    TrafficResult, TransferResult, WindowResult,
};
use crate::results::series::Series;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Version of this schema.
pub const SCHEMA: u32 = 1;

/// The host that made the runs, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLabel {
    /// Its name, as `--on` takes it.
    pub name: String,
    /// A few words beside the heading of a page, as in `simulated: virtual time`.
    pub badge: String,
    /// What a page says of how its figures were found, in whole sentences.
    pub about: String,
    /// Nobody knows the path that the runs took: what the scenario says of it decided nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub path_unknown: bool,
}

/// Everything one command produced.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Where it ran.
    pub host: HostLabel,
    /// How to get it again.
    pub manifest: Manifest,
    /// One entry per controller, sweep point and replication.
    pub runs: Vec<Run>,
    /// What the scenario expected, and whether it was so.
    pub expectations: Vec<ExpectationOutcome>,
}

/// How to get the same numbers again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of packetscale.
    pub version: String,
    /// Commit it was built from, if known.
    pub commit: Option<String>,
    /// Name of the scenario file, without its folder.
    pub scenario_name: String,
    /// The resolved scenario, as TOML.
    pub scenario: String,
    /// Seeds of all replications.
    pub seeds: Vec<u64>,
    /// What the host did that the scenario does not say, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// The machine. Left out of anything that must be the same on every machine.
    pub environment: Environment,
}

/// The machine a result was made on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Operating system and kernel release.
    pub system: String,
    /// Processor.
    pub processor: String,
    /// Cores available.
    pub cores: u32,
    /// Files read beside the scenario (traces), with their size and SHA-256.
    pub inputs: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Controller under test: the controller of the flows, or the one that `[compare]` put in.
    pub controller: String,
    /// Its colour in every picture: that of the controller, a blend where several meet.
    pub colour: String,
    /// Seed of this replication.
    pub seed: u64,
    /// Which replication, from 0.
    pub replication: u32,
    /// Swept keys and their values, as the scenario writes them. Files have them as numbers ([`crate::results::swept()`]); read from
    /// there, they are these.
    #[serde(deserialize_with = "words")]
    pub params: BTreeMap<String, String>,
    /// Name of the measured link, where the figures of the summary are taken; empty if the host does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub measured: String,
    /// The figures of the table.
    pub summary: Summary,
    /// One entry per responsive flow, in order of flow number.
    pub flows: Vec<FlowResult>,
    /// The flows that arrived, by table and size: for each table a row for all sizes, then one for each group of sizes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completions: Vec<CompletionResult>,
    /// Each of them that ended, where the scenario asks for it (`record.transfers`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferResult>,
    /// One entry per phase, where several flows cross the measured link; else none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseResult>,
    /// One entry per phase and controller, where the flows have several; else none.
    #[serde(default)]
    pub shares: Vec<ControllerShare>,
    /// One entry per traffic source.
    pub traffic: Vec<TrafficResult>,
    /// What left the measured link, counted in windows: one entry for each of `record.windows`.
    #[serde(default)]
    pub windows: Vec<WindowResult>,
    /// One entry per link, where the scenario asks for them.
    #[serde(default)]
    pub links: Vec<LinkResult>,
    /// Curves over time.
    pub series: Vec<Series>,
    /// Queueing delay at the bottleneck after the warm-up, over the packets of all flows and traffic that it served.
    pub queue_delay: Histogram,
    /// Probe streams that were traced.
    pub streams: Vec<StreamRecord>,
    /// The packets of each flow, thinned, where the scenario asks for them (`record.packets`) and the host knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<SequenceRecord>,
}

/// Reads values that may be numbers as text.
fn words<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    let word = |(key, value): (String, Value)| match value {
        Value::String(text) => (key, text),
        other => (key, other.to_string()),
    };
    Ok(BTreeMap::<String, Value>::deserialize(from)?.into_iter().map(word).collect())
}

/// An expectation of the scenario, checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpectationOutcome {
    /// The metric.
    pub metric: String,
    /// Which runs it was checked on, in words.
    pub selected: String,
    /// The bound, in words and the metric's own unit: `at least 0.9`.
    pub bound: String,
    /// What was found: the mean over replications of the worst selected group.
    pub found: Option<f64>,
    /// Whether it held.
    pub met: bool,
    /// Where the bound comes from.
    pub why: String,
}
