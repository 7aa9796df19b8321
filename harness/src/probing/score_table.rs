//! The scores of all methods as cells, for the terminal and the page.

use crate::probing::Scored;
use serde_json::Value;

/// A column: its head, the figure, what to multiply it with, decimals.
type Column = (&'static str, &'static str, f64, usize);

const RISING: &[Column] = &[
    ("scored", "scored", 1.0, 0),
    ("within 10 %", "within_10", 100.0, 1),
    ("within 15 %", "within_15", 100.0, 1),
    ("bias %", "bias", 100.0, 1),
    ("5 %", "p05", 100.0, 1),
    ("50 %", "median", 100.0, 1),
    ("95 %", "p95", 100.0, 1),
    ("R2", "r2", 1.0, 2),
    ("refused %", "refused", 100.0, 1),
];

const CONSTANT: &[Column] = &[
    ("scored", "scored", 1.0, 0),
    ("wrong %", "wrong", 100.0, 1),
    ("ambiguous %", "ambiguous", 100.0, 1),
    ("refused %", "refused", 100.0, 1),
];

/// One row per method and point, the head first; shares, R2 and bias with the half-width of their 95 % interval over runs.
pub fn score_table(scores: &[Scored]) -> Vec<Vec<String>> {
    let columns = if scores.iter().all(|(_, score)| score.get("wrong").is_some()) { CONSTANT } else { RISING };
    let keys: Vec<&String> = scores.first().map_or(Vec::new(), |(point, _)| point.keys().collect());
    let head = keys.iter().map(|key| key.to_string()).chain(columns.iter().map(|column| column.0.to_string()));
    let row = |(point, score): &Scored| {
        let keys = keys.iter().map(|key| point.get(*key).cloned().unwrap_or_default());
        keys.chain(columns.iter().map(|column| cell(score, column))).collect::<Vec<_>>()
    };
    std::iter::once(head.collect()).chain(scores.iter().map(row)).collect()
}

fn cell(score: &Value, (_, name, scale, decimals): &Column) -> String {
    let figure = |name: &str| score.get(name).and_then(Value::as_f64).map(|figure| figure * scale);
    let Some(value) = figure(name) else { return "-".to_string() };
    let half = figure(&format!("{name}_half_width"));
    let with_half = matches!(*name, "within_10" | "within_15" | "bias" | "r2" | "wrong" | "ambiguous");
    match half.filter(|_| with_half) {
        Some(half) => format!("{value:.decimals$} ± {half:.decimals$}"),
        None => format!("{value:.decimals$}"),
    }
}
