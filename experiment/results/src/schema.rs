//! The schema. A number here means what its doc line says on every host.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Version of this schema.
pub const SCHEMA: u32 = 1;

/// JSON has no NaN: a figure that does not exist is written as `null`, and read back as it was.
fn null_is_nan<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// A figure that an older file does not have.
fn nan() -> f64 {
    f64::NAN
}

/// The host that made the runs, in its own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLabel {
    /// Its name, as `--on` takes it.
    pub name: String,
    /// A few words beside the heading of a page, as in `simulated: virtual time`.
    pub badge: String,
    /// What a page says of how its figures were found, in whole sentences.
    pub about: String,
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Controller under test: the controller of the flows, or the one that `[compare]` put in.
    pub controller: String,
    /// Its colour in every picture.
    pub colour: String,
    /// Seed of this replication.
    pub seed: u64,
    /// Which replication, from 0.
    pub replication: u32,
    /// Swept keys and their values, as the scenario writes them.
    pub params: BTreeMap<String, String>,
    /// The figures of the table.
    pub summary: Summary,
    /// One entry per responsive flow, in order of flow number.
    pub flows: Vec<FlowResult>,
    /// One entry per traffic source.
    pub traffic: Vec<TrafficResult>,
    /// What left the measured link, counted in windows: one entry for each of `record.windows`.
    #[serde(default)]
    pub windows: Vec<WindowResult>,
    /// Curves over time.
    pub series: Vec<Series>,
    /// Queueing delay at the bottleneck after warm-up, over the packets of all flows and traffic that it served.
    pub queue_delay: Histogram,
    /// Probe streams that were traced.
    pub streams: Vec<StreamRecord>,
}

/// The figures of one run. All are taken after the warm-up unless said. A figure that does not exist in a run (no
/// flow, no step, ...) is `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Packets of the flows (not of the traffic) that left the bottleneck, as bits on the wire per second.
    #[serde(deserialize_with = "null_is_nan")]
    pub throughput_bps: f64,
    /// All that left the bottleneck, divided by its capacity.
    #[serde(deserialize_with = "null_is_nan")]
    pub utilisation: f64,
    /// `throughput_bps` divided by what the traffic left: capacity minus the traffic that arrived, the available
    /// capacity of RFC 5136.
    #[serde(deserialize_with = "null_is_nan")]
    pub available_share: f64,
    /// Packets of the flows dropped at any queue or lost on any link, divided by those sent. Whole run, start-up
    /// included.
    #[serde(deserialize_with = "null_is_nan")]
    pub loss_ratio: f64,
    /// Packets of the flows dropped at queues only, divided by those sent: what the flows brought on themselves.
    /// Whole run.
    #[serde(deserialize_with = "null_is_nan")]
    pub drop_ratio: f64,
    /// Packets of the flows dropped or lost after the warm-up, divided by those and the ones delivered after it.
    #[serde(deserialize_with = "null_is_nan")]
    pub steady_loss_ratio: f64,
    /// Waiting time at the bottleneck (without the packet's own transmission), mean over all packets served.
    #[serde(deserialize_with = "null_is_nan")]
    pub queue_delay_mean_s: f64,
    /// ... its median. Quantiles need `record.detail`; without it they are `null`.
    #[serde(deserialize_with = "null_is_nan")]
    pub queue_delay_p50_s: f64,
    /// ... its 95th percentile.
    #[serde(deserialize_with = "null_is_nan")]
    pub queue_delay_p95_s: f64,
    /// ... its 99th percentile.
    #[serde(deserialize_with = "null_is_nan")]
    pub queue_delay_p99_s: f64,
    /// Packets at the bottleneck, the one in service included: mean over time.
    #[serde(deserialize_with = "null_is_nan", default = "nan")]
    pub queue_mean_packets: f64,
    /// Packets of the flows that arrived with congestion experienced, divided by those sent. Whole run.
    #[serde(deserialize_with = "null_is_nan", default = "nan")]
    pub mark_ratio: f64,
    /// Packets of the flows that arrived with the burstiness bit, divided by those sent. Whole run.
    #[serde(deserialize_with = "null_is_nan", default = "nan")]
    pub burst_mark_ratio: f64,
    /// Burstiness eta at the bottleneck, mean over its busy periods, for disciplines that measure it. Whole run.
    #[serde(default)]
    pub burstiness_eta: Option<f64>,
    /// Mean queue that a packet finds, in packets, divided by the least that is possible: that of as many flows which
    /// send at equal, constant rates with independent phases and load the link as much (N*D/D/1). Only where more
    /// than one flow, all with equal packets, and no traffic share a path of one link.
    pub queue_over_bound: Option<f64>,
    /// Round-trip time of the flows, mean over acknowledgments that give one.
    #[serde(deserialize_with = "null_is_nan")]
    pub rtt_mean_s: f64,
    /// Jain's index over the flows' throughputs, each over the time that all flows are active.
    #[serde(deserialize_with = "null_is_nan")]
    pub fairness_jain: f64,
    /// Smallest Jain's index over the windows [entry + 5 s, next entry), one per flow entry, over the flows then active.
    pub fairness_jain_after_entry: Option<f64>,
    /// From the start of the last flow (warm-up or not) until the throughput of the flows, over one round trip,
    /// first reaches 95 % of the available capacity.
    pub convergence_s: Option<f64>,
    /// `convergence_s` in base round trips of the first flow.
    pub convergence_rtts: Option<f64>,
    /// After each upward step of the available capacity of at least 10 %: base round trips until the flows' total
    /// rate (the controllers' own mean rate, where they have one; else the throughput over a round trip) is within
    /// 10 % of the new value. The largest over all steps.
    pub rise_rtts: Option<f64>,
    /// The same after downward steps: first entry into the band.
    pub fall_rtts: Option<f64>,
    /// The same after downward steps: last entry into the band before the next step, after which it stays.
    pub settle_rtts: Option<f64>,
    /// After each upward step: share of the time from first entry to the next step in which the rate is in the band.
    pub rise_hold_share: Option<f64>,
    /// From the peak of the highest standing queue (at least 1 ms) until the largest queueing delay in an interval falls
    /// below 5 % of it, in base round trips. Only where all traffic follows a plan (constant rate, periodic on-off).
    pub drain_rtts: Option<f64>,
    /// Coefficient of variation of the bytes that left the measured link, in windows of the first length of
    /// `record.windows`: standard deviation over mean.
    pub rate_variation: Option<f64>,
    /// `rate_variation`, divided by the same of all traffic where it enters the path: how much of the unevenness is
    /// left. Only where there are no flows.
    pub variation_left: Option<f64>,
    /// Hurst parameter over the lengths of `record.windows`: half the slope of the logarithm of `allan_variance` over
    /// that of the length, weighted by the number of differences. At least three lengths.
    pub hurst: Option<f64>,
    /// Packets of the flows delivered to their receivers, whole run.
    pub packets_delivered: u64,
    /// Link crossings of all packets, acknowledgments and traffic included, whole run. Hosts in virtual time only.
    pub packet_hops: Option<u64>,
    /// Events processed. Hosts in virtual time only.
    pub events: Option<u64>,
    /// Processor time of this run. Not the same on every machine: written, never compared.
    #[serde(deserialize_with = "null_is_nan", default)]
    pub cpu_s: f64,
}

