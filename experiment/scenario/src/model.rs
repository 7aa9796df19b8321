//! One experiment, fully resolved: what a host needs to make one run, and nothing that needs looking up.

mod connections;

pub use connections::{ConnectionSource, Connections, FileSizes, Objects, Parse, Sessions, Think, Web};

use crate::canonical;
use crate::search::SearchSpec;
use queueing::Limit;
use serde::Serialize;
use settings::Settings;
use std::collections::BTreeMap;
use std::path::PathBuf;
use units::{Bytes, Packets, Rate, Ratio, Span, Time};

/// One run: a scenario with its controller put in, its sweep point chosen and its seed drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Experiment {
    /// Controller under test, for the table: that of the flows, or the one `[compare]` put in.
    pub controller: String,
    /// Swept keys and their values, as the scenario writes them.
    pub params: BTreeMap<String, String>,
    /// Which replication, from 0.
    pub replication: u32,
    /// Seed of this replication; the same for every controller and sweep point, so that they meet the same draws.
    pub seed: u64,
    /// Length of the run.
    pub duration: Span,
    /// Left out of steady-state figures.
    pub warmup: Span,
    /// Links in order of declaration. A dumbbell has one, named `bottleneck`.
    pub links: Vec<LinkSpec>,
    /// Index of the link where queue and utilisation are measured: the one that `record.link` names, or the slowest.
    pub bottleneck: usize,
    /// The receiving hosts.
    pub receiver: ReceiverSpec,
    /// How the sending hosts create gaps.
    pub gaps: GapModel,
    /// Responsive flows, one entry each (counts unfolded).
    pub flows: Vec<FlowSpec>,
    /// Unresponsive traffic.
    pub traffic: Vec<TrafficSpec>,
    /// Probe streams; then there are no flows.
    pub probe: Option<ProbeSpec>,
    /// What to record.
    pub record: Record,
}

/// Probe streams, one after the other. Rates within a stream rise by equal ratios, in levels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProbeSpec {
    /// How many.
    pub streams: u32,
    /// Packets of each; they have one gap fewer.
    pub packets: u32,
    /// Rates of each: 1 for a single rate, as many as gaps for a chirp.
    pub levels: u32,
    /// By how much the highest rate exceeds the lowest.
    pub range: Ratio,
    /// Mean rate (bits over time) of the slowest stream.
    pub slowest: Rate,
    /// Mean rate of the fastest; those of all are spread evenly in between.
    pub fastest: Rate,
    /// Wire size of its packets.
    pub packet: Bytes,
    /// Rate of the sender's network card; `None`: infinite.
    pub access: Option<Rate>,
    /// So many streams of one mean rate follow each other without a pause.
    pub train: u32,
    /// Mean time between trains; each is drawn, from a half to one and a half of it.
    pub pause: Span,
    /// The receiver gives a time for every so many packets.
    pub acknowledge: u32,
    /// Which send gaps are recorded.
    pub recorded: Recorded,
    /// Rates follow from what earlier streams said; then `streams` and `packets` do too.
    pub search: Option<SearchSpec>,
}

/// Which send gaps a sender writes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Recorded {
    /// Those with which packets left the host.
    Sent,
    /// Those it was asked for.
    Intended,
}

/// A link: a queue, a wire, a delay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkSpec {
    /// Its name.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay, one way.
    pub delay: Span,
    /// What its queue holds, the packet in service included.
    pub buffer: Buffer,
    /// Its discipline.
    pub queue: QueueSpec,
    /// Probability of losing each packet on the wire, independent of all others.
    pub loss: Ratio,
    /// What else the wire does to them.
    pub impairments: Impairments,
}

/// What a wire does to packets beside delaying and losing them. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Impairments {
    /// Some packets are overtaken by those that left after them.
    pub reorder: Option<Reordering>,
    /// From, to: what leaves the link in this time is lost. In order of time.
    pub outages: Vec<(Time, Time)>,
    /// From then on the delay is this. In order of time. The wire keeps its order: where the delay falls, packets wait
    /// for those that left before them.
    pub delay_steps: Vec<(Time, Span)>,
}

/// Packets that arrive late.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reordering {
    /// Probability of being late, independent of all others.
    pub share: Ratio,
    /// By the time in which the link sends so many of its largest packets: on a busy link so many overtake it.
    pub packets: u64,
}

