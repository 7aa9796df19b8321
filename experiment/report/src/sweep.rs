//! Draws a sweep as curves: mean and interval of each figure against the values of one key, in small multiples over the
//! values of the others.

use crate::groups::{arrive, controllers};
use crate::network::crosses;
use results::figures::{SUMMARY, Unit};
use results::{Group, Interval, Results, SweptKey, groups};
use serde::Serialize;
use std::collections::BTreeMap;

/// The curves of a sweep.
#[derive(Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// The key on the axis.
    pub key: String,
    /// Unit of its values; empty where there is none.
    pub unit: String,
    /// Its values, where they are words; the axis then counts them from 0.
    pub names: Vec<String>,
    /// Whether words stand in an order that a line may follow.
    pub ordered: bool,
    /// One chart per figure that the runs have.
    pub charts: Vec<Chart>,
    /// How many panels of a chart were left out.
    pub left_out: usize,
}

/// One figure.
#[derive(Debug, PartialEq, Serialize)]
pub struct Chart {
    /// Heading.
    pub label: &'static str,
    /// Unit of the figure, as the page's script knows it.
    pub unit: &'static str,
    /// Whether its axis is logarithmic.
    pub log: bool,
    /// One panel for each choice of the other keys; a single one without a title where there are none.
    pub panels: Vec<Panel>,
}

