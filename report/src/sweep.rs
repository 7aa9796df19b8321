//! Draws a sweep as curves: mean and interval of each figure against the values of one key, in small multiples over the
//! values of the others.

use crate::groups::{REPEATS_UTILISATION, arrive, controllers, in_order, repeats_utilisation};
use crate::html::escape;
use crate::links;
use crate::network::{Network, crosses, measured};
use experiment::results::figures::{Definition, SUMMARY, Unit};
use experiment::results::{Group, Interval, Results, SweptKey, groups};
use serde::Serialize;
use std::collections::BTreeMap;

/// The curves of a sweep.
#[derive(Debug, PartialEq, Serialize)]
pub struct Sweep {
    /// The key on the axis.
    pub key: String,
    /// Unit of its values; empty without one.
    pub unit: String,
    /// Its values, if they are words; the axis then counts them from 0.
    pub names: Vec<String>,
    /// Whether words have an order that a line may follow.
    pub ordered: bool,
    /// One chart per figure that the runs have.
    pub charts: Vec<Chart>,
    /// The keys with one combination of values per panel.
    #[serde(skip)]
    pub others: Vec<String>,
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
    /// Whether each panel has its own axis: their values differ too much for one.
    pub own: bool,
    /// One panel per combination of the other keys; a single one without a title if there are none.
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

/// Swept value, mean, and both ends of its band.
type Point = (f64, f64, Option<(f64, f64)>);

const SHOWN: [&str; 6] =
    ["available_share", "throughput_bps", "utilisation", "queue_delay_p99_s", "loss_ratio", "fairness_jain"];
/// The same if flows arrive.
const SHOWN_OF_ARRIVALS: [&str; 6] =
    ["completion_time_p50_s", "completion_time_p99_s", "slowdown_p50", "slowdown_p99", "utilisation", "loss_ratio"];
/// More small multiples than these are too small to read.
const MOST_PANELS: usize = 12;

/// Ratio of the largest means from which on the smaller panel gets its own axis.
const APART: f64 = 3.0;

/// Whether the panels need an axis each.
fn apart(panels: &[Panel]) -> bool {
    let largest = |panel: &Panel| {
        let points = panel.lines.iter().flat_map(|line| &line.points);
        points.map(|(_, mean, _)| *mean).fold(0.0, f64::max)
    };
    let all: Vec<f64> = panels.iter().map(largest).collect();
    let (least, most) = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
    most >= APART * least
}

impl Sweep {
    /// Drops panels without points, such as results that lack another's swept key. `None`: no panel has any.
    fn with_points(mut self) -> Option<Sweep> {
        for chart in &mut self.charts {
            chart.panels.retain(|panel| panel.lines.iter().any(|line| !line.points.is_empty()));
        }
        self.charts.retain(|chart| !chart.panels.is_empty());
        (!self.charts.is_empty()).then_some(self)
    }

    /// That the panels have an axis each, as a sentence to append, where they do.
    pub fn scales_note(&self) -> &'static str {
        if self.charts.iter().any(|chart| chart.own) { " Each panel has its own scale." } else { "" }
    }

    /// Note on the panels, as a sentence to append; empty for a single one.
    pub fn said(&self) -> String {
        let panels = self.charts.first().map_or(0, |chart| chart.panels.len());
        match (panels, self.left_out) {
            (0 | 1, _) => String::new(),
            (_, 0) => format!(" One panel per combination of {}.", self.others.join(", ")),
            (some, more) => {
                format!(
                    " One panel for each of the first {some} of {} combinations of {}.",
                    some + more,
                    self.others.join(", ")
                )
            }
        }
    }
}

