//! When the flows together had reached what was available to them, for the marks in the picture of throughput.

use crate::network::crosses;
use experiment::results::{Run, Series};

/// Part of the available capacity that counts as all, as in `convergence_s`.
const REACHED: f64 = 0.95;

/// Returns a time, in seconds since the run's start, for each start of flows on the measured link after which the flows together first reach
/// 95 % of the available capacity before the next flow starts. A start that finds the capacity in use has none: there is
/// nothing to see. After the last start it is the recorded figure, over a round trip; after others a point of the curves.
pub fn converged(run: &Run) -> Vec<f64> {
    let here = run.flows.iter().enumerate().filter(|(number, _)| crosses(run, *number));
    let mut starts: Vec<f64> = here.map(|(_, flow)| flow.start_s).filter(|start| start.is_finite()).collect();
    starts.sort_by(f64::total_cmp);
    starts.dedup();
    let curve = reached(run);
    let time = |interval: &(f64, bool)| interval.0;
    let marks = starts.iter().enumerate().filter_map(|(number, start)| {
        let before = curve.iter().rev().find(|interval| time(interval) <= *start);
        if number > 0 && before.is_some_and(|interval| interval.1) {
            return None;
        }
        match starts.get(number + 1) {
            Some(next) => {
                let after = curve.iter().find(|interval| time(interval) > *start && interval.1);
                after.map(time).filter(|at| at < next)
            }
            None => run.summary.metric("convergence_s").map(|took| start + took),
        }
    });
    marks.collect()
}

/// For each interval of the curves its end, and whether the flows together had 95 % of what was available in it.
fn reached(run: &Run) -> Vec<(f64, bool)> {
    let of = |metric: &str| run.series.iter().filter(move |series| series.metric == metric).collect::<Vec<&Series>>();
    let (mut flows, available) = (of("throughput"), of("available"));
    flows.retain(|series| series.flow.is_none_or(|flow| crosses(run, flow as usize)));
    let Some(available) = available.first() else { return Vec::new() };
    let got = |at: usize| flows.iter().filter_map(|flow| *flow.values.get(at)?).map(f64::from).sum::<f64>();
    let interval = |(at, left): (usize, &Option<f32>)| {
        let end = available.start_s + available.step_s * (at as f64 + 0.5);
        (end, left.is_some_and(|left| got(at) >= REACHED * f64::from(left)))
    };
    available.values.iter().enumerate().map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::{FlowResult, Summary};

    /// 10 Mbit/s are available. The first flow has 9.5 of them in the fourth second; it ends, and of two that start after
    /// 6 s the later one, after 8 s, is recorded to have taken 0.5 s.
    fn run(totals: &[f32], starts: &[f64]) -> Run {
        let curve = |metric: &str, values: Vec<Option<f32>>| Series {
            metric: metric.to_string(),
            start_s: 0.5,
            step_s: 1.0,
            values,
            ..Series::default()
        };
        Run {
            flows: starts.iter().map(|start| FlowResult { start_s: *start, ..FlowResult::default() }).collect(),
            summary: Summary { convergence_s: Some(0.5), ..Summary::default() },
            series: vec![
                curve("available", vec![Some(10.0); totals.len()]),
                curve("throughput", totals.iter().map(|total| Some(total / 2.0)).collect()),
                curve("throughput", totals.iter().map(|total| Some(total / 2.0)).collect()),
            ],
            ..Run::default()
        }
    }

    #[test]
    fn every_start_that_finds_room_has_a_mark() {
        let totals = [2.0, 4.0, 8.0, 9.5, 10.0, 1.0, 3.0, 5.0, 9.9, 10.0];
        assert_eq!(converged(&run(&totals, &[0.0, 6.0, 8.0])), [4.0, 8.5]);
        assert_eq!(converged(&run(&totals, &[0.0])), [0.5], "the figure of a single start");
    }

    #[test]
    fn a_start_into_a_full_link_has_none() {
        let totals = [2.0, 9.9, 10.0, 10.0, 10.0, 10.0];
        assert_eq!(converged(&run(&totals, &[0.0, 4.0])), [2.0]);
        assert!(converged(&run(&totals, &[])).is_empty());
        assert_eq!(converged(&run(&[1.0; 6], &[0.0, 4.0])), [4.5]);
    }
}
