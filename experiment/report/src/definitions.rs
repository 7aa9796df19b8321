//! How each figure is defined: written once, for the tables, the sweep charts and the last section of the page.
//!
//! The words restate the doc lines of the results schema; a test refuses a schema field without a definition here.

use crate::numbers::Unit;

/// A figure of a run's summary.
pub struct Figure {
    /// Field of the schema.
    pub key: &'static str,
    /// Column heading.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which table it is shown in.
    pub table: Table,
    /// Its definition.
    pub definition: &'static str,
}

/// The table a figure is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Throughput, loss and fairness.
    Share,
    /// Queueing delay and round-trip time.
    Delay,
    /// Speed of the response to changes.
    Response,
    /// In no table of the page.
    None,
}

macro_rules! figures {
    ($($table:ident $unit:ident $key:ident $label:literal: $definition:literal;)*) => {
        &[$(Figure {
            key: stringify!($key), label: $label, unit: Unit::$unit, table: Table::$table,
            definition: $definition,
        }),*]
    };
}

/// All figures of a summary, in the order of the schema.
pub const FIGURES: &[Figure] = figures! {
    Share Rate throughput_bps "Throughput": "Packets of the flows, not of the traffic, that left the bottleneck, as bits on the wire per second.";
    Share Share utilisation "Utilisation": "All that left the bottleneck, traffic included, divided by its capacity.";
    Share Share available_share "Share of available": "Throughput divided by what the traffic left: capacity minus the traffic that arrived, the available capacity of RFC 5136.";
    Share Share loss_ratio "Loss": "Packets of the flows dropped at any queue or lost on any link, divided by those sent. Whole run, start-up included.";
    Share Share drop_ratio "Drops at queues": "Packets of the flows dropped at queues only, divided by those sent: what the flows brought on themselves. Whole run.";
    Share Share steady_loss_ratio "Loss, steady": "Packets of the flows dropped at any queue or lost on any link after the warm-up, divided by those and the ones delivered after it.";
    Delay Time queue_delay_mean_s "Queueing, mean": "Waiting time at the bottleneck, without the packet's own transmission: mean over all packets served, those of the traffic included.";
    Delay Time queue_delay_p50_s "Queueing, median": "Median of the same waiting times.";
    Delay Time queue_delay_p95_s "Queueing, 95th pct.": "95th percentile of the same waiting times.";
    Delay Time queue_delay_p99_s "Queueing, 99th pct.": "99th percentile of the same waiting times.";
    None Index queue_mean_packets "Queue, mean": "Packets at the bottleneck, the one in service included: mean over time.";
    None Share mark_ratio "Marked": "Packets of the flows that arrived with congestion experienced, divided by those sent. Whole run.";
    None Share burst_mark_ratio "Marked as bursty": "Packets of the flows that arrived with the burstiness bit, divided by those sent. Whole run.";
    None Index burstiness_eta "Burstiness": "Burstiness eta at the bottleneck: mean over its busy periods, for disciplines that measure it. Whole run.";
    Delay Index queue_over_bound "Queue over bound": "Mean queue that a packet finds, in packets, divided by the least possible: that of as many flows which send at equal, constant rates with independent phases and load the link as much (N*D/D/1). Only for more than one flow with equal packets on a path of one link without traffic.";
    Delay Time rtt_mean_s "RTT, mean": "Round-trip time of the flows, mean over the acknowledgments that give one.";
    Share Index fairness_jain "Jain's index": "Jain's index (sum x)^2 / (n sum x^2) over the flows' throughputs, each over the time that all flows are active. 1: all equal; 1/n: one has all.";
    Share Index fairness_jain_after_entry "Jain after entries": "Smallest Jain's index over the windows [entry + 5 s, next entry), one per flow entry, over the flows then active.";
    Response Time convergence_s "Convergence": "From the start of the last flow (in the warm-up or not) until the throughput of the flows, over one round trip, first reaches 95 % of the available capacity.";
    Response RoundTrips convergence_rtts "Convergence": "The same, in base round trips of the first flow.";
    Response RoundTrips rise_rtts "Rise": "After each upward step of the available capacity of at least 10 %: base round trips until the flows' total rate (the controllers' own mean rate where they have one, else the throughput over a round trip) is within 10 % of the new value. The largest over all steps.";
    Response RoundTrips fall_rtts "Fall": "The same after downward steps: first entry into the band.";
    Response RoundTrips settle_rtts "Settle": "The same after downward steps: last entry into the band before the next step, after which it stays.";
    Response Share rise_hold_share "Hold after rise": "After each upward step: share of the time from first entry to the next step in which the rate is in the band.";
    Response RoundTrips drain_rtts "Drain": "From the peak of the highest standing queue (at least 1 ms) until the largest queueing delay in an interval falls below 5 % of it, in base round trips. Only where all traffic follows a plan (constant rate, periodic on-off).";
    None Index rate_variation "Variation of the rate": "Coefficient of variation of the bytes that left the measured link, in windows of the first length of record.windows: standard deviation over mean.";
    None Share variation_left "Variation left": "The same, divided by that of all traffic where it enters the path. Only where there are no flows.";
    None Index hurst "Hurst parameter": "Over the lengths of record.windows: half the slope of the logarithm of the Allan variance over that of the length, weighted by the number of differences. At least three lengths.";
    None Count packets_delivered "Packets delivered": "Packets of the flows delivered to their receivers, whole run.";
    None Count packet_hops "Packet hops": "Link crossings of all packets, acknowledgments and traffic included, whole run.";
    None Count events "Events": "Events processed.";
    None Time cpu_s "Processor time": "Processor time of this run. Not the same on every machine: written, never compared.";
};