/// One responsive flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowResult {
    /// Flow number, from 0.
    pub flow: u32,
    /// Its controller.
    pub controller: String,
    /// When it started.
    #[serde(deserialize_with = "null_is_nan")]
    pub start_s: f64,
    /// When it was done, if it had an end and reached it.
    pub completion_s: Option<f64>,
    /// Bits on the wire per second that left the bottleneck, after warm-up (or its start) until the end (or its own).
    #[serde(deserialize_with = "null_is_nan")]
    pub throughput_bps: f64,
    /// Base round-trip time.
    #[serde(deserialize_with = "null_is_nan")]
    pub base_rtt_s: f64,
    /// Mean round-trip time.
    #[serde(deserialize_with = "null_is_nan")]
    pub rtt_mean_s: f64,
    /// Transmissions, retransmissions included, whole life.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmitted_packets: u64,
    /// Dropped at queues.
    pub dropped_packets: u64,
    /// Lost at random on links.
    pub lost_packets: u64,
    /// Retransmission timeouts; `None` where the host does not say.
    pub timeouts: Option<u64>,
    /// Recovery episodes; `None` where the host does not say.
    pub recoveries: Option<u64>,
    /// Reductions undone; `None` where the host does not say.
    pub undone: Option<u64>,
    /// Probe streams completed, for those that probe.
    pub streams: Option<u64>,
    /// Probe streams that gave no estimate.
    pub unusable_streams: Option<u64>,
}

