//! The queue of each link, where the scenario records links: a heat map of links by controllers and sweep points.

use crate::heat::{Heat, Shade, short};
use results::{Group, Interval};

/// Columns that a reader still compares, and that a page has room for.
const MOST_COLUMNS: usize = 40;

/// Writes the map of the first groups; nothing where no link is recorded.
pub fn map(out: &mut String, groups: &[Group]) {
    let groups = &groups[..groups.len().min(MOST_COLUMNS)];
    let longest = groups.iter().flat_map(|group| &group.runs).max_by_key(|run| run.links.len());
    let Some(links) = longest.map(|run| &run.links).filter(|links| !links.is_empty()) else { return };
    let rows: Vec<(&str, String)> = links.iter().map(|link| (link.name.as_str(), String::new())).collect();
    let names: Vec<String> = groups.iter().map(Group::name).collect();
    let columns: Vec<&str> = names.iter().map(String::as_str).collect();
    let value = |row: usize, column: usize| {
        let waits = groups[column].runs.iter().filter_map(|run| run.links.get(row)?.queue_delay_p95_s);
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
    use results::{LinkResult, groups};

    #[test]
    fn a_link_has_a_row_and_a_group_a_column() {
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
}
