//! Draws a sweep over one key as curves: mean and interval of a figure against the swept value.

use crate::groups::{controllers, points};
use results::figures::{SUMMARY, Unit};
use results::{Results, SweptKey, groups};
use serde::Serialize;

/// The curves of one swept key.
#[derive(Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// The key.
    pub key: String,
    /// Unit of the values; empty where there is none.
    pub unit: String,
    /// One chart per figure.
    pub charts: Vec<Chart>,
}

/// One figure against the swept value.
#[derive(Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Heading.
    pub label: &'static str,
    /// Unit of the figure, as the page's script knows it.
    pub unit: &'static str,
    /// One line per controller.
    pub lines: Vec<Line>,
}

/// One controller.
#[derive(Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its name.
    pub controller: String,
    /// Its points, in order of the swept value.
    pub points: Vec<Point>,
}

/// Swept value, mean, half-width.
type Point = (f64, f64, Option<f64>);

const SHOWN: [&str; 5] = ["available_share", "utilisation", "queue_delay_p99_s", "loss_ratio", "fairness_jain"];

/// Returns the sweep, if exactly one key was swept over at least two values that are all numbers of one kind.
pub fn sweep(results: &Results) -> Option<Sweep> {
    let points = points(results);
    let key = points.first()?.keys().next()?.clone();
    if points.len() < 2 || points.iter().any(|p| p.len() != 1 || !p.contains_key(&key)) {
        return None;
    }
    let [swept]: [SweptKey; 1] = results::swept(&results.runs).try_into().ok()?;
    let unit = swept.unit()?.to_string();
    let groups = groups(&results.runs);
    let charts = SUMMARY.iter().filter(|f| SHOWN.contains(&f.name)).map(|figure| Chart {
        label: figure.label,
        unit: match figure.unit {
            Unit::Index => "",
            Unit::Share => "ratio",
            unit => unit.symbol(),
        },
        lines: controllers(results)
            .into_iter()
            .map(|(controller, _)| {
                let mut points: Vec<Point> = groups
                    .iter()
                    .filter(|g| g.controller == controller)
                    .filter_map(|g| Some((swept.number(&g.params[&key])?, g.interval(figure.name)?)))
                    .map(|(x, interval)| (x, interval.mean, interval.half_width))
                    .collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                Line { controller: controller.to_string(), points }
            })
            .collect(),
    });
    Some(Sweep { charts: charts.collect(), key, unit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn one_swept_number_gives_a_line_per_controller() {
        let sweep = sweep(&example::sweep()).unwrap();
        assert_eq!((sweep.key.as_str(), sweep.unit.as_str()), ("path.buffer", "packets"));
        let line = &sweep.charts[0].lines[0];
        assert_eq!(line.points.iter().map(|p| p.0).collect::<Vec<_>>(), [5.0, 10.0, 20.0, 40.0]);
        assert!(line.points.iter().all(|p| p.2.is_some()));
    }

    #[test]
    fn no_sweep_two_keys_or_words_give_no_chart() {
        assert_eq!(sweep(&example::demo()), None);
        let mut words = example::sweep();
        for run in &mut words.runs {
            run.params.insert("path.buffer".into(), "large".into());
        }
        assert_eq!(sweep(&words), None);
        let mut two = example::sweep();
        for run in &mut two.runs {
            run.params.insert("path.rate".into(), "1 Gbit/s".into());
        }
        assert_eq!(sweep(&two), None);
    }
}
