//! Who got what where flows take different ways, in words.

use crate::groups::point_name;
use crate::network::Network;
use results::figures::Unit;
use results::numbers::quantity;
use results::{Group, Results, Way};

/// Ways that a reader takes in, one by one, at first sight; of more, the two that got least and most are told.
const MOST_WAYS: usize = 4;
/// Groups of runs that are told one by one; of more, the first are, and it is said.
const MOST_GROUPS: usize = 2;

/// A space at which no line ends.
const UNBROKEN: &str = "\u{a0}";

/// Returns what a flow got on each way: `With queue = fifo, a flow got 1.5 Mbit/s (A → D), 8.5 Mbit/s (A → B).` `None` where all
/// data cross the same links.
pub fn sentence(results: &Results, groups: &[Group]) -> Option<String> {
    let network = Network::of(&results.manifest.scenario);
    let told: Vec<String> =
        groups.iter().take(MOST_GROUPS).filter_map(|group| of_group(group, groups, &network)).collect();
    let more = groups.len().saturating_sub(MOST_GROUPS);
    let rest = if more > 0 { format!(" The picture shows {more} more.") } else { String::new() };
    (!told.is_empty()).then(|| told.join(" ") + &rest)
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
        results.runs[0].flows.truncate(1);
        assert_eq!(told(&results), None);
    }
}
