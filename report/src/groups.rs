//! Groups of runs: by controller and sweep point, and the difference between two groups of replications.

use crate::html;
use experiment::results::{Group, Interval, Results, Run};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the mean of the difference of a figure between two groups, replication by replication. Both groups met the
/// same draws, so the difference has less variance than either mean.
pub fn difference(here: &Group, there: &Group, metric: &str) -> Option<Interval> {
    let pairs = here.runs.iter().filter_map(|run| {
        let partner = there.runs.iter().find(|r| r.replication == run.replication)?;
        Some(run.summary.metric(metric)? - partner.summary.metric(metric)?)
    });
    Interval::of_pairs(&pairs.collect::<Vec<_>>())
}

/// Packets lost, of those sent.
pub const LOSS: &str = "loss_ratio";

/// Whether a controller lost more than it delivered: then its throughput does not rank it.
pub fn loses_most(group: &Group) -> bool {
    group.interval(LOSS).is_some_and(|loss| loss.mean > 0.5)
}

/// Whether the replications do not separate two groups.
pub fn is_open(difference: Option<Interval>) -> bool {
    matches!(difference, Some(Interval { mean, half_width: Some(half) }) if mean.abs() <= half)
}

/// The caveat that the paired difference between the first two groups adds to their order.
pub fn order_caveat(difference: Option<Interval>, runs: usize) -> &'static str {
    match difference {
        _ if is_open(difference) => ", though the replications do not separate the first two (95 %, paired by seed)",
        Some(Interval { half_width: None, .. }) if runs < 2 => ", in a single replication",
        Some(Interval { half_width: None, .. }) => ", in two replications, too few for an interval",
        _ => "",
    }
}

/// The controllers in order of first appearance, each with a unique colour that is safe to write into a style. If two share
/// one, as two settings of a controller do, the later gets another.
pub fn controllers(results: &Results) -> Vec<(&str, String)> {
    let mut seen: Vec<(&str, String)> = Vec::new();
    for run in &results.runs {
        if !seen.iter().any(|(name, _)| *name == run.controller) {
            let taken = |colour: &String| seen.iter().any(|(_, other)| other == colour);
            let others = html::FALLBACK.iter().map(|colour| (*colour).to_string());
            let own = html::colour(&run.colour, seen.len());
            let mut all = std::iter::once(own.clone()).chain(others).chain((0..=seen.len()).map(html::further));
            seen.push((&run.controller, all.find(|colour| !taken(colour)).unwrap_or(own)));
        }
    }
    seen
}

/// Returns the colour of the controller of a flow, by the kind that the table of flows has: `rapid (fell back to cubic: ...)`.
pub fn flow_colour(kind: &str) -> Option<&'static str> {
    let kind = kind.split(' ').next()?;
    packetscale_models::congestion::find(kind).map(|entry| entry.colour)
}

/// Whether the flows of these results arrive, or all end: then the pages show completion times.
pub fn arrive(results: &Results) -> bool {
    let ended = |run: &Run| run.summary.completion_time_mean_s.is_some();
    results.runs.iter().any(|run| ended(run) || run.completions.iter().any(|row| row.completed > 0))
}

/// Equal to the utilisation if no traffic takes a part of the link.
pub const REPEATS_UTILISATION: &str = "available_share";

/// Whether the share of the available bandwidth equals the utilisation, in all groups that have it.
pub fn repeats_utilisation(groups: &[Group]) -> bool {
    let mut both = groups
        .iter()
        .filter_map(|group| Some((group.mean(REPEATS_UTILISATION)?, group.mean("utilisation"))))
        .peekable();
    both.peek().is_some() && both.all(|(share, used)| used.is_some_and(|used| (share - used).abs() < SAME_SHARE))
}

/// Shares nearer than this read the same: a hundredth of a per cent.
const SAME_SHARE: f64 = 1e-4;

/// Returns the sweep points in order of first appearance. Without a sweep there is one empty point.
pub fn points(results: &Results) -> Vec<&BTreeMap<String, String>> {
    let mut known = BTreeSet::new();
    results.runs.iter().map(|run| &run.params).filter(|params| known.insert(*params)).collect()
}

/// Returns the keys and values of a sweep point in the order in which the scenario sweeps them.
pub fn in_order<'p>(results: &Results, params: &'p BTreeMap<String, String>) -> Vec<(&'p str, &'p str)> {
    let swept = results.manifest.scenario.split("[sweep]").nth(1).unwrap_or_default();
    let mut all: Vec<(&str, &str)> = params.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    all.sort_by_key(|(key, _)| swept.find(key).unwrap_or(usize::MAX));
    all
}

/// Returns a sweep point in words, its keys in the scenario's order.
pub fn ordered_name(results: &Results, params: &BTreeMap<String, String>) -> String {
    in_order(results, params).iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn controllers_have_distinct_colours() {
        let mut results = example::demo();
        results.runs.iter_mut().for_each(|run| run.colour = "#D55E00".to_string());
        let mut colours: Vec<String> = controllers(&results).into_iter().map(|(_, colour)| colour).collect();
        assert_eq!((colours.len(), colours[0].as_str()), (3, "#d55e00"));
        colours.sort();
        colours.dedup();
        assert_eq!(colours.len(), 3);
        let mut many = example::single();
        many.runs = (0..40).map(|n| Run { controller: format!("cubic, {n}"), ..many.runs[0].clone() }).collect();
        let mut colours: Vec<String> = controllers(&many).into_iter().map(|(_, colour)| colour).collect();
        colours.sort();
        colours.dedup();
        assert_eq!(colours.len(), 40, "several results laid over each other");
    }

    #[test]
    fn flow_has_colour_of_its_controller() {
        assert_eq!(flow_colour("rapid (fell back to cubic: no stamps)"), flow_colour("rapid"));
        assert_eq!((flow_colour("rapid"), flow_colour("")), (Some("#D55E00"), None));
    }

    #[test]
    fn constant_paired_difference_is_exact() {
        let mut results = example::demo();
        for run in &mut results.runs {
            let offset = if run.controller == "rapid" { 1.0 } else { 0.0 };
            run.summary.rtt_mean_s = Some(f64::from(run.replication) * 10.0 + offset);
        }
        let groups = experiment::results::groups(&results.runs);
        let found = difference(&groups[0], &groups[1], "rtt_mean_s");
        assert_eq!(found, Some(Interval { mean: 1.0, half_width: Some(0.0) }));
    }
}
