//! The table of figures. One entry says all about a figure: its name, its type, its unit, its heading, what it means.
//!
//! From an entry come the field of the schema with its documentation, the column of the written tables, the row of
//! `dictionary.csv`, the heading and the definition on the report's page, and the row of `docs/results.md`. A new figure
//! is one new entry (and the line of `experiment/measure` that computes it).

use crate::distribution::Histogram;
use serde::{Deserialize, Serialize};

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

/// What a column holds. Every column but text may have holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A count, 64 bits.
    Integer,
    /// A figure, double precision.
    Float,
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

    /// Its name where a name has to say it: `_bps` at the end of a field, `bps` in the column `unit` of curves.
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
    /// How fast the flows answer a change.
    Response,
}

/// The one figure that differs from machine to machine. It is in the table of timing and in `--json`, and nowhere else.
pub(crate) const COST: &str = "cpu_s";

/// The column that a type fits in.
trait Held {
    const KIND: Option<Kind>;
}

macro_rules! held {
    ($($type:ty: $kind:expr),*) => {$(impl Held for $type { const KIND: Option<Kind> = $kind; })*};
}

held!(String: Some(Kind::Text), u32: Some(Kind::Integer), u64: Some(Kind::Integer));
held!(f32: Some(Kind::Float), f64: Some(Kind::Float), Histogram: None, Vec<StreamGap>: None);

