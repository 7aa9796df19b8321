//! The table of figures. One entry says all about a figure: its name, its type, its unit, its heading, what it means.
//!
//! From an entry come the field of the schema with its documentation, the column of the written tables, the row of
//! `dictionary.csv`, the heading and the definition on the report's page, and the row of `docs/reference/columns.md`. A new figure
//! is one new entry (and the line of `harness/src/measure` that computes it).

use crate::results::distribution::Histogram;
use crate::results::held::Held;
use crate::results::series::Series;
use serde::{Deserialize, Serialize};

pub use crate::results::held::Kind;

/// What is known of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Definition {
    /// Its name: field of the schema and column of the tables. It ends in its unit where it has one.
    pub name: &'static str,
    /// What its column holds; `None`: a list, which is in `runs.ndjson` and no column.
    pub kind: Option<Kind>,
    /// Its unit.
    pub unit: Unit,
    /// Its heading in the tables of the page; empty: it stands in none.
    pub label: &'static str,
    /// The table of the page's comparison that shows it.
    pub theme: Option<Theme>,
    /// What it means, in whole sentences.
    pub meaning: &'static str,
}

/// What a figure is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit: text.
    Text,
    /// Bits per second.
    Rate,
    /// Seconds.
    Time,
    /// A part of a whole, shown in percent.
    Share,
    /// A pure number.
    Index,
    /// A number of things.
    Count,
    /// A number of packets.
    Packets,
    /// Base round-trip times.
    RoundTrips,
    /// Bytes.
    Bytes,
    /// Bytes, squared.
    SquareBytes,
    /// The unit that the column `unit` names.
    Named,
}

impl Unit {
    /// Its symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Text => "",
            Unit::Rate => "bit/s",
            Unit::Time => "s",
            Unit::Share | Unit::Index | Unit::Count => "1",
            Unit::Packets => "packet",
            Unit::RoundTrips => "RTT",
            Unit::Bytes => "byte",
            Unit::SquareBytes => "byte^2",
            Unit::Named => "unit",
        }
    }

    /// Its name where a name has to say it: `_bps` at the end of a field.
    pub const fn suffix(self) -> &'static str {
        match self {
            Unit::Text | Unit::Named => "",
            Unit::Rate => "bps",
            Unit::Time => "s",
            Unit::Share | Unit::Index | Unit::Count => "1",
            Unit::Packets => "packets",
            Unit::RoundTrips => "rtts",
            Unit::Bytes => "bytes",
            Unit::SquareBytes => "bytes2",
        }
    }
}

/// A table of the page's comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Throughput, loss and fairness.
    Share,
    /// Queueing delay and round-trip time.
    Delay,
    /// How long flows that arrived took.
    Completion,
    /// How fast the flows answer a change.
    Response,
}

impl Held for Vec<StreamGap> {
    const KIND: Option<Kind> = None;
}

/// The one figure that differs from machine to machine. It is in the table of timing and in `--json`, and nowhere else.
pub(crate) const COST: &str = "cpu_s";

macro_rules! theme {
    () => {
        None
    };
    ($theme:ident) => {
        Some(Theme::$theme)
    };
}

