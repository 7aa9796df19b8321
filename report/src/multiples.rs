//! Two figures of a large sweep on one screen: a grid of small panels, the values of one key along the rows and of another
//! along the columns, and in each panel a line per controller over the third.
//!
//! The pictures are SVG without a script. A page with thousands of points has them in place of the pictures that draw every
//! run, which would be too many to read.

use crate::contrast::visible;
use crate::groups::controllers;
use crate::html::escape;
use experiment::results::figures::{SUMMARY, Unit};
use experiment::results::numbers::quantity;
use experiment::results::{Group, Results, SweptKey};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Fewer panels are drawn as charts with axes of their own.
const FEWEST_PANELS: usize = 13;
/// What is drawn: the first of each that runs have.
const FIGURES: [&[&str]; 2] = [&["available_share", "utilisation"], &["queue_delay_p99_s", "queue_delay_mean_s"]];

/// Width and height of a panel, the space between two, and that of the words at the left and above: in pixels.
const PANEL: (f64, f64) = (52.0, 36.0);
const GAP: f64 = 4.0;
const WORDS: (f64, f64) = (74.0, 30.0);

/// A key and its values, in order of size where they are numbers.
struct Axis {
    key: String,
    values: Vec<String>,
    numbers: Option<Vec<f64>>,
}

/// The keys of a large sweep.
pub struct Multiples {
    rows: Axis,
    columns: Axis,
    across: Axis,
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
        Axis { key: key.key.clone(), values, numbers }
    }

    /// Where each value stands, from 0 to 1: by its logarithm where all are above zero, else one after the other.
    fn places(&self) -> Vec<f64> {
        let even = || (0..self.values.len()).map(|at| at as f64).collect();
        let logs = self.numbers.as_ref().filter(|all| all.iter().all(|number| *number > 0.0));
        let raw: Vec<f64> = logs.map_or_else(even, |all| all.iter().map(|number| number.ln()).collect());
        let (least, most) = (raw[0], raw[raw.len() - 1]);
        raw.iter().map(|at| (at - least) / (most - least).max(f64::MIN_POSITIVE)).collect()
    }
}

impl Multiples {
    /// The keys of a sweep that is large: three with several values, of which the two with fewest give many panels.
    pub fn of(results: &Results, groups: &[Group]) -> Option<Multiples> {
        let axes = experiment::results::swept(&results.runs).into_iter().map(|key| Axis::of(&key, groups));
        let mut axes: Vec<Axis> = axes.filter(|axis| axis.values.len() > 1).collect();
        axes.sort_by_key(|axis| axis.values.len());
        let [rows, columns, across] = <[Axis; 3]>::try_from(axes).ok()?;
        (rows.values.len() * columns.values.len() >= FEWEST_PANELS).then_some(Multiples { rows, columns, across })
    }

    /// Draws the figures.
    pub fn draw(&self, out: &mut String, results: &Results, groups: &[Group]) {
        let Multiples { rows, columns, across } = self;
        let legend: String = (controllers(results).iter())
            .map(|(name, colour)| format!(" <b style=\"color:{}\">{}</b>", visible(colour), escape(name)))
            .collect();
        _ = write!(
            out,
            "<figure id=\"multiples\"><figcaption><h3>All points</h3><p>One panel for each <code>{}</code> (rows) and \
             <code>{}</code> (columns). In it <code>{}</code> rises to the right, from {} to {}. Means of the replications.\
             {legend}</p></figcaption><div style=\"display:flex;flex-wrap:wrap;gap:1rem\">",
            escape(&rows.key),
            escape(&columns.key),
            escape(&across.key),
            escape(&across.values[0]),
            escape(&across.values[across.values.len() - 1]),
        );
        for names in FIGURES {
            let had = |name: &&&str| groups.iter().any(|group| group.mean(name).is_some());
            let figure = names.iter().find(had).and_then(|name| SUMMARY.iter().find(|figure| figure.name == *name));
            if let Some(figure) = figure {
                self.picture(out, figure.label, figure.unit, &self.means(results, groups, figure.name));
            }
        }
        out.push_str("</div></figure>\n");
    }

