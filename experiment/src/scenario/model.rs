//! One experiment, fully resolved: everything that a host needs to make one run, without further look-ups.

mod arrivals;
mod connections;
mod files;
mod flows;
mod held_in_common;
mod service;
mod wire;

pub use arrivals::{ArrivalProcess, Arrivals, SizeLaw};
pub use connections::{ConnectionSource, Connections, FileSizes, Objects, Parse, Sessions, Think, Web};
pub use flows::{FlowSpec, Size, Start};
pub use held_in_common::Shared;
pub use service::{Aggregation, RateFormat, RateSource, Service, Variation};
pub use wire::{GilbertElliott, Impairments, Jitter, JitterLaw, Reordering};

use crate::plugins::Own;
use crate::scenario::canonical;
use crate::scenario::search::SearchSpec;
use packetscale_models::queueing::Limit;
use packetscale_models::settings::Settings;
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One run: a scenario with its controller put in, its sweep point chosen and its seed drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Label of the controller under test, for tables: the flows' own controller, or the one from `[compare]`.
    pub controller: String,
    /// Swept keys and their values, as the scenario writes them.
    pub params: BTreeMap<String, String>,
    /// Which replication, from 0.
    pub replication: u32,
    /// Seed of this replication. It is the same for every controller and sweep point, so that all meet the same draws.
    pub seed: u64,
    /// Length of a run.
    pub duration: Span,
    /// The first part of the run, which steady-state figures leave out.
    pub warmup: Span,
    /// Links in order of declaration. A dumbbell has one, named `bottleneck`, and perhaps a second on the way back, named
    /// `return`.
    pub links: Vec<LinkSpec>,
    /// Index of the link where queue and utilisation are measured: the one that `record.link` names, or the slowest.
    pub bottleneck: usize,
    /// The receiving hosts.
    pub receiver: ReceiverSpec,
    /// How the sending hosts create gaps.
    pub gaps: GapModel,
    /// Responsive flows, one entry each (counts unfolded). Flows that are alike share their description.
    pub flows: Vec<Shared<FlowSpec>>,
    /// Flows that arrive while the run lasts, one entry for each table.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<Arrivals>,
    /// Unresponsive traffic.
    pub traffic: Vec<TrafficSpec>,
    /// Probe streams; a scenario with probe streams has no flows.
    pub probe: Option<ProbeSpec>,
    /// What to record.
    pub record: Record,
}

/// Probe streams, one after the other. Rates within a stream rise by equal ratios, in levels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeSpec {
    /// Number of streams.
    pub streams: u32,
    /// Packets of each stream; it has one gap fewer.
    pub packets: u32,
    /// Number of rates in each stream: 1 for a single rate, the number of gaps for a chirp.
    pub levels: u32,
    /// By how much the highest rate exceeds the lowest.
    pub range: Ratio,
    /// Mean rate (bits over time) of the slowest stream.
    pub slowest: Rate,
    /// Mean rate of the fastest stream; the rates of the others are spread evenly in between.
    pub fastest: Rate,
    /// Wire size of its packets.
    pub packet: Bytes,
    /// Rate of the sender's network card; `None`: infinite.
    pub access: Option<Rate>,
    /// Number of streams in a train. They have one mean rate and follow each other without a pause.
    pub train: u32,
    /// Mean time between trains; each time is drawn from a half to one and a half of it.
    pub pause: Span,
    /// The receiver reports an arrival time for one packet in this number.
    pub acknowledge: u32,
    /// Which send gaps are recorded.
    pub recorded: Recorded,
    /// A search, if any. It chooses rates by the results of earlier streams, and then `streams` and `packets` too.
    pub search: Option<SearchSpec>,
}

/// Which send gaps a sender records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recorded {
    /// The gaps with which packets left the host.
    Sent,
    /// The gaps scheduled by the sender.
    Intended,
}

/// A link: a queue, a wire, a delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// Its rate; where that changes, the one that buffers in bdp and queue disciplines count with.
    pub rate: Rate,
    /// Its propagation delay, one way.
    pub delay: Span,
    /// How much its queue holds, the packet in service included.
    pub buffer: Buffer,
    /// Its discipline.
    pub queue: QueueSpec,
    /// Probability of losing each packet on the wire, independent of all others. Zero where losses come in bursts.
    pub loss: Ratio,
    /// What else the wire does to packets.
    pub impairments: Impairments,
    /// Deviations from serving packets one by one at a constant rate.
    pub service: Service,
}

/// A buffer, resolved (`"1 bdp"` has become bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Buffer {
    /// In packets.
    Packets(Packets),
    /// In bytes.
    Bytes(Bytes),
    /// Without limit.
    Unlimited,
}

impl Buffer {
    /// Returns the limit in the form that queues take.
    pub fn limit(self) -> Limit {
        match self {
            Buffer::Packets(packets) => Limit::Packets(packets),
            Buffer::Bytes(bytes) => Limit::Bytes(bytes),
            Buffer::Unlimited => Limit::Unlimited,
        }
    }
}

