//! Throughput, loss and queueing delay in one sentence. Who got most says little where what it cost others is left out.

use crate::findings;
use crate::groups::{difference, doubt};
use experiment::results::Group;
use experiment::results::figures::Unit;
use experiment::results::numbers::shown;

const SHARE: &str = "available_share";
const RATE: &str = "throughput_bps";

/// What is named beside the throughput where controllers differ in it: the figure, the words around it, and which difference is
/// too small to name.
const COSTS: [(&str, &str, &str, Unit, f64); 2] = [
    ("loss_ratio", "lost", "", Unit::Share, 0.001),
    ("queue_delay_p99_s", "queued", " (99th percentile)", Unit::Time, 1e-4),
];

/// Controllers differ in a figure if the least is this part below the greatest.
const DIFFERS: f64 = 0.1;

/// Returns what each controller got and what it cost, most throughput first; `None` where there is one controller, or where they
/// differ in neither loss nor delay.
pub fn sentence(groups: &[Group]) -> Option<String> {
    let costs: Vec<_> = COSTS.iter().filter(|(metric, .., least)| differs(groups, metric, *least)).collect();
    if groups.len() < 2 || costs.is_empty() {
        return None;
    }
    let known = groups.iter().all(|group| group.interval(SHARE).is_some());
    let (metric, unit) = if known { (SHARE, Unit::Share) } else { (RATE, Unit::Rate) };
    let mut ranked: Vec<&Group> = groups.iter().filter(|group| group.interval(metric).is_some()).collect();
    let mean = |group: &Group| group.interval(metric).map_or(0.0, |interval| interval.mean);
    ranked.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    let [best, rest @ ..] = &ranked[..] else { return None };
    let of = |group: &Group, metric: &str, unit| group.interval(metric).map_or("-".to_string(), |i| shown(i, unit));
    let got = if known { "used" } else { "sent" };
    let what = if known { " of the available capacity" } else { "" };
    let first: Vec<String> = std::iter::once(format!("{got} {}{what}", of(best, metric, unit)))
        .chain(costs.iter().map(|(metric, verb, after, unit, _)| format!("{verb} {}{after}", of(best, metric, *unit))))
        .collect();
    let (last, before) = first.split_last()?;
    let other = |group: &&Group| {
        let costs = costs.iter().map(|(metric, _, _, unit, _)| of(group, metric, *unit));
        let all: Vec<String> = std::iter::once(of(group, metric, unit)).chain(costs).collect();
        format!("{}: {}", group.controller, all.join(", "))
    };
    let others: Vec<String> = rest.iter().map(other).collect();
    let caveat = rest.first().map_or("", |second| doubt(difference(best, second, metric), second.runs.len()));
    let lead = format!("{} {} and {last}", best.controller, before.join(", "));
    Some(format!("{lead}; {}{caveat}.", findings::listed_by(others, "; ")))
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
    fn collapse_is_not_crowned_for_its_throughput() {
        let results = results(&[("rapid", Some(0.993), 0.02, 2e-3), ("copa", Some(1.0), 0.9986, 2e-3)]);
        let words = sentence(&groups(&results.runs)).expect("a sentence");
        let expected = "copa used 100.0 % of the available capacity and lost 99.86 %; rapid: 99.30 %, 2.000 %, in a single replication.";
        assert_eq!(words, expected);
    }

    #[test]
    fn low_delay_is_not_named_without_the_throughput_that_it_cost() {
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
    fn equal_costs_leave_the_ranking_by_throughput() {
        let results = results(&[("rapid", Some(0.9), 0.01, 2e-3), ("cubic", Some(0.5), 0.0101, 2.05e-3)]);
        assert_eq!(sentence(&groups(&results.runs)), None);
    }

    #[test]
    fn sender_of_several_times_what_arrives_is_named() {
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