/// One traffic source, measured where it enters the path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrafficResult {
    /// Kind, as the scenario names it.
    pub kind: String,
    /// Mean rate over the run after warm-up.
    #[serde(deserialize_with = "null_is_nan")]
    pub mean_rate_bps: f64,
    /// 5th percentile of the rate per millisecond.
    #[serde(deserialize_with = "null_is_nan")]
    pub rate_p05_bps: f64,
    /// 95th percentile of the rate per millisecond.
    #[serde(deserialize_with = "null_is_nan")]
    pub rate_p95_bps: f64,
    /// Their difference: burstiness as in Table 3.1 of the RAPID dissertation.
    #[serde(deserialize_with = "null_is_nan")]
    pub burstiness_bps: f64,
    /// Packets that entered.
    pub packets: u64,
    /// Packets dropped at queues.
    pub dropped_packets: u64,
    /// Files asked for after the warm-up, for users who browse.
    #[serde(default)]
    pub files_asked: Option<u64>,
    /// Of these, files that came before the end.
    #[serde(default)]
    pub files_fetched: Option<u64>,
    /// From asking for a file until it is there: mean.
    #[serde(default)]
    pub file_mean_s: Option<f64>,
    /// Its 5th percentile.
    #[serde(default)]
    pub file_p05_s: Option<f64>,
    /// Its 10th percentile.
    #[serde(default)]
    pub file_p10_s: Option<f64>,
    /// Its median.
    #[serde(default)]
    pub file_p50_s: Option<f64>,
    /// Its 90th percentile.
    #[serde(default)]
    pub file_p90_s: Option<f64>,
    /// Its 95th percentile.
    #[serde(default)]
    pub file_p95_s: Option<f64>,
    /// Its 99th percentile.
    #[serde(default)]
    pub file_p99_s: Option<f64>,
    /// How the time that a file takes is distributed, over the files that came; empty without users who browse.
    #[serde(default)]
    pub file_duration: Histogram,
    /// Pages asked for after the warm-up that were complete before the end.
    #[serde(default)]
    pub pages_fetched: Option<u64>,
    /// From asking for the first file of a page until the last is there: median.
    #[serde(default)]
    pub page_p50_s: Option<f64>,
    /// Its 95th percentile.
    #[serde(default)]
    pub page_p95_s: Option<f64>,
    /// Its 99th percentile.
    #[serde(default)]
    pub page_p99_s: Option<f64>,
}

/// What left the measured link after the warm-up, in windows of one length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowResult {
    /// Length of a window.
    pub window_s: f64,
    /// Whole windows counted.
    pub windows: u64,
    /// Mean of the bytes in a window.
    pub mean_bytes: f64,
    /// Their standard deviation, divided by their mean.
    pub variation: Option<f64>,
    /// Their standard deviation as a rate, in bit/s.
    #[serde(default)]
    pub deviation_bps: Option<f64>,
    /// Half the mean square of the difference between neighbours, pair by pair: the energy of the Haar wavelet at this
    /// length. It grows with the length to the power of 2 H, whatever the mean does.
    pub allan_variance_bytes2: f64,
}

/// A curve over time, equally spaced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What it is: `throughput`, `rate`, `available`, `traffic`, `queue_delay`, `queue_delay_max`, `rtt`, `window`,
    /// `losses` (per interval), `offered`.
    pub metric: String,
    /// Flow number, when it belongs to a flow.
    pub flow: Option<u32>,
    /// Unit of the values: `bps`, `s`, `packets`.
    pub unit: String,
    /// Time of the first value: the middle of its interval.
    pub start_s: f64,
    /// Distance between values.
    pub step_s: f64,
    /// The values; `null` where there is none.
    pub values: Vec<Option<f32>>,
}

/// A distribution, as counts over growing bins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Upper edges of the bins, seconds, ascending.
    pub upper_s: Vec<f64>,
    /// Packets, or whatever is counted, in each bin.
    pub count: Vec<u64>,
}

/// One probe stream, gap by gap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamRecord {
    /// Flow it belongs to.
    pub flow: u32,
    /// When its first packet left.
    pub start_s: f64,
    /// Mean rate it was sent at.
    pub rate_bps: f64,
    /// Estimate read from it; `null` when it abstained.
    pub estimate_bps: Option<f64>,
    /// What really was available at the bottleneck while it was sent, from the host's own books.
    pub available_bps: Option<f64>,
    /// Its gaps in order: one fewer than packets.
    pub gaps: Vec<StreamGap>,
}

/// One gap of a probe stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamGap {
    /// Gap that was asked for.
    pub intended_s: f64,
    /// Gap that was created.
    pub created_s: f64,
    /// Gap at the receiver; `null` where an arrival time is missing.
    pub received_s: Option<f64>,
    /// Gap after denoising.
    pub denoised_s: Option<f64>,
    /// Arrival minus send time, above the smallest of the stream.
    pub delay_s: Option<f64>,
    /// Rate its level probes.
    pub rate_bps: f64,
    /// Size of the packet.
    pub size_bytes: u32,
}

/// An expectation of the scenario, checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpectationOutcome {
    /// The metric.
    pub metric: String,
    /// Which runs it was checked on, in words.
    pub selected: String,
    /// The bound, in words: `at least 0.9`.
    pub bound: String,
    /// What was found: the mean over replications of the worst selected group.
    pub found: Option<f64>,
    /// Whether it held.
    pub met: bool,
    /// Where the bound comes from.
    pub why: String,
}
