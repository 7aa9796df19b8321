//! Throughput on different routes, in words.

use crate::findings::listed;
use crate::groups::points;
use crate::network::Network;
use experiment::results::figures::Unit;
use experiment::results::numbers::{quantity, scale};
use experiment::results::{Group, Results, Way, point_name};
use std::collections::BTreeMap;

/// Maximum number of routes that are listed; of more, the two with least and most throughput.
const MOST_WAYS: usize = 4;
/// Maximum number of values that are listed over all groups of runs; of more, the least and the most of each route.
const MOST_NUMBERS: usize = 8;

/// A non-breaking space.
const UNBROKEN: &str = "\u{a0}";

/// A flow's throughput on each route: `With queue = fifo, a flow got 1.5 Mbit/s (A → D), 8.5 Mbit/s (A → B).` Of many groups
/// of runs, the least and the most of each route. `None` if all data cross the same links.
pub fn sentence(results: &Results, groups: &[Group]) -> Option<String> {
    let network = Network::of(&results.manifest.scenario);
    let ways = groups.first()?.ways().len();
    if ways * groups.len() > MOST_NUMBERS && (2..=MOST_WAYS).contains(&ways) {
        return least_served(results, groups, &network).or_else(|| over_groups(groups, &network));
    }
    if ways * groups.len() > MOST_NUMBERS && ways > MOST_WAYS && groups.len() > 1 {
        return extremes(groups, &network);
    }
    let texts: Vec<String> = groups.iter().filter_map(|group| of_group(group, groups, &network)).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// Maximum number of sweep points that are listed.
const MOST_POINTS: usize = 2;

/// The least served flow compared with the others, controller by controller, as in the tests below. `None` with a single
/// controller, or with many points.
fn least_served(results: &Results, groups: &[Group], network: &Network) -> Option<String> {
    let points = points(results);
    let several = groups.iter().any(|group| group.controller != groups[0].controller);
    let all: Vec<Vec<Way>> = groups.iter().map(Group::ways).collect();
    let routes: Vec<&str> = all.first()?.iter().map(|way| way.route).collect();
    let alike = |ways: &Vec<Way>| ways.iter().map(|way| way.route).eq(routes.iter().copied());
    if !several || points.len() > MOST_POINTS || !all.iter().all(alike) {
        return None;
    }
    let sum = |at: usize| all.iter().map(|ways| ways[at].throughput_bps.mean).sum::<f64>();
    let least = (0..routes.len()).min_by(|a, b| sum(*a).total_cmp(&sum(*b)))?;
    let of_point = |point: &BTreeMap<String, String>| {
        let here = groups.iter().zip(&all).filter(|(group, _)| group.params == point);
        let mut got: Vec<(f64, f64, &str)> = here
            .map(|(group, ways)| {
                let others: f64 =
                    (0..ways.len()).filter(|at| *at != least).map(|at| ways[at].throughput_bps.mean).sum();
                (ways[least].throughput_bps.mean, others / (ways.len() - 1) as f64, group.controller)
            })
            .collect();
        got.sort_by(|a, b| b.0.total_cmp(&a.0));
        let scale = scale(Unit::Rate, got.iter().map(|one| one.1).fold(0.0, f64::max));
        let short = |bps: f64| format!("{:.1}", bps / scale.factor);
        let words = got.iter().map(|(own, others, name)| format!("{name} {} versus {}", short(*own), short(*others)));
        let with = if point.is_empty() { String::new() } else { format!("with {}: ", point_name(point)) };
        format!("{with}{} {}", listed(words.collect()), scale.symbol)
    };
    let name = network.ends(routes[least]).unwrap_or_else(|| routes[least].to_string()).replace(' ', UNBROKEN);
    let texts: Vec<String> = points.into_iter().map(of_point).collect();
    Some(format!("A flow on {name}, versus the mean on the other routes, got {}.", texts.join("; ")))
}

/// Of many routes, those with the least and the most throughput.
fn extremes(groups: &[Group], network: &Network) -> Option<String> {
    let mut all: Vec<(f64, String)> = Vec::new();
    for group in groups {
        let ways = group.ways();
        all.extend(
            ways.iter().map(|way| (way.throughput_bps.mean, format!("{}, {}", network.way(way, &ways), group.name()))),
        );
    }
    let order = |a: &&(f64, String), b: &&(f64, String)| a.0.total_cmp(&b.0);
    let (least, most) = (all.iter().min_by(order)?, all.iter().max_by(order)?);
    let text = |one: &(f64, String)| format!("{} ({})", quantity(one.0, Unit::Rate), one.1);
    Some(format!("Over all routes and runs, a flow got from {} to {}.", text(least), text(most)))
}

/// On each route, the groups with the least and the most throughput.
fn over_groups(groups: &[Group], network: &Network) -> Option<String> {
    let all: Vec<(&Group, Vec<Way>)> = groups.iter().map(|group| (group, group.ways())).collect();
    let mut names: Vec<String> = Vec::new();
    let mut texts: Vec<(f64, f64, String, String)> = Vec::new();
    for (group, ways) in &all {
        for way in ways {
            // Every controller takes the same ways: its name is that of the group.
            let name = network.ends(way.route).unwrap_or_else(|| way.route.to_string()).replace(' ', UNBROKEN);
            let got = way.throughput_bps.mean;
            match names.iter().position(|known| *known == name) {
                Some(at) if got < texts[at].0 => (texts[at].0, texts[at].2) = (got, group.name()),
                Some(at) if got > texts[at].1 => (texts[at].1, texts[at].3) = (got, group.name()),
                Some(_) => {}
                None => {
                    names.push(name);
                    texts.push((got, got, group.name(), group.name()));
                }
            }
        }
    }
    let of_way = |(name, (least, most, who_least, who_most)): (&String, &(f64, f64, String, String))| {
        let [least, most] = [least, most].map(|got| quantity(*got, Unit::Rate));
        format!("{name} from {least} ({who_least}) to {most} ({who_most})")
    };
    let said: Vec<String> = names.iter().zip(&texts).map(of_way).collect();
    (!said.is_empty()).then(|| format!("A flow got, {}.", said.join("; ")))
}

fn of_group(group: &Group, groups: &[Group], network: &Network) -> Option<String> {
    let ways = group.ways();
    let name = |way: &Way| network.way(way, &ways).replace(' ', UNBROKEN);
    let got = |way: &Way| format!("{} ({})", quantity(way.throughput_bps.mean, Unit::Rate), name(way));
    let order = |a: &&Way, b: &&Way| a.throughput_bps.mean.total_cmp(&b.throughput_bps.mean);
    let (least, most) = (ways.iter().min_by(order)?, ways.iter().max_by(order)?);
    let figures = match ways.len() {
        ..=MOST_WAYS => ways.iter().map(got).collect::<Vec<_>>().join(", "),
        _ => format!("from {} to {}", got(least), got(most)),
    };
    let several = groups.iter().any(|other| other.controller != group.controller);
    let which = match (several, group.params.is_empty()) {
        (true, _) => format!("With {}, a flow", group.name()),
        (false, false) => format!("With {}, a flow", group.point()),
        (false, true) => "A flow".to_string(),
    };
    Some(format!("{which} got {figures}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::groups;

    #[test]
    fn lists_few_routes_and_extremes_of_many() {
        let mut results = example::single();
        let flow = |(number, route): (usize, &str)| experiment::results::FlowResult {
            route: route.to_string(),
            controller: "cubic".to_string(),
            throughput_bps: Some(1e6 * (number + 1) as f64),
            ..experiment::results::FlowResult::default()
        };
        results.manifest.scenario.clear();
        results.runs[0].flows = ["there", "back"].into_iter().enumerate().map(flow).collect();
        let text = |results: &Results| sentence(results, &groups(&results.runs));
        assert_eq!(text(&results).as_deref(), Some("A flow got 1.000 Mbit/s (there), 2.000 Mbit/s (back)."));
        results.runs[0].flows = ["a", "b", "c", "d", "e"].into_iter().enumerate().map(flow).collect();
        assert_eq!(text(&results).as_deref(), Some("A flow got from 1.000 Mbit/s (a) to 5.000 Mbit/s (e)."));
        results.runs[0].flows.truncate(2);
        for (number, queue) in ["fifo", "codel", "red", "pie", "fq-codel"].into_iter().enumerate() {
            let mut run = results.runs[0].clone();
            run.params.insert("queue".to_string(), queue.to_string());
            run.flows.iter_mut().for_each(|flow| flow.throughput_bps = Some(1e6 * (5 - number) as f64));
            results.runs.push(run);
        }
        results.runs.remove(0);
        let all = "A flow got, a from 1.000 Mbit/s (cubic, queue = fq-codel) to 5.000 Mbit/s (cubic, queue = fifo); b from 1.000";
        assert!(
            text(&results).is_some_and(|words| words.replace("rapid", "cubic").starts_with(all)),
            "no group is left out"
        );
        results.runs.iter_mut().for_each(|run| run.flows.truncate(1));
        assert_eq!(text(&results), None);
    }

    /// By hand: route `a` has 1 and 2 Mbit/s, compared with means of 4 and 5, of 3 and 5 and of 4 and 6.
    #[test]
    fn states_least_served_flow_per_controller() {
        let mut results = example::single();
        results.manifest.scenario.clear();
        let first = results.runs.remove(0);
        for (controller, queue, rates) in [
            ("cubic", "fifo", [1.0, 3.0, 5.0]),
            ("copa", "fifo", [2.0, 4.0, 6.0]),
            ("cubic", "red", [2.0, 4.0, 6.0]),
            ("copa", "red", [1.0, 3.0, 5.0]),
        ] {
            let flow = |(route, rate): (&str, f64)| experiment::results::FlowResult {
                route: route.to_string(),
                controller: controller.to_string(),
                throughput_bps: Some(1e6 * rate),
                ..experiment::results::FlowResult::default()
            };
            let mut run = first.clone();
            run.controller = controller.to_string();
            run.params.insert("queue".to_string(), queue.to_string());
            run.flows = ["a", "b", "c"].into_iter().zip(rates).map(flow).collect();
            results.runs.push(run);
        }
        let texts = sentence(&results, &groups(&results.runs)).expect("a sentence");
        assert_eq!(
            texts,
            "A flow on a, versus the mean on the other routes, got with queue = fifo: copa 2.0 versus 5.0, cubic 1.0 versus \
             4.0 Mbit/s; with queue = red: cubic 2.0 versus 5.0, copa 1.0 versus 4.0 Mbit/s."
        );
        results.runs.iter_mut().for_each(|run| {
            run.flows.extend(run.flows.clone());
            for (number, flow) in run.flows.iter_mut().enumerate() {
                flow.route = format!("{number}");
            }
        });
        let texts = sentence(&results, &groups(&results.runs)).expect("a sentence");
        assert!(texts.starts_with("Over all routes and runs, a flow got from 1.000 Mbit/s (0, c"), "{texts}");
    }
}