    /// Of each panel (row, column) and controller the means over the third key, by its value's number.
    fn means<'r>(&self, results: &'r Results, groups: &[Group], figure: &str) -> Lines<'r> {
        let numbers = |axis: &Axis| axis.values.iter().cloned().zip(0..).collect::<BTreeMap<String, usize>>();
        let [rows, columns, across] = [&self.rows, &self.columns, &self.across].map(numbers);
        let mut lines = Lines::new();
        for (name, colour) in controllers(results) {
            for group in groups.iter().filter(|group| group.controller == name) {
                let at = |axis: &Axis, numbers: &BTreeMap<String, usize>| {
                    group.params.get(&axis.key).and_then(|value| numbers.get(value)).copied()
                };
                let place = (at(&self.rows, &rows), at(&self.columns, &columns), at(&self.across, &across));
                let ((Some(row), Some(column), Some(at)), Some(mean)) = (place, group.mean(figure)) else { continue };
                let line = lines.entry((row, column, name)).or_insert_with(|| (colour.clone(), Vec::new()));
                line.1.push((at, mean));
            }
        }
        lines
    }

    fn picture(&self, out: &mut String, label: &str, unit: Unit, lines: &Lines) {
        let (scale, said) = Scale::of(unit, lines.values().flat_map(|(_, line)| line.iter().map(|(_, mean)| *mean)));
        let (step, places) = ((PANEL.0 + GAP, PANEL.1 + GAP), self.across.places());
        let width = WORDS.0 + step.0 * self.columns.values.len() as f64;
        let height = WORDS.1 + step.1 * self.rows.values.len() as f64;
        let title = format!("{label}, {said}");
        _ = write!(
            out,
            "<svg viewBox=\"0 0 {width} {height}\" style=\"flex:1 1 25rem;min-width:0\" role=\"img\" \
             aria-label=\"{}\" data-quantity=\"{}\" data-x=\"{}\" font-size=\"9\" fill=\"currentColor\">\
             <text y=\"10\" font-size=\"11\">{}</text>",
            escape(&title),
            escape(label),
            escape(&self.across.values.join(";")),
            escape(&title)
        );
        for (at, value) in self.columns.values.iter().enumerate() {
            _ = write!(
                out,
                "<text x=\"{}\" y=\"25\" font-size=\"8\">{}</text>",
                WORDS.0 + step.0 * at as f64,
                escape(value)
            );
        }
        for (row, value) in self.rows.values.iter().enumerate() {
            let top = WORDS.1 + step.1 * row as f64;
            _ = write!(out, "<text x=\"0\" y=\"{}\">{}</text>", top + PANEL.1 / 2.0, escape(value));
            for column in 0..self.columns.values.len() {
                let left = WORDS.0 + step.0 * column as f64;
                let (w, h) = PANEL;
                _ = write!(
                    out,
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"currentColor\" \
                     stroke-opacity=\".2\"/>"
                );
                for ((_, _, name), (colour, line)) in lines.range((row, column, "")..(row, column + 1, "")) {
                    let mut points = vec![String::new(); places.len()];
                    let mut values = vec![String::new(); places.len()];
                    for (at, mean) in line {
                        points[*at] =
                            format!("{:.1},{:.1} ", left + w * places[*at], top + h * (1.0 - scale.place(*mean)));
                        values[*at] = format!("{mean:.4e}");
                    }
                    _ = write!(
                        out,
                        "<polyline points=\"{}\" fill=\"none\" style=\"stroke:{}\" data-panel=\"{}\" data-series=\"{}\" \
                         data-values=\"{}\"/>",
                        points.concat().trim_end(),
                        visible(colour),
                        escape(&format!("{value}, {}", self.columns.values[column])),
                        escape(name),
                        values.join(",")
                    );
                }
            }
        }
        out.push_str("</svg>\n");
    }
}

/// By row, column and controller: its colour, and its points.
type Lines<'a> = BTreeMap<(usize, usize, &'a str), (String, Vec<(usize, f64)>)>;

/// The vertical axis of all panels.
enum Scale {
    /// From zero to this.
    Linear(f64),
    /// From the first to the second, by logarithms; values below are drawn at the foot.
    Log(f64, f64),
}

/// Times are drawn over at most this range.
const DECADES: f64 = 1e4;

impl Scale {
    /// For these values, and what to say of it.
    fn of(unit: Unit, values: impl Iterator<Item = f64>) -> (Scale, String) {
        let most = values.fold(f64::MIN_POSITIVE, f64::max);
        match unit {
            Unit::Time => {
                let least = most / DECADES;
                (Scale::Log(least, most), format!("{} to {}, logarithmic", quantity(least, unit), quantity(most, unit)))
            }
            Unit::Share => (Scale::Linear(most.max(1.0)), format!("0 to {}", quantity(most.max(1.0), unit))),
            _ => (Scale::Linear(most), format!("0 to {}", quantity(most, unit))),
        }
    }

    /// From 0 at the foot to 1 at the head.
    fn place(&self, value: f64) -> f64 {
        match self {
            Scale::Linear(most) => value / most,
            Scale::Log(least, most) => (value.max(*least) / least).ln() / (most / least).ln(),
        }
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
    fn a_large_sweep_is_a_grid_of_panels_with_a_line_per_controller() {
        let results = large();
        let groups = groups(&results.runs);
        let multiples = Multiples::of(&results, &groups).expect("sixteen panels");
        let mut out = String::new();
        multiples.draw(&mut out, &results, &groups);
        // Two figures, sixteen panels, two controllers, five delays.
        assert_eq!((out.matches("<rect").count(), out.matches("<polyline").count()), (32, 64));
        let first = out.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
        assert_eq!(first.split(' ').count(), 5);
        assert!(
            out.contains("data-x=\"1 ms;3 ms;9 ms;20 ms;30 ms\"") && out.contains("data-panel=\"5 packets, 8 Mbit/s\"")
        );
        let at = |word: &str| out.find(&format!(">{word} Mbit/s<")).expect("a label");
        assert!(at("1") < at("2") && at("2") < at("4") && at("4") < at("8"), "in order of size");
        let said = "In it <code>path.delay</code> rises to the right, from 1 ms to 30 ms.";
        assert!(out.contains(said) && out.contains("logarithmic"), "{}", &out[..600]);
    }

    #[test]
    fn few_panels_are_left_to_the_charts() {
        let results = example::sweep();
        assert!(Multiples::of(&results, &groups(&results.runs)).is_none());
    }

    #[test]
    fn a_value_stands_where_arithmetic_says() {
        let (scale, said) = Scale::of(Unit::Time, [1.0, 0.001].into_iter());
        assert_eq!([1.0, 0.01, 0.0001, 0.0].map(|time| (scale.place(time) * 100.0).round()), [100.0, 50.0, 0.0, 0.0]);
        assert_eq!(said, "100.0 µs to 1.000 s, logarithmic");
        let (scale, _) = Scale::of(Unit::Share, [0.5].into_iter());
        assert!((scale.place(0.25) - 0.25).abs() < 1e-12);
    }
}