/// Tables without a type of their own.
macro_rules! columns {
    ($(
        $(#[$doc:meta])* $table:ident {
            $($([$theme:ident])? $name:ident: $type:ty, $unit:ident, $label:literal, $meaning:literal;)*
        }
    )*) => {$(
        $(#[$doc])*
        pub const $table: &[Definition] = &[$(Definition {
            name: stringify!($name),
            kind: <$type as Held>::KIND,
            unit: Unit::$unit,
            label: $label,
            theme: theme!($($theme)?),
            meaning: $meaning,
        },)*];
    )*};
}

/// Tables whose entries are the fields of a type.
macro_rules! figures {
    ($(
        $(#[$doc:meta])* $table:ident of $of:ident {$(
            $(#[$attribute:meta])*
            $([$theme:ident])? $name:ident: $type:ty, $unit:ident, $label:literal, $meaning:literal;
        )*}
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct $of {$(
            #[doc = $meaning]
            $(#[$attribute])*
            pub $name: $type,
        )*}

        impl $of {
            /// Returns the figure of this name; `None` if it is absent or not finite, if it is no number, or if there is
            /// no such figure.
            pub fn metric(&self, name: &str) -> Option<f64> {
                let number = match name {
                    $(stringify!($name) => Held::number(&self.$name),)*
                    _ => None,
                };
                number.filter(|number| number.is_finite())
            }
        }

        columns! {
            #[doc = concat!("The fields of [`", stringify!($of), "`].")]
            $table { $($([$theme])? $name: $type, $unit, $label, $meaning;)* }
        }
    )*};
}

figures! {
    /// The figures of one run. They are taken at the bottleneck and after the warm-up, unless an entry says otherwise. A
    /// figure that does not exist in a run (no flow, no packet, no step, a host that does not know it) is absent.
    SUMMARY of Summary {
        [Share] throughput_bps: Option<f64>, Rate, "Throughput", "Rate at which the flows' packets, not the traffic's, left the bottleneck, as bits on the wire.";
        [Share] utilisation: Option<f64>, Share, "Utilisation", "Rate of all packets that left the bottleneck, traffic included, over capacity (the mean of a rate that changes).";
        [Share] available_share: Option<f64>, Share, "Share of available", "Throughput over the available capacity of RFC 5136: capacity minus the traffic that arrived.";
        [Share] loss_ratio: Option<f64>, Share, "Loss", "The flows' packets dropped at any queue or lost on any link, over those sent. Whole run, start-up included.";
        [Share] drop_ratio: Option<f64>, Share, "Drops at queues", "The flows' packets dropped at queues, over those sent. Whole run.";
        [Share] steady_loss_ratio: Option<f64>, Share, "Loss, steady", "The flows' packets dropped or lost after the warm-up, over those and the ones delivered after it.";
        [Delay] queue_delay_mean_s: Option<f64>, Time, "Queueing, mean", "Waiting time at the bottleneck, without the packet's own transmission: mean over all packets served, traffic included.";
        [Delay] queue_delay_p50_s: Option<f64>, Time, "Queueing, median", "Median of the same waiting times. Quantiles need record.detail.";
        [Delay] queue_delay_p95_s: Option<f64>, Time, "Queueing, 95th percentile", "Their 95th percentile.";
        [Delay] queue_delay_p99_s: Option<f64>, Time, "Queueing, 99th percentile", "Their 99th percentile.";
        queue_mean_packets: Option<f64>, Packets, "Queue, mean", "Packets at the bottleneck, including the one in service: mean over time.";
        mark_ratio: Option<f64>, Share, "Marked", "The flows' packets that arrived with congestion experienced, over those sent. Whole run.";
        burst_mark_ratio: Option<f64>, Share, "Marked as bursty", "The flows' packets that arrived with the burstiness bit, over those sent. Whole run.";
        #[serde(default)]
        burstiness_eta: Option<f64>, Index, "Burstiness", "Burstiness eta at the bottleneck: mean over busy periods, if the discipline measures it. Whole run.";
        queue_over_bound: Option<f64>, Index, "", "Mean queue that a packet finds, over the smallest possible: N*D/D/1, the same number of flows of equal constant rate with independent phases and the same load. Only for several flows with equal packets on one link without traffic.";
        [Delay] rtt_mean_s: Option<f64>, Time, "RTT, mean", "The flows' round-trip time: mean per flow over the acknowledgments that came after the warm-up (over all, for a flow that ended before), then over flows.";
        [Share] fairness_jain: Option<f64>, Index, "Jain's index", "How evenly the flows that cross the measured link share it: Jain's index (sum x)^2 / (n sum x^2) of their throughput at their receivers, while all of them are active: from the last one's start until the first is done. 1: equal; 1/n: one flow takes all. Absent if fewer than two are ever active together.";
        [Share] fairness_jain_after_entry: Option<f64>, Index, "Jain after entries", "Smallest Jain's index over the windows from 5 s after the entry of a flow until the next one enters, stops or ends, of the same flows, where two or more are active.";
        [Response] convergence_s: Option<f64>, Time, "Convergence", "From the last flow's start (even in the warm-up) until the flows' throughput over one round trip first reaches 95 % of the available capacity. Absent where earlier flows fill the link already: it is reached within the first round trip.";
        [Response] convergence_rtts: Option<f64>, RoundTrips, "Convergence", "convergence_s in base round trips: the longest of the flows that cross the measured link.";
        [Response] rise_rtts: Option<f64>, RoundTrips, "Rise", "After an upward step of at least 10 % in available capacity: base round trips (as for convergence_rtts) until the flows' total rate is within 10 % of the new value. The rate is the controllers' own mean rate if they have one, else throughput over a round trip. The largest over all steps; absent if one is never answered.";
        [Response] fall_rtts: Option<f64>, RoundTrips, "Fall", "As rise_rtts, after downward steps: first entry into the band.";
        [Response] settle_rtts: Option<f64>, RoundTrips, "Settle", "As fall_rtts: last entry into the band before the next step.";
        [Response] rise_hold_share: Option<f64>, Share, "Hold after rise", "After an upward step: share of the time from first entry to the next step that the rate is in the band. The smallest over all steps.";
        [Response] drain_rtts: Option<f64>, RoundTrips, "Drain", "Base round trips from the peak of the highest standing queue (at least 1 ms) until an interval's largest queueing delay is below 5 % of it. Only if all traffic follows a plan (constant rate, periodic on-off); absent if the queue never drains.";
        rate_variation: Option<f64>, Index, "Variation of the rate", "Coefficient of variation (standard deviation over mean) of the bytes that left the measured link, in windows of the first length of record.windows.";
        variation_left: Option<f64>, Share, "Variation left", "rate_variation over the same of all traffic where it enters the path. Only without flows.";
        hurst: Option<f64>, Index, "Hurst parameter", "Half the slope of log allan_variance_bytes2 against log length, over the lengths of record.windows (at least three), weighted by the number of differences.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] flows_arrived: Option<u64>, Count, "Flows that arrived", "Flows that arrived after the warm-up, in a scenario whose flows arrive.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] flows_completed: Option<u64>, Count, "Of these ended", "Those of flows_arrived whose last byte reached the receiver before the end.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] completion_time_mean_s: Option<f64>, Time, "Completion, mean", "From a flow's arrival until its last byte reaches the receiver: mean over the flows that arrived and ended. Where none arrive and every flow has a size: over all flows, from their starts, if all ended.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] completion_time_p50_s: Option<f64>, Time, "Completion, median", "Its median.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] completion_time_p99_s: Option<f64>, Time, "Completion, 99th percentile", "Its 99th percentile.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] slowdown_mean: Option<f64>, Index, "Slowdown, mean", "Completion time over idle time, which is the one-way delay and the transmission on the idle path, link by link. Below 1 where a link changes or a shaper's bucket lets a burst through. Mean over the same flows.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] slowdown_p50: Option<f64>, Index, "Slowdown, median", "Its median.";
        #[serde(default, skip_serializing_if = "Option::is_none")]
        [Completion] slowdown_p99: Option<f64>, Index, "Slowdown, 99th percentile", "Its 99th percentile.";
        packets_delivered: u64, Packets, "Packets delivered", "The flows' packets delivered. Whole run.";
        packet_hops: Option<u64>, Packets, "Packet hops", "Link crossings of all packets, including acknowledgments and traffic. Whole run, virtual time only.";
        events: Option<u64>, Count, "Events", "Events processed, virtual time only.";
        #[serde(default)]
        cpu_s: Option<f64>, Time, "Processor time", "Processor time of the run on this machine. It differs between repetitions.";
    }

    /// One responsive flow.
    FLOW of FlowResult {
        flow: u32, Count, "Flow", "Flow number, from 0.";
        controller: String, Text, "", "The flow's controller, as tables name it: its label.";
        #[serde(default)]
        kind: String, Text, "", "The controller's name in the registry, and any fallback on this host.";
        #[serde(default, skip_serializing_if = "String::is_empty")]
        route: String, Text, "Route", "Links that its data cross, in order; empty where there is one link.";
        start_s: f64, Time, "Start", "When it started.";
        stop_s: Option<f64>, Time, "Stop", "When the scenario stopped it.";
        completion_s: Option<f64>, Time, "Completion", "When it completed, if it did.";
        throughput_bps: Option<f64>, Rate, "Throughput", "Rate at which its packets reached its receiver, as bits on the wire: from the warm-up's end or its start, whichever is later, to its end or the run's. If it completed within the warm-up: over its whole life.";
        base_rtt_s: f64, Time, "Base RTT", "Round-trip time without queues.";
        rtt_mean_s: Option<f64>, Time, "RTT, mean", "Mean round-trip time: over the acknowledgments that came after the warm-up, or over all, if none did.";
        sent_packets: u64, Packets, "Sent", "Transmissions, retransmissions included. Whole run.";
        retransmitted_packets: u64, Packets, "Retransmitted", "Retransmissions.";
        dropped_packets: u64, Packets, "Dropped", "Packets dropped at queues.";
        lost_packets: u64, Packets, "Lost", "Packets lost at random on links.";
        timeouts: Option<u64>, Count, "Timeouts", "Retransmission timeouts, if the host reports them.";
        recoveries: Option<u64>, Count, "Recoveries", "Recovery episodes, if the host reports them.";
        undone: Option<u64>, Count, "Undone", "Reductions undone as spurious, if the host reports them.";
        streams: Option<u64>, Count, "Streams", "Probe streams completed, if the controller probes.";
        unusable_streams: Option<u64>, Count, "Unusable", "Probe streams without an estimate.";
    }

    /// The flows of one size that arrived in one run.
    COMPLETION of CompletionResult {
        table: u32, Count, "Table", "Number of the [[flow]] table, from 0.";
        controller: String, Text, "Controller", "The controller, as tables name it.";
        from_bytes: Option<u64>, Bytes, "Above", "Flows of this row are larger than this. The row of all sizes has no bounds.";
        to_bytes: Option<u64>, Bytes, "Up to", "Flows of this row are at most this large. Absent in the row of the largest.";
        arrived: u64, Count, "Arrived", "Flows of this size that arrived after the warm-up.";
        completed: u64, Count, "Ended", "Those whose last byte reached the receiver before the end. Times and slowdowns are over these.";
        completion_time_mean_s: Option<f64>, Time, "Completion, mean", "From a flow's arrival until its last byte reaches the receiver: mean.";
        completion_time_p50_s: Option<f64>, Time, "Completion, median", "Its median.";
        completion_time_p95_s: Option<f64>, Time, "Completion, 95th percentile", "Its 95th percentile.";
        completion_time_p99_s: Option<f64>, Time, "Completion, 99th percentile", "Its 99th percentile.";
        #[serde(default)]
        completion_time_percentiles_s: Vec<f64>, Time, "", "Its distribution: the percentiles from 0 to 100.";
        idle_time_mean_s: Option<f64>, Time, "Idle, mean", "Shortest possible time of the same flows on the idle path: one-way delay and transmission, link by link. Mean.";
        slowdown_mean: Option<f64>, Index, "Slowdown, mean", "Completion time over idle time, flow by flow: mean.";
        slowdown_p50: Option<f64>, Index, "Slowdown, median", "Its median.";
        slowdown_p95: Option<f64>, Index, "Slowdown, 95th percentile", "Its 95th percentile.";
        slowdown_p99: Option<f64>, Index, "Slowdown, 99th percentile", "Its 99th percentile.";
        #[serde(default)]
        slowdown_percentiles: Vec<f64>, Index, "", "Its distribution: the percentiles from 0 to 100.";
    }

    /// One flow that arrived and ended.
    TRANSFER of TransferResult {
        table: u32, Count, "", "Number of the [[flow]] table, from 0.";
        start_s: f64, Time, "", "When it arrived.";
        size_bytes: u64, Bytes, "", "Data that it sent, as bytes on the wire.";
        completion_time_s: f64, Time, "", "From its arrival until its last byte reached the receiver.";
        idle_time_s: f64, Time, "", "Shortest possible time on the idle path.";
        slowdown: f64, Index, "", "Completion time over idle time.";
    }

    /// A time between starts and ends of flows, in which the same flows are active.
    PHASE of PhaseResult {
        phase: u32, Count, "Phase", "Number of the phase, from 0. Phases are the times after the warm-up in which the same flows cross the measured link: from one start, stop or end of such a flow to the next. None where fewer than two flows cross it, or where they change more than 64 times.";
        from_s: f64, Time, "From", "When it begins.";
        to_s: f64, Time, "To", "When it ends.";
        flows: u64, Count, "Flows", "Flows that are active in it.";
        throughput_bps: Option<f64>, Rate, "Throughput", "Rate at which the packets of these flows reached their receivers, as bits on the wire.";
        available_share: Option<f64>, Share, "Share of available", "Throughput over the available capacity of RFC 5136: capacity minus the traffic that arrived.";
        fairness_jain: Option<f64>, Index, "Jain's index", "Jain's index of the flows' throughput. Absent for one flow.";
        queue_delay_p50_s: Option<f64>, Time, "Queueing, median", "Waiting time at the bottleneck, of all packets: the median.";
        queue_delay_p99_s: Option<f64>, Time, "Queueing, 99 %", "Its 99th percentile.";
    }

    /// One controller of a run in which several meet.
    SHARE of ControllerShare {
        phase: Option<u32>, Count, "Phase", "Number of the phase; absent where there are none: all after the warm-up.";
        controller: String, Text, "Controller", "The controller, as tables name it.";
        flows: u64, Count, "Flows", "Flows that it controls, of those that are active.";
        throughput_bps: Option<f64>, Rate, "Throughput", "Rate at which the packets of these flows reached their receivers, as bits on the wire.";
        share: Option<f64>, Share, "Share of the flows", "Throughput of these flows over that of all flows.";
        #[serde(default)]
        queue_delay_p50_s: Option<f64>, Time, "Queueing, median", "Waiting time of these flows' packets at the bottleneck: the median.";
        #[serde(default)]
        queue_delay_p99_s: Option<f64>, Time, "Queueing, 99 %", "Waiting time of these flows' packets at the bottleneck: the 99th percentile.";
    }

    /// One traffic source, measured where it enters the path.
    TRAFFIC of TrafficResult {
        kind: String, Text, "Kind", "Kind, as the scenario names it.";
        mean_rate_bps: Option<f64>, Rate, "Mean rate", "Mean rate after the warm-up.";
        rate_p05_bps: Option<f64>, Rate, "5 % per ms", "5th percentile of the rates per millisecond.";
        rate_p95_bps: Option<f64>, Rate, "95 % per ms", "95th percentile of the rates per millisecond.";
        burstiness_bps: Option<f64>, Rate, "Burstiness", "The 95th minus the 5th percentile, as in Table 3.1 of the RAPID dissertation.";
        packets: u64, Packets, "Packets", "Packets that entered.";
        dropped_packets: u64, Packets, "Dropped", "Packets dropped at queues.";
        #[serde(default)]
        files_asked: Option<u64>, Count, "", "Files that web users requested after the warm-up.";
        #[serde(default)]
        files_fetched: Option<u64>, Count, "Files", "Those received before the end.";
        #[serde(default)]
        file_mean_s: Option<f64>, Time, "", "From a file's request until its last byte: mean over the files received.";
        #[serde(default)]
        file_p05_s: Option<f64>, Time, "", "Its 5th percentile.";
        #[serde(default)]
        file_p10_s: Option<f64>, Time, "", "Its 10th percentile.";
        #[serde(default)]
        file_p50_s: Option<f64>, Time, "File, median", "Its median.";
        #[serde(default)]
        file_p90_s: Option<f64>, Time, "", "Its 90th percentile.";
        #[serde(default)]
        file_p95_s: Option<f64>, Time, "File, 95th percentile", "Its 95th percentile.";
        #[serde(default)]
        file_p99_s: Option<f64>, Time, "File, 99th percentile", "Its 99th percentile.";
        #[serde(default)]
        file_duration: Histogram, Time, "", "Distribution of the same time; empty without browsing users.";
        #[serde(default)]
        pages_fetched: Option<u64>, Count, "", "Pages requested after the warm-up and complete before the end.";
        #[serde(default)]
        page_p50_s: Option<f64>, Time, "Page, median", "From the request of a page's first file until the last byte of its last file: median.";
        #[serde(default)]
        page_p95_s: Option<f64>, Time, "Page, 95th percentile", "Its 95th percentile.";
        #[serde(default)]
        page_p99_s: Option<f64>, Time, "", "Its 99th percentile.";
    }

    /// What left the measured link after the warm-up, in windows of one length.
    WINDOW of WindowResult {
        window_s: f64, Time, "", "Length of a window.";
        windows: u64, Count, "", "Whole windows after the warm-up.";
        mean_bytes: Option<f64>, Bytes, "", "Bytes that left the measured link in a window: mean.";
        variation: Option<f64>, Index, "", "Standard deviation over mean of the bytes in a window.";
        #[serde(default)]
        deviation_bps: Option<f64>, Rate, "", "Standard deviation of the bytes in a window, as a rate: burstiness at this timescale.";
        allan_variance_bytes2: Option<f64>, SquareBytes, "", "Half the mean square of the difference between neighbours, pair by pair: the energy of the Haar wavelet at this length. It grows with length^(2 H), whatever the mean does.";
    }

    /// One link.
    LINK of LinkResult {
        link: u32, Count, "Link", "Number of the link, from 0.";
        name: String, Text, "", "Its name in the scenario.";
        throughput_bps: Option<f64>, Rate, "Throughput", "Bits on the wire per second that left it after the warm-up, of all packets.";
        capacity_bps: f64, Rate, "Capacity", "Mean of its rate over that time; behind a shaper or policer at most that one's rate.";
        utilisation: Option<f64>, Share, "Utilisation", "Throughput over capacity. A packet counts as a whole when it leaves, and a shaper's bucket may be full at the start, so short runs can pass 1.";
        queue_delay_mean_s: Option<f64>, Time, "Queueing, mean", "Waiting time there, without the packet's own transmission: mean over the packets that left after the warm-up.";
        queue_delay_p50_s: Option<f64>, Time, "Queueing, median", "Median of the same waiting times.";
        queue_delay_p95_s: Option<f64>, Time, "Queueing, 95th percentile", "Their 95th percentile.";
        queue_delay_p99_s: Option<f64>, Time, "Queueing, 99th percentile", "Their 99th percentile.";
        queue_mean_packets: Option<f64>, Packets, "Queue, mean", "Packets there, the one in service included: mean over time.";
        packets: u64, Packets, "Packets", "Packets that left it after the warm-up.";
        dropped_packets: u64, Packets, "Dropped", "Packets that its policer or its queue dropped. Whole run.";
        lost_packets: u64, Packets, "Lost", "Packets lost on its wire. Whole run.";
        marked_packets: Option<u64>, Packets, "Marked", "Packets that it marked, where the host reports them. Whole run.";
        #[serde(default, skip_serializing_if = "Series::is_empty")]
        queue_delay: Series, Time, "", "Curve of the waiting time there: mean of the packets that left in each interval of record.step. Needs record.detail.";
    }

    /// One probe stream, gap by gap.
    STREAM of StreamRecord {
        flow: u32, Count, "", "Flow it belongs to.";
        start_s: f64, Time, "", "When its first packet left.";
        rate_bps: f64, Rate, "", "Mean rate it was sent at.";
        estimate_bps: Option<f64>, Rate, "", "Available bandwidth estimated from it; absent if the estimator abstained.";
        available_bps: Option<f64>, Rate, "", "Available bandwidth at the bottleneck while it was sent, by the host's account: capacity minus the traffic and the other flows that arrived.";
        gaps: Vec<StreamGap>, Count, "", "Its gaps in order: one fewer than packets.";
    }

    /// The packets of one flow, thinned: of each list every second, every fourth, ... entry, until at most 2000 are left.
    SEQUENCE of SequenceRecord {
        flow: u32, Count, "", "Flow it belongs to.";
        sent: Vec<(f64, u64)>, Count, "", "First transmissions: time in seconds, number of the packet in its flow, from 0.";
        sent_again: Vec<(f64, u64)>, Count, "", "Retransmissions: the same.";
        acknowledged: Vec<(f64, u64)>, Count, "", "Acknowledgments that reached the sender: time in seconds, number of the next packet that the receiver expected.";
        lost: Vec<(f64, u64)>, Count, "", "Packets that a queue dropped or a link lost: time in seconds, number of the packet.";
        in_flight: Vec<(f64, u64)>, Packets, "", "Packets in flight as the sender counts them: time in seconds, packets.";
    }

    /// One gap of a probe stream.
    GAP of StreamGap {
        intended_s: f64, Time, "", "Intended gap.";
        created_s: f64, Time, "", "Gap the sender created.";
        received_s: Option<f64>, Time, "", "Gap at the receiver; absent if an arrival time is missing.";
        denoised_s: Option<f64>, Time, "", "Gap after denoising: what the estimator reads.";
        delay_s: Option<f64>, Time, "", "One-way delay above the stream's smallest: queueing.";
        rate_bps: f64, Rate, "", "Rate the gap probes.";
        size_bytes: u32, Bytes, "", "Size of the packet.";
    }
}

