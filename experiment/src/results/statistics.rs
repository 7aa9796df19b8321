//! Replications of one setting, and the confidence in their mean.

use crate::results::figures::Summary;
use crate::results::schema::Run;
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the mean of these values; no number if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the root of the mean square of their differences from their mean; no number if there are none. It is that of all
/// there are, not an estimate from a sample.
pub fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64).sqrt()
}

/// A mean and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval of Student's t; `None` where there is none.
    pub half_width: Option<f64>,
}

impl Interval {
    /// Returns the interval of these values; `None` when there are none.
    ///
    /// The interval is `t * s / sqrt(n)`, where `s` is the sample's standard deviation and `t` the 97.5 % quantile of
    /// Student's distribution with `n - 1` degrees of freedom. It assumes that the values are about normally
    /// distributed.
    pub fn of(values: &[f64]) -> Option<Interval> {
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = mean(values);
        let half_width = (values.len() > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            student_t975(values.len() - 1) * (squares / (n - 1.0)).sqrt() / n.sqrt()
        });
        Some(Interval { mean, half_width })
    }

    /// The same of differences, replication by replication: no interval below three of them. Equal ones are known exactly.
    pub fn of_pairs(values: &[f64]) -> Option<Interval> {
        let found = Interval::of(values)?;
        Some(Interval { half_width: found.half_width.filter(|_| values.len() >= FEWEST), ..found })
    }

    /// The same of replications: no interval below three of them, or where all are equal. Values that nothing was drawn for say
    /// nothing of how far others would be.
    pub fn of_runs(values: &[f64]) -> Option<Interval> {
        let found = Interval::of_pairs(values)?;
        let drawn = values.iter().any(|value| *value != values[0]);
        Some(Interval { half_width: found.half_width.filter(|_| drawn), ..found })
    }
}

/// 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Returns the 97.5 % quantile of Student's t: from a table up to 30 degrees of freedom; above that, by the expansion
/// around the normal quantile of Abramowitz and Stegun, 26.7.5.
pub fn student_t975(degrees: usize) -> f64 {
    if let Some(t) = degrees.checked_sub(1).and_then(|at| T975.get(at)) {
        return *t;
    }
    if degrees == 0 {
        return f64::INFINITY;
    }
    let (x, v) = (1.959_963_984_540_054_f64, degrees as f64);
    let (x2, x3) = (x * x, x * x * x);
    let first = (x3 + x) / 4.0;
    let second = (5.0 * x2 * x3 + 16.0 * x3 + 3.0 * x) / 96.0;
    let third = (3.0 * x2 * x2 * x3 + 19.0 * x2 * x3 + 17.0 * x3 - 15.0 * x) / 384.0;
    x + first / v + second / (v * v) + third / (v * v * v)
}

/// Fewer replications than these have no interval: Student's t for two of them is 12.7, and the interval says nothing.
const FEWEST: usize = 3;

/// What is said of two replications, whose figures are shown from the lesser to the greater.
pub const NO_INTERVAL: &str = "2 runs: no interval. In brackets: smaller and larger value.";

/// Returns what is said of replications that are all the same run; nothing where none are.
pub fn nothing_drawn(groups: &[Group]) -> String {
    let mut names: Vec<&str> = groups.iter().filter(|group| group.repeats()).map(|group| group.controller).collect();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    let of = if groups.iter().all(Group::repeats) { String::new() } else { format!(" with {}", names.join(", ")) };
    format!(
        "Nothing random{of}: all replications are identical. A random start makes them differ, as in \
         start = {{ uniform = [\"0 s\", \"100 ms\"] }}.\n"
    )
}

/// The available share above which it is reported as more than all. A packet counts as a whole when it leaves: one
/// more or less is 0.1 % of a second at 12 Mbit/s.
const ABOVE_ALL: f64 = 1.001;

