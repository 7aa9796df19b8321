//! The tables: one row per controller (and sweep point), mean and 95 % interval over replications.

use crate::contrast::visible;
use crate::flows;
use crate::groups::{REPEATS_UTILISATION, controllers, ordered_name, repeats_utilisation};
use crate::html::escape;
use crate::network::{Network, measured};
use experiment::results::figures::{Definition, FLOW, Kind, PHASE, SHARE, SUMMARY, TRAFFIC, Theme, Unit};
use experiment::results::numbers::{Scale, count, mean_and_half, number, quantity, scale};
use experiment::results::{Group, Interval, Results, Run};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// Returns a controller's name with its colour.
pub fn swatch(results: &Results, controller: &str) -> String {
    let all = controllers(results);
    let index = all.iter().position(|(name, _)| *name == controller);
    let mark =
        index.map_or(String::new(), |i| format!("<i class=\"swatch\" style=\"--c:{}\"></i>", visible(&all[i].1)));
    format!("{mark}{}", escape(controller))
}

/// Returns the comparison as one table per theme. Leaves out a theme or column for which no run has a value.
pub fn comparison(results: &Results, groups: &[Group]) -> String {
    let themes = [
        (Theme::Completion, "Completion times of flows"),
        (Theme::Share, "Throughput, loss and fairness"),
        (Theme::Delay, "Delay"),
        (Theme::Response, "Response to change"),
    ];
    let (mut out, twice) = (shares(results, groups), repeats_utilisation(groups));
    for (theme, caption) in themes {
        let figures = SUMMARY.iter().filter(|f| f.theme == Some(theme) && !(twice && f.name == REPEATS_UTILISATION));
        let columns: Vec<Column> = figures.filter_map(|f| Column::new(f, groups)).collect();
        if !columns.is_empty() {
            comparison_table(&mut out, results, groups, &columns, caption);
        }
    }
    out
}

/// A figure over all groups, in the single scale that makes the column comparable.
struct Column {
    figure: &'static Definition,
    scale: Scale,
    cells: Vec<Option<Interval>>,
}

impl Column {
    fn new(figure: &'static Definition, groups: &[Group]) -> Option<Column> {
        let cells: Vec<Option<Interval>> = groups.iter().map(|g| g.interval(figure.name)).collect();
        let largest = cells.iter().flatten().map(|c| c.mean.abs()).reduce(f64::max)?;
        Some(Column { figure, scale: scale(figure.unit, largest), cells })
    }
}

fn comparison_table(out: &mut String, results: &Results, groups: &[Group], columns: &[Column], caption: &str) {
    let swept = groups.iter().any(|g| !g.params.is_empty());
    let mut head = vec![Head::words("Controller")];
    head.extend(swept.then(|| Head::words("Sweep point")));
    head.extend(columns.iter().map(|column| {
        let unit = match column.scale.symbol {
            "" => String::new(),
            symbol => format!(" <span class=\"unit\">({symbol})</span>"),
        };
        Head { html: format!("{}{unit}", column.figure.label), title: column.figure.meaning, number: true }
    }));
    let rows = groups.iter().enumerate().map(|(row, group)| {
        let mut cells = vec![swatch(results, group.controller)];
        cells.extend(swept.then(|| escape(&ordered_name(results, group.params))));
        cells.extend(columns.iter().map(|column| match group.range(column.figure.name) {
            Some(both) => range_cell(both, column.scale),
            None => interval_cell(column.cells[row], column.scale),
        }));
        cells
    });
    figures(out, caption, &head, rows.collect(), groups.len() == 1);
}

/// The head of a column: HTML, the figure's definition, and whether its cells are numbers.
struct Head<'a> {
    html: String,
    title: &'a str,
    number: bool,
}

impl Head<'_> {
    fn words(html: &str) -> Head<'static> {
        Head { html: html.to_string(), title: "", number: false }
    }

    fn cell(&self, scope: &str) -> String {
        let class = if self.number && scope == "col" { " class=\"n\"" } else { "" };
        let title = if self.title.is_empty() { String::new() } else { format!(" title=\"{}\"", escape(self.title)) };
        format!("<th scope=\"{scope}\"{class}{title}>{}</th>", self.html)
    }
}

/// Up to this number of entries are side by side, their figures one below the other: a narrow screen shows both.
const FEW: usize = 4;

/// Writes the figures of some entries; the first cell is the entry's name, which a single entry does not need.
fn figures(out: &mut String, caption: &str, head: &[Head], rows: Vec<Vec<String>>, unnamed: bool) {
    let class = |head: &Head| if head.number { " class=\"n\"" } else { "" };
    if rows.len() > FEW {
        let heads: String = head.iter().map(|head| head.cell("col")).collect();
        let row = |cells: &Vec<String>| {
            let rest = cells.iter().zip(head).skip(1).map(|(cell, head)| format!("<td{}>{cell}</td>", class(head)));
            format!("<th scope=\"row\">{}</th>{}", cells[0], rest.collect::<String>())
        };
        table(out, caption, &heads, &rows.iter().map(row).collect::<Vec<_>>());
        return;
    }
    let names = rows.iter().map(|cells| format!("<th scope=\"col\" class=\"n\">{}</th>", cells[0])).collect::<String>();
    let heads = if unnamed { String::new() } else { format!("<th scope=\"col\">{}</th>{names}", head[0].html) };
    let line = |(number, head): (usize, &Head)| {
        let cells = rows.iter().map(|cells| format!("<td class=\"n\">{}</td>", cells[number]));
        format!("{}{}", head.cell("row"), cells.collect::<String>())
    };
    table(out, caption, &heads, &head.iter().enumerate().skip(1).map(line).collect::<Vec<_>>());
}

