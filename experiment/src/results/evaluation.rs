//! An evaluation of a controller: the questions of RFC 9743, with the results of this controller and of the reference
//! controllers beside it. The report draws it; `--json` prints it.

use crate::results::figures::{Definition, FlowResult, Kind, TrafficResult, Unit};
use crate::results::schema::Run;
use crate::results::statistics::Interval;
use serde::Serialize;

/// The file that shows a folder to hold one.
pub const FILE: &str = "evaluation.json";

/// The evaluation of one controller by all questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Evaluation {
    /// Version of packetscale.
    pub version: String,
    /// Commit it was built from, if known.
    pub commit: Option<String>,
    /// The evaluated controller, as the user wrote it.
    pub controller: String,
    /// The evaluated controller first, then those beside it, with colours.
    pub contenders: Vec<(String, String)>,
    /// Whether this is the short form.
    pub quick: bool,
    /// SHA-256 of all that was asked: the experiments, and what is in the files that they read.
    pub asked: String,
    /// Runs made.
    pub runs: usize,
    /// The sections of the RFC, in its order.
    pub sections: Vec<Section>,
}

/// A section of the RFC.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// Its number and heading.
    pub heading: String,
    /// Why there are no questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// The questions asked.
    pub questions: Vec<Question>,
}

/// One question: a scenario, and the figures read from its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Question {
    /// Its title, in a few words.
    pub title: String,
    /// The question.
    pub asks: String,
    /// Names of the figures, those of a run's summary or of [`FIGURES`].
    pub figures: Vec<String>,
    /// Those of them of which nobody can say here which way is better.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_judged: Vec<String>,
    /// The rows, ordered by sweep point, then by contender.
    pub rows: Vec<Row>,
    /// The resolved scenario, with the evaluated controller in it.
    pub scenario: String,
}

/// The results of one contender at one point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Its number among the contenders.
    pub contender: usize,
    /// Swept keys and their values.
    pub point: String,
    /// One cell for each figure, in their order; `null` where there is none.
    pub cells: Vec<Option<Cell>>,
}

/// A figure over the replications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// The mean.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval.
    pub half_width: Option<f64>,
}

impl From<Interval> for Cell {
    fn from(interval: Interval) -> Cell {
        Cell { mean: interval.mean, half_width: interval.half_width }
    }
}

impl From<Cell> for Interval {
    fn from(cell: Cell) -> Interval {
        Interval { mean: cell.mean, half_width: cell.half_width }
    }
}

/// A run with its flows in two parts: the evaluated ones, and those beside them.
pub struct Parts<'a> {
    subjects: &'a [FlowResult],
    others: &'a [FlowResult],
    traffic: &'a [TrafficResult],
}

/// Reads a figure off a run; `None`: it has none.
type Read = fn(&Parts) -> Option<f64>;

const fn defined(name: &'static str, unit: Unit, label: &'static str, meaning: &'static str) -> Definition {
    Definition { name, kind: Some(Kind::Float), unit, label, theme: None, meaning }
}

/// Figures of an evaluation, which separates the evaluated flows from the others.
pub const FIGURES: &[(Definition, Read)] = &[
    (
        defined(
            "subject_bps",
            Unit::Rate,
            "Each of them",
            "Throughput of the evaluated flows, mean over them: bits on the wire per second that reached the receivers.",
        ),
        |run| mean_bps(run.subjects),
    ),
    (defined("others_bps", Unit::Rate, "Each of the others", "The same, of the other flows."), |run| {
        mean_bps(run.others)
    }),
    (
        defined(
            "subject_share",
            Unit::Share,
            "Share",
            "Mean throughput of an evaluated flow, divided by the sum of that and the mean throughput of another flow. 50 %: equal.",
        ),
        |run| {
            let (subject, other) = (mean_bps(run.subjects)?, mean_bps(run.others)?);
            (subject + other > 0.0).then_some(subject / (subject + other))
        },
    ),
    (
        defined(
            "last_to_first",
            Unit::Index,
            "Long to short",
            "Throughput of the last of the evaluated flows, divided by that of the first.",
        ),
        |run| {
            let (first, last) = (run.subjects.first()?.throughput_bps?, run.subjects.last()?.throughput_bps?);
            (first > 0.0).then_some(last / first)
        },
    ),
    (
        defined(
            "sent_again",
            Unit::Share,
            "Sent again",
            "Retransmissions of the evaluated flows, divided by all packets they sent. Whole run.",
        ),
        |run| {
            let sent: u64 = run.subjects.iter().map(|flow| flow.sent_packets).sum();
            let again: u64 = run.subjects.iter().map(|flow| flow.retransmitted_packets).sum();
            (sent > 0).then(|| again as f64 / sent as f64)
        },
    ),
    (defined("timeouts", Unit::Count, "Timeouts", "Retransmission timeouts, per evaluated flow. Whole run."), |run| {
        per_flow(run.subjects, |flow| flow.timeouts)
    }),
    (
        defined("undone", Unit::Count, "Cuts undone", "Reductions undone as spurious, per evaluated flow. Whole run."),
        |run| per_flow(run.subjects, |flow| flow.undone),
    ),
    (
        defined(
            "completion_p50_s",
            Unit::Time,
            "Completion, median",
            "From the start of a transfer until its last packet is acknowledged; unfinished transfers count as longest.",
        ),
        |run| completion_s(run.subjects, 0.5),
    ),
    (defined("completion_p95_s", Unit::Time, "Completion, 95th percentile", "The same, 95th percentile."), |run| {
        completion_s(run.subjects, 0.95)
    }),
    (
        defined("others_completion_p50_s", Unit::Time, "Others' completion, median", "The same, of the other flows."),
        |run| completion_s(run.others, 0.5),
    ),
    (
        defined(
            "others_completion_p95_s",
            Unit::Time,
            "Others' completion, 95th percentile",
            "The same, 95th percentile.",
        ),
        |run| completion_s(run.others, 0.95),
    ),
    (
        defined(
            "traffic_lost",
            Unit::Share,
            "Traffic lost",
            "Packets of the traffic dropped at queues, divided by those that entered. Whole run.",
        ),
        |run| {
            let packets: u64 = run.traffic.iter().map(|source| source.packets).sum();
            let dropped: u64 = run.traffic.iter().map(|source| source.dropped_packets).sum();
            (packets > 0).then(|| dropped as f64 / packets as f64)
        },
    ),
];