/// A queue discipline with its settings, checked against the registry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueSpec {
    /// Name in the registry.
    pub kind: String,
    /// What the scenario set.
    #[serde(with = "canonical::settings")]
    pub settings: Settings,
}

impl QueueSpec {
    /// Returns the discipline of this name with its defaults.
    pub fn named(kind: &str) -> QueueSpec {
        QueueSpec { kind: kind.to_string(), settings: Settings::new() }
    }
}

/// The receiving hosts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReceiverSpec {
    /// Interrupt coalescence at the network card.
    pub coalescing: Coalescing,
    /// The receiver acknowledges after at most this number of in-order packets ...
    pub delayed_ack: u32,
    /// ... or after this time.
    pub delayed_ack_timeout: Span,
    /// Receive window in packets.
    pub window: Packets,
    /// Whether acknowledgments carry arrival times.
    pub stamps: bool,
    /// Granularity of the arrival times.
    pub stamp_granularity: Span,
    /// Probability of losing each acknowledgment on its way back.
    pub ack_loss: Ratio,
    /// Acknowledgments reach the sender at whole multiples of this time; zero: whenever they come.
    pub ack_bunching: Span,
    /// Longest time by which arrival times are late.
    pub stamp_delay: Span,
    /// The pace of the clock that arrival times are read from; one: as the sender's.
    pub clock: Ratio,
}

impl ReceiverSpec {
    /// A receiver that acknowledges and stamps every packet at once, exactly.
    pub const PLAIN: ReceiverSpec = ReceiverSpec {
        coalescing: Coalescing::NONE,
        delayed_ack: 1,
        delayed_ack_timeout: Span::from_millis(40),
        window: Packets::new(1 << 40),
        stamps: true,
        stamp_granularity: Span::ZERO,
        ack_loss: Ratio::ZERO,
        ack_bunching: Span::ZERO,
        stamp_delay: Span::ZERO,
        clock: Ratio::ONE,
    };
}

/// Interrupt coalescence: packets wait at the card, which hands them over in a batch, also when it holds `frames`
/// packets. Arrival times are those of the handover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coalescing {
    /// When the card interrupts.
    pub kind: Moderation,
    /// The timer; zero: no coalescence by time.
    pub time: Span,
    /// The frame limit; zero: none.
    pub frames: u32,
    /// A wait by time is up to this longer or shorter, each value as likely. Below `time`, or zero.
    pub jitter: Span,
}

impl Coalescing {
    /// An adaptive card honours a time up to this (dissertation, section 6.3.2.2).
    pub const HONOURED: Span = Span::from_micros(12);
    /// No coalescence.
    pub const NONE: Coalescing =
        Coalescing { kind: Moderation::Timer, time: Span::ZERO, frames: 0, jitter: Span::ZERO };
}

/// When a card with interrupt coalescence interrupts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moderation {
    /// A time after the first packet of a batch.
    #[default]
    Timer,
    /// On the arrival of a packet, but not until a time after the last interrupt.
    Spacing,
    /// Adaptive. Up to 12 us, the time counts as with [`Moderation::Timer`], and `frames` does not. Beyond 12 us,
    /// batches have a number of packets that is drawn about `frames`; a batch that no packet joins for the time is
    /// handed over.
    Adaptive,
}

/// How a sending host creates gaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum GapModel {
    /// At the requested instant.
    Perfect,
    /// Waits on a clock of this resolution, which cuts gaps to whole steps. For probe streams only, because packets
    /// leave before their time.
    BusyWait(Span),
    /// Uses timer interrupts. The host defers some of them; packets that become due meanwhile leave together.
    Hrtimer {
        /// Mean time of a deferral; each is drawn from a half to one and a half of it.
        deferral: Span,
        /// Probability that an interrupt is deferred.
        often: Ratio,
    },
    /// Late by a draw from a distribution with three given quantiles; it is linear between them and from zero.
    Late {
        /// Half of the packets are at most this late.
        p50: Span,
        /// 99 % of the packets are at most this late.
        p99: Span,
        /// 99.9 % of the packets are at most this late; none is later.
        p999: Span,
    },
    /// Late by a uniform draw up to this; packets keep their order.
    Noise(Span),
    /// At the next tick of a timer of this period.
    Timer(Span),
    /// This number of packets at a time, when the last of them is due.
    Batch(u32),
}

/// A controller with its settings, checked against the registry or its file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ControllerSpec {
    /// Name in the registry; of one that a user brings, what its file or its program calls it.
    pub kind: String,
    /// The file of one that a user brings in a file.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "canonical::perhaps_a_file")]
    pub file: Option<PathBuf>,
    /// One that the program brings, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "canonical::perhaps_own")]
    pub own: Option<Own>,
    /// What tables and pictures call it: its `label`, or its name and what the scenario set.
    pub label: String,
    /// What the scenario set.
    #[serde(with = "canonical::settings")]
    pub settings: Settings,
}

