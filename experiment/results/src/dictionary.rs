//! The data dictionary: every column of every table, its unit, its meaning. The writers take their columns from here,
//! so that a column without an entry cannot be written.

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, which is that of the field of the schema.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Its unit; `1` for a pure number, empty for text.
    pub unit: &'static str,
    /// What it means, in one line.
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

macro_rules! columns {
    ($($(#[$doc:meta])* $table:ident: $($name:literal $kind:ident $unit:literal $meaning:literal;)*)*) => {
        $($(#[$doc])* pub const $table: &[Column] =
            &[$(Column { name: $name, kind: Kind::$kind, unit: $unit, meaning: $meaning },)*];)*
    };
}

columns! {
    /// What identifies a run; the swept keys follow, one column each, under their own names.
    RUN:
    "run" Integer "1" "number of the run in the plan, from 0: joins the tables";
    "controller" Text "" "controller under test";
    "replication" Integer "1" "replication, from 0";
    "seed" Integer "1" "seed of the replication, the same for every controller and sweep point";

    /// The figures of a run.
    SUMMARY:
    "throughput_bps" Float "bit/s" "packets of the flows that left the bottleneck, as bits on the wire";
    "utilisation" Float "1" "all that left the bottleneck, divided by its capacity";
    "available_share" Float "1" "throughput divided by capacity minus the traffic that arrived";
    "loss_ratio" Float "1" "packets of the flows dropped at any queue or lost on any link, divided by those sent; whole run";
    "drop_ratio" Float "1" "packets of the flows dropped at queues, divided by those sent; whole run";
    "steady_loss_ratio" Float "1" "packets of the flows dropped or lost after the warm-up, divided by those and the ones delivered after it";
    "queue_delay_mean_s" Float "s" "waiting time at the bottleneck, mean over all packets served";
    "queue_delay_p50_s" Float "s" "its median";
    "queue_delay_p95_s" Float "s" "its 95th percentile";
    "queue_delay_p99_s" Float "s" "its 99th percentile";
    "queue_mean_packets" Float "packet" "packets at the bottleneck, the one in service included, mean over time";
    "mark_ratio" Float "1" "packets of the flows that arrived with congestion experienced, divided by those sent; whole run";
    "burst_mark_ratio" Float "1" "packets of the flows that arrived with the burstiness bit, divided by those sent; whole run";
    "burstiness_eta" Float "1" "burstiness at the bottleneck, mean over busy periods, where it is measured; whole run";
    "queue_over_bound" Float "1" "mean queue found, divided by that of as many flows of equal, constant rate (one link, equal packets, no traffic)";
    "rtt_mean_s" Float "s" "round-trip time of the flows, mean over acknowledgments that give one";
    "fairness_jain" Float "1" "Jain's index over the flows' throughputs while all are active";
    "fairness_jain_after_entry" Float "1" "smallest Jain's index from 5 s after each entry of a flow to the next";
    "convergence_s" Float "s" "from the start of the last flow until 95 % of the available capacity is first used";
    "convergence_rtts" Float "RTT" "the same in base round trips of the first flow";
    "rise_rtts" Float "RTT" "after upward steps of the available capacity: until the rate is within 10 %; the largest";
    "fall_rtts" Float "RTT" "after downward steps: first entry into that band; the largest";
    "settle_rtts" Float "RTT" "after downward steps: last entry into that band; the largest";
    "rise_hold_share" Float "1" "after upward steps: share of the time since first entry spent in the band";
    "drain_rtts" Float "RTT" "from the peak of the highest standing queue (planned traffic only) until 5 % of it is left";
    "rate_variation" Float "1" "coefficient of variation of the bytes that left the measured link, in windows of the first length recorded";
    "variation_left" Float "1" "rate_variation divided by that of the traffic where it enters; without flows";
    "hurst" Float "1" "Hurst parameter over the window lengths recorded: half the slope of log allan_variance over log length";
    "packets_delivered" Integer "packet" "packets of the flows delivered to their receivers, whole run";
    "packet_hops" Integer "packet" "link crossings of all packets, acknowledgments and traffic included, whole run";
    "events" Integer "1" "events processed";

    /// What a run cost. The only figures that differ from machine to machine, and so in a table of their own.
    TIMING:
    "run" Integer "1" "number of the run in the plan";
    "cpu_s" Float "s" "processor time of the run";

    /// One row per responsive flow.
    FLOW:
    "run" Integer "1" "number of the run in the plan";
    "flow" Integer "1" "flow number, from 0";
    "controller" Text "" "its controller";
    "start_s" Float "s" "when it started";
    "completion_s" Float "s" "when it was done, if it had an end and reached it";
    "throughput_bps" Float "bit/s" "bits on the wire that left the bottleneck, after warm-up or its start";
    "base_rtt_s" Float "s" "base round-trip time";
    "rtt_mean_s" Float "s" "mean round-trip time";
    "sent_packets" Integer "packet" "transmissions, retransmissions included, whole life";
    "retransmitted_packets" Integer "packet" "retransmissions";
    "dropped_packets" Integer "packet" "dropped at queues";
    "lost_packets" Integer "packet" "lost at random on links";
    "timeouts" Integer "1" "retransmission timeouts";
    "recoveries" Integer "1" "recovery episodes";
    "undone" Integer "1" "reductions undone";
    "streams" Integer "1" "probe streams completed, for those that probe";
    "unusable_streams" Integer "1" "probe streams that gave no estimate";

    /// One row per traffic source.
    TRAFFIC:
    "run" Integer "1" "number of the run in the plan";
    "source" Integer "1" "number of the source, from 0";
    "kind" Text "" "kind, as the scenario names it";
    "mean_rate_bps" Float "bit/s" "mean rate after warm-up";
    "rate_p05_bps" Float "bit/s" "5th percentile of the rate per millisecond";
    "rate_p95_bps" Float "bit/s" "95th percentile of the rate per millisecond";
    "burstiness_bps" Float "bit/s" "their difference";
    "packets" Integer "packet" "packets that entered";
    "dropped_packets" Integer "packet" "packets dropped at queues";
    "files_asked" Integer "1" "files asked for after the warm-up, for users who browse";
    "files_fetched" Integer "1" "of these, files that came before the end";
    "file_mean_s" Float "s" "from asking for a file until it is there: mean";
    "file_p05_s" Float "s" "its 5th percentile";
    "file_p10_s" Float "s" "its 10th percentile";
    "file_p50_s" Float "s" "its median";
    "file_p90_s" Float "s" "its 90th percentile";
    "file_p95_s" Float "s" "its 95th percentile";
    "file_p99_s" Float "s" "its 99th percentile";
    "pages_fetched" Integer "1" "pages asked for after the warm-up that were complete before the end";
    "page_p50_s" Float "s" "from asking for the first file of a page until the last is there: median";
    "page_p95_s" Float "s" "its 95th percentile";
    "page_p99_s" Float "s" "its 99th percentile";

    /// One row per length of window.
    WINDOW:
    "run" Integer "1" "number of the run in the plan";
    "window_s" Float "s" "length of a window";
    "windows" Integer "1" "whole windows after the warm-up";
    "mean_bytes" Float "byte" "mean of the bytes that left the measured link in a window";
    "variation" Float "1" "their standard deviation divided by their mean";
    "deviation_bps" Float "bit/s" "their standard deviation as a rate: burstiness at this timescale";
    "allan_variance_bytes2" Float "byte^2" "half the mean square difference of neighbours, in pairs: energy of the Haar wavelet";

    /// One row per point of a curve.
    SERIES:
    "run" Integer "1" "number of the run in the plan";
    "metric" Text "" "what the curve shows";
    "flow" Integer "1" "flow number, when it belongs to a flow";
    "unit" Text "" "unit of the value";
    "time_s" Float "s" "middle of the interval";
    "value" Float "unit" "the value, in the unit that the column \"unit\" names";
}

/// Every table: the name of its files, and its columns.
pub fn tables() -> Vec<(&'static str, Vec<Column>)> {
    vec![
        ("runs", RUN.iter().chain(SUMMARY).copied().collect()),
        ("timing", TIMING.to_vec()),
        ("flows", FLOW.to_vec()),
        ("traffic", TRAFFIC.to_vec()),
        ("windows", WINDOW.to_vec()),
        ("series", SERIES.to_vec()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowResult, Summary, TrafficResult, WindowResult};
    use serde_json::Value;
    use std::collections::BTreeSet;

    fn fields(value: &impl serde::Serialize) -> BTreeSet<String> {
        match serde_json::to_value(value) {
            Ok(Value::Object(fields)) => fields.keys().cloned().collect(),
            other => panic!("not an object: {other:?}"),
        }
    }

    fn names(columns: &[Column], without: &[&str]) -> BTreeSet<String> {
        columns.iter().map(|column| column.name.to_string()).filter(|name| !without.contains(&name.as_str())).collect()
    }

    #[test]
    fn every_field_of_a_summary_is_a_column_of_runs_or_of_timing() {
        let columns = [SUMMARY, TIMING].concat();
        assert_eq!(names(&columns, &["run"]), fields(&Summary::default()));
    }

    #[test]
    fn every_field_of_a_flow_is_a_column() {
        assert_eq!(names(FLOW, &["run"]), fields(&FlowResult::default()));
    }

    #[test]
    fn every_field_of_a_traffic_source_is_a_column() {
        // The distribution of durations is in runs.ndjson alone.
        let mut columns = fields(&TrafficResult::default());
        assert!(columns.remove("file_duration"));
        assert_eq!(names(TRAFFIC, &["run", "source"]), columns);
    }

    #[test]
    fn every_field_of_a_window_is_a_column() {
        assert_eq!(names(WINDOW, &["run"]), fields(&WindowResult::default()));
    }

    #[test]
    fn a_name_that_ends_in_a_unit_has_that_unit() {
        let units = [("_bps", "bit/s"), ("_s", "s"), ("_rtts", "RTT"), ("_packets", "packet"), ("_ratio", "1")];
        for (table, columns) in tables() {
            for column in columns {
                for (suffix, unit) in units.iter().filter(|(suffix, _)| column.name.ends_with(suffix)) {
                    assert_eq!(column.unit, *unit, "{table}.{} ends in {suffix}", column.name);
                }
            }
        }
    }
}