impl<T: Held> Held for Option<T> {
    const KIND: Option<Kind> = T::KIND;
}

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
        [Share] throughput_bps: Option<f64>, Rate, "Throughput", "Packets of the flows, not of the traffic, that left the bottleneck, as bits on the wire per second.";
        [Share] utilisation: Option<f64>, Share, "Utilisation", "All that left the bottleneck, traffic included, divided by its capacity (the mean of a rate that changes).";
        [Share] available_share: Option<f64>, Share, "Share of available", "Throughput divided by what the traffic left: capacity minus the traffic that arrived, the available capacity of RFC 5136.";
        [Share] loss_ratio: Option<f64>, Share, "Loss", "Packets of the flows dropped at any queue or lost on any link, divided by those sent. Whole run, start-up included.";
        [Share] drop_ratio: Option<f64>, Share, "Drops at queues", "Packets of the flows dropped at queues only, divided by those sent: what the flows brought on themselves. Whole run.";
        [Share] steady_loss_ratio: Option<f64>, Share, "Loss, steady", "Packets of the flows dropped at any queue or lost on any link after the warm-up, divided by those and the ones delivered after it.";
        [Delay] queue_delay_mean_s: Option<f64>, Time, "Queueing, mean", "Waiting time at the bottleneck, without the packet's own transmission: mean over all packets served, those of the traffic included.";
        [Delay] queue_delay_p50_s: Option<f64>, Time, "Queueing, median", "Median of the same waiting times. Quantiles need record.detail.";
        [Delay] queue_delay_p95_s: Option<f64>, Time, "Queueing, 95th pct.", "95th percentile of the same waiting times.";
        [Delay] queue_delay_p99_s: Option<f64>, Time, "Queueing, 99th pct.", "99th percentile of the same waiting times.";
        queue_mean_packets: Option<f64>, Packets, "Queue, mean", "Packets at the bottleneck, the one in service included: mean over time.";
        mark_ratio: Option<f64>, Share, "Marked", "Packets of the flows that arrived with congestion experienced, divided by those sent. Whole run.";
        burst_mark_ratio: Option<f64>, Share, "Marked as bursty", "Packets of the flows that arrived with the burstiness bit, divided by those sent. Whole run.";
        #[serde(default)]
        burstiness_eta: Option<f64>, Index, "Burstiness", "Burstiness eta at the bottleneck: mean over its busy periods, for disciplines that measure it. Whole run.";
        [Delay] queue_over_bound: Option<f64>, Index, "Queue over bound", "Mean queue that a packet finds, in packets, divided by the least possible: that of as many flows which send at equal, constant rates with independent phases and load the link as much (N*D/D/1). Only for more than one flow with equal packets on a path of one link without traffic.";
        [Delay] rtt_mean_s: Option<f64>, Time, "RTT, mean", "Round-trip time of the flows: mean over the flows of the mean over the acknowledgments that give one.";
        [Share] fairness_jain: Option<f64>, Index, "Jain's index", "Jain's index (sum x)^2 / (n sum x^2) over the flows' throughputs at their receivers, each over the time that all flows are active. 1: all equal; 1/n: one has all.";
        [Share] fairness_jain_after_entry: Option<f64>, Index, "Jain after entries", "Smallest Jain's index over the windows [entry + 5 s, next entry), one per flow entry, over the flows then active.";
        [Response] convergence_s: Option<f64>, Time, "Convergence", "From the start of the last flow (in the warm-up or not) until the throughput of the flows, over one round trip, first reaches 95 % of the available capacity.";
        [Response] convergence_rtts: Option<f64>, RoundTrips, "Convergence", "The same, in base round trips of the first flow.";
        [Response] rise_rtts: Option<f64>, RoundTrips, "Rise", "After each upward step of the available capacity of at least 10 %: base round trips until the flows' total rate (the controllers' own mean rate where they have one, else the throughput over a round trip) is within 10 % of the new value. The largest over all steps. Absent too where one is never answered.";
        [Response] fall_rtts: Option<f64>, RoundTrips, "Fall", "The same after downward steps: first entry into the band.";
        [Response] settle_rtts: Option<f64>, RoundTrips, "Settle", "The same after downward steps: last entry into the band before the next step, after which it stays.";
        [Response] rise_hold_share: Option<f64>, Share, "Hold after rise", "After each upward step: share of the time from first entry to the next step in which the rate is in the band. The smallest over all steps.";
        [Response] drain_rtts: Option<f64>, RoundTrips, "Drain", "From the peak of the highest standing queue (at least 1 ms) until the largest queueing delay in an interval falls below 5 % of it, in base round trips. Only where all traffic follows a plan (constant rate, periodic on-off). Absent too where the queue never drains.";
        rate_variation: Option<f64>, Index, "Variation of the rate", "Coefficient of variation of the bytes that left the measured link, in windows of the first length of record.windows: standard deviation over mean.";
        variation_left: Option<f64>, Share, "Variation left", "rate_variation divided by the same of all traffic where it enters the path: how much of the unevenness is left. Only where there are no flows.";
        hurst: Option<f64>, Index, "Hurst parameter", "Over the lengths of record.windows: half the slope of the logarithm of allan_variance_bytes2 over that of the length, weighted by the number of differences. At least three lengths.";
        packets_delivered: u64, Packets, "Packets delivered", "Packets of the flows delivered to their receivers. Whole run.";
        packet_hops: Option<u64>, Packets, "Packet hops", "Link crossings of all packets, acknowledgments and traffic included. Whole run. Hosts in virtual time only.";
        events: Option<u64>, Count, "Events", "Events processed. Hosts in virtual time only.";
        #[serde(default)]
        cpu_s: Option<f64>, Time, "Processor time", "Processor time of the run. Not the same on every machine: written, never compared.";
    }

    /// One responsive flow.
    FLOW of FlowResult {
        flow: u32, Count, "Flow", "Flow number, from 0.";
        controller: String, Text, "", "The flow's controller.";
        start_s: f64, Time, "Start", "When it started.";
        completion_s: Option<f64>, Time, "Completion", "When it was done, if it had an end and reached it.";
        throughput_bps: Option<f64>, Rate, "Throughput", "Bits on the wire per second that reached its receiver, from the end of the warm-up (or the flow's start, if later) to the end of the run (or of the flow).";
        base_rtt_s: f64, Time, "Base RTT", "Round-trip time without any queue.";
        rtt_mean_s: Option<f64>, Time, "RTT, mean", "Mean round-trip time.";
        sent_packets: u64, Packets, "Sent", "Transmissions, retransmissions included, whole life.";
        retransmitted_packets: u64, Packets, "Retransmitted", "Retransmissions.";
        dropped_packets: u64, Packets, "Dropped", "Packets dropped at queues.";
        lost_packets: u64, Packets, "Lost", "Packets lost at random on links.";
        timeouts: Option<u64>, Count, "Timeouts", "Retransmission timeouts, where the host says.";
        recoveries: Option<u64>, Count, "Recoveries", "Recovery episodes, where the host says.";
        undone: Option<u64>, Count, "Undone", "Reductions undone, because the loss proved to be none, where the host says.";
        streams: Option<u64>, Count, "Streams", "Probe streams completed, for controllers that probe.";
        unusable_streams: Option<u64>, Count, "Unusable", "Probe streams that gave no estimate.";
    }

    /// One traffic source, measured where it enters the path.
    TRAFFIC of TrafficResult {
        kind: String, Text, "Kind", "Kind, as the scenario names it.";
        mean_rate_bps: Option<f64>, Rate, "Mean rate", "Mean rate after the warm-up.";
        rate_p05_bps: Option<f64>, Rate, "5 % per ms", "5th percentile of the rates per millisecond.";
        rate_p95_bps: Option<f64>, Rate, "95 % per ms", "95th percentile of the rates per millisecond.";
        burstiness_bps: Option<f64>, Rate, "Burstiness", "95th minus 5th percentile: burstiness as in Table 3.1 of the RAPID dissertation.";
        packets: u64, Packets, "Packets", "Packets that entered.";
        dropped_packets: u64, Packets, "Dropped", "Packets dropped at queues.";
        #[serde(default)]
        files_asked: Option<u64>, Count, "", "Files asked for after the warm-up, for users who browse.";
        #[serde(default)]
        files_fetched: Option<u64>, Count, "Files", "Of these, files that came before the end.";
        #[serde(default)]
        file_mean_s: Option<f64>, Time, "", "From asking for a file until its last byte is there: mean over the files that came.";
        #[serde(default)]
        file_p05_s: Option<f64>, Time, "", "Its 5th percentile.";
        #[serde(default)]
        file_p10_s: Option<f64>, Time, "", "Its 10th percentile.";
        #[serde(default)]
        file_p50_s: Option<f64>, Time, "File, median", "Its median.";
        #[serde(default)]
        file_p90_s: Option<f64>, Time, "", "Its 90th percentile.";
        #[serde(default)]
        file_p95_s: Option<f64>, Time, "95 %", "Its 95th percentile.";
        #[serde(default)]
        file_p99_s: Option<f64>, Time, "99 %", "Its 99th percentile.";
        #[serde(default)]
        file_duration: Histogram, Time, "", "How the time that a file takes is distributed, over the files that came; empty without users who browse.";
        #[serde(default)]
        pages_fetched: Option<u64>, Count, "", "Pages asked for after the warm-up that were complete before the end.";
        #[serde(default)]
        page_p50_s: Option<f64>, Time, "Page, median", "From asking for the first file of a page until the last is there: median.";
        #[serde(default)]
        page_p95_s: Option<f64>, Time, "95 %", "Its 95th percentile.";
        #[serde(default)]
        page_p99_s: Option<f64>, Time, "", "Its 99th percentile.";
    }

    /// What left the measured link after the warm-up, in windows of one length.
    WINDOW of WindowResult {
        window_s: f64, Time, "", "Length of a window.";
        windows: u64, Count, "", "Whole windows after the warm-up.";
        mean_bytes: Option<f64>, Bytes, "", "Mean of the bytes that left the measured link in a window.";
        variation: Option<f64>, Index, "", "Their standard deviation, divided by their mean.";
        #[serde(default)]
        deviation_bps: Option<f64>, Rate, "", "Their standard deviation as a rate: burstiness at this timescale.";
        allan_variance_bytes2: Option<f64>, SquareBytes, "", "Half the mean square of the difference between neighbours, pair by pair: the energy of the Haar wavelet at this length. It grows with the length to the power of 2 H, whatever the mean does.";
    }

    /// One link.
    LINK of LinkResult {
        link: u32, Count, "Link", "Number of the link, from 0.";
        name: String, Text, "", "Its name in the scenario.";
        throughput_bps: Option<f64>, Rate, "Throughput", "Bits on the wire per second that left it after the warm-up, of all packets.";
        capacity_bps: f64, Rate, "Capacity", "Mean of its rate over that time; behind a shaper or policer at most that one's rate.";
        utilisation: Option<f64>, Share, "Utilisation", "The first divided by the second.";
        queue_delay_mean_s: Option<f64>, Time, "Queueing, mean", "Waiting time there, without the packet's own transmission: mean over the packets that left after the warm-up.";
        queue_delay_p50_s: Option<f64>, Time, "Queueing, median", "Median of the same waiting times.";
        queue_delay_p95_s: Option<f64>, Time, "Queueing, 95th pct.", "Their 95th percentile.";
        queue_delay_p99_s: Option<f64>, Time, "Queueing, 99th pct.", "Their 99th percentile.";
        queue_mean_packets: Option<f64>, Packets, "Queue, mean", "Packets there, the one in service included: mean over time.";
        packets: u64, Packets, "Packets", "Packets that left it after the warm-up.";
        dropped_packets: u64, Packets, "Dropped", "Packets that its policer or its queue dropped. Whole run.";
        lost_packets: u64, Packets, "Lost", "Packets lost on its wire. Whole run.";
        marked_packets: Option<u64>, Packets, "Marked", "Packets that it marked, where the host says. Whole run.";
    }

    /// One probe stream, gap by gap.
    STREAM of StreamRecord {
        flow: u32, Count, "", "Flow it belongs to.";
        start_s: f64, Time, "", "When its first packet left.";
        rate_bps: f64, Rate, "", "Mean rate it was sent at.";
        estimate_bps: Option<f64>, Rate, "", "Available bandwidth read from the stream; absent when the estimator abstained.";
        available_bps: Option<f64>, Rate, "", "What really was available at the bottleneck while the stream was sent, from the host's own books: capacity minus the traffic that arrived.";
        gaps: Vec<StreamGap>, Count, "", "Its gaps in order: one fewer than packets.";
    }

    /// One gap of a probe stream.
    GAP of StreamGap {
        intended_s: f64, Time, "", "Gap before the packet that was asked for.";
        created_s: f64, Time, "", "Gap that the sender really created.";
        received_s: Option<f64>, Time, "", "Gap at the receiver; absent where an arrival time is missing.";
        denoised_s: Option<f64>, Time, "", "Gap after denoising: what the estimator reads.";
        delay_s: Option<f64>, Time, "", "Arrival minus send time, above the smallest of the stream: the rise is queueing.";
        rate_bps: f64, Rate, "", "Rate that the gap's level probes.";
        size_bytes: u32, Bytes, "", "Size of the packet.";
    }
}