/// A buffer, resolved (`"1 bdp"` has become bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Buffer {
    /// In packets.
    Packets(Packets),
    /// In bytes.
    Bytes(Bytes),
    /// Without limit.
    Unlimited,
}

impl Buffer {
    /// As a queue takes it.
    pub fn limit(self) -> Limit {
        match self {
            Buffer::Packets(packets) => Limit::Packets(packets),
            Buffer::Bytes(bytes) => Limit::Bytes(bytes),
            Buffer::Unlimited => Limit::Unlimited,
        }
    }
}

/// A queue discipline with its settings, checked against the registry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueueSpec {
    /// Name in the registry.
    pub kind: String,
    /// What the scenario set.
    #[serde(serialize_with = "canonical::settings")]
    pub settings: Settings,
}

impl QueueSpec {
    /// The discipline of this name with its defaults.
    pub fn named(kind: &str) -> QueueSpec {
        QueueSpec { kind: kind.to_string(), settings: Settings::new() }
    }
}

/// The receiving hosts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReceiverSpec {
    /// Interrupt coalescence at the network card.
    pub coalescing: Coalescing,
    /// Acknowledge at least every so many in-order packets.
    pub delayed_ack: u32,
    /// ... or after so long.
    pub delayed_ack_timeout: Span,
    /// Receive window in packets.
    pub window: Packets,
    /// Whether acknowledgments carry arrival times.
    pub stamps: bool,
    /// Granularity of those times.
    pub stamp_granularity: Span,
    /// Probability of losing each acknowledgment on its way back.
    pub ack_loss: Ratio,
    /// Acknowledgments reach the sender at whole multiples of this; zero: whenever they come.
    pub ack_bunching: Span,
    /// Longest time by which they are late.
    pub stamp_delay: Span,
}

impl ReceiverSpec {
    /// Acknowledges and stamps every packet at once, exactly.
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
    };
}

/// Interrupt coalescence: packets wait at the card and are handed over in a batch, also when it holds `frames` packets.
/// Stamps are taken when the batch is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Coalescing {
    /// When the card interrupts.
    pub kind: Moderation,
    /// The timer; zero: no coalescence by time.
    pub time: Span,
    /// The frame limit; zero: none.
    pub frames: u32,
}

impl Coalescing {
    /// An adaptive card honours a time up to this (dissertation, section 6.3.2.2).
    pub const HONOURED: Span = Span::from_micros(12);
    /// None.
    pub const NONE: Coalescing = Coalescing { kind: Moderation::Timer, time: Span::ZERO, frames: 0 };
}

/// When a card with interrupt coalescence interrupts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Moderation {
    /// A time after the first packet of a batch.
    #[default]
    Timer,
    /// When a packet is there, and not before a time since the last interrupt.
    Spacing,
    /// Adaptive: up to 12 us the time counts, as with [`Moderation::Timer`], and frames do not; beyond it the time counts
    /// no more, and batches have a number of packets that is drawn about `frames`.
    Adaptive,
}

/// How a sending host creates gaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum GapModel {
    /// At the instant asked for.
    Perfect,
    /// Waiting on a clock of this resolution: gaps are cut to whole steps of it. For probe streams only, since packets
    /// leave before their time.
    BusyWait(Span),
    /// By timer interrupts, the handling of which is now and then deferred; what is due meanwhile leaves together.
    Hrtimer {
        /// How long, on average; drawn from a half to one and a half of it.
        deferral: Span,
        /// Probability that an interrupt is deferred.
        often: Ratio,
    },
    /// Late by a draw from a distribution given by three of its quantiles, linear in between and from zero.
    Late {
        /// Half of the packets are at most so late.
        p50: Span,
        /// 99 % of them.
        p99: Span,
        /// 99.9 % of them; none is later.
        p999: Span,
    },
    /// Late by a uniform draw up to this; packets keep their order.
    Noise(Span),
    /// At the next tick of a timer of this period.
    Timer(Span),
    /// So many packets at a time, when the last of them is due.
    Batch(u32),
}

