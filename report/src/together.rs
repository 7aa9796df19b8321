//! Throughput, loss and queueing delay in one sentence: throughput alone hides its cost to others.

use crate::findings;
use crate::groups::{LOSS, difference, loses_most, order_caveat};
use experiment::results::Group;
use experiment::results::figures::Unit;
use experiment::results::numbers::shown;

const SHARE: &str = "available_share";
const RATE: &str = "throughput_bps";

/// A figure, the words around it, its unit, and the largest insignificant difference.
type Cost = (&'static str, &'static str, &'static str, Unit, f64);

/// Costs that accompany the throughput if controllers differ in them.
const COSTS: [Cost; 2] =
    [(LOSS, "lost", "", Unit::Share, 0.001), ("queue_delay_p99_s", "queued", " (99th percentile)", Unit::Time, 1e-4)];

/// Controllers differ in a figure if the least is this part below the greatest.
const DIFFERS: f64 = 0.1;

/// Throughput and costs of each controller, most throughput first; those that lost more than they delivered come last.
/// `None` if there is one controller without such loss, or if they differ in neither loss nor delay.
pub fn sentence(groups: &[Group]) -> Option<String> {
    let collapse = groups.iter().any(loses_most);
    let named = |(metric, .., least): &&Cost| differs(groups, metric, *least) || collapse && *metric == LOSS;
    let costs: Vec<&Cost> = COSTS.iter().filter(named).collect();
    if costs.is_empty() || groups.len() < 2 && !collapse {
        return None;
    }
    let known = groups.iter().all(|group| group.interval(SHARE).is_some());
    let (metric, unit) = if known { (SHARE, Unit::Share) } else { (RATE, Unit::Rate) };
    let mut ranked: Vec<&Group> = groups.iter().filter(|group| group.interval(metric).is_some()).collect();
    let mean = |group: &Group| group.interval(metric).map_or(0.0, |interval| interval.mean);
    ranked.sort_by(|a, b| loses_most(a).cmp(&loses_most(b)).then(mean(b).total_cmp(&mean(a))));
    let [best, rest @ ..] = &ranked[..] else { return None };
    let (got, what) = if known { ("used", " of the available capacity") } else { ("sent", "") };
    let of = |group: &Group| {
        let mut figures: Vec<Cost> = vec![(metric, got, what, unit, 0.0)];
        figures.extend(costs.iter().copied());
        figures.sort_by_key(|(metric, ..)| !(*metric == LOSS && loses_most(group)));
        figures
    };
    let figure = |group: &Group, metric, unit| group.interval(metric).map_or("-".to_string(), |i| shown(i, unit));
    let phrase = |group: &Group, (metric, verb, after, unit, _): &Cost| {
        let after = if group.controller == best.controller { *after } else { "" };
        format!("{verb} {}{after}", figure(group, *metric, *unit))
    };
    let first: Vec<String> = of(best).iter().map(|cost| phrase(best, cost)).collect();
    let (last, before) = first.split_last()?;
    let other = |group: &&Group| {
        let words = |cost: &Cost| match loses_most(group) == loses_most(best) {
            true => figure(group, cost.0, cost.3),
            false => phrase(group, cost),
        };
        format!("{}: {}", group.controller, of(group).iter().map(words).collect::<Vec<_>>().join(", "))
    };
    let others: Vec<String> = rest.iter().map(other).collect();
    let caveat = rest.first().map_or("", |second| {
        let apart = if loses_most(second) == loses_most(best) { metric } else { LOSS };
        order_caveat(difference(best, second, apart), second.runs.len())
    });
    let lead = format!("{} {} and {last}", best.controller, before.join(", "));
    let others = if others.is_empty() { String::new() } else { format!("; {}", findings::listed_by(others, "; ")) };
    Some(format!("{lead}{others}{caveat}."))
}

fn differs(groups: &[Group], metric: &str, least: f64) -> bool {
    let means = || groups.iter().filter_map(|group| group.interval(metric)).map(|interval| interval.mean);
    let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
    high - low > least && high - low > DIFFERS * high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::{FlowResult, Results, Run, groups, oversenders};

    /// Each controller's share, loss and 99th percentile of the queueing delay.
    fn results(of: &[(&str, Option<f64>, f64, f64)]) -> Results {
        let mut results = example::single();
        let run = results.runs[0].clone();
        results.runs = of
            .iter()
            .map(|(controller, share, loss, delay_s)| {
                let mut run = Run { controller: controller.to_string(), ..run.clone() };
                run.summary.available_share = *share;
                run.summary.throughput_bps = Some(1e6 * (1.0 + share.unwrap_or(0.0)));
                (run.summary.loss_ratio, run.summary.queue_delay_p99_s) = (Some(*loss), Some(*delay_s));
                run
            })
            .collect();
        results
    }

    #[test]
    fn collapse_does_not_win_by_throughput() {
        let results = results(&[("rapid", Some(0.993), 0.02, 2e-3), ("copa", Some(1.0), 0.9986, 2e-3)]);
        let words = sentence(&groups(&results.runs)).expect("a sentence");
        let expected = "rapid used 99.30 % of the available capacity and lost 2.000 %; copa: lost 99.86 %, used 100.0 %, in a single replication.";
        assert_eq!(words, expected);
        let alone = &groups(&results.runs)[1..];
        let expected = "copa lost 99.86 % and used 100.0 % of the available capacity.";
        assert_eq!(sentence(alone).as_deref(), Some(expected));
    }

    #[test]
    fn low_delay_comes_with_its_throughput_cost() {
        let mut results = results(&[("rapid", None, 0.0, 4.882e-3), ("cubic", None, 0.0, 51.41e-3)]);
        results.runs[1].summary.throughput_bps = Some(19.8e6);
        results.runs[0].summary.throughput_bps = Some(7.7e6);
        let words = sentence(&groups(&results.runs)).expect("a sentence");
        assert!(
            words.starts_with(
                "cubic sent 19.80 Mbit/s and queued 51.41 ms (99th percentile); rapid: 7.700 Mbit/s, 4.882 ms"
            ),
            "{words}"
        );
    }

    #[test]
    fn equal_costs_rank_by_throughput() {
        let results = results(&[("rapid", Some(0.9), 0.01, 2e-3), ("cubic", Some(0.5), 0.0101, 2.05e-3)]);
        assert_eq!(sentence(&groups(&results.runs)), None);
    }

    #[test]
    fn names_sender_with_heavy_loss() {
        let mut results = results(&[("copa", Some(1.0), 0.9986, 2e-3), ("rapid", Some(0.99), 0.01, 2e-3)]);
        let flow = |controller: &str, gone| FlowResult {
            controller: controller.to_string(),
            sent_packets: 10_000,
            dropped_packets: gone,
            ..FlowResult::default()
        };
        results.runs[0].flows = vec![flow("copa", 9986)];
        results.runs[1].flows = vec![flow("rapid", 4000)];
        // 10 000 / 14; 10 000 / 6000 is below two.
        assert_eq!(oversenders(&groups(&results.runs)), ["copa sends 714 times what arrives."]);
    }
}