/// Whether an interval includes impossible values: below zero, or a share above one.
pub fn beyond(groups: &[Group]) -> bool {
    let reaches = |figure: &Definition| {
        let bounded = |found: Interval, half: f64| {
            let above = figure.unit == Unit::Share && found.mean <= 1.0 && found.mean + half > 1.0;
            above || (found.mean >= 0.0 && found.mean - half < 0.0)
        };
        let found = groups.iter().filter(|group| group.runs.len() > 2).filter_map(|group| group.interval(figure.name));
        found.filter_map(|found| Some(bounded(found, found.half_width?))).any(|beyond| beyond)
    };
    SUMMARY.iter().filter(|figure| figure.theme.is_some()).any(reaches)
}

fn interval_cell(cell: Option<Interval>, scale: Scale) -> String {
    let Some(cell) = cell else { return "\u{2013}".to_string() };
    match mean_and_half(cell, scale) {
        (mean, Some(half)) => format!("{mean} <span class=\"half\">± {}</span>", escape(&half)),
        (mean, None) => mean,
    }
}

/// Two replications: the mean, and both.
fn range_cell((low, high): (f64, f64), scale: Scale) -> String {
    let shown = |value: f64| number(value / scale.factor);
    if shown(low) == shown(high) {
        return shown(low);
    }
    format!("{} <span class=\"half\">({} to {})</span>", shown((low + high) / 2.0), shown(low), shown(high))
}

/// Maximum number of rows on a page.
const MOST_ROWS: usize = 120;

/// Writes a table: its caption, head cells and first rows, and the total number of rows.
pub fn table(out: &mut String, caption: &str, head: &str, rows: &[String]) {
    if rows.len() > MOST_ROWS {
        _ = writeln!(
            out,
            "<p class=\"note\">{caption}: the first {MOST_ROWS} of {} rows; the exported tables have all.</p>",
            count(rows.len() as u64)
        );
    }
    _ = write!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption>"
    );
    if !head.is_empty() {
        _ = write!(out, "<thead><tr>{head}</tr></thead>");
    }
    out.push_str("<tbody>");
    for row in rows.iter().take(MOST_ROWS) {
        _ = write!(out, "<tr>{row}</tr>");
    }
    out.push_str("</tbody></table></div>\n");
}

/// One entry of a list (a flow, a traffic source), followed through the replications of a group: the figures that have a
/// heading. `name` is what an entry is called, where it is not by its figures.
fn per_entry<T: Serialize>(
    out: &mut String,
    results: &Results,
    groups: &[Group],
    (caption, defined): (&str, &[Definition]),
    entries: fn(&Run) -> &[T],
    name: &dyn Fn(&Run, usize) -> Option<String>,
) {
    let swept = groups.iter().any(|g| !g.params.is_empty());
    let several = groups.len() > 1;
    let routed = groups.iter().flat_map(|g| &g.runs).any(|run| run.flows.iter().any(|flow| !flow.route.is_empty()));
    let said = |figure: &&Definition| !figure.label.is_empty() && (figure.name != ROUTE || routed);
    let columns: Vec<&Definition> = defined.iter().filter(said).collect();
    let network = Network::of(&results.manifest.scenario);
    let mut head: Vec<Head> = several.then(|| Head::words("Run of")).into_iter().collect();
    head.extend(columns.iter().map(|figure| Head {
        html: figure.label.to_string(),
        title: figure.meaning,
        number: !is_text(figure),
    }));
    let mut rows: Vec<Vec<String>> = Vec::new();
    for group in groups {
        let most = group.runs.iter().map(|r| entries(r).len()).max().unwrap_or(0);
        for index in 0..most {
            if rows.len() >= MOST_ROWS {
                rows.push(vec![String::new(); head.len()]); // counted, not shown
                continue;
            }
            let present: Vec<Value> = group.runs.iter().filter_map(|r| entries(r).get(index)).map(object).collect();
            let point =
                if swept { format!(" ({})", escape(&ordered_name(results, group.params))) } else { String::new() };
            let run = format!("{}{point}", swatch(results, group.controller));
            let mut cells: Vec<String> = several.then_some(run).into_iter().collect();
            let called = group.runs.first().and_then(|run| name(run, index));
            cells.extend(columns.iter().map(|figure| match &called {
                Some(called) if figure.name == "flow" => escape(called),
                _ => entry_cell(figure, &present, &network),
            }));
            rows.push(cells);
        }
    }
    if !rows.is_empty() {
        figures(out, caption, &head, rows, false);
    }
}