/// The sweep; `None` if no key has two values.
pub fn sweep(results: &Results) -> Option<Sweep> {
    let groups = groups(&results.runs);
    let keys = experiment::results::swept(&results.runs);
    let axis = axis(&keys, &groups)?;
    let values = values(&groups, &axis.key);
    let titles = distinct(groups.iter().map(|group| others(results, group.params, &axis.key)));
    let shown = &titles[..titles.len().min(MOST_PANELS)];
    let twice = repeats_utilisation(&groups);
    // Throughputs of links of several rates do not compare.
    let rates =
        keys.iter().any(|key| key.key == "path.rate") && groups.iter().any(|group| group.mean("utilisation").is_some());
    let had = |name: &str| {
        !(twice && name == REPEATS_UTILISATION || rates && name == "throughput_bps")
            && groups.iter().any(|group| group.interval(name).is_some())
    };
    let shown_figures = if arrive(results) { SHOWN_OF_ARRIVALS } else { SHOWN };
    let figures = shown_figures.iter().filter_map(|name| SUMMARY.iter().find(|figure| figure.name == *name));
    let charts = figures.filter(|figure| had(figure.name)).map(|figure| Chart {
        label: figure.label,
        log: false,
        own: false,
        unit: match figure.unit {
            Unit::Index => "",
            Unit::Share => "ratio",
            unit => unit.symbol(),
        },
        panels: shown
            .iter()
            .map(|title| {
                let here: Vec<&Group> =
                    groups.iter().filter(|group| others(results, group.params, &axis.key) == *title).collect();
                let line = |(controller, _): (&str, String)| Line {
                    controller: controller.to_string(),
                    points: line(&here, controller, figure, &|group| place(axis, &values, group)),
                };
                Panel { title: title.clone(), lines: controllers(results).into_iter().map(line).collect() }
            })
            .collect(),
    });
    let shares = shares(results, &groups, shown, axis, &values);
    let mut charts: Vec<Chart> = shares.into_iter().chain(charts).collect();
    charts.iter_mut().for_each(|chart| chart.own = apart(&chart.panels));
    let keys = in_order(results, groups.first()?.params).into_iter().map(|(key, _)| key.to_string());
    let all = Sweep {
        charts,
        others: keys.filter(|key| *key != axis.key).collect(),
        unit: axis.unit().unwrap_or_default().to_string(),
        key: axis.key.clone(),
        left_out: titles.len() - shown.len(),
        names: if axis.unit().is_none() { values } else { Vec::new() },
        ordered: false,
    };
    all.with_points()
}

/// Share of each controller of the mixes; `None` unless flows of several controllers compete.
fn shares(results: &Results, groups: &[Group], titles: &[String], axis: &SweptKey, values: &[String]) -> Option<Chart> {
    let panel = |title: &String| {
        let here = || groups.iter().filter(|group| others(results, group.params, &axis.key) == *title);
        let all = here().flat_map(|group| group.shares().into_iter().map(move |(name, share)| (group, name, share)));
        let all: Vec<(&Group, &str, Interval)> = all.collect();
        let line = |name: String| {
            let own = all.iter().filter(|(_, other, _)| *other == name);
            let point = |(group, _, share): &(&Group, &str, Interval)| {
                Some((place(axis, values, group)?, share.mean, band(*share, true)))
            };
            let mut points: Vec<Point> = own.filter_map(point).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line { controller: name, points }
        };
        let names = distinct(all.iter().map(|(_, name, _)| (*name).to_string()));
        Panel { title: title.clone(), lines: names.into_iter().map(line).collect() }
    };
    let panels: Vec<Panel> = titles.iter().map(panel).collect();
    let some = panels.iter().any(|panel| !panel.lines.is_empty());
    some.then_some(Chart { label: "Share of each controller", log: false, own: false, unit: "ratio", panels })
}

/// Returns the queueing delay at each of [`links::apart`], a panel for each; `None` where all flows share one, where
/// links are not recorded, or where several keys are swept.
pub fn at_links(results: &Results) -> Option<Sweep> {
    let apart = |run: &&experiment::results::Run| (0..run.flows.len()).any(|flow| !crosses(run, flow));
    results.runs.iter().find(|run| !run.links.is_empty()).filter(apart)?;
    let (links, _) = links::apart(&results.runs);
    let wait = |group: &Group, link: usize, links: &[String]| {
        let there = group.runs.iter().flat_map(|run| &run.links).filter(|other| other.name == links[link]);
        let waits: Vec<f64> = there.filter_map(|link| link.queue_delay_p95_s).collect();
        let both = if let [a, b] = waits[..] { Some((a.min(b), a.max(b))) } else { None };
        Interval::of_runs(&waits).map(|found| (found.mean, both.or(band(found, false))))
    };
    parts(results, "Queueing, 95th percentile", Unit::Time, &links, "link", wait)
}

/// Throughput of a flow on each route, one panel per route; `None` if all data cross the same links, or with several swept keys.
pub fn by_way(results: &Results, network: &Network) -> Option<Sweep> {
    let groups = groups(&results.runs);
    let first = groups.first()?.ways();
    let names: Vec<String> = first.iter().map(|way| network.way(way, &first)).collect();
    let got = |group: &Group, way: usize, _: &[String]| {
        let found = group.ways().get(way)?.throughput_bps;
        Some((found.mean, band(found, false)))
    };
    parts(results, "Throughput of a flow", Unit::Rate, &names, "way", got)
}