/// One small multiple.
#[derive(Debug, PartialEq, Serialize)]
pub struct Panel {
    /// The other keys and their values.
    pub title: String,
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

/// Swept value, mean, and from where to where its band is.
type Point = (f64, f64, Option<(f64, f64)>);

const SHOWN: [&str; 6] =
    ["available_share", "throughput_bps", "utilisation", "queue_delay_p99_s", "loss_ratio", "fairness_jain"];
/// The same where flows arrive.
const SHOWN_OF_ARRIVALS: [&str; 6] =
    ["completion_time_p50_s", "completion_time_p99_s", "slowdown_p50", "slowdown_p99", "utilisation", "loss_ratio"];
/// More small multiples than these are too small to read.
const MOST_PANELS: usize = 12;

impl Sweep {
    /// What is to be said of the panels, as a sentence to append; nothing of a single one.
    pub fn said(&self) -> String {
        let panels = self.charts.first().map_or(0, |chart| chart.panels.len());
        match (panels, self.left_out) {
            (0 | 1, _) => String::new(),
            (_, 0) => " One panel for each choice of the other keys.".to_string(),
            (some, more) => {
                format!(" One panel for each of the first {some} of {} choices of the other keys.", some + more)
            }
        }
    }
}

/// Returns the sweep; `None` where no key has two values.
pub fn sweep(results: &Results) -> Option<Sweep> {
    let groups = groups(&results.runs);
    let keys = results::swept(&results.runs);
    let axis = axis(&keys, &groups)?;
    let values = distinct(groups.iter().filter_map(|group| group.params.get(&axis.key).cloned()));
    let words = axis.unit().is_none();
    let place = |value: &String| match words {
        true => values.iter().position(|known| known == value).map(|at| at as f64),
        false => axis.number(value),
    };
    let titles = distinct(groups.iter().map(|group| others(group.params, &axis.key)));
    let shown = &titles[..titles.len().min(MOST_PANELS)];
    let had = |name: &str| groups.iter().any(|group| group.interval(name).is_some());
    let shown_figures = if arrive(results) { SHOWN_OF_ARRIVALS } else { SHOWN };
    let figures = shown_figures.iter().filter_map(|name| SUMMARY.iter().find(|figure| figure.name == *name));
    let charts = figures.filter(|figure| had(figure.name)).map(|figure| Chart {
        label: figure.label,
        log: false,
        unit: match figure.unit {
            Unit::Index => "",
            Unit::Share => "ratio",
            unit => unit.symbol(),
        },
        panels: shown
            .iter()
            .map(|title| {
                let here: Vec<&Group> =
                    groups.iter().filter(|group| others(group.params, &axis.key) == *title).collect();
                let line = |(controller, _): (&str, String)| Line {
                    controller: controller.to_string(),
                    points: line(&here, controller, &axis.key, figure.name, &place),
                };
                Panel { title: title.clone(), lines: controllers(results).into_iter().map(line).collect() }
            })
            .collect(),
    });
    Some(Sweep {
        charts: charts.collect(),
        unit: axis.unit().unwrap_or_default().to_string(),
        key: axis.key.clone(),
        left_out: titles.len() - shown.len(),
        names: if words { values } else { Vec::new() },
        ordered: false,
    })
}

/// Returns the queueing delay at each link that data of flows cross, a panel for each; `None` where all flows share one, where
/// links are not recorded, or where not one key is swept.
pub fn at_links(results: &Results) -> Option<Sweep> {
    let groups = groups(&results.runs);
    let keys = results::swept(&results.runs);
    let [_] = keys.as_slice() else { return None };
    let axis = axis(&keys, &groups)?;
    let values = distinct(groups.iter().filter_map(|group| group.params.get(&axis.key).cloned()));
    let words = axis.unit().is_none();
    let apart = |run: &&results::Run| (0..run.flows.len()).any(|flow| !crosses(run, flow));
    let run = results.runs.iter().find(|run| !run.links.is_empty()).filter(apart)?;
    let data = |name: &str| run.flows.iter().any(|flow| flow.route.split(", ").any(|link| link == name));
    let links = run.links.iter().map(|link| link.name.as_str()).filter(|name| data(name)).take(MOST_PANELS);
    let point = |group: &Group, link: &str| {
        let value = group.params.get(&axis.key)?;
        let x =
            if words { values.iter().position(|known| known == value).map(|at| at as f64) } else { axis.number(value) };
        let there = group.runs.iter().flat_map(|run| &run.links).filter(|other| other.name == link);
        let waits: Vec<f64> = there.filter_map(|link| link.queue_delay_p95_s).collect();
        let found = Interval::of_runs(&waits)?;
        let both = if let [a, b] = waits[..] { Some((a.min(b), a.max(b))) } else { None };
        Some((x?, found.mean, both.or(band(found))))
    };
    let panels = links.map(|link| {
        let line = |(controller, _): (&str, String)| {
            let own = groups.iter().filter(|group| group.controller == controller);
            let mut points: Vec<Point> = own.filter_map(|group| point(group, link)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line { controller: controller.to_string(), points }
        };
        Panel { title: link.to_string(), lines: controllers(results).into_iter().map(line).collect() }
    });
    let chart =
        Chart { label: "Queueing, 95th percentile", log: false, unit: Unit::Time.symbol(), panels: panels.collect() };
    Some(Sweep {
        charts: vec![chart],
        unit: axis.unit().unwrap_or_default().to_string(),
        key: axis.key.clone(),
        left_out: 0,
        names: if words { values } else { Vec::new() },
        ordered: false,
    })
}

/// What a band or bar is, in words.
pub fn band_said(groups: &[Group]) -> &'static str {
    match groups.iter().map(|group| group.runs.len()).max() {
        Some(2) => "Mean of two runs, and both",
        Some(3..) => "Mean and 95 % interval over replications",
        _ => "One run each",
    }
}

/// Returns the key on the axis: of those whose values are numbers, else of all, the one with most values.
fn axis<'k>(keys: &'k [SweptKey], groups: &[Group]) -> Option<&'k SweptKey> {
    let count = |key: &SweptKey| distinct(groups.iter().filter_map(|group| group.params.get(&key.key).cloned())).len();
    let several = || keys.iter().rev().filter(|key| count(key) > 1);
    several()
        .filter(|key| key.unit().is_some())
        .max_by_key(|key| count(key))
        .or_else(|| several().max_by_key(|key| count(key)))
}

fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    values.for_each(|value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
    });
    seen
}