fn object(entry: impl Serialize) -> Value {
    serde_json::to_value(entry).unwrap_or_default()
}

/// Shown as words: a name, and the number of a flow, next to the name of its controller.
fn is_text(figure: &Definition) -> bool {
    figure.kind == Some(Kind::Text) || figure.name == "flow"
}

/// Figure of a flow's ends, if known.
const ROUTE: &str = "route";

fn entry_cell(figure: &Definition, entries: &[Value], network: &Network) -> String {
    if is_text(figure) {
        let words = entries.first().map_or(String::new(), |entry| match (&entry[figure.name], &entry["controller"]) {
            (Value::String(text), _) if figure.name == ROUTE => network.ends(text).unwrap_or(text.clone()),
            (Value::String(text), _) => text.clone(),
            (number, Value::String(controller)) => format!("{number} · {controller}"),
            (number, _) => number.to_string(),
        });
        return escape(&words);
    }
    let values: Vec<f64> = entries.iter().filter_map(|entry| entry[figure.name].as_f64()).collect();
    own_scale(Interval::of_runs(&values), figure.unit)
}

/// A cell with its own unit, for columns whose rows differ by orders of magnitude.
fn own_scale(found: Option<Interval>, unit: Unit) -> String {
    let Some(found) = found else { return "\u{2013}".to_string() };
    let counted = matches!(unit, Unit::Count | Unit::Packets);
    if counted && found.half_width.unwrap_or(0.0) == 0.0 && found.mean.fract() == 0.0 && found.mean >= 0.0 {
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

/// Jain's index of each group that has one, in a sentence that names the flows.
pub fn fairness(results: &Results, groups: &[Group]) -> String {
    let scale = scale(Unit::Index, 1.0);
    let several = groups.iter().filter_map(|g| Some((g, g.interval("fairness_jain")?)));
    let parts: Vec<String> =
        several.map(|(g, index)| format!("{} {}", escape(&g.name()), interval_cell(Some(index), scale))).collect();
    if parts.is_empty() {
        String::new()
    } else {
        let which = measured(results).map_or(String::new(), |link| format!(" that cross {}", escape(link)));
        format!(
            "<p>Jain\u{2019}s index over the flows{which}, while all of them are active: {}.</p>\n",
            parts.join("; ")
        )
    }
}

/// Returns the table of flows, with one row per flow.
pub fn flows(results: &Results, groups: &[Group]) -> String {
    let mut out = String::new();
    let network = Network::of(&results.manifest.scenario);
    let name = |run: &Run, flow: usize| flows::names(run, &network, flows::COLOURS).get(flow).cloned();
    per_entry(&mut out, results, groups, ("Flows", FLOW), |r| &r.flows, &name);
    out
}

/// Returns what each controller of a mix got, with one row per controller.
pub fn shares(results: &Results, groups: &[Group]) -> String {
    let mut out = String::new();
    if groups.iter().any(|group| group.phases().len() > 1) {
        per_entry(
            &mut out,
            results,
            groups,
            ("Phases, in which the same flows are active", PHASE),
            |r| &r.phases,
            &|_, _| None,
        );
    }
    per_entry(&mut out, results, groups, ("Share of each controller", SHARE), |r| &r.shares, &|_, _| None);
    out
}

/// Returns the table of traffic, with one row per source.
pub fn traffic(results: &Results, groups: &[Group]) -> String {
    let mut out = String::new();
    per_entry(&mut out, results, groups, ("Traffic", TRAFFIC), |r| &r.traffic, &|_, _| None);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::groups;

    #[test]
    fn controllers_have_rows_with_intervals() {
        let results = example::demo();
        let html = comparison(&results, &groups(&results.runs));
        assert_eq!(html.matches("<tr><th scope=\"row\">").count() % 3, 0);
        assert!(html.contains("± "));
    }

    #[test]
    fn omits_empty_columns_and_dashes_holes() {
        let mut results = example::demo();
        results.runs.iter_mut().for_each(|r| r.summary.drain_rtts = None);
        assert!(!comparison(&results, &groups(&results.runs)).contains(">Drain"));
        results.runs[0].summary.drain_rtts = Some(4.0);
        let html = comparison(&results, &groups(&results.runs));
        assert!(html.contains(">Drain") && html.contains(">\u{2013}</td>"));
    }

    #[test]
    fn omits_missing_figure() {
        let mut results = example::single();
        results.runs[0].summary.rtt_mean_s = None;
        let html = comparison(&results, &groups(&results.runs));
        assert!(!html.contains(">RTT, mean") && html.contains(">Queueing, mean"));
    }

    #[test]
    fn fairness_needs_several_flows() {
        let mut results = example::single();
        results.runs[0].summary.fairness_jain = Some(0.75);
        assert!(fairness(&results, &groups(&results.runs)).contains("rapid 0.7500."));
        results.runs[0].summary.fairness_jain = None;
        assert_eq!(fairness(&results, &groups(&results.runs)), "");
    }

    #[test]
    fn one_replication_has_no_interval() {
        let results = example::single();
        assert!(!comparison(&results, &groups(&results.runs)).contains('±'));
    }
}
