//! Groups of runs: by controller and sweep point, and the difference between two groups of replications.

use crate::html;
use results::{Group, Interval, Results};
use std::collections::BTreeMap;

/// Returns the mean of the difference of a figure between two groups, replication by replication. Both groups met the
/// same draws, so the difference is known better than either mean.
pub fn difference(here: &Group, there: &Group, metric: &str) -> Option<Interval> {
    let pairs = here.runs.iter().filter_map(|run| {
        let partner = there.runs.iter().find(|r| r.replication == run.replication)?;
        Some(run.summary.metric(metric)? - partner.summary.metric(metric)?)
    });
    Interval::of(&pairs.collect::<Vec<_>>())
}

/// Returns the controllers in order of first appearance, each with a colour that is safe to write into a style.
pub fn controllers(results: &Results) -> Vec<(&str, String)> {
    let mut seen: Vec<(&str, String)> = Vec::new();
    for run in &results.runs {
        if !seen.iter().any(|(name, _)| *name == run.controller) {
            seen.push((&run.controller, html::colour(&run.colour, seen.len())));
        }
    }
    seen
}

/// Returns the sweep points in order of first appearance. Without a sweep there is one empty point.
pub fn points(results: &Results) -> Vec<&BTreeMap<String, String>> {
    let mut seen: Vec<&BTreeMap<String, String>> = Vec::new();
    for run in &results.runs {
        if !seen.contains(&&run.params) {
            seen.push(&run.params);
        }
    }
    seen
}

/// Returns a sweep point in words.
pub fn point_name(params: &BTreeMap<String, String>) -> String {
    params.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn the_paired_difference_is_exact_where_replications_differ_by_a_constant() {
        let mut results = example::demo();
        for run in &mut results.runs {
            let offset = if run.controller == "rapid" { 1.0 } else { 0.0 };
            run.summary.rtt_mean_s = Some(f64::from(run.replication) * 10.0 + offset);
        }
        let groups = results::groups(&results.runs);
        let found = difference(&groups[0], &groups[1], "rtt_mean_s");
        assert_eq!(found, Some(Interval { mean: 1.0, half_width: Some(0.0) }));
    }
}
