//! The tables: one row per controller (and sweep point), mean and 95 % interval over replications.

use crate::definitions::{self, Definition, FIGURES, Figure, Table};
use crate::groups::{controllers, point_name};
use crate::html::escape;
use crate::numbers::{Scale, Unit, count, mean_and_half, quantity, scale};
use results::{FlowResult, Group, Interval, Results, Run, TrafficResult};
use std::fmt::Write;

/// Returns a controller's name with its colour.
pub fn swatch(results: &Results, controller: &str) -> String {
    let all = controllers(results);
    let index = all.iter().position(|(name, _)| *name == controller);
    let mark = index.map_or(String::new(), |i| format!("<i class=\"swatch\" style=\"--c:{}\"></i>", all[i].1));
    format!("{mark}{}", escape(controller))
}

/// Returns the comparison as one table per theme. Leaves out a theme or column for which no run has a value.
pub fn comparison(results: &Results, groups: &[Group]) -> String {
    let themes = [
        (Table::Share, "Throughput, loss and fairness"),
        (Table::Delay, "Delay"),
        (Table::Response, "Response to change"),
    ];
    let mut out = String::new();
    for (table, caption) in themes {
        let columns: Vec<Column> =
            FIGURES.iter().filter(|f| f.table == table).filter_map(|f| Column::new(f, groups)).collect();
        if !columns.is_empty() {
            comparison_table(&mut out, results, groups, &columns, caption);
        }
    }
    out
}

/// A figure over all groups, in the single scale that makes the column comparable.
struct Column {
    figure: &'static Figure,
    scale: Scale,
    cells: Vec<Option<Interval>>,
}

impl Column {
    fn new(figure: &'static Figure, groups: &[Group]) -> Option<Column> {
        let cells: Vec<Option<Interval>> = groups.iter().map(|g| g.interval(figure.key)).collect();
        let largest = cells.iter().flatten().map(|c| c.mean.abs()).reduce(f64::max)?;
        Some(Column { figure, scale: scale(figure.unit, largest), cells })
    }
}

fn comparison_table(out: &mut String, results: &Results, groups: &[Group], columns: &[Column], caption: &str) {
    let swept = groups.iter().any(|g| !g.params.is_empty());
    let mut head = String::from("<th scope=\"col\">Controller</th>");
    if swept {
        head.push_str("<th scope=\"col\">Sweep point</th>");
    }
    for column in columns {
        let title = escape(column.figure.definition);
        _ = write!(head, "<th scope=\"col\" class=\"n\" title=\"{title}\">{}", column.figure.label);
        if !column.scale.symbol.is_empty() {
            _ = write!(head, " <span class=\"unit\">({})</span>", column.scale.symbol);
        }
        head.push_str("</th>");
    }
    let rows = groups.iter().enumerate().map(|(row, group)| {
        let mut cells = format!("<th scope=\"row\">{}</th>", swatch(results, group.controller));
        if swept {
            _ = write!(cells, "<td>{}</td>", escape(&point_name(group.params)));
        }
        for column in columns {
            _ = write!(cells, "<td class=\"n\">{}</td>", interval_cell(column.cells[row], column.scale));
        }
        cells
    });
    table(out, caption, &head, rows);
}

fn interval_cell(cell: Option<Interval>, scale: Scale) -> String {
    let Some(cell) = cell else { return "\u{2013}".to_string() };
    match mean_and_half(cell, scale) {
        (mean, Some(half)) => format!("{mean} <span class=\"half\">± {}</span>", escape(&half)),
        (mean, None) => mean,
    }
}

fn table(out: &mut String, caption: &str, head: &str, rows: impl Iterator<Item = String>) {
    _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption>\
         <thead><tr>{head}</tr></thead><tbody>"
    );
    for row in rows {
        _ = write!(out, "<tr>{row}</tr>");
    }
    out.push_str("</tbody></table></div>\n");
}