columns! {
    /// What identifies a run; the swept keys follow, one column each, under their own names.
    RUN {
        run: u64, Count, "", "Number of the run in the plan, from 0; joins the tables.";
        controller: String, Text, "", "Controller under test.";
        replication: u32, Count, "", "Replication, from 0.";
        seed: u64, Count, "", "The replication's seed, the same for all controllers and sweep points.";
    }

    /// First column of every other table.
    NUMBER {
        run: u64, Count, "", "Number of the run in the plan.";
    }

    /// Identifies traffic sources.
    SOURCE {
        source: u64, Count, "", "Number of the source, from 0.";
    }

    /// One point of a curve.
    POINT {
        metric: String, Text, "", "What the curve shows.";
        flow: Option<u32>, Count, "", "Flow number, if it belongs to a flow.";
        unit: String, Text, "", "Unit of the value.";
        time_s: f64, Time, "", "Middle of the interval.";
        value: Option<f64>, Named, "", "The value, in that unit.";
    }

    /// Curves over time, by metric: a value for each interval of `record.step`.
    CURVES {
        throughput: f32, Rate, "", "Bits on the wire that reached the receiver, per flow; above 32 flows, those of all that left the bottleneck.";
        losses: f32, Packets, "", "Packets dropped or lost in the interval, per flow.";
        rate: f32, Rate, "", "Mean rate that the controller chose, per flow.";
        rtt: f32, Time, "", "Smoothed round-trip time, per flow.";
        window: f32, Packets, "", "Congestion window, per flow.";
        threshold: f32, Packets, "", "Slow-start threshold, per flow, from the first reduction on.";
        retransmissions: f32, Packets, "", "Packets sent again since the flow's start.";
        traffic: f32, Rate, "", "Traffic that arrived at the bottleneck.";
        offered: f32, Rate, "", "What arrived at the bottleneck from flows and traffic, dropped packets included.";
        available: f32, Rate, "", "Capacity minus the traffic that arrived.";
        queue_delay: f32, Time, "", "Waiting time at the bottleneck: mean of packets that left in the interval.";
        queue_delay_max: f32, Time, "", "Longest waiting time in the interval.";
        queue_average: f32, Packets, "", "The discipline's own average of the queue.";
        queue_rho: f32, Share, "", "Its average of the utilisation.";
        queue_eta: f32, Index, "", "Its average of the burstiness.";
    }
}

