//! Flows that arrived, in words and in a table: completion times, and slowdowns by size.

use crate::html::escape;
use crate::tables::{swatch, table};
use experiment::results::figures::{COMPLETION, Definition, Unit};
use experiment::results::numbers::{mean_and_half, quantity, scale, shown};
use experiment::results::{Group, Interval, Results, completions};
use std::fmt::Write;

/// The columns, by name in the table of figures.
const SHOWN: [&str; 6] = [
    "completion_time_mean_s",
    "completion_time_p50_s",
    "completion_time_p99_s",
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p99",
];

/// Completion-time figures of the summary sentence: words, and the figure that follows them.
const ASKED: [(&str, &str); 2] =
    [("Half of the flows that arrived", "completion_time_p50_s"), ("99\u{a0}%", "completion_time_p99_s")];
/// The same if no flows arrive and all ended.
const ASKED_OF_ALL: [(&str, &str); 2] =
    [("All flows ended. Half of them", "completion_time_p50_s"), ("99\u{a0}%", "completion_time_p99_s")];
/// If less than this share of the arrived flows ended, the text says so.
const NEARLY_ALL: f64 = 0.99;

/// Returns how long the flows took that arrived, or that all ended, in sentences; `None` where none did. Of several sweep
/// points it has ranges.
pub fn sentence(groups: &[Group]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    groups.iter().map(|group| group.controller).for_each(|name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    let alone = names.len() == 1;
    let part = |(words, metric): (&str, &str)| {
        let took: Vec<String> = names
            .iter()
            .filter_map(|name| {
                let own = groups.iter().filter(|group| group.controller == *name);
                let took = range(own.filter_map(|group| group.interval(metric)).collect())?;
                Some(if alone { took } else { format!("{took} with {name}") })
            })
            .collect();
        (!took.is_empty()).then(|| format!("{words} took at most {}.", took.join(", ")))
    };
    let arrive = groups.iter().flat_map(|group| &group.runs).any(|run| run.summary.flows_arrived.is_some());
    let asked = if arrive { ASKED } else { ASKED_OF_ALL };
    let sentences: Vec<String> = asked.into_iter().filter_map(part).collect();
    let sum = |metric: &str| {
        groups.iter().flat_map(|group| &group.runs).filter_map(|run| run.summary.metric(metric)).sum::<f64>()
    };
    let ended = sum("flows_completed") / sum("flows_arrived");
    let rest = (ended < NEARLY_ALL)
        .then(|| format!("{:.1}\u{a0}% of them had not ended and do not count.", (1.0 - ended) * 100.0));
    (!sentences.is_empty()).then(|| sentences.into_iter().chain(rest).collect::<Vec<_>>().join(" "))
}

/// Of one group its mean and interval, of several their means, from the least to the largest.
fn range(found: Vec<Interval>) -> Option<String> {
    if let [one] = found[..] {
        return Some(shown(one, Unit::Time));
    }
    let least = found.iter().map(|one| one.mean).reduce(f64::min)?;
    let most = found.iter().map(|one| one.mean).reduce(f64::max)?;
    Some(format!("{} to {}", quantity(least, Unit::Time), quantity(most, Unit::Time)))
}

/// The table; empty if no flows arrive.
pub fn arrived(results: &Results, groups: &[Group]) -> String {
    let all = completions(groups);
    if all.is_empty() {
        return String::new();
    }
    let shown: Vec<&Definition> =
        SHOWN.iter().filter_map(|name| COMPLETION.iter().find(|figure| figure.name == *name)).collect();
    let mut head = ["Run of", "Table", "Size"].map(|name| format!("<th scope=\"col\">{name}</th>")).concat();
    head += &["Arrived", "Ended"].map(|name| format!("<th scope=\"col\" class=\"n\">{name}</th>")).concat();
    for figure in &shown {
        let title = escape(figure.meaning);
        _ = write!(head, "<th scope=\"col\" class=\"n\" title=\"{title}\">{}</th>", figure.label);
    }
    let rows = all.iter().map(|one| {
        let point = one.group.point();
        let point = if point.is_empty() { point } else { format!(" ({})", escape(&point)) };
        let number = one.rows.first().map_or(String::new(), |row| row.table.to_string());
        let counts = [one.count(|row| row.arrived), one.count(|row| row.completed)];
        let mut row = format!("<th scope=\"row\">{}{point}</th>", swatch(results, one.group.controller));
        _ = write!(row, "<td>{number}</td><td>{}</td>", one.sizes());
        row += &counts.map(|count| format!("<td class=\"n\">{count}</td>")).concat();
        for figure in &shown {
            let values: Vec<f64> = one.rows.iter().filter_map(|row| row.metric(figure.name)).collect();
            _ = write!(row, "<td class=\"n\">{}</td>", cell(Interval::of_runs(&values), figure.unit));
        }
        row
    });
    let mut out = String::new();
    table(&mut out, "Flows that arrived, by size", &head, &rows.collect::<Vec<_>>());
    out
}

fn cell(found: Option<Interval>, unit: Unit) -> String {
    let Some(found) = found else { return "\u{2013}".to_string() };
    let scale = scale(unit, found.mean.abs());
    let (mean, half) = mean_and_half(found, scale);
    let half = half.map_or(String::new(), |half| format!(" <span class=\"half\">± {}</span>", escape(&half)));
    let symbol = if scale.symbol.is_empty() { String::new() } else { format!(" {}", scale.symbol) };
    format!("{mean}{half}{symbol}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::groups;

    /// Of 51, 51.25 and 51.5 ms the mean is 51.25 and half of the interval 4.303 * 0.25 / sqrt(3) = 0.62; 20 of 200 flows
    /// had not ended.
    #[test]
    fn states_completions_per_controller() {
        let results = example::arrivals();
        let expected = "Half of the flows that arrived took at most 51.25 ± 0.62 ms with rapid, 102.25 ± 0.62 ms with cubic. \
                        99\u{a0}% took at most 100.25 ± 0.62 ms with rapid, 200.25 ± 0.62 ms with cubic. \
                        10.0\u{a0}% of them had not ended and do not count.";
        assert_eq!(sentence(&groups(&results.runs)).unwrap(), expected);
        let mut swept = results.clone();
        swept.runs.retain(|run| run.controller == "rapid" && run.replication < 2);
        swept.runs[0].params.insert("path.rate".to_string(), "1 Gbit/s".to_string());
        let words = sentence(&groups(&swept.runs)).unwrap();
        assert!(
            words.starts_with("Half of the flows that arrived took at most 51.00 ms to 51.25 ms. 99\u{a0}%"),
            "{words}"
        );
        let demo = example::demo();
        assert_eq!(sentence(&groups(&demo.runs)), None);
    }
}