/// One entry of a list (a flow, a traffic source), followed through the replications of a group.
fn per_entry<T>(
    out: &mut String,
    results: &Results,
    groups: &[Group],
    caption: &str,
    columns: &[(&'static str, &'static str, Read<T>)],
    definitions: &[Definition],
    entries: fn(&Run) -> &[T],
) {
    let swept = groups.iter().any(|g| !g.params.is_empty());
    let mut head = String::from("<th scope=\"col\">Run of</th>");
    for (key, label, read) in columns {
        let definition = definitions.iter().find(|d| d.0 == *key).map_or("", |d| d.2);
        let class = if matches!(read, Read::Text(_)) { "" } else { " class=\"n\"" };
        _ = write!(head, "<th scope=\"col\"{class} title=\"{}\">{label}</th>", escape(definition));
    }
    let mut rows = Vec::new();
    for group in groups {
        let most = group.runs.iter().map(|r| entries(r).len()).max().unwrap_or(0);
        for index in 0..most {
            let present: Vec<&T> = group.runs.iter().filter_map(|r| entries(r).get(index)).collect();
            let point = if swept { format!(" ({})", escape(&point_name(group.params))) } else { String::new() };
            let mut row = format!("<th scope=\"row\">{}{point}</th>", swatch(results, group.controller));
            for (_, _, read) in columns {
                row.push_str(&read.cell(&present));
            }
            rows.push(row);
        }
    }
    if !rows.is_empty() {
        table(out, caption, &head, rows.into_iter());
    }
}

enum Read<T> {
    Text(fn(&T) -> String),
    Number(Unit, fn(&T) -> Option<f64>),
}

impl<T> Read<T> {
    fn cell(&self, entries: &[&T]) -> String {
        match self {
            Read::Text(read) => format!("<td>{}</td>", entries.first().map_or(String::new(), |e| escape(&read(e)))),
            Read::Number(unit, read) => {
                let values: Vec<f64> = entries.iter().filter_map(|e| read(e)).filter(|v| v.is_finite()).collect();
                format!("<td class=\"n\">{}</td>", own_scale(Interval::of(&values), *unit))
            }
        }
    }
}

/// Returns a cell with its own unit, for columns whose rows differ by orders of magnitude.
fn own_scale(found: Option<Interval>, unit: Unit) -> String {
    let Some(found) = found else { return "\u{2013}".to_string() };
    if unit == Unit::Count && found.half_width.unwrap_or(0.0) == 0.0 && found.mean.fract() == 0.0 && found.mean >= 0.0 {
        return count(found.mean as u64);
    }
    match found.half_width {
        Some(half) if half > 0.0 => {
            let scale = scale(unit, found.mean);
            let cell = interval_cell(Some(found), scale);
            if scale.symbol.is_empty() { cell } else { format!("{cell} {}", scale.symbol) }
        }
        _ => quantity(found.mean, unit),
    }
}

/// Returns Jain's index of each group with several flows, in one sentence.
pub fn fairness(groups: &[Group]) -> String {
    let scale = scale(Unit::Index, 1.0);
    let several = groups.iter().filter(|g| g.runs.iter().any(|r| r.flows.len() > 1));
    let parts: Vec<String> = several
        .map(|g| format!("{} {}", escape(&g.name()), interval_cell(g.interval("fairness_jain"), scale)))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("<p>Jain\u{2019}s index over the flows: {}.</p>\n", parts.join("; "))
    }
}

/// Returns the table of flows, with one row per flow.
pub fn flows(results: &Results, groups: &[Group]) -> String {
    let columns: [(&str, &str, Read<FlowResult>); 15] = [
        ("flow", "Flow", Read::Text(|f| format!("{} · {}", f.flow, f.controller))),
        ("start_s", "Start", Read::Number(Unit::Time, |f| Some(f.start_s))),
        ("completion_s", "Completion", Read::Number(Unit::Time, |f| f.completion_s)),
        ("throughput_bps", "Throughput", Read::Number(Unit::Rate, |f| Some(f.throughput_bps))),
        ("base_rtt_s", "Base RTT", Read::Number(Unit::Time, |f| Some(f.base_rtt_s))),
        ("rtt_mean_s", "RTT, mean", Read::Number(Unit::Time, |f| Some(f.rtt_mean_s))),
        ("sent_packets", "Sent", Read::Number(Unit::Count, |f| Some(f.sent_packets as f64))),
        ("retransmitted_packets", "Retransmitted", Read::Number(Unit::Count, |f| Some(f.retransmitted_packets as f64))),
        ("dropped_packets", "Dropped", Read::Number(Unit::Count, |f| Some(f.dropped_packets as f64))),
        ("lost_packets", "Lost", Read::Number(Unit::Count, |f| Some(f.lost_packets as f64))),
        ("timeouts", "Timeouts", Read::Number(Unit::Count, |f| f.timeouts.map(|n| n as f64))),
        ("recoveries", "Recoveries", Read::Number(Unit::Count, |f| f.recoveries.map(|n| n as f64))),
        ("undone", "Undone", Read::Number(Unit::Count, |f| f.undone.map(|n| n as f64))),
        ("streams", "Streams", Read::Number(Unit::Count, |f| f.streams.map(|n| n as f64))),
        ("unusable_streams", "Unusable", Read::Number(Unit::Count, |f| f.unusable_streams.map(|n| n as f64))),
    ];
    let mut out = String::new();
    per_entry(&mut out, results, groups, "Flows", &columns, definitions::FLOW, |r| &r.flows);
    out
}

