//! The scores of all methods, for the terminal.

use results::to_lines;
use serde_json::Value;
use std::collections::BTreeMap;

/// A column: its head, the figure, what to multiply it with, decimals.
type Figure = (&'static str, &'static str, f64, usize);

const RISING: &[Figure] = &[
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

const CONSTANT: &[Figure] = &[
    ("scored", "scored", 1.0, 0),
    ("wrong %", "wrong", 100.0, 1),
    ("ambiguous %", "ambiguous", 100.0, 1),
    ("refused %", "refused", 100.0, 1),
];

/// One line per method and point; shares, R2 and bias with the half-width of their 95 % interval over runs.
pub fn table(answers: &[(BTreeMap<String, String>, Value)]) -> String {
    let keys = answers.first().map_or(0, |(point, _)| point.len());
    let lines = lines(answers);
    to_lines(&lines, keys..lines[0].len())
}

/// The same as cells, the head first.
pub fn lines(answers: &[(BTreeMap<String, String>, Value)]) -> Vec<Vec<String>> {
    let figures = if answers.iter().all(|(_, answer)| answer.get("wrong").is_some()) { CONSTANT } else { RISING };
    let keys: Vec<&String> = answers.first().map_or(Vec::new(), |(point, _)| point.keys().collect());
    let head = keys.iter().map(|key| key.to_string()).chain(figures.iter().map(|figure| figure.0.to_string()));
    let row = |(point, answer): &(BTreeMap<String, String>, Value)| {
        let keys = keys.iter().map(|key| point.get(*key).cloned().unwrap_or_default());
        keys.chain(figures.iter().map(|figure| cell(answer, figure))).collect::<Vec<_>>()
    };
    std::iter::once(head.collect()).chain(answers.iter().map(row)).collect()
}

fn cell(answer: &Value, (_, name, scale, decimals): &Figure) -> String {
    let figure = |name: &str| answer.get(name).and_then(Value::as_f64).map(|figure| figure * scale);
    let Some(value) = figure(name) else { return "-".to_string() };
    let half = figure(&format!("{name}_half_width"));
    let with_half = matches!(*name, "within_10" | "within_15" | "bias" | "r2" | "wrong" | "ambiguous");
    match half.filter(|_| with_half) {
        Some(half) => format!("{value:.decimals$} ± {half:.decimals$}"),
        None => format!("{value:.decimals$}"),
    }
}