/// One source of unresponsive traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrafficSpec {
    /// What it does.
    pub kind: TrafficKind,
    /// Wire size of its packets, unless its kind decides the sizes.
    pub packet: Bytes,
    /// When it starts.
    pub start: Time,
    /// When it stops.
    pub stop: Time,
    /// Links it crosses, as indices.
    pub route: Vec<usize>,
    /// Independent copies, superposed; each draws its own offset or seed.
    pub copies: u32,
    /// The token bucket that each copy passes.
    pub shaper: Option<Shaper>,
}

/// A token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shaper {
    /// Rate at which tokens come.
    pub rate: Rate,
    /// Most tokens: how much may leave at once.
    pub bucket: Bytes,
}

/// What a traffic source does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TrafficKind {
    /// Equal gaps.
    Cbr {
        /// Its rate.
        rate: Rate,
    },
    /// Periodic bursts: `on` at `rate`, then silent for `off`. The first burst begins at `start`.
    OnOff {
        /// Burst length.
        on: Span,
        /// Silence.
        off: Span,
        /// Rate within a burst.
        rate: Rate,
    },
    /// Exponential bursts and silences with these means.
    ExponentialOnOff {
        /// Mean burst.
        on: Span,
        /// Mean silence.
        off: Span,
        /// Rate within a burst.
        rate: Rate,
    },
    /// Pareto bursts and silences with these means.
    ParetoOnOff {
        /// Mean burst.
        on: Span,
        /// Mean silence.
        off: Span,
        /// Rate within a burst.
        rate: Rate,
        /// Tail index, above 1.
        shape: f64,
    },
    /// Poisson arrivals of equal packets.
    Poisson {
        /// Mean rate.
        rate: Rate,
    },
    /// TCP connections that exchange messages.
    Connections(Box<Connections>),
    /// Browsing users.
    Web(Box<Web>),
    /// Packets from a file, which is repeated end to end.
    Trace {
        /// The file.
        #[serde(with = "canonical::file")]
        file: PathBuf,
        /// Its format.
        source: TraceSource,
        /// Mean rate of all copies together, to which time is scaled; `None`: as recorded.
        rate: Option<Rate>,
    },
}

impl TrafficSpec {
    /// Whether its packets cross this link.
    pub fn crosses(&self, link: usize) -> bool {
        self.routes().any(|route| route.contains(&link))
    }

    /// Returns the routes that its packets take.
    pub fn routes(&self) -> impl Iterator<Item = &Vec<usize>> {
        let back = match &self.kind {
            TrafficKind::Connections(connections) => Some(&connections.back),
            _ => None,
        };
        std::iter::once(&self.route).chain(back)
    }
}

impl TrafficKind {
    /// Returns its name in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            TrafficKind::Cbr { .. } => "cbr",
            TrafficKind::OnOff { .. } => "on-off",
            TrafficKind::ExponentialOnOff { .. } => "exponential-on-off",
            TrafficKind::ParetoOnOff { .. } => "pareto-on-off",
            TrafficKind::Poisson { .. } => "poisson",
            TrafficKind::Connections(connections) => match connections.source {
                ConnectionSource::Vectors(_) => "tmix",
                ConnectionSource::Drawn(_) => "sessions",
            },
            TrafficKind::Web(_) => "web",
            TrafficKind::Trace { source: TraceSource::Pcap, .. } => "pcap",
            TrafficKind::Trace { source: TraceSource::Csv, .. } => "trace",
        }
    }
}

/// Kind of trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceSource {
    /// pcap or pcapng.
    Pcap,
    /// CSV with the columns `time_ns,size_bytes`.
    Csv,
}

/// What a host records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Whether to record curves over time, distributions and traces. Otherwise only the summary's counts and means.
    pub detail: bool,
    /// Distance between the points of the curves.
    pub step: Span,
    /// Probe streams to trace per run.
    pub streams: u32,
    /// Windows in which to count what leaves the measured link; each a multiple of the first.
    pub windows: Vec<Span>,
    /// Whether every link is measured.
    pub links: bool,
    /// Whether logs of flows have every packet.
    pub packets: bool,
    /// Whether each flow that arrived and ended is listed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transfers: bool,
}

impl Record {
    /// Nothing but the summary's counts and means.
    pub const PLAIN: Record = Record {
        detail: false,
        step: Span::from_millis(10),
        streams: 0,
        windows: Vec::new(),
        links: false,
        packets: false,
        transfers: false,
    };
}

/// A bound on a figure, checked after the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// A field of the summary.
    pub metric: String,
    /// Only runs with these values of the controller (key `controller`) or of swept keys.
    pub conditions: BTreeMap<String, String>,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
    /// Where the bound comes from, in words.
    pub why: String,
}
