//! An evaluation of a controller: the questions of RFC 9743, with the results of this controller and of the reference
//! controllers beside it. The report draws it; `--json` prints it.

use crate::schema::{FlowResult, Run};
use crate::statistics::Interval;
use serde::Serialize;

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
    /// Names of the figures, those of a run's summary or of [`FLOW_FIGURES`].
    pub figures: Vec<String>,
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

/// Computes a figure from the evaluated flows and the others.
type Read = fn(&[FlowResult], &[FlowResult]) -> Option<f64>;

/// Figures that separate the evaluated flows from the flows beside them.
pub const FLOW_FIGURES: &[(&str, Read)] = &[
    ("subject_bps", |subjects, _| mean_bps(subjects)),
    ("others_bps", |_, others| mean_bps(others)),
    ("subject_share", |subjects, others| {
        let (subject, other) = (mean_bps(subjects)?, mean_bps(others)?);
        (subject + other > 0.0).then_some(subject / (subject + other))
    }),
    ("last_to_first", |subjects, _| {
        let (first, last) = (subjects.first()?.throughput_bps, subjects.last()?.throughput_bps);
        (first > 0.0).then_some(last / first)
    }),
    ("sent_again", |subjects, _| {
        let sent: u64 = subjects.iter().map(|flow| flow.sent_packets).sum();
        let again: u64 = subjects.iter().map(|flow| flow.retransmitted_packets).sum();
        (sent > 0).then(|| again as f64 / sent as f64)
    }),
    ("timeouts", |subjects, _| per_flow(subjects, |flow| flow.timeouts)),
    ("undone", |subjects, _| per_flow(subjects, |flow| flow.undone)),
    ("completion_p50_s", |subjects, _| completion_s(subjects, 0.5)),
    ("completion_p95_s", |subjects, _| completion_s(subjects, 0.95)),
    ("others_completion_p50_s", |_, others| completion_s(others, 0.5)),
    ("others_completion_p95_s", |_, others| completion_s(others, 0.95)),
];

/// Returns the figure of this name, in a run whose first `subjects` flows are the evaluated ones.
pub fn figure(name: &str, run: &Run, subjects: usize) -> Option<f64> {
    if name == "traffic_lost" {
        let packets: u64 = run.traffic.iter().map(|source| source.packets).sum();
        let dropped: u64 = run.traffic.iter().map(|source| source.dropped_packets).sum();
        return (packets > 0).then(|| dropped as f64 / packets as f64);
    }
    match FLOW_FIGURES.iter().find(|(known, _)| *known == name) {
        Some((_, read)) => {
            let (subjects, others) = run.flows.split_at(subjects.min(run.flows.len()));
            read(subjects, others)
        }
        None => run.summary.metric(name),
    }
}

fn mean_bps(flows: &[FlowResult]) -> Option<f64> {
    let sum: f64 = flows.iter().map(|flow| flow.throughput_bps).sum();
    (!flows.is_empty()).then(|| sum / flows.len() as f64)
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
        FlowResult { throughput_bps, start_s: 1.0, completion_s, ..counts }
    }

    fn read(name: &str, subjects: &[FlowResult], others: &[FlowResult]) -> Option<f64> {
        FLOW_FIGURES.iter().find(|(known, _)| *known == name).expect("a figure").1(subjects, others)
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
