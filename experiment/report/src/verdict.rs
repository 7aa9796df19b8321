//! The results in words. Every word is computed. The text says so where the replications do not establish a difference.

use crate::groups::{difference, points};
use crate::numbers::{mean_and_half, quantity, scale};
use results::figures::Unit;
use results::{Group, Interval, Results, TrafficResult, WHY_ABOVE_ALL, groups};

/// A question to the results, with the words around its answer.
struct Question {
    metric: &'static str,
    unit: Unit,
    /// Whether more is better.
    more: bool,
    /// The words before the winner's name.
    superlative: &'static str,
}

const QUESTIONS: [Question; 3] = [
    Question {
        metric: "available_share",
        unit: Unit::Share,
        more: true,
        superlative: "The largest share of the available capacity was used by",
    },
    Question {
        metric: "queue_delay_p99_s",
        unit: Unit::Time,
        more: false,
        superlative: "The lowest 99th percentile of queueing delay was that with",
    },
    Question { metric: "loss_ratio", unit: Unit::Share, more: false, superlative: "The fewest packets were lost by" },
];

/// Returns a paragraph of plain text.
pub fn verdict(results: &Results) -> String {
    let groups = groups(&results.runs);
    let points = points(results);
    let mut sentences: Vec<String> = if groups.is_empty() {
        vec!["There are no runs.".to_string()]
    } else if points.len() > 1 {
        QUESTIONS.iter().filter_map(|q| over_points(q, results, &groups)).collect()
    } else {
        QUESTIONS.iter().filter_map(|q| at_one_point(q, &groups)).collect()
    };
    sentences.extend(shares(&groups));
    if groups.iter().any(Group::above_all) {
        sentences.push(WHY_ABOVE_ALL.to_string());
    }
    sentences.join(" ")
}

/// Returns what the traffic does when the path fills, in a sentence; nothing without traffic.
pub fn traffic(results: &Results) -> &'static str {
    let connections =
        |source: &TrafficResult| matches!(source.kind.as_str(), "tmix" | "sessions") || source.files_asked.is_some();
    let mut sources = results.runs.iter().flat_map(|run| &run.traffic).peekable();
    if sources.peek().is_none() {
        return "";
    }
    let (reacts, all) = sources.fold((0, 0), |(reacts, all), one| (reacts + usize::from(connections(one)), all + 1));
    match reacts {
        0 => " The traffic does not react to the flows.",
        _ if reacts == all => " The traffic is made of connections, which react to the path as the flows do.",
        _ => " Of the traffic, connections react to the path as the flows do; the rest does not.",
    }
}

/// Returns what each controller of a mix got: at one point its share, over several the range of its shares.
fn shares(groups: &[Group]) -> Vec<String> {
    let mixes: Vec<(&Group, Vec<(&str, Interval)>)> =
        groups.iter().map(|group| (group, group.shares())).filter(|(_, shares)| !shares.is_empty()).collect();
    let mut names: Vec<&str> = Vec::new();
    mixes.iter().map(|(group, _)| group.controller).for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    let sentence = |mix: &str| {
        let points: Vec<&Vec<(&str, Interval)>> =
            mixes.iter().filter(|(group, _)| group.controller == mix).map(|(_, shares)| shares).collect();
        let got = points[0].iter().map(|(name, first)| match points.len() {
            1 => format!("{name} {}", shown(*first, Unit::Share)),
            _ => {
                let all = points.iter().flat_map(|point| point.iter()).filter(|(other, _)| other == name);
                let means = all.map(|(_, share)| share.mean);
                let (low, high) = means.fold((1.0, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
                format!("{name} {} to {}", quantity(low, Unit::Share), quantity(high, Unit::Share))
            }
        });
        format!("Of what the flows of {mix} got together: {}.", got.collect::<Vec<_>>().join(", "))
    };
    names.into_iter().map(sentence).collect()
}

/// Returns the groups that have an answer, best first.
fn ranked<'g, 'a>(question: &Question, groups: impl Iterator<Item = &'g Group<'a>>) -> Vec<(&'g Group<'a>, Interval)>
where
    'a: 'g,
{
    let mut found: Vec<_> = groups.filter_map(|g| Some((g, g.interval(question.metric)?))).collect();
    found.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
    if question.more {
        found.reverse();
    }
    found
}

fn at_one_point(question: &Question, groups: &[Group]) -> Option<String> {
    let ranked = ranked(question, groups.iter());
    let (best, figure) = ranked.first()?;
    let rest: Vec<String> =
        ranked[1..].iter().map(|(g, i)| format!("{} {}", g.controller, shown(*i, question.unit))).collect();
    let against = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
    let caveat = ranked.get(1).map_or("", |(second, _)| doubt(difference(best, second, question.metric)));
    if ranked.len() > 1 && ranked.iter().all(|(_, i)| i.mean == figure.mean) {
        return Some(format!("{}: all alike, {}.", topic(question), shown(*figure, question.unit)));
    }
    let lead = if ranked.len() > 1 { question.superlative.to_string() } else { format!("{}:", topic(question)) };
    Some(format!("{lead} {} ({}{against}){caveat}.", best.controller, shown(*figure, question.unit)))
}

/// Returns what the paired difference between the first two groups says against their order.
fn doubt(difference: Option<Interval>) -> &'static str {
    match difference {
        Some(Interval { mean, half_width: Some(half) }) if mean.abs() <= half => {
            ", though the replications do not tell the first two apart (95 %, paired by seed)"
        }
        Some(Interval { half_width: None, .. }) => ", in a single replication",
        _ => "",
    }
}

fn topic(question: &Question) -> &'static str {
    match question.unit {
        Unit::Time => "99th percentile of queueing delay",
        _ if question.more => "Share of the available capacity",
        _ => "Packets lost",
    }
}

