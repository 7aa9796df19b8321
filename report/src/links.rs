//! The queue of each link, where the scenario records links: a heat map of links by controllers and sweep points, and
//! curves over time. A link is known by its name: its number may be another one at another point.

use crate::curves::{Curve, thin};
use crate::findings::listed;
use crate::heat::{Heat, Shade, short};
use crate::html::escape;
use experiment::results::{Group, Interval, Run};
use serde::Serialize;

/// Maximum number of columns on a page.
const MOST_COLUMNS: usize = 40;

/// One link needs no map over time: the curve of the bottleneck shows it.
const FEWEST_LINKS: usize = 2;
/// More rows than these are too thin to read.
const MOST_LINKS: usize = 40;
/// Points of one link's curve.
const MOST_POINTS: usize = 300;

/// The waiting time at one link, over time.
#[derive(Debug, PartialEq, Serialize)]
pub struct Queue {
    name: String,
    curve: Curve,
}

/// The curves of the first links; empty with a single link, or without records.
pub fn queues(run: &Run) -> Vec<Queue> {
    let recorded = run.links.iter().filter(|link| !link.queue_delay.is_empty());
    let all: Vec<Queue> = recorded
        .take(MOST_LINKS)
        .map(|link| {
            let mut curve = thin(&link.queue_delay, MOST_POINTS);
            // A map shows means.
            (curve.lo, curve.hi) = (Vec::new(), Vec::new());
            Queue { name: link.name.clone(), curve }
        })
        .collect();
    if all.len() < FEWEST_LINKS { Vec::new() } else { all }
}

/// The links with data of flows or with a queue, and the others: acknowledgments find no queue there.
pub fn apart(runs: &[Run]) -> (Vec<String>, Vec<String>) {
    let Some(run) = runs.iter().find(|run| !run.links.is_empty()) else { return (Vec::new(), Vec::new()) };
    let data = |name: &str| run.flows.iter().any(|flow| flow.route.split(", ").any(|link| link == name));
    let waited = |name: &str| {
        let there = runs.iter().flat_map(|run| &run.links).filter(|link| link.name == name);
        there.filter_map(|link| link.queue_delay_p95_s).any(|wait| wait > 0.0)
    };
    run.links.iter().map(|link| link.name.clone()).partition(|name| data(name) || waited(name))
}

/// A sentence that names the omitted links, to append.
pub fn left_out_note(runs: &[Run]) -> String {
    match apart(runs).1 {
        none if none.is_empty() => String::new(),
        names => {
            format!(
                " Left out, since no data cross them and at most one packet in twenty waited there: {}.",
                escape(&listed(names))
            )
        }
    }
}

/// Writes the map of the first groups; empty without recorded links.
pub fn map(out: &mut String, groups: &[Group]) {
    let groups = &groups[..groups.len().min(MOST_COLUMNS)];
    let mut rows: Vec<(&str, String)> = Vec::new();
    for link in groups.iter().flat_map(|group| &group.runs).flat_map(|run| &run.links) {
        if !rows.iter().any(|(name, _)| *name == link.name) {
            rows.push((&link.name, String::new()));
        }
    }
    if rows.is_empty() {
        return;
    }
    let names: Vec<String> = groups.iter().map(Group::name).collect();
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let value = |row: usize, column: usize| {
        let named = groups[column].runs.iter().flat_map(|run| &run.links).filter(|link| link.name == rows[row].0);
        let waits = named.filter_map(|link| link.queue_delay_p95_s);
        Interval::of(&waits.collect::<Vec<_>>()).map(|interval| interval.mean)
    };
    let heat = Heat {
        title: "Queueing delay at each link, 95th percentile, ms",
        caption: "Waiting time after the warm-up, over all packets; mean over the replications. Saved numbers are in seconds.",
        corner: "Link",
        rows: &rows,
        columns: &columns,
        value: &value,
        shown: |delay| short(delay * 1e3),
        shade: Shade::UpToLargest,
    };
    heat.draw(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::{LinkResult, groups};

    #[test]
    fn map_over_time_needs_two_links() {
        let mut run = example::packets().runs.remove(0);
        let found = queues(&run);
        assert_eq!((found.len(), found[3].name.as_str()), (4, "east"));
        assert!(found.iter().all(|queue| queue.curve.v.len() <= MOST_POINTS && queue.curve.hi.is_empty()));
        run.links.truncate(1);
        assert_eq!(queues(&run), []);
    }

    #[test]
    fn links_are_rows_and_groups_columns() {
        let mut results = example::demo();
        let mut out = String::new();
        map(&mut out, &groups(&results.runs));
        assert_eq!(out, "", "no links");
        for run in &mut results.runs {
            let link = |name: &str, wait| LinkResult {
                name: name.to_string(),
                queue_delay_p95_s: wait,
                ..LinkResult::default()
            };
            run.links = vec![link("first", Some(0.25 + f64::from(run.replication) * 0.25)), link("second", None)];
        }
        map(&mut out, &groups(&results.runs));
        assert!(out.contains("data-row=\"first\" data-column=\"rapid\" data-value=\"0.5\">500</td>"), "{out}");
        assert_eq!((out.matches("<tr><th scope=\"row\">").count(), out.matches("<td>\u{2013}</td>").count()), (2, 3));
    }

    /// Where a point of the sweep has a link that others lack, its row has no value there, and no other link's.
    #[test]
    fn row_matches_its_link() {
        let mut results = example::demo();
        let link = |name: &str, wait| LinkResult {
            name: name.to_string(),
            queue_delay_p95_s: Some(wait),
            ..LinkResult::default()
        };
        for run in &mut results.runs {
            run.links = match run.controller.as_str() {
                "rapid" => vec![link("ab", 0.125), link("bc", 0.375)],
                _ => vec![link("bc", 0.25)],
            };
        }
        let mut out = String::new();
        map(&mut out, &groups(&results.runs));
        let row = out.split("<tr>").find(|row| row.contains("data-row=\"bc\"")).unwrap_or_default();
        assert!(row.contains("data-column=\"rapid\" data-value=\"0.375\""), "{out}");
        assert!(row.contains("data-value=\"0.25\"") && !row.contains("data-value=\"0.125\""), "{out}");
    }
}