/// Returns a sweep point in words, like `path.buffer = 1 bdp, path.delay = 5 ms`.
pub fn point_name(params: &BTreeMap<String, String>) -> String {
    params.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

/// The replications of one controller at one sweep point.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// The controller.
    pub controller: &'a str,
    /// Its colour.
    pub colour: &'a str,
    /// The sweep point.
    pub params: &'a BTreeMap<String, String>,
    /// The replications.
    pub runs: Vec<&'a Run>,
}

/// Returns the runs by controller and sweep point, in order of first appearance.
pub fn groups(runs: &[Run]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut index: BTreeMap<(&str, &BTreeMap<String, String>), usize> = BTreeMap::new();
    for run in runs {
        let at = *index.entry((&run.controller, &run.params)).or_insert_with(|| {
            let (controller, colour) = (run.controller.as_str(), run.colour.as_str());
            groups.push(Group { controller, colour, params: &run.params, runs: Vec::new() });
            groups.len() - 1
        });
        groups[at].runs.push(run);
    }
    groups
}

impl<'a> Group<'a> {
    /// Returns the group's name, like `rapid, path.buffer = 1 bdp`.
    pub fn name(&self) -> String {
        let point = self.point();
        if point.is_empty() { self.controller.to_string() } else { format!("{}, {point}", self.controller) }
    }

    /// Returns the sweep point, like `path.buffer = 1 bdp, path.delay = 5 ms`.
    pub fn point(&self) -> String {
        point_name(self.params)
    }

    /// Returns the mean of a figure over the replications that have it, and from three on its interval; `None` if none has
    /// it, or if there is no such figure.
    pub fn interval(&self, metric: &str) -> Option<Interval> {
        Interval::of_runs(&self.values(metric))
    }

    /// Returns the lesser and the greater value of a figure where there are two, which have no interval.
    pub fn range(&self, metric: &str) -> Option<(f64, f64)> {
        match self.values(metric)[..] {
            [a, b] => Some((a.min(b), a.max(b))),
            _ => None,
        }
    }

    /// Returns the mean of a figure, if every replication has it.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        let values = self.values(metric);
        if values.len() < self.runs.len() { None } else { Interval::of(&values).map(|interval| interval.mean) }
    }

    /// Returns the share of each controller of a mix, and its interval over the replications, in the phase in which most flows are
    /// active ([`Group::fullest`]), or where there are no phases, in all the time; nothing for one controller.
    pub fn shares(&self) -> Vec<(&'a str, Interval)> {
        if let Some(phase) = self.fullest() {
            return phase.got.iter().filter_map(|got| Some((got.controller, got.share?))).collect();
        }
        let whole = |run: &'a Run| run.shares.iter().filter(|share| share.phase.is_none());
        let names = self.runs.first().into_iter().flat_map(|run| whole(run)).map(|share| share.controller.as_str());
        let of = |name: &str| {
            let all = self.runs.iter().flat_map(|run| whole(run)).filter(|share| share.controller == name);
            Interval::of_runs(&all.filter_map(|share| share.share).collect::<Vec<f64>>())
        };
        names.filter_map(|name| Some((name, of(name)?))).collect()
    }

    /// Whether the replications, two or more, are the same run: nothing in the scenario is drawn.
    pub fn repeats(&self) -> bool {
        let [first, rest @ ..] = &self.runs[..] else { return false };
        let figures = |run: &Run| Summary { cpu_s: None, ..run.summary.clone() };
        !rest.is_empty() && rest.iter().all(|run| figures(run) == figures(first) && run.flows == first.flows)
    }

    /// Whether the flows got more than what the traffic left.
    pub fn above_all(&self) -> bool {
        self.interval("available_share").is_some_and(|share| share.mean >= ABOVE_ALL)
    }

    fn values(&self, metric: &str) -> Vec<f64> {
        self.runs.iter().filter_map(|run| run.summary.metric(metric)).collect()
    }
}

impl Summary {
    /// All figures by name.
    pub(crate) fn fields(&self) -> serde_json::Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => serde_json::Map::new(),
        }
    }
}