/// Returns the table of traffic, with one row per source.
pub fn traffic(results: &Results, groups: &[Group]) -> String {
    let columns: [(&str, &str, Read<TrafficResult>); 13] = [
        ("kind", "Kind", Read::Text(|t| t.kind.clone())),
        ("mean_rate_bps", "Mean rate", Read::Number(Unit::Rate, |t| Some(t.mean_rate_bps))),
        ("rate_p05_bps", "5 % per ms", Read::Number(Unit::Rate, |t| Some(t.rate_p05_bps))),
        ("rate_p95_bps", "95 % per ms", Read::Number(Unit::Rate, |t| Some(t.rate_p95_bps))),
        ("burstiness_bps", "Burstiness", Read::Number(Unit::Rate, |t| Some(t.burstiness_bps))),
        ("packets", "Packets", Read::Number(Unit::Count, |t| Some(t.packets as f64))),
        ("dropped_packets", "Dropped", Read::Number(Unit::Count, |t| Some(t.dropped_packets as f64))),
        ("files_fetched", "Files", Read::Number(Unit::Count, |t| t.files_fetched.map(|n| n as f64))),
        ("file_p50_s", "File, median", Read::Number(Unit::Time, |t| t.file_p50_s)),
        ("file_p95_s", "95 %", Read::Number(Unit::Time, |t| t.file_p95_s)),
        ("file_p99_s", "99 %", Read::Number(Unit::Time, |t| t.file_p99_s)),
        ("page_p50_s", "Page, median", Read::Number(Unit::Time, |t| t.page_p50_s)),
        ("page_p95_s", "95 %", Read::Number(Unit::Time, |t| t.page_p95_s)),
    ];
    let mut out = String::new();
    per_entry(&mut out, results, groups, "Traffic", &columns, definitions::TRAFFIC, |r| &r.traffic);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use results::groups;

    #[test]
    fn every_controller_has_a_row_with_its_interval() {
        let results = example::demo();
        let html = comparison(&results, &groups(&results.runs));
        assert_eq!(html.matches("<tr><th scope=\"row\">").count() % 3, 0);
        assert!(html.contains("± "));
    }

    #[test]
    fn a_column_that_no_run_fills_is_left_out_and_a_hole_in_it_is_a_dash() {
        let mut results = example::demo();
        results.runs.iter_mut().for_each(|r| r.summary.drain_rtts = None);
        assert!(!comparison(&results, &groups(&results.runs)).contains(">Drain"));
        results.runs[0].summary.drain_rtts = Some(4.0);
        let html = comparison(&results, &groups(&results.runs));
        assert!(html.contains(">Drain") && html.contains(">\u{2013}</td>"));
    }

    #[test]
    fn what_is_no_number_is_a_dash() {
        let mut results = example::single();
        results.runs[0].summary.rtt_mean_s = f64::NAN;
        let html = comparison(&results, &groups(&results.runs));
        assert!(!html.contains("NaN"));
    }

    #[test]
    fn fairness_is_said_of_groups_with_several_flows_only() {
        let mut results = example::single();
        results.runs[0].summary.fairness_jain = 0.75;
        assert!(fairness(&groups(&results.runs)).contains("rapid 0.7500."));
        results.runs[0].flows.truncate(1);
        assert_eq!(fairness(&groups(&results.runs)), "");
    }

    #[test]
    fn one_replication_has_no_interval() {
        let results = example::single();
        assert!(!comparison(&results, &groups(&results.runs)).contains('±'));
    }
}
