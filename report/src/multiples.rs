//! Two figures of a large sweep on one screen: a grid of small panels, the values of one key along the rows and of another
//! along the columns, and in each panel a line per controller over the third.
//!
//! A page with thousands of points has them in place of the pictures that draw every run, which would be too many to read.

use crate::curves::short;
use crate::groups::controllers;
use experiment::results::figures::{SUMMARY, Unit};
use experiment::results::{Group, Results, SweptKey};
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewer panels are drawn as charts with their own axes.
const FEWEST_PANELS: usize = 13;
/// Drawn figures: of each list the first that the runs have.
const FIGURES: [&[&str]; 2] = [&["available_share", "utilisation"], &["queue_delay_p99_s", "queue_delay_mean_s"]];

/// A key and its values, sorted if they are numbers.
#[derive(Debug, Serialize)]
struct Axis {
    key: String,
    values: Vec<String>,
    /// Position of each value, from 0 to 1.
    places: Vec<f64>,
}

/// The keys of a large sweep, and the figures drawn over them.
#[derive(Debug, Serialize)]
pub struct Multiples {
    rows: Axis,
    columns: Axis,
    across: Axis,
    figures: Vec<Figure>,
}

/// One figure over all points.
#[derive(Debug, Serialize)]
struct Figure {
    label: &'static str,
    /// Unit of the figure, as the page's script knows it.
    unit: &'static str,
    lines: Vec<Line>,
}

/// A controller in a panel: numbers of the row, the column and the controller, and means by the number of the third key's value.
#[derive(Debug, Serialize)]
struct Line {
    row: usize,
    column: usize,
    controller: usize,
    points: Vec<(usize, f64)>,
}

impl Axis {
    fn of(key: &SweptKey, groups: &[Group]) -> Axis {
        let mut values: Vec<String> = Vec::new();
        for value in groups.iter().filter_map(|group| group.params.get(&key.key)) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        let number = |value: &String| key.unit().and_then(|_| key.number(value));
        let numbered = values.iter().map(number).collect::<Option<Vec<f64>>>();
        let numbers = numbered.map(|numbers| {
            let mut both: Vec<(f64, String)> = numbers.into_iter().zip(values.drain(..)).collect();
            both.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (numbers, sorted): (Vec<f64>, Vec<String>) = both.into_iter().unzip();
            values = sorted;
            numbers
        });
        let places = places(values.len(), numbers.as_deref());
        Axis { key: key.key.clone(), values, places }
    }
}

/// Position of each value: logarithmic if all are positive numbers, else equidistant.
fn places(count: usize, numbers: Option<&[f64]>) -> Vec<f64> {
    let even = || (0..count).map(|at| at as f64).collect();
    let logs = numbers.filter(|all| all.iter().all(|number| *number > 0.0));
    let raw: Vec<f64> = logs.map_or_else(even, |all| all.iter().map(|number| number.ln()).collect());
    let (least, most) = (raw.first().copied().unwrap_or(0.0), raw.last().copied().unwrap_or(0.0));
    raw.iter().map(|at| (at - least) / (most - least).max(f64::MIN_POSITIVE)).collect()
}

impl Multiples {
    /// The keys of a sweep that is large: three with several values, of which the two with fewest give many panels.
    pub fn of(results: &Results, groups: &[Group]) -> Option<Multiples> {
        let axes = experiment::results::swept(&results.runs).into_iter().map(|key| Axis::of(&key, groups));
        let mut axes: Vec<Axis> = axes.filter(|axis| axis.values.len() > 1).collect();
        axes.sort_by_key(|axis| axis.values.len());
        let [rows, columns, across] = <[Axis; 3]>::try_from(axes).ok()?;
        if rows.values.len() * columns.values.len() < FEWEST_PANELS {
            return None;
        }
        let mut all = Multiples { rows, columns, across, figures: Vec::new() };
        let shown = FIGURES.iter().filter_map(|names| {
            let had = |name: &&&str| groups.iter().any(|group| group.mean(name).is_some());
            let name = names.iter().find(had)?;
            let figure = SUMMARY.iter().find(|figure| figure.name == *name)?;
            let unit = if figure.unit == Unit::Share { "ratio" } else { figure.unit.symbol() };
            Some(Figure { label: figure.label, unit, lines: all.lines(results, groups, figure.name) })
        });
        all.figures = shown.collect();
        Some(all)
    }

