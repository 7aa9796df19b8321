//! Who got what where flows take different ways, in words.

use crate::groups::point_name;
use crate::network::Network;
use results::figures::Unit;
use results::numbers::quantity;
use results::{Group, Results, Way};

/// Ways that a reader takes in, one by one, at first sight; of more, the two that got least and most are told.
const MOST_WAYS: usize = 4;
/// Numbers that are told one by one, over all groups of runs; of more, the least and the most of each way are told.
const MOST_NUMBERS: usize = 8;

/// A space at which no line ends.
const UNBROKEN: &str = "\u{a0}";

/// Returns what a flow got on each way: `With queue = fifo, a flow got 1.5 Mbit/s (A → D), 8.5 Mbit/s (A → B).` Of many groups
/// of runs, the least and the most of each way. `None` where all data cross the same links.
pub fn sentence(results: &Results, groups: &[Group]) -> Option<String> {
    let network = Network::of(&results.manifest.scenario);
    let ways = groups.first()?.ways().len();
    if ways * groups.len() > MOST_NUMBERS && (2..=MOST_WAYS).contains(&ways) {
        return over_groups(groups, &network);
    }
    let told: Vec<String> = groups.iter().filter_map(|group| of_group(group, groups, &network)).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// On each way, which group got least and which most.
fn over_groups(groups: &[Group], network: &Network) -> Option<String> {
    let all: Vec<(&Group, Vec<Way>)> = groups.iter().map(|group| (group, group.ways())).collect();
    let mut names: Vec<String> = Vec::new();
    let mut told: Vec<(f64, f64, String, String)> = Vec::new();
    for (group, ways) in &all {
        for way in ways {
            // Every controller takes the same ways: its name is that of the group.
            let name = network.ends(way.route).unwrap_or_else(|| way.route.to_string()).replace(' ', UNBROKEN);
            let got = way.throughput_bps.mean;
            match names.iter().position(|known| *known == name) {
                Some(at) if got < told[at].0 => (told[at].0, told[at].2) = (got, group.name()),
                Some(at) if got > told[at].1 => (told[at].1, told[at].3) = (got, group.name()),
                Some(_) => {}
                None => {
                    names.push(name);
                    told.push((got, got, group.name(), group.name()));
                }
            }
        }
    }
    let of_way = |(name, (least, most, who_least, who_most)): (&String, &(f64, f64, String, String))| {
        let [least, most] = [least, most].map(|got| quantity(*got, Unit::Rate));
        format!("{name} from {least} ({who_least}) to {most} ({who_most})")
    };
    let said: Vec<String> = names.iter().zip(&told).map(of_way).collect();
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
        (false, false) => format!("With {}, a flow", point_name(group.params)),
        (false, true) => "A flow".to_string(),
    };
    Some(format!("{which} got {figures}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use results::groups;

    #[test]
    fn few_ways_are_told_one_by_one_and_of_many_the_extremes() {
        let mut results = example::single();
        let flow = |(number, route): (usize, &str)| results::FlowResult {
            route: route.to_string(),
            controller: "cubic".to_string(),
            throughput_bps: Some(1e6 * (number + 1) as f64),
            ..results::FlowResult::default()
        };
        results.manifest.scenario.clear();
        results.runs[0].flows = ["there", "back"].into_iter().enumerate().map(flow).collect();
        let told = |results: &Results| sentence(results, &groups(&results.runs));
        assert_eq!(told(&results).as_deref(), Some("A flow got 1.000 Mbit/s (there), 2.000 Mbit/s (back)."));
        results.runs[0].flows = ["a", "b", "c", "d", "e"].into_iter().enumerate().map(flow).collect();
        assert_eq!(told(&results).as_deref(), Some("A flow got from 1.000 Mbit/s (a) to 5.000 Mbit/s (e)."));
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
            told(&results).is_some_and(|words| words.replace("rapid", "cubic").starts_with(all)),
            "no group is left out"
        );
        results.runs.iter_mut().for_each(|run| run.flows.truncate(1));
        assert_eq!(told(&results), None);
    }
}
