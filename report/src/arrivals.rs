//! Pictures of flows that arrive: completion times and slowdowns, by size.
//!
//! Each replication has its own distribution; the curve is the mean of each percentile over the replications. Bands
//! span the least to the greatest of the replications: an interval of Student's t ignores the logarithmic axis, and
//! with few replications falls below zero.

use crate::groups::controllers;
use crate::sweep::{Chart, Line, Panel, Sweep};
use experiment::results::{CompletionResult, Group, Results, completions};
use serde::Serialize;

/// More small multiples than these are too small to read.
const MOST_PANELS: usize = 12;

/// The distributions of completion times.
#[derive(Debug, PartialEq, Serialize)]
pub struct Completed {
    /// One panel for each sweep point and table of flows.
    pub panels: Vec<Distributions>,
    /// How many panels were left out.
    pub left_out: usize,
}

/// One small multiple.
#[derive(Debug, PartialEq, Serialize)]
pub struct Distributions {
    /// Flow table and sweep point; empty with a single panel.
    pub title: String,
    /// One line per controller.
    pub lines: Vec<Distribution>,
}

/// One controller: for each percentile from 0 to 100 its mean in seconds, the least and the greatest of the replications.
#[derive(Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// Number of the controller.
    pub controller: usize,
    /// The percentiles.
    pub percentiles: Vec<Spread>,
}

impl Completed {
    /// The caption, in sentences.
    pub fn caption(&self) -> String {
        let mut said =
            String::from("Share of the completed flows within the time on the axis: further left is better.");
        let mut lines = self.panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.percentiles);
        if lines.any(|percentile| percentile.1.is_some()) {
            said.push_str(" Lines are means over the replications; bands span minimum to maximum.");
        }
        if self.left_out > 0 {
            said += &format!(" The first {} of {} panels.", self.panels.len(), self.panels.len() + self.left_out);
        }
        said
    }
}

/// The mean of values of several replications, the least and the greatest; `None` of one.
type Spread = (f64, Option<(f64, f64)>);

/// Reads a figure.
type Read = fn(&CompletionResult) -> Option<f64>;

/// A panel's flows: the sweep point in words and the number of the table.
type Which = (String, u32);

/// The distributions of completion times; `None` if no flows arrive, or if they are unknown.
pub fn completed(results: &Results, groups: &[Group]) -> Option<Completed> {
    let names: Vec<&str> = controllers(results).into_iter().map(|(name, _)| name).collect();
    let all = completions(groups);
    let whole = || all.iter().filter(|one| one.rows.iter().any(|row| all_sizes(row)));
    let which: Vec<Which> = distinct(whole().map(|one| (one.group.point(), table(&one.rows))));
    let panels: Vec<Distributions> = which
        .iter()
        .take(MOST_PANELS)
        .map(|panel| {
            let here = whole().filter(|one| (one.group.point(), table(&one.rows)) == *panel);
            let line = |(group, rows): (&Group, &[&CompletionResult])| Distribution {
                controller: names.iter().position(|name| *name == group.controller).unwrap_or(0),
                percentiles: percentiles(rows),
            };
            let lines = here.map(|one| line((one.group, &one.rows))).filter(|line| !line.percentiles.is_empty());
            Distributions { title: title(panel, &which), lines: lines.collect() }
        })
        .collect();
    let drawn = panels.iter().any(|panel| !panel.lines.is_empty());
    drawn.then(|| Completed { left_out: which.len() - panels.len(), panels })
}

