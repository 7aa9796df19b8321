//! Reads our values from the results: a metric at the selected points, perhaps divided by another.

use crate::papers::curve;
use crate::papers::during::During;
use crate::papers::file::{Claim, Keys, Line, Other, Shown, Value};
use crate::papers::point::{Point, point_of, same, selects};
use crate::papers::source::{Findings, Source};
use experiment::results::{Interval, Run, Summary};

/// Operation with another reading.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Against<'a> {
    /// This reading is divided by it.
    DividedBy(&'a Other),
    /// It is taken from this reading.
    Less(&'a Other),
}

impl<'a> Against<'a> {
    fn of(divided_by: Option<&'a Other>, less: Option<&'a Other>) -> Option<Against<'a>> {
        divided_by.map(Against::DividedBy).or(less.map(Against::Less))
    }

    /// Returns the key under which a figure writes it, and the other reading.
    pub fn written(self) -> (&'static str, &'a Other) {
        match self {
            Against::DividedBy(other) => ("divided_by", other),
            Against::Less(other) => ("less", other),
        }
    }
}

/// Which metric to read, and at which points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    pub from: &'a str,
    pub metric: &'a str,
    pub selection: &'a Keys,
    pub against: Option<Against<'a>>,
    /// For figures of curves.
    pub during: Option<During>,
    pub times: f64,
}

impl<'a> From<&'a Value> for Reading<'a> {
    fn from(v: &'a Value) -> Reading<'a> {
        let Value { from, metric, selection, during_s: during, times, .. } = v;
        let against = Against::of(v.divided_by.as_ref(), v.less.as_ref());
        Reading { from, metric, selection, against, during: *during, times: *times }
    }
}

impl<'a> From<&'a Claim> for Reading<'a> {
    fn from(c: &'a Claim) -> Reading<'a> {
        let Claim { from, metric, selection, during_s: during, times, .. } = c;
        let against = Against::of(c.divided_by.as_ref(), c.less.as_ref());
        Reading { from, metric, selection, against, during: *during, times: *times }
    }
}