/// One responsive flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowSpec {
    /// Its controller.
    pub controller: ControllerSpec,
    /// Wire size of its packets.
    pub packet: Bytes,
    /// When it starts.
    pub start: Start,
    /// What it sends.
    pub size: Size,
    /// When its application has packets to send, from the start of the flow on; `None`: always.
    pub application: Option<TrafficKind>,
    /// Base round-trip time: propagation only.
    pub rtt: Span,
    /// Links it crosses, as indices.
    pub route: Vec<usize>,
    /// Rate of its sender's network card; `None`: infinite.
    pub access: Option<Rate>,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Pacing of window-based controllers, in percent of a window per smoothed round trip; 0: none.
    pub pacing_percent: u32,
    /// Least retransmission timeout.
    pub min_rto: Span,
    /// Its packets may be marked instead of dropped, if its controller reads marks.
    pub ecn: bool,
}

/// A controller with its settings, checked against the registry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControllerSpec {
    /// Name in the registry.
    pub kind: String,
    /// What the scenario set.
    #[serde(serialize_with = "canonical::settings")]
    pub settings: Settings,
}

/// When something starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Start {
    /// Then.
    At(Time),
    /// Drawn uniformly, from the run's seed.
    Uniform(Time, Time),
}

/// How much a flow sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Size {
    /// As long as the run lasts.
    Unlimited,
    /// So much.
    Bytes(Bytes),
}

impl FlowSpec {
    /// The application as a source of packets: it offers to its sender what traffic would put on a link.
    pub fn offered(&self) -> Option<TrafficSpec> {
        let source = |kind: &TrafficKind| TrafficSpec {
            kind: kind.clone(),
            packet: self.packet,
            start: Time::ZERO,
            stop: Time::MAX,
            route: Vec::new(),
            copies: 1,
            shaper: None,
        };
        self.application.as_ref().map(source)
    }
}

/// One source of unresponsive traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficSpec {
    /// What it does.
    pub kind: TrafficKind,
    /// Wire size of its packets, where the kind does not say.
    pub packet: Bytes,
    /// When it starts.
    pub start: Time,
    /// When it stops.
    pub stop: Time,
    /// Links it crosses, as indices.
    pub route: Vec<usize>,
    /// Independent copies, superposed; each draws its own offset or seed.
    pub copies: u32,
    /// The token bucket behind which each copy stands.
    pub shaper: Option<Shaper>,
}

/// A token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shaper {
    /// At which tokens come.
    pub rate: Rate,
    /// How many there can be: what may leave at once.
    pub bucket: Bytes,
}

/// What a traffic source does.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Users who browse.
    Web(Box<Web>),
    /// Packets from a file, repeated end to end.
    Trace {
        /// The file.
        #[serde(serialize_with = "canonical::file")]
        file: PathBuf,
        /// What it is.
        source: TraceSource,
        /// Mean rate of all copies together to scale time to; `None`: as recorded.
        rate: Option<Rate>,
    },
}

impl TrafficSpec {
    /// Whether its packets cross this link.
    pub fn crosses(&self, link: usize) -> bool {
        self.routes().any(|route| route.contains(&link))
    }

    /// The ways that its packets take.
    pub fn routes(&self) -> impl Iterator<Item = &Vec<usize>> {
        let back = match &self.kind {
            TrafficKind::Connections(connections) => Some(&connections.back),
            _ => None,
        };
        std::iter::once(&self.route).chain(back)
    }
}

impl TrafficKind {
    /// Its name in a scenario.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TraceSource {
    /// pcap or pcapng.
    Pcap,
    /// CSV with the columns `time_ns,size_bytes`.
    Csv,
}

/// What a host records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record {
    /// Curves over time, distributions, traces. Without it only the summary's counts and means are kept.
    pub detail: bool,
    /// Distance between the points of the curves.
    pub step: Span,
    /// Probe streams to trace per run.
    pub streams: u32,
    /// Windows in which to count what leaves the measured link; each a multiple of the first.
    pub windows: Vec<Span>,
}

/// A window in words, checked after the runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// A field of the summary.
    pub metric: String,
    /// Only runs whose controller (key `controller`) or swept keys have these values.
    pub conditions: BTreeMap<String, String>,
    /// Lower bound.
    pub at_least: Option<f64>,
    /// Upper bound.
    pub at_most: Option<f64>,
    /// Where the bound comes from.
    pub why: String,
}
