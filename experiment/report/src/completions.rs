//! The table of flows that arrived: how long they took and how much longer than on the idle path, by size.

use crate::groups::point_name;
use crate::html::escape;
use crate::numbers::{mean_and_half, scale};
use crate::tables::{swatch, table};
use results::figures::{COMPLETION, Definition, Unit};
use results::{Group, Interval, Results, completions};
use serde_json::Value;
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

/// Returns the table; nothing where no flows arrive.
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
        let point = point_name(one.group.params);
        let point = if point.is_empty() { point } else { format!(" ({})", escape(&point)) };
        let number = one.rows.first().map_or(String::new(), |row| row.table.to_string());
        let counts = [one.count(|row| row.arrived), one.count(|row| row.completed)];
        let mut row = format!("<th scope=\"row\">{}{point}</th>", swatch(results, one.group.controller));
        _ = write!(row, "<td>{number}</td><td>{}</td>", one.sizes());
        row += &counts.map(|count| format!("<td class=\"n\">{count}</td>")).concat();
        let objects: Vec<Value> = one.rows.iter().filter_map(|row| serde_json::to_value(row).ok()).collect();
        for figure in &shown {
            let values: Vec<f64> = objects.iter().filter_map(|object| object[figure.name].as_f64()).collect();
            _ = write!(row, "<td class=\"n\">{}</td>", cell(Interval::of(&values), figure.unit));
        }
        row
    });
    let mut out = String::new();
    table(&mut out, "Flows that arrived", &head, &rows.collect::<Vec<_>>());
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