impl<'a> Reading<'a> {
    /// Returns the reading of a picture's line.
    pub fn of_line(line: &'a Line) -> Option<Reading<'a>> {
        let (from, metric) = (line.from.as_deref()?, line.y.as_deref()?);
        Some(Reading { from, metric, selection: &line.selection, against: None, during: None, times: line.times })
    }

    /// Does something with the reading that shows why this one differs.
    pub fn shown<T>(&self, by: &Shown, what: impl FnOnce(&Reading<'_>) -> T) -> T {
        let selection: Keys = self.selection.clone().into_iter().chain(by.selection.clone()).collect();
        let other = self.against.map(|against| {
            let other = against.written().1.clone();
            let from = by.against.clone().or(other.from);
            Other { from, ..other }
        });
        let against = self.against.zip(other.as_ref()).map(|(against, other)| match against {
            Against::DividedBy(_) => Against::DividedBy(other),
            Against::Less(_) => Against::Less(other),
        });
        what(&Reading { from: &by.from, selection: &selection, against, ..*self })
    }

    /// Whether the other reading is taken at `there` for the reading at `point`. `there` must have the other's own
    /// values, and agree with `point` in every other key that both have.
    pub fn belongs(other: &Other, point: &Point, there: &Point) -> bool {
        let mut shared = point.iter().filter(|(key, _)| !other.selection.contains_key(*key));
        selects(&other.selection, there)
            && shared.all(|(key, value)| there.get(key).is_none_or(|found| same(value, found)))
    }

    /// Returns the selected points, each with its value; `None` where there is no value.
    pub fn read(&self, sources: &[Source], findings: &[Findings]) -> Vec<(Point, Option<Interval>)> {
        let points = found_at(sources, findings, self.from);
        let selected = points.into_iter().filter(|(point, _)| selects(self.selection, point));
        let others = self.against.map(|against| {
            let other = against.written().1;
            (against, found_at(sources, findings, other.from.as_deref().unwrap_or(self.from)))
        });
        let value = |point: &Point, found: &Found<'_>| {
            let ours = found.metric(self.metric, self.during)?;
            let Some((against, others)) = &others else { return Some(ours) };
            let other = against.written().1;
            let there = others.iter().find(|(there, _)| Reading::belongs(other, point, there))?;
            let metric = other.metric.as_deref().unwrap_or(self.metric);
            let theirs = there.1.metric(metric, other.during_s.or(self.during))?;
            match against {
                Against::DividedBy(_) => quotient(ours, theirs),
                Against::Less(_) => Some(difference(ours, theirs)),
            }
        };
        selected
            .map(|(point, found)| {
                let read = value(&point, &found).map(|interval| Interval {
                    mean: interval.mean * self.times,
                    half_width: interval.half_width.map(|half| half * self.times.abs()),
                });
                (point, read)
            })
            .collect()
    }
}

/// Returns `a / b`; `None` if `b` is 0. Adds the relative half-widths in squares, which assumes that they are independent.
fn quotient(a: Interval, b: Interval) -> Option<Interval> {
    if b.mean == 0.0 {
        return None;
    }
    let mean = a.mean / b.mean;
    let part = |i: Interval| i.half_width.map_or(0.0, |half| half / i.mean);
    let relative = (part(a) * part(a) + part(b) * part(b)).sqrt();
    let known = a.half_width.is_some() || b.half_width.is_some();
    Some(Interval { mean, half_width: (known && relative.is_finite()).then_some(mean.abs() * relative) })
}

/// Returns `a - b`. Adds the half-widths in squares, which assumes that they are independent.
fn difference(a: Interval, b: Interval) -> Interval {
    let part = |i: Interval| i.half_width.unwrap_or(0.0);
    let known = a.half_width.is_some() || b.half_width.is_some();
    Interval { mean: a.mean - b.mean, half_width: known.then(|| part(a).hypot(part(b))) }
}

/// The findings at a point.
pub(crate) enum Found<'a> {
    /// Its replications.
    Runs(Vec<&'a Run>),
    /// The answer of the theory.
    Answer(&'a serde_json::Value),
    /// The theory has no answer.
    Nothing,
}

impl Found<'_> {
    /// Returns the mean and interval of a metric.
    pub fn metric(&self, name: &str, during: Option<During>) -> Option<Interval> {
        match self {
            Found::Runs(runs) => {
                let found = runs.iter().map(|run| of_run(run, name, during));
                // A run may do without some figures, as of transfers where none ended; a curve that ends too early is missing.
                let whole = curve::of_metric(name).is_some();
                let found: Option<Vec<f64>> = if whole { found.collect() } else { Some(found.flatten().collect()) };
                Interval::of_runs(&found?)
            }
            Found::Answer(answer) => {
                let mean = inside(answer, name)?.as_f64()?;
                let figure = |suffix| inside(answer, &format!("{name}_{suffix}")).and_then(serde_json::Value::as_f64);
                // A standard error is taken as that of a normal law: such answers pool many runs.
                let half_width = figure("half_width").or_else(|| figure("se").map(|error| 1.96 * error));
                Some(Interval { mean, half_width })
            }
            Found::Nothing => None,
        }
    }
}

/// Returns every point of a source that was run, with its findings.
pub(crate) fn found_at<'a>(sources: &[Source], findings: &'a [Findings], name: &str) -> Vec<(Point, Found<'a>)> {
    let Some(at) = sources.iter().position(|source| source.name == name) else { return Vec::new() };
    match &findings[at] {
        Findings::Runs(runs) => experiment::results::groups(runs)
            .into_iter()
            .map(|group| (point_of(group.controller, group.params), Found::Runs(group.runs)))
            .collect(),
        Findings::Answers(answers) => answers
            .iter()
            .map(|(point, answer)| (point.clone(), answer.as_ref().map_or(Found::Nothing, Found::Answer)))
            .collect(),
    }
}

/// Returns a figure of a run, of one of its curves, of one of its flows, traffic sources or windows, or of its traced probe
/// streams.
fn of_run(run: &Run, name: &str, during: Option<During>) -> Option<f64> {
    if let Some((curve, figure)) = curve::of_metric(name) {
        return curve::figure(&curve::points(run, curve, None), figure, during);
    }
    if Summary::metrics().any(|known| known == name) {
        return run.summary.metric(name);
    }
    if let Some(quantile) = name.strip_prefix("estimates.") {
        return estimate(run, percent(quantile)?);
    }
    let mut parts = name.splitn(3, '.');
    let (table, index, field) = (parts.next()?, parts.next()?.parse::<usize>().ok()?, parts.next()?);
    let row = match table {
        "flows" => serde_json::to_value(run.flows.get(index)?),
        "traffic" => serde_json::to_value(run.traffic.get(index)?),
        "windows" => serde_json::to_value(run.windows.get(index)?),
        _ => return None,
    };
    row.ok()?.get(field)?.as_f64()
}

/// A quantile of the traced probe streams' estimates: the least that this percentage of them does not exceed.
fn estimate(run: &Run, percent: usize) -> Option<f64> {
    let mut estimates: Vec<f64> = run.streams.iter().filter_map(|stream| stream.estimate_bps).collect();
    estimates.sort_by(f64::total_cmp);
    let rank = (percent * estimates.len()).div_ceil(100).max(1);
    estimates.get(rank - 1).copied()
}

/// Reads `p05` as 5.
pub(crate) fn percent(quantile: &str) -> Option<usize> {
    quantile.strip_prefix('p')?.parse().ok().filter(|percent| *percent <= 100)
}

/// Returns the value at a path of keys and numbers, such as `variation.2`.
pub(crate) fn inside<'a>(answer: &'a serde_json::Value, path: &str) -> Option<&'a serde_json::Value> {
    path.split('.').try_fold(answer, |value, part| match value {
        serde_json::Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}
