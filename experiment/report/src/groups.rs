//! Runs that differ only in their seed, put together: one group is one row of a table.

use crate::html;
use crate::interval::{Interval, interval};
use results::{Results, Run, Summary};
use std::collections::BTreeMap;

/// The replications of one controller at one sweep point.
pub struct Group<'a> {
    /// The controller.
    pub controller: &'a str,
    /// Swept keys and values.
    pub params: &'a BTreeMap<String, String>,
    /// Its runs, in order of the results.
    pub runs: Vec<&'a Run>,
}

impl Group<'_> {
    /// Mean over the replications of what `read` takes from a summary.
    pub fn interval(&self, read: fn(&Summary) -> Option<f64>) -> Option<Interval> {
        interval(self.runs.iter().filter_map(|r| read(&r.summary)))
    }

    /// Mean over the replications of `read` here minus there, replication by replication: both met the same draws, so
    /// this is known better than either mean.
    pub fn difference(&self, other: &Group, read: fn(&Summary) -> Option<f64>) -> Option<Interval> {
        interval(self.runs.iter().filter_map(|here| {
            let there = other.runs.iter().find(|r| r.replication == here.replication)?;
            Some(read(&here.summary)? - read(&there.summary)?)
        }))
    }
}

/// The groups in order of first appearance.
pub fn groups(results: &Results) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for run in &results.runs {
        match groups.iter_mut().find(|g| g.controller == run.controller && *g.params == run.params) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group { controller: &run.controller, params: &run.params, runs: vec![run] }),
        }
    }
    groups
}

/// Controllers in order of first appearance, with a colour that is safe to write into a style.
pub fn controllers(results: &Results) -> Vec<(&str, String)> {
    let mut seen: Vec<(&str, String)> = Vec::new();
    for run in &results.runs {
        if !seen.iter().any(|(name, _)| *name == run.controller) {
            seen.push((&run.controller, html::colour(&run.colour, seen.len())));
        }
    }
    seen
}

/// Sweep points in order of first appearance. Without a sweep there is one, and it is empty.
pub fn points(results: &Results) -> Vec<&BTreeMap<String, String>> {
    let mut seen: Vec<&BTreeMap<String, String>> = Vec::new();
    for run in &results.runs {
        if !seen.contains(&&run.params) {
            seen.push(&run.params);
        }
    }
    seen
}

/// A sweep point in words.
pub fn point_name(params: &BTreeMap<String, String>) -> String {
    params.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn replications_share_a_group_and_sweep_points_do_not() {
        let results = example::sweep();
        let groups = groups(&results);
        assert_eq!(groups.len(), controllers(&results).len() * points(&results).len());
        assert!(groups.iter().all(|g| g.runs.len() == 3));
    }

    #[test]
    fn the_paired_difference_is_exact_where_replications_differ_by_a_constant() {
        let mut results = example::demo();
        for run in &mut results.runs {
            let offset = if run.controller == "rapid" { 1.0 } else { 0.0 };
            run.summary.rtt_mean_s = f64::from(run.replication) * 10.0 + offset;
        }
        let groups = groups(&results);
        let difference = groups[0].difference(&groups[1], |s| Some(s.rtt_mean_s)).unwrap();
        assert_eq!((difference.mean, difference.half), (1.0, Some(0.0)));
    }
}
