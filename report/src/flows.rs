//! The flows of a run as pictures and tables call them, when they start and end, and what each got at which delay.

use crate::contrast::visible;
use crate::curves::short;
use crate::html::further;
use crate::network::Network;
use experiment::results::{FlowResult, Group, Run, remark};
use serde::Serialize;

/// Number of flows with their own colour.
pub const COLOURS: usize = 12;

/// The first of them on a light page and on a dark one: hues of Okabe and Ito, distinguishable by the colour-blind, with a
/// contrast of 3:1 and more on both.
const HUES: [(&str, &str); 6] = [
    ("#0072b2", "#56b4e9"),
    ("#c85200", "#f0875a"),
    ("#00805d", "#3cc79b"),
    ("#b0508a", "#e39ac6"),
    ("#8a6d00", "#e0b93a"),
    ("#6b4fa0", "#b39deb"),
];

/// The colours of the flows of a run, in order.
pub fn palette() -> Vec<String> {
    let known = HUES.iter().map(|(light, dark)| format!("light-dark({light},{dark})"));
    known.chain((0..).map(|number| visible(&further(number)))).take(COLOURS).collect()
}

/// Names of the first `most` flows of a run: label; else controller, with ends if the network is known, and number if still
/// ambiguous.
pub fn names(run: &Run, network: &Network, most: usize) -> Vec<String> {
    let mixed = run.flows.iter().any(|flow| flow.controller != run.flows[0].controller);
    let named = |flow: &FlowResult| {
        let remarked = remark(flow).map(|remark| format!("{} ({remark})", flow.controller));
        let said = remarked.unwrap_or_else(|| flow.controller.clone());
        match network.ends(&flow.route) {
            Some(ends) => format!("{said} {ends}"),
            None => said,
        }
    };
    let all: Vec<String> = run.flows.iter().map(named).collect();
    let alone = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
    let one = |(number, name): (usize, &String)| match (alone(name), name.is_empty()) {
        (_, true) => format!("flow {number}"),
        (true, _) => name.clone(),
        (false, _) if !mixed && all.iter().all(|other| other == name) => format!("flow {number}"),
        (false, _) => format!("{name}, flow {number}"),
    };
    all.iter().enumerate().take(most).map(one).collect()
}

/// An upright line in the pictures over time.
#[derive(Debug, PartialEq, Serialize)]
pub struct Event {
    /// Seconds since the run's start.
    pub x: f64,
    /// The event's description; empty if it does not fit.
    pub label: String,
}

/// More starts and ends than these are no marks that a reader can follow.
const MOST_EVENTS: usize = 16;
/// Flows that start within this part of a run count as simultaneous, whatever their jitter.
const TOGETHER: f64 = 0.01;

/// When flows of the run join and leave; without those present from the beginning or until the end.
pub fn events(run: &Run, names: &[String]) -> Vec<Event> {
    let end = run.series.iter().map(|series| series.start_s + series.step_s * (series.values.len() as f64 - 0.5));
    let end = end.fold(0.0, f64::max);
    let first = run.flows.iter().map(|flow| flow.start_s).fold(f64::INFINITY, f64::min);
    let each = |(flow, name): (&FlowResult, &String)| {
        let joins =
            Some(flow.start_s).filter(|start| *start > first + TOGETHER * end).map(|x| (x, format!("{name} starts")));
        let leaves = flow.completion_s.filter(|x| *x < end).map(|x| (x, format!("{name} ends")));
        joins.into_iter().chain(leaves)
    };
    let mut all: Vec<(f64, String)> =
        run.flows.iter().zip(names).flat_map(each).filter(|(x, _)| x.is_finite()).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    if run.flows.len() > names.len() || all.len() > MOST_EVENTS {
        return Vec::new();
    }
    all.into_iter().map(|(x, label)| Event { x: short(x), label }).collect()
}

/// Throughput against delay, flow by flow.
#[derive(Debug, PartialEq, Serialize)]
pub struct ByFlow {
    flows: Vec<FlowDots>,
}