/// A figure of each part of the runs, such as links: a panel for each, over the swept key; without a sweep, one panel over the
/// parts.
fn parts(
    results: &Results,
    label: &'static str,
    unit: Unit,
    names: &[String],
    what: &str,
    value: impl Fn(&Group, usize, &[String]) -> Option<(f64, Option<(f64, f64)>)>,
) -> Option<Sweep> {
    let groups = groups(&results.runs);
    let shown = &names[..names.len().min(MOST_PANELS)];
    let lines = |points: &dyn Fn(&Group) -> Vec<Point>| {
        let line = |(controller, _): (&str, String)| {
            let own = groups.iter().filter(|group| group.controller == controller);
            let mut points: Vec<Point> = own.flat_map(points).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Line { controller: controller.to_string(), points }
        };
        controllers(results).into_iter().map(line).collect()
    };
    let keys = experiment::results::swept(&results.runs);
    let (key, unit_of_key, names_of_values, panels) = match keys.as_slice() {
        [] => {
            let of = |group: &Group| {
                let point = |part| value(group, part, names).map(|(mean, band)| (part as f64, mean, band));
                (0..shown.len()).filter_map(point).collect()
            };
            let all = Panel { title: String::new(), lines: lines(&of) };
            (what.to_string(), String::new(), shown.to_vec(), vec![all])
        }
        [_] => {
            let axis = axis(&keys, &groups)?;
            let values = values(&groups, &axis.key);
            let panel = |(part, title): (usize, &String)| {
                let of = |group: &Group| {
                    let (x, found) = (place(axis, &values, group), value(group, part, names));
                    x.zip(found).map(|(x, (mean, band))| (x, mean, band)).into_iter().collect()
                };
                Panel { title: title.clone(), lines: lines(&of) }
            };
            let panels = shown.iter().enumerate().map(panel).collect();
            let unit = axis.unit().unwrap_or_default().to_string();
            (axis.key.clone(), unit, if axis.unit().is_none() { values } else { Vec::new() }, panels)
        }
        _ => return None,
    };
    let all = Sweep {
        charts: vec![Chart { label, log: false, own: apart(&panels), unit: unit.symbol(), panels }],
        others: Vec::new(),
        unit: unit_of_key,
        key,
        left_out: names.len() - shown.len(),
        names: names_of_values,
        ordered: false,
    };
    all.with_points()
}

/// The values of a key, in order of first appearance.
fn values(groups: &[Group], key: &str) -> Vec<String> {
    distinct(groups.iter().filter_map(|group| group.params.get(key).cloned()))
}

/// Position of a group on the axis: its number, or the index of its word.
fn place(axis: &SweptKey, values: &[String], group: &Group) -> Option<f64> {
    let value = group.params.get(&axis.key)?;
    match axis.unit() {
        None => values.iter().position(|known| known == value).map(|at| at as f64),
        Some(_) => axis.number(value),
    }
}

/// The link of a run's figures, as a sentence to append; empty with a single link.
pub fn link_note(results: &Results) -> String {
    measured(results).map_or(String::new(), |link| format!(" All at {}, the measured link.", escape(link)))
}

/// Meaning of a band or bar, in words.
pub fn band_note(groups: &[Group]) -> &'static str {
    match groups.iter().map(|group| group.runs.len()).max() {
        Some(2) => "Mean of two runs, and both",
        Some(3..) => "Mean and 95 % interval over replications",
        _ => "One run each",
    }
}

/// The key on the axis: of those with numeric values, else of all, the one with most values.
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

/// The values of the other keys; of one that is a bare number the name, too.
fn others(results: &Results, params: &BTreeMap<String, String>, key: &str) -> String {
    let named = |(key, value): (&str, &str)| match value.parse::<f64>() {
        Ok(_) => format!("{} = {value}", key.rsplit('.').next().unwrap_or(key)),
        Err(_) => value.to_string(),
    };
    in_order(results, params).into_iter().filter(|(other, _)| *other != key).map(named).collect::<Vec<_>>().join(", ")
}

/// The interval, as far as values reach: none is below zero, and a part of a whole is above all of it only where its mean is.
fn band(Interval { mean, half_width }: Interval, is_part: bool) -> Option<(f64, f64)> {
    let most = if is_part && mean <= 1.0 { 1.0 } else { f64::INFINITY };
    half_width.map(|half| ((mean - half).max(mean.min(0.0)), (mean + half).min(most)))
}

/// Shares, and Jain's index.
fn is_part(figure: &Definition) -> bool {
    figure.unit == Unit::Share || figure.name.starts_with("fairness_jain")
}

fn line(groups: &[&Group], controller: &str, figure: &Definition, place: &dyn Fn(&Group) -> Option<f64>) -> Vec<Point> {
    let own = groups.iter().filter(|group| group.controller == controller);
    let found = own.filter_map(|group| {
        let interval = group.interval(figure.name)?;
        Some((place(group)?, interval.mean, group.range(figure.name).or(band(interval, is_part(figure)))))
    });
    let mut points: Vec<Point> = found.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

#[cfg(test)]
mod tests;
