//! Throughput per route, where the flows' data do not all cross the same links.

use crate::results::columns::to_lines;
use crate::results::numbers;
use crate::results::statistics::{Group, Interval};

/// Returns what the link from `from` to `to` is called, and the one that `duplex` adds in the other direction: `A-B` and
/// `B-A`; where the link has a name of its own, like `up`, that and `up-back`.
pub fn link_names(given: Option<&str>, from: &str, to: &str) -> (String, String) {
    let usual = format!("{from}-{to}");
    match given {
        Some(own) if own != usual => (own.to_string(), format!("{own}-back")),
        _ => (usual, format!("{to}-{from}")),
    }
}

/// The flows of a group with the same controller whose data cross the same links.
#[derive(Clone, Debug, PartialEq)]
pub struct Way<'a> {
    /// The controller of the flows.
    pub controller: &'a str,
    /// Links that their data cross, in order.
    pub route: &'a str,
    /// How many flows there are in a run.
    pub flows: usize,
    /// Throughput of a flow: mean over these flows, then over the replications.
    pub throughput_bps: Interval,
}

impl<'a> Group<'a> {
    /// Returns the ways in the order of their first flows; nothing where all data cross the same links.
    pub fn ways(&self) -> Vec<Way<'a>> {
        let first = self.runs.first().map_or(&[][..], |run| &run.flows);
        let mut ways: Vec<(&str, &str)> = Vec::new();
        for flow in first {
            let way = (flow.controller.as_str(), flow.route.as_str());
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        if ways.iter().all(|way| way.1 == ways[0].1) {
            return Vec::new();
        }
        let of = |(controller, route)| {
            let means = self.runs.iter().filter_map(|run| {
                let own = run
                    .flows
                    .iter()
                    .filter(|flow| (flow.controller.as_str(), flow.route.as_str()) == (controller, route));
                Interval::of(&own.filter_map(|flow| flow.throughput_bps).collect::<Vec<_>>())
            });
            let means: Vec<f64> = means.map(|found| found.mean).collect();
            let flows = first
                .iter()
                .filter(|flow| (flow.controller.as_str(), flow.route.as_str()) == (controller, route))
                .count();
            Some(Way { controller, route, flows, throughput_bps: Interval::of_runs(&means)? })
        };
        ways.into_iter().filter_map(of).collect()
    }
}

/// Columns of words; figures follow.
const WORDS: usize = 3;

/// Returns a table of the ways of all groups; nothing where each group has one way.
pub fn to_ways(groups: &[Group]) -> String {
    let row = |group: &Group, way: &Way| {
        let mean = way.throughput_bps.mean / 1e6;
        let decimals = numbers::decimals(mean, 2);
        let figure = numbers::in_decimals(way.throughput_bps, 1e-6, decimals);
        [group.name(), way.controller.to_string(), way.route.to_string(), way.flows.to_string(), figure].to_vec()
    };
    let rows: Vec<Vec<String>> =
        groups.iter().flat_map(|group| group.ways().iter().map(|way| row(group, way)).collect::<Vec<_>>()).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = ["run", "controller", "route of data", "flows", "Mbit/s each"].map(str::to_string).to_vec();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    format!("\n{}\n", to_lines(&lines, WORDS..lines[0].len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{FlowResult, Run, groups};

    fn run(flows: &[(&str, f64)]) -> Run {
        let flow = |(route, mbit): &(&str, f64)| FlowResult {
            controller: "newreno".to_string(),
            route: (*route).to_string(),
            throughput_bps: Some(mbit * 1e6),
            ..FlowResult::default()
        };
        Run { controller: "newreno".to_string(), flows: flows.iter().map(flow).collect(), ..Run::default() }
    }

    #[test]
    fn links_of_both_directions_have_names() {
        let names = |given| link_names(given, "A", "B");
        let both = |there: &str, back: &str| (there.to_string(), back.to_string());
        assert_eq!([names(None), names(Some("A-B"))], [both("A-B", "B-A"), both("A-B", "B-A")]);
        assert_eq!(names(Some("up")), both("up", "up-back"));
    }

    /// By hand: two flows of 4 and 6 on the short way are 5 each; over runs of 1, 2 and 3 the long way has 2.
    #[test]
    fn flows_of_one_way_are_one_row_and_replications_its_mean() {
        let runs = [1.0, 2.0, 3.0].map(|long| run(&[("A-B, B-C", long), ("A-B", 4.0), ("A-B", 6.0)]));
        let groups = groups(&runs);
        let ways = groups[0].ways();
        assert_eq!(ways.iter().map(|way| (way.route, way.flows)).collect::<Vec<_>>(), [("A-B, B-C", 1), ("A-B", 2)]);
        assert_eq!((ways[0].throughput_bps.mean, ways[1].throughput_bps.mean), (2e6, 5e6));
        let table = to_ways(&groups);
        let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[2], ["newreno", "newreno", "A-B,", "B-C", "1", "2.00", "±", "2.48"], "{table}");
    }

    #[test]
    fn no_route_table_when_all_flows_share_links() {
        let runs = [run(&[("A-B", 1.0), ("A-B", 2.0)])];
        assert_eq!((groups(&runs)[0].ways(), to_ways(&groups(&runs))), (Vec::new(), String::new()));
    }
}