/// A flow: its name, and mean round-trip time, throughput and seed in each replication.
#[derive(Debug, PartialEq, Serialize)]
struct FlowDots {
    name: String,
    runs: Vec<(f64, f64, String)>,
}

/// The picture of one group of replications; `None` with fewer than two dots, or more flows than colours.
pub fn by_flow(groups: &[Group], names: &[String]) -> Option<ByFlow> {
    let [group] = groups else { return None };
    let dots = |(number, name): (usize, &String)| {
        let of = |run: &&Run| {
            let flow = run.flows.get(number)?;
            let dot = (flow.rtt_mean_s?, flow.throughput_bps?, run.seed.to_string());
            (dot.0.is_finite() && dot.1.is_finite()).then_some(dot)
        };
        FlowDots { name: name.clone(), runs: group.runs.iter().filter_map(of).collect() }
    };
    let flows: Vec<FlowDots> = names.iter().enumerate().map(dots).filter(|flow| !flow.runs.is_empty()).collect();
    let all = flows.iter().map(|flow| flow.runs.len()).sum::<usize>();
    let shown = group.runs.iter().all(|run| run.flows.len() <= names.len());
    (shown && all > 1).then_some(ByFlow { flows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::{Series, groups};

    fn flow(controller: &str, start_s: f64, completion_s: Option<f64>) -> FlowResult {
        let label = controller.split(" (").next().unwrap_or_default().to_string();
        FlowResult { controller: label, kind: controller.to_string(), start_s, completion_s, ..FlowResult::default() }
    }

    fn run(flows: Vec<FlowResult>) -> Run {
        let series = Series { start_s: 0.5, step_s: 1.0, values: vec![Some(1.0); 60], ..Series::default() };
        Run { flows, series: vec![series], ..Run::default() }
    }

    #[test]
    fn only_shared_labels_get_numbers() {
        let flows = ["old", "old", "bbr", "rapid (fell back to cubic)"].map(|name| flow(name, 0.0, None)).to_vec();
        let found = names(&run(flows), &Network::default(), 12);
        assert_eq!(found, ["old, flow 0", "old, flow 1", "bbr", "rapid (fell back to cubic)"]);
        let alike = run(vec![flow("cubic", 0.0, None), flow("cubic", 0.0, None)]);
        assert_eq!(names(&alike, &Network::default(), 12), ["flow 0", "flow 1"]);
    }

    #[test]
    fn known_network_names_flows_by_ends() {
        let network = Network::of(
            "[[link]]\nname = \"A-B\"\nfrom = \"A\"\nto = \"B\"\n[[link]]\nname = \"far\"\nfrom = \"B\"\nto = \"C\"\n",
        );
        let flows =
            ["A-B, far", "far", "far"].map(|route| FlowResult { route: route.to_string(), ..flow("cubic", 0.0, None) });
        let found = names(&run(flows.to_vec()), &network, 12);
        assert_eq!(found, ["cubic A \u{2192} C", "cubic B \u{2192} C, flow 1", "cubic B \u{2192} C, flow 2"]);
    }

    #[test]
    fn marks_joining_and_leaving_flows() {
        let run = run(vec![flow("a", 0.0, None), flow("b", 10.0, None), flow("c", 0.01, Some(30.5))]);
        let names = ["a", "b", "c"].map(String::from);
        let found: Vec<(f64, String)> = events(&run, &names).into_iter().map(|event| (event.x, event.label)).collect();
        assert_eq!(found, [(10.0, "b starts".to_string()), (30.5, "c ends".to_string())]);
    }

    #[test]
    fn flow_has_dot_per_replication() {
        let one = |rate: f64| {
            let flow = FlowResult { rtt_mean_s: Some(0.1), throughput_bps: Some(rate), ..flow("a", 0.0, None) };
            run(vec![flow])
        };
        let (runs, names) = (vec![one(1.0), one(2.0)], vec!["a".to_string()]);
        let found = by_flow(&groups(&runs), &names).unwrap();
        assert_eq!(found.flows[0].runs.iter().map(|dot| dot.1).collect::<Vec<_>>(), [1.0, 2.0]);
        assert_eq!(by_flow(&groups(&runs[..1]), &names), None, "one dot is no picture");
    }
}