fn others(params: &BTreeMap<String, String>, key: &str) -> String {
    let others = params.iter().filter(|(other, _)| *other != key);
    others.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

fn band(Interval { mean, half_width }: Interval) -> Option<(f64, f64)> {
    half_width.map(|half| (mean - half, mean + half))
}

fn line(
    groups: &[&Group],
    controller: &str,
    key: &str,
    figure: &str,
    place: &dyn Fn(&String) -> Option<f64>,
) -> Vec<Point> {
    let own = groups.iter().filter(|group| group.controller == controller);
    let found = own.filter_map(|group| {
        let interval = group.interval(figure)?;
        Some((place(group.params.get(key)?)?, interval.mean, group.range(figure).or(band(interval))))
    });
    let mut points: Vec<Point> = found.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn one_swept_number_gives_a_line_per_controller() {
        let sweep = sweep(&example::sweep()).unwrap();
        assert_eq!((sweep.key.as_str(), sweep.unit.as_str()), ("path.buffer", "packets"));
        let panels = &sweep.charts[0].panels;
        assert_eq!((panels.len(), panels[0].title.as_str()), (1, ""));
        let line = &panels[0].lines[0];
        assert_eq!(line.points.iter().map(|p| p.0).collect::<Vec<_>>(), [5.0, 10.0, 20.0, 40.0]);
        assert!(line.points.iter().all(|p| p.2.is_some()));
    }

    #[test]
    fn a_second_key_gives_small_multiples() {
        let mut results = example::sweep();
        let slow = results.runs.clone();
        let with = |rate: &'static str| {
            move |run: &mut results::Run| {
                run.params.insert("path.rate".to_string(), rate.to_string());
            }
        };
        results.runs.iter_mut().for_each(with("10 Gbit/s"));
        results.runs.extend(slow);
        results.runs.iter_mut().filter(|run| run.params.len() == 1).for_each(with("1 Gbit/s"));
        let sweep = sweep(&results).unwrap();
        assert_eq!(sweep.key, "path.buffer", "it has more values");
        let titles: Vec<&str> = sweep.charts[0].panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["path.rate = 10 Gbit/s", "path.rate = 1 Gbit/s"]);
        assert_eq!(sweep.charts[0].panels[1].lines[1].points.len(), 4);
    }

    /// Two ways: data go there and back, and both queues were recorded.
    #[test]
    fn queues_of_links_that_flows_do_not_share_have_a_panel_each() {
        let mut results = example::sweep();
        assert_eq!(at_links(&results), None, "no links");
        for run in &mut results.runs {
            let link = |name: &str, wait| results::LinkResult {
                name: name.to_string(),
                queue_delay_p95_s: Some(wait),
                ..results::LinkResult::default()
            };
            run.links = vec![link("there", 0.25), link("back", 0.5), link("unused", 0.0)];
            run.measured = "there".to_string();
            run.flows = ["there", "back"].map(flow_over).to_vec();
        }
        let panels = &at_links(&results).unwrap().charts[0].panels;
        assert_eq!(panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["there", "back"]);
        assert_eq!(panels[1].lines[0].points.iter().map(|p| p.0).collect::<Vec<_>>(), [5.0, 10.0, 20.0, 40.0]);
        assert!(panels[1].lines[0].points.iter().all(|point| point.1 == 0.5));
        results.runs.iter_mut().for_each(|run| run.flows = ["there", "there, back"].map(flow_over).to_vec());
        assert_eq!(at_links(&results), None, "all share the measured link");
    }

    fn flow_over(route: &str) -> results::FlowResult {
        results::FlowResult { route: route.to_string(), ..results::FlowResult::default() }
    }

    #[test]
    fn words_are_counted_and_one_value_is_no_sweep() {
        let mut results = example::sweep();
        for (run, queue) in results.runs.iter_mut().zip(["fifo", "red", "pie"].into_iter().cycle()) {
            run.params = BTreeMap::from([("path.queue".to_string(), queue.to_string())]);
        }
        let found = sweep(&results).unwrap();
        assert_eq!(found.names, ["fifo", "red", "pie"]);
        let xs: Vec<f64> = found.charts[0].panels[0].lines[0].points.iter().map(|point| point.0).collect();
        assert_eq!(xs, [0.0, 1.0, 2.0]);
        results
            .runs
            .iter_mut()
            .for_each(|run| run.params = BTreeMap::from([("path.queue".to_string(), "red".to_string())]));
        assert_eq!(sweep(&results), None);
        assert_eq!(sweep(&example::demo()), None);
    }
}