/// Returns the figure of this name, in a run whose first `subjects` flows are the evaluated ones.
pub fn figure(name: &str, run: &Run, subjects: usize) -> Option<f64> {
    let Some((_, read)) = FIGURES.iter().find(|(figure, _)| figure.name == name) else {
        return run.summary.metric(name);
    };
    let (subjects, others) = run.flows.split_at(subjects.min(run.flows.len()));
    read(&Parts { subjects, others, traffic: &run.traffic })
}

/// Mean over the flows that were active at all.
fn mean_bps(flows: &[FlowResult]) -> Option<f64> {
    let active: Vec<f64> = flows.iter().filter_map(|flow| flow.throughput_bps).collect();
    (!active.is_empty()).then(|| active.iter().sum::<f64>() / active.len() as f64)
}

fn per_flow(flows: &[FlowResult], count: fn(&FlowResult) -> Option<u64>) -> Option<f64> {
    let sum: Option<u64> = flows.iter().map(count).sum();
    sum.filter(|_| !flows.is_empty()).map(|sum| sum as f64 / flows.len() as f64)
}

/// Returns the least time within which this share of the flows was done; `None` where fewer were.
fn completion_s(flows: &[FlowResult], share: f64) -> Option<f64> {
    let mut times: Vec<f64> = flows.iter().filter_map(|flow| Some(flow.completion_s? - flow.start_s)).collect();
    times.sort_by(f64::total_cmp);
    let rank = (flows.len() as f64 * share).ceil() as usize;
    times.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(throughput_bps: f64, completion_s: Option<f64>) -> FlowResult {
        let counts =
            FlowResult { sent_packets: 100, retransmitted_packets: 5, timeouts: Some(3), ..Default::default() };
        FlowResult { throughput_bps: Some(throughput_bps), start_s: 1.0, completion_s, ..counts }
    }

    fn read(name: &str, subjects: &[FlowResult], others: &[FlowResult]) -> Option<f64> {
        let (_, read) = FIGURES.iter().find(|(figure, _)| figure.name == name).expect("a figure");
        read(&Parts { subjects, others, traffic: &[] })
    }

    #[test]
    fn shares_are_per_flow() {
        let (subjects, others) = ([flow(10e6, None), flow(20e6, None)], [flow(45e6, None)]);
        assert_eq!(read("subject_bps", &subjects, &others), Some(15e6));
        assert_eq!(read("subject_share", &subjects, &others), Some(0.25));
        assert_eq!(read("last_to_first", &subjects, &others), Some(2.0));
        assert_eq!(read("subject_share", &subjects, &[]), None);
    }

    #[test]
    fn counts_are_those_of_the_evaluated_flows() {
        let (subjects, others) = ([flow(1.0, None), flow(1.0, None)], [FlowResult::default()]);
        assert_eq!(read("sent_again", &subjects, &others), Some(0.05));
        assert_eq!(read("timeouts", &subjects, &others), Some(3.0));
        assert_eq!(read("undone", &subjects, &others), None, "the host does not say");
    }

    /// Of four, three were done: after 1, 2 and 4 s.
    #[test]
    fn a_quantile_counts_those_that_were_not_done() {
        let flows = [flow(0.0, Some(3.0)), flow(0.0, None), flow(0.0, Some(2.0)), flow(0.0, Some(5.0))];
        assert_eq!(read("completion_p50_s", &flows, &[]), Some(2.0));
        assert_eq!(read("completion_p95_s", &flows, &[]), None);
        assert_eq!(read("others_completion_p50_s", &[], &flows[..1]), Some(2.0));
    }
}