/// The written tables: the name of each one's files, and its columns.
pub fn tables() -> Vec<(&'static str, Vec<Definition>)> {
    let columns = |of: &[&[Definition]]| -> Vec<Definition> {
        of.concat().into_iter().filter(|figure| figure.kind.is_some()).collect()
    };
    let cost = |figure: &&Definition| figure.name == COST;
    let (cost, figures): (Vec<Definition>, Vec<Definition>) = SUMMARY.iter().partition(cost);
    vec![
        ("runs", columns(&[RUN, &figures])),
        ("timing", columns(&[NUMBER, &cost])),
        ("flows", columns(&[NUMBER, FLOW])),
        ("completions", columns(&[NUMBER, COMPLETION])),
        ("transfers", columns(&[NUMBER, TRANSFER])),
        ("phases", columns(&[NUMBER, PHASE])),
        ("shares", columns(&[NUMBER, SHARE])),
        ("traffic", columns(&[NUMBER, SOURCE, TRAFFIC])),
        ("windows", columns(&[NUMBER, WINDOW])),
        ("links", columns(&[NUMBER, LINK])),
        ("series", columns(&[NUMBER, POINT])),
    ]
}

impl Summary {
    /// Names of all figures.
    pub fn metrics() -> impl Iterator<Item = &'static str> {
        SUMMARY.iter().map(|figure| figure.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_ends_in_a_unit_has_that_unit() {
        let units = [Unit::Rate, Unit::Time, Unit::RoundTrips, Unit::Packets, Unit::Bytes, Unit::SquareBytes];
        for (table, columns) in tables() {
            for column in columns {
                for unit in units.iter().filter(|unit| column.name.ends_with(&format!("_{}", unit.suffix()))) {
                    assert_eq!(column.unit, *unit, "{table}.{}", column.name);
                }
                assert!(!column.name.ends_with("_ratio") || column.unit == Unit::Share, "{table}.{}", column.name);
            }
        }
    }

    #[test]
    fn meanings_are_whole_sentences_on_one_line() {
        let tables = [
            SUMMARY, FLOW, COMPLETION, TRANSFER, PHASE, SHARE, TRAFFIC, WINDOW, LINK, STREAM, SEQUENCE, GAP, RUN,
            NUMBER, SOURCE, POINT, CURVES,
        ];
        for figure in tables.concat() {
            let sentence = figure.meaning.ends_with('.') && !figure.meaning.contains(['\n', '|']);
            assert!(sentence, "{}: {}", figure.name, figure.meaning);
        }
    }
}