    /// The caption, in sentences.
    pub fn caption(&self) -> String {
        let Multiples { rows, columns, across, .. } = self;
        format!(
            "One panel for each {} (rows) and {} (columns). In it {} rises to the right, from {} to {}. Means of the replications.",
            rows.key,
            columns.key,
            across.key,
            across.values.first().map_or("", String::as_str),
            across.values.last().map_or("", String::as_str),
        )
    }

    fn lines(&self, results: &Results, groups: &[Group], figure: &str) -> Vec<Line> {
        let numbers = |axis: &Axis| axis.values.iter().cloned().zip(0..).collect::<BTreeMap<String, usize>>();
        let [rows, columns, across] = [&self.rows, &self.columns, &self.across].map(numbers);
        let mut lines: BTreeMap<(usize, usize, usize), Vec<(usize, f64)>> = BTreeMap::new();
        for (controller, (name, _)) in controllers(results).into_iter().enumerate() {
            for group in groups.iter().filter(|group| group.controller == name) {
                let at = |axis: &Axis, numbers: &BTreeMap<String, usize>| {
                    group.params.get(&axis.key).and_then(|value| numbers.get(value)).copied()
                };
                let place = (at(&self.rows, &rows), at(&self.columns, &columns), at(&self.across, &across));
                let ((Some(row), Some(column), Some(at)), Some(mean)) = (place, group.mean(figure)) else { continue };
                lines.entry((row, column, controller)).or_default().push((at, short(mean)));
            }
        }
        let line = |((row, column, controller), mut points): ((usize, usize, usize), Vec<(usize, f64)>)| {
            points.sort_by_key(|point| point.0);
            Line { row, column, controller, points }
        };
        lines.into_iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::groups;

    /// The example's sweep over four buffers, at four rates and five delays, neither in order.
    fn large() -> Results {
        let mut results = example::sweep();
        let runs = std::mem::take(&mut results.runs);
        for rate in ["4", "1", "8", "2"] {
            for delay in ["9", "1", "3", "20", "30"] {
                results.runs.extend(runs.iter().cloned().map(|mut run| {
                    run.params.insert("path.rate".to_string(), format!("{rate} Mbit/s"));
                    run.params.insert("path.delay".to_string(), format!("{delay} ms"));
                    run
                }));
            }
        }
        results
    }

    #[test]
    fn large_sweep_is_grid_of_panels() {
        let results = large();
        let groups = groups(&results.runs);
        let multiples = Multiples::of(&results, &groups).expect("sixteen panels");
        // Sixteen panels, two controllers, five delays.
        assert_eq!((multiples.figures.len(), multiples.figures[0].lines.len()), (2, 32));
        assert!(multiples.figures.iter().all(|figure| figure.lines.iter().all(|line| line.points.len() == 5)));
        assert_eq!(multiples.across.values, ["1 ms", "3 ms", "9 ms", "20 ms", "30 ms"], "in order of size");
        let rates = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s", "8 Mbit/s"];
        assert!(multiples.rows.values == rates || multiples.columns.values == rates);
        assert!(multiples.caption().contains("path.delay rises to the right, from 1 ms to 30 ms."));
    }

    #[test]
    fn few_panels_become_charts() {
        let results = example::sweep();
        assert!(Multiples::of(&results, &groups(&results.runs)).is_none());
    }

    /// ln 10 of ln 100 is one half.
    #[test]
    fn values_have_logarithmic_positions() {
        assert_eq!(
            places(3, Some(&[1.0, 10.0, 100.0])).iter().map(|at| (at * 100.0).round()).collect::<Vec<_>>(),
            [0.0, 50.0, 100.0]
        );
        assert_eq!(places(3, None), [0.0, 0.5, 1.0]);
        assert_eq!(places(2, Some(&[0.0, 5.0])), [0.0, 1.0]);
    }
}