columns! {
    /// What identifies a run; the swept keys follow, one column each, under their own names.
    RUN {
        run: u64, Count, "", "Number of the run in the plan, from 0: joins the tables.";
        controller: String, Text, "", "Controller under test.";
        replication: u32, Count, "", "Replication, from 0.";
        seed: u64, Count, "", "Seed of the replication, the same for every controller and sweep point.";
    }

    /// First column of every other table.
    NUMBER {
        run: u64, Count, "", "Number of the run in the plan.";
    }

    /// What tells traffic sources apart.
    SOURCE {
        source: u64, Count, "", "Number of the source, from 0.";
    }

    /// One point of a curve.
    POINT {
        metric: String, Text, "", "What the curve shows.";
        flow: Option<u32>, Count, "", "Flow number, when it belongs to a flow.";
        unit: String, Text, "", "Unit of the value.";
        time_s: f64, Time, "", "Middle of the interval.";
        value: Option<f64>, Named, "", "The value, in the unit that the column \"unit\" names.";
    }

    /// Curves over time, by metric: a value for each interval of `record.step`.
    CURVES {
        throughput: f32, Rate, "", "Bits on the wire per second that reached the receiver, per flow; where there are more than 32, those of all flows that left the bottleneck.";
        losses: f32, Packets, "", "Packets dropped or lost in the interval, per flow.";
        rate: f32, Rate, "", "Mean rate that the controller itself has chosen, per flow.";
        rtt: f32, Time, "", "Smoothed round-trip time, per flow.";
        window: f32, Packets, "", "Congestion window in packets, per flow.";
        traffic: f32, Rate, "", "Traffic that arrived at the bottleneck.";
        offered: f32, Rate, "", "What arrived at the bottleneck: flows and traffic, dropped packets included.";
        available: f32, Rate, "", "Capacity minus the traffic that arrived.";
        queue_delay: f32, Time, "", "Waiting time at the bottleneck: mean over the packets that left in the interval.";
        queue_delay_max: f32, Time, "", "Longest waiting time in the interval.";
        queue_average: f32, Packets, "", "The queue discipline's own average of the queue in packets.";
        queue_rho: f32, Share, "", "The queue discipline's own average of the utilisation.";
        queue_eta: f32, Index, "", "The queue discipline's own average of the burstiness.";
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
        let tables = [SUMMARY, FLOW, TRAFFIC, WINDOW, LINK, STREAM, GAP, RUN, NUMBER, SOURCE, POINT, CURVES];
        for figure in tables.concat() {
            let sentence = figure.meaning.ends_with('.') && !figure.meaning.contains(['\n', '|']);
            assert!(sentence, "{}: {}", figure.name, figure.meaning);
        }
    }
}
