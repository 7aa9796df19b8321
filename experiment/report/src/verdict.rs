//! The results in words. Every word is computed. The text says so where the replications do not establish a difference.

use crate::groups::{difference, points};
use crate::numbers::{mean_and_half, quantity, scale};
use results::figures::Unit;
use results::{Group, Interval, Results, groups};

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
    let sentences: Vec<String> = if groups.is_empty() {
        vec!["There are no runs.".to_string()]
    } else if points.len() > 1 {
        QUESTIONS.iter().filter_map(|q| over_points(q, results, &groups)).collect()
    } else {
        QUESTIONS.iter().filter_map(|q| at_one_point(q, &groups)).collect()
    };
    sentences.join(" ")
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