/// The slowdown over the sizes: median and 99th percentile; `None` if no flows arrive.
pub fn by_size(results: &Results, groups: &[Group]) -> Option<Sweep> {
    let all = completions(groups);
    let sized = || all.iter().filter(|one| !one.rows.iter().any(|row| all_sizes(row)));
    let mut bounds: Vec<u64> = distinct(sized().filter_map(|one| one.rows.first()?.from_bytes));
    bounds.sort_unstable();
    let place = |rows: &[&CompletionResult]| {
        let from = rows.first()?.from_bytes?;
        bounds.iter().position(|known| *known == from).map(|at| at as f64)
    };
    let names = bounds.iter().filter_map(|from| {
        let one = sized().find(|one| one.rows.first().is_some_and(|row| row.from_bytes == Some(*from)))?;
        Some(one.sizes())
    });
    let names: Vec<String> = names.collect();
    let which: Vec<Which> = distinct(sized().map(|one| (one.group.point(), table(&one.rows))));
    let figures: [(&'static str, Read); 2] =
        [("Slowdown, median", |row| row.slowdown_p50), ("Slowdown, 99th percentile", |row| row.slowdown_p99)];
    let chart = |(label, of): (&'static str, Read)| Chart {
        label,
        unit: "",
        log: true,
        own: false,
        panels: which
            .iter()
            .take(MOST_PANELS)
            .map(|panel| {
                let line = |(controller, _): (&str, String)| {
                    let own = sized().filter(|one| {
                        one.group.controller == controller && (one.group.point(), table(&one.rows)) == *panel
                    });
                    let found = own.filter_map(|one| {
                        Some((place(&one.rows)?, spread(one.rows.iter().filter_map(|row| of(row)))?))
                    });
                    let mut points: Vec<_> = found.map(|(x, (mean, range))| (x, mean, range)).collect();
                    points.sort_by(|a, b| a.0.total_cmp(&b.0));
                    Line { controller: controller.to_string(), points }
                };
                Panel { title: title(panel, &which), lines: controllers(results).into_iter().map(line).collect() }
            })
            .collect(),
    };
    (!names.is_empty()).then(|| Sweep {
        others: Vec::new(),
        key: "Size".to_string(),
        unit: String::new(),
        names,
        ordered: true,
        charts: figures.into_iter().map(chart).collect(),
        left_out: which.len().saturating_sub(MOST_PANELS),
    })
}

fn all_sizes(row: &CompletionResult) -> bool {
    row.from_bytes.is_none() && row.to_bytes.is_none()
}

fn table(rows: &[&CompletionResult]) -> u32 {
    rows.first().map_or(0, |row| row.table)
}

/// The title that distinguishes a panel from the others.
fn title((point, table): &Which, all: &[Which]) -> String {
    let tables = all.iter().any(|(_, other)| other != table);
    let flows = if tables { format!("flows of table {table}") } else { String::new() };
    [flows, point.clone()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Each percentile over the replications that know it.
fn percentiles(rows: &[&CompletionResult]) -> Vec<Spread> {
    let at =
        |percent: usize| spread(rows.iter().filter_map(|row| row.completion_time_percentiles_s.get(percent).copied()));
    (0..=100).map_while(at).collect()
}

fn spread(values: impl Iterator<Item = f64>) -> Option<Spread> {
    let values: Vec<f64> = values.collect();
    let (least, greatest) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Some((mean, (values.len() > 1).then_some((least, greatest))))
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    values.for_each(|value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
    });
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::groups::arrive;
    use experiment::results::groups;

    /// The example's completion times of `rapid` at percentile p are (1 + p) ms, a quarter of a millisecond more in each
    /// later replication: 51, 51.25 and 51.5 ms at the median.
    #[test]
    fn percentile_has_mean_and_range_of_replications() {
        let results = example::arrivals();
        let found = completed(&results, &groups(&results.runs)).unwrap();
        assert_eq!((found.panels.len(), found.left_out), (1, 0));
        let panel = &found.panels[0];
        assert_eq!((panel.title.as_str(), panel.lines.len()), ("", 2));
        let (mean, range) = panel.lines[0].percentiles[50];
        assert!((mean - 51.25e-3).abs() < 1e-12, "{mean}");
        let (least, greatest) = range.unwrap();
        assert!((least - 51e-3).abs() < 1e-12 && (greatest - 51.5e-3).abs() < 1e-12, "{least} to {greatest}");
        assert_eq!(panel.lines[0].percentiles.len(), 101);
        let alone = completed(&results, &groups(&results.runs[..1])).unwrap();
        assert_eq!(alone.panels[0].lines[0].percentiles[50].1, None);
    }

    /// Sizes without a flow are left out; the rest is in order.
    #[test]
    fn slowdown_covers_arrived_sizes() {
        let results = example::arrivals();
        let found = by_size(&results, &groups(&results.runs)).unwrap();
        assert_eq!(found.names, ["up to 10 kB", "10 kB to 100 kB", "above 10 MB"]);
        let line = &found.charts[1].panels[0].lines[0];
        assert_eq!(
            line.points.iter().map(|point| (point.0, point.1)).collect::<Vec<_>>(),
            [(0.0, 4.0), (1.0, 8.0), (2.0, 16.0)]
        );
        assert!(found.charts.iter().all(|chart| chart.log));
    }

    #[test]
    fn sweep_points_and_tables_have_panels() {
        let mut results = example::arrivals();
        let more = results.runs.clone();
        results.runs.extend(more.into_iter().map(|mut run| {
            run.params.insert("path.rate".to_string(), "1 Gbit/s".to_string());
            run.completions.iter_mut().for_each(|row| row.table = 1);
            run
        }));
        let found = completed(&results, &groups(&results.runs)).unwrap();
        let titles: Vec<&str> = found.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["flows of table 0", "flows of table 1, path.rate = 1 Gbit/s"]);
    }

    #[test]
    fn no_arrivals_give_no_distribution() {
        let demo = example::demo();
        assert!(!arrive(&demo));
        assert_eq!(completed(&demo, &groups(&demo.runs)), None);
        assert_eq!(by_size(&demo, &groups(&demo.runs)), None);
        let mut old = example::arrivals();
        old.runs
            .iter_mut()
            .flat_map(|run| &mut run.completions)
            .for_each(|row| row.completion_time_percentiles_s.clear());
        assert!(arrive(&old));
        assert_eq!(completed(&old, &groups(&old.runs)), None);
    }
}