/// Returns how often each controller was best over the sweep points, and the range of the values that it reached.
fn over_points(question: &Question, results: &Results, groups: &[Group]) -> Option<String> {
    let points = points(results);
    let mut wins: Vec<(&str, usize)> = Vec::new();
    for point in &points {
        let ranked = ranked(question, groups.iter().filter(|g| g.params == *point));
        let Some((_, figure)) = ranked.first() else { continue };
        for (group, _) in ranked.iter().filter(|(_, i)| i.mean == figure.mean) {
            match wins.iter_mut().find(|(name, _)| *name == group.controller) {
                Some((_, n)) => *n += 1,
                None => wins.push((group.controller, 1)),
            }
        }
    }
    wins.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let parts: Vec<String> = wins
        .iter()
        .map(|(name, n)| {
            let means: Vec<f64> = groups
                .iter()
                .filter(|g| g.controller == *name)
                .filter_map(|g| g.interval(question.metric))
                .map(|i| i.mean)
                .collect();
            let low = means.iter().copied().fold(f64::INFINITY, f64::min);
            let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (low, high) = (quantity(low, question.unit), quantity(high, question.unit));
            let range = if low == high { low } else { format!("{low} to {high}") };
            format!("{name} at {n} of {} sweep points ({range})", points.len())
        })
        .collect();
    (!parts.is_empty()).then(|| format!("{} {}.", question.superlative, parts.join(", ")))
}

fn shown(interval: Interval, unit: Unit) -> String {
    let scale = scale(unit, interval.mean);
    match mean_and_half(interval, scale) {
        (mean, Some(half)) => format!("{mean} ± {half} {}", scale.symbol),
        (mean, None) => format!("{mean} {}", scale.symbol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn the_controller_with_the_largest_share_is_named_first() {
        let mut results = example::demo();
        for run in &mut results.runs {
            run.summary.available_share = Some(if run.controller == "cubic" { 0.9 } else { 0.5 });
        }
        assert!(
            verdict(&results).starts_with("The largest share of the available capacity was used by cubic (90.00 ± 0 %")
        );
    }

    #[test]
    fn an_order_that_replications_contradict_is_called_doubtful() {
        let mut results = example::demo();
        for run in &mut results.runs {
            let sign = if run.replication % 2 == 0 { 1.0 } else { -1.0 };
            run.summary.available_share = Some(match run.controller.as_str() {
                "rapid" => 0.8 + 0.1 * sign,
                "cubic" => 0.8 - 0.1 * sign,
                _ => 0.1,
            });
        }
        assert!(verdict(&results).contains("do not tell the first two apart"));
    }

    #[test]
    fn a_mix_says_what_each_got_and_more_than_all_says_why() {
        let mut results = example::single();
        let share = |controller: &str, share: f64| results::ControllerShare {
            controller: controller.to_string(),
            share: Some(share),
            ..results::ControllerShare::default()
        };
        results.runs[0].shares = vec![share("rapid", 0.25), share("cubic", 0.75)];
        let words = verdict(&results);
        assert!(words.ends_with("Of what the flows of rapid got together: rapid 25.00 %, cubic 75.00 %."), "{words}");
        results.runs[0].summary.available_share = Some(1.01);
        assert!(verdict(&results).ends_with(WHY_ABOVE_ALL));
        let mut second = results.runs[0].clone();
        second.params.insert("path.loss".to_string(), "0.1".to_string());
        second.shares = vec![share("rapid", 0.5), share("cubic", 0.5)];
        results.runs[0].params.insert("path.loss".to_string(), "0".to_string());
        results.runs.push(second);
        assert!(verdict(&results).contains("rapid 25.00 % to 50.00 %, cubic 50.00 % to 75.00 %."));
    }

    #[test]
    fn traffic_of_connections_is_said_to_react() {
        let mut results = example::single();
        assert_eq!(traffic(&results), " The traffic does not react to the flows.");
        results.runs[0].traffic[0].files_asked = Some(7);
        assert!(traffic(&results).starts_with(" The traffic is made of connections"));
        results.runs[0].traffic.push(TrafficResult { kind: "cbr".to_string(), ..TrafficResult::default() });
        assert!(traffic(&results).starts_with(" Of the traffic, connections react"));
        results.runs[0].traffic.clear();
        assert_eq!(traffic(&results), "");
    }

    #[test]
    fn nothing_to_report_is_said() {
        assert_eq!(verdict(&example::empty()), "There are no runs.");
    }

    #[test]
    fn a_sweep_counts_the_points_each_won() {
        let mut results = example::sweep();
        for run in &mut results.runs {
            let small = run.params["path.buffer"] == "5 packets";
            run.summary.available_share = Some(if (run.controller == "rapid") ^ small { 0.9 } else { 0.4 });
        }
        let words = verdict(&results);
        assert!(words.contains("rapid at 3 of 4 sweep points (40.00 % to 90.00 %)"), "{words}");
    }
}