/// Figures of an evaluation, which separates the evaluated flows from the flows beside them.
pub const EVALUATION: &[Figure] = figures! {
    None Rate subject_bps "Each of them": "Throughput of the evaluated flows, mean over them: bits on the wire per second that left the bottleneck.";
    None Rate others_bps "Each of the others": "The same of the flows beside them.";
    None Share subject_share "Share": "Mean throughput of an evaluated flow, divided by that and the mean of another flow. 50 %: equal.";
    None Index last_to_first "Long to short": "Throughput of the last of the evaluated flows, divided by that of the first.";
    None Share sent_again "Sent again": "Retransmissions of the evaluated flows, divided by all that they sent. Whole run.";
    None Count timeouts "Timeouts": "Retransmission timeouts, per evaluated flow. Whole run.";
    None Count undone "Cuts undone": "Reductions that proved needless and were taken back, per evaluated flow. Whole run.";
    None Time completion_p50_s "Completion, median": "From the start of a transfer until its last packet is acknowledged; those that were not done count as longest.";
    None Time completion_p95_s "Completion, 95th pct.": "The same, 95th percentile.";
    None Time others_completion_p50_s "Others' completion, median": "The same of the flows beside them.";
    None Time others_completion_p95_s "Others' completion, 95th pct.": "The same, 95th percentile.";
    None Share traffic_lost "Traffic lost": "Packets of the traffic dropped at queues, divided by those that entered. Whole run.";
};

/// Field of the schema, its unit, its definition.
pub type Definition = (&'static str, Unit, &'static str);

/// Figures of one flow.
pub const FLOW: &[Definition] = &[
    ("flow", Unit::Count, "Flow number, from 0."),
    ("controller", Unit::Text, "The flow's controller."),
    ("start_s", Unit::Time, "When it started."),
    ("completion_s", Unit::Time, "When it was done, if it had an end and reached it."),
    (
        "throughput_bps",
        Unit::Rate,
        "Bits on the wire per second that left the bottleneck, from the end of the warm-up (or the flow's start, if later) to the end of the run (or of the flow).",
    ),
    ("base_rtt_s", Unit::Time, "Round-trip time without any queue."),
    ("rtt_mean_s", Unit::Time, "Mean round-trip time."),
    ("sent_packets", Unit::Count, "Transmissions, retransmissions included, whole life."),
    ("retransmitted_packets", Unit::Count, "Retransmissions."),
    ("dropped_packets", Unit::Count, "Packets dropped at queues."),
    ("lost_packets", Unit::Count, "Packets lost at random on links."),
    ("timeouts", Unit::Count, "Retransmission timeouts."),
    ("recoveries", Unit::Count, "Recovery episodes."),
    ("undone", Unit::Count, "Reductions undone, because the loss proved to be none."),
    ("streams", Unit::Count, "Probe streams completed, for controllers that probe."),
    ("unusable_streams", Unit::Count, "Probe streams that gave no estimate."),
];

/// Figures of one traffic source.
pub const TRAFFIC: &[Definition] = &[
    ("kind", Unit::Text, "Kind, as the scenario names it."),
    ("mean_rate_bps", Unit::Rate, "Mean rate after warm-up, measured where the traffic enters the path."),
    ("rate_p05_bps", Unit::Rate, "5th percentile of the rates per millisecond."),
    ("rate_p95_bps", Unit::Rate, "95th percentile of the rates per millisecond."),
    ("burstiness_bps", Unit::Rate, "95th minus 5th percentile: burstiness as in Table 3.1 of the RAPID dissertation."),
    ("packets", Unit::Count, "Packets that entered."),
    ("dropped_packets", Unit::Count, "Packets dropped at queues."),
    ("files_asked", Unit::Count, "Files that users asked for after the warm-up."),
    ("files_fetched", Unit::Count, "Of these, files that came before the end."),
    ("file_mean_s", Unit::Time, "From asking for a file until its last byte is there: mean over the files that came."),
    ("file_p05_s", Unit::Time, "Its 5th percentile."),
    ("file_p10_s", Unit::Time, "Its 10th percentile."),
    ("file_p50_s", Unit::Time, "Its median."),
    ("file_p90_s", Unit::Time, "Its 90th percentile."),
    ("file_p95_s", Unit::Time, "Its 95th percentile."),
    ("file_p99_s", Unit::Time, "Its 99th percentile."),
    ("pages_fetched", Unit::Count, "Pages asked for after the warm-up that were complete before the end."),
    ("page_p50_s", Unit::Time, "From asking for the first file of a page until the last is there: median."),
    ("page_p95_s", Unit::Time, "Its 95th percentile."),
    ("page_p99_s", Unit::Time, "Its 99th percentile."),
];

/// Curves over time, by metric.
pub const SERIES: &[Definition] = &[
    ("throughput", Unit::Rate, "Bits on the wire per second that left the bottleneck, per flow."),
    ("rate", Unit::Rate, "Mean rate that the controller itself has chosen, per flow."),
    ("available", Unit::Rate, "Capacity minus the traffic that arrived."),
    ("traffic", Unit::Rate, "Traffic that arrived at the bottleneck."),
    ("queue_delay", Unit::Time, "Waiting time at the bottleneck."),
    ("queue_delay_max", Unit::Time, "Longest waiting time in the interval."),
    ("queue_average", Unit::Index, "The queue discipline's own average of the queue in packets."),
    ("queue_rho", Unit::Share, "The queue discipline's own average of the utilisation."),
    ("queue_eta", Unit::Index, "The queue discipline's own average of the burstiness."),
    ("rtt", Unit::Time, "Round-trip time, per flow."),
    ("window", Unit::Count, "Congestion window in packets, per flow."),
    ("offered", Unit::Rate, "What arrived at the bottleneck: flows and traffic, dropped packets included."),
    ("losses", Unit::Count, "Packets dropped or lost in the interval."),
];

/// A probe stream and its gaps.
pub const STREAM: &[Definition] = &[
    ("rate_bps", Unit::Rate, "Of a stream: the mean rate it was sent at. Of a gap: the rate its level probes."),
    ("estimate_bps", Unit::Rate, "Available bandwidth read from the stream; absent when the estimator abstained."),
    (
        "available_bps",
        Unit::Rate,
        "What really was available at the bottleneck while the stream was sent, from the host's own books.",
    ),
    ("intended_s", Unit::Time, "Gap before the packet that was asked for."),
    ("created_s", Unit::Time, "Gap that the sender really created."),
    ("received_s", Unit::Time, "Gap at the receiver; absent where an arrival time is missing."),
    ("denoised_s", Unit::Time, "Gap after denoising: what the estimator reads."),
    ("delay_s", Unit::Time, "Arrival minus send time, above the smallest of the stream: the rise is queueing."),
    ("size_bytes", Unit::Bytes, "Size of the packet."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use results::{FlowResult, StreamGap, Summary, TrafficResult};
    use std::collections::BTreeSet;

    fn fields(value: impl serde::Serialize) -> BTreeSet<String> {
        serde_json::to_value(value).unwrap().as_object().unwrap().keys().cloned().collect()
    }

    fn defined(table: &[Definition]) -> BTreeSet<String> {
        table.iter().map(|(key, ..)| (*key).to_string()).collect()
    }

    #[test]
    fn every_field_of_the_schema_that_is_a_figure_is_defined() {
        let summary = FIGURES.iter().map(|f| f.key.to_string()).collect::<BTreeSet<_>>();
        assert_eq!(summary, fields(Summary::default()));
        assert_eq!(defined(FLOW), fields(FlowResult::default()));
        let mut columns = fields(TrafficResult::default());
        assert!(columns.remove("file_duration"), "a distribution is no figure");
        assert_eq!(defined(TRAFFIC), columns);
        assert!(defined(STREAM).is_superset(&fields(StreamGap::default())));
    }
}
