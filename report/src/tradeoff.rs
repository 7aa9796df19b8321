//! Throughput against delay: a dot for each run, and for each group of replications the ellipse of one standard deviation.

use crate::groups::{controllers, ordered_name};
use experiment::results::figures::{Definition, SUMMARY};
use experiment::results::{Group, Results, Run};
use serde::Serialize;

/// The picture.
#[derive(Debug, PartialEq, Serialize)]
pub struct Tradeoff {
    /// Headings of the axes; rates in bit/s, delays in seconds.
    pub x: &'static str,
    /// The same of the other axis.
    pub y: &'static str,
    /// Unit of that axis, as the page's script knows it.
    pub unit: &'static str,
    /// Swept keys; empty without a sweep.
    pub swept: String,
    /// Whether the swept values of each controller are numbers, along which a line may lead from mean to mean.
    pub joined: bool,
    /// Whether the axis of delays is logarithmic; then the ellipses are those of the logarithm to base 10.
    pub log: bool,
    /// Whether the dots are too many for lines, ellipses and means.
    pub many: bool,
    /// One per controller and sweep point.
    pub clouds: Vec<Cloud>,
}

/// The replications of one controller at one sweep point.
#[derive(Debug, PartialEq, Serialize)]
pub struct Cloud {
    /// Number of the controller.
    pub controller: usize,
    /// The sweep point, in words.
    pub point: String,
    /// Delay, throughput and seed of each run.
    pub runs: Vec<(f64, f64, String)>,
    /// The mean of both, as the axes count.
    pub mean: (f64, f64),
    /// The lower triangle of the Cholesky factor of their covariance, row by row; with it a circle becomes the ellipse.
    /// From three replications on: two have a line.
    pub factor: Option<[f64; 3]>,
}

/// The figure on the vertical axis: with swept rates, the utilisation of each.
fn upwards(groups: &[Group], keys: &[experiment::results::SweptKey]) -> (&'static str, &'static str) {
    let of_rates = keys.iter().any(|key| key.key.ends_with("rate"));
    match of_rates && groups.iter().all(|group| group.mean("utilisation").is_some()) {
        true => ("utilisation", "ratio"),
        false => ("throughput_bps", "bit/s"),
    }
}

/// The first that the runs have.
const X: [&str; 2] = ["queue_delay_mean_s", "rtt_mean_s"];
/// Minimum number of replications for an ellipse.
const FEWEST: usize = 3;
/// Delays that are further apart than by this factor have a logarithmic axis.
const WIDE: f64 = 30.0;
/// With more runs only dots are drawn.
const MANY: usize = 300;

/// The picture; `None` with fewer than two clouds, or without a delay.
pub fn tradeoff(results: &Results, groups: &[Group]) -> Option<Tradeoff> {
    let x = X.into_iter().find(|name| groups.iter().any(|group| group.interval(name).is_some()))?;
    let keys = experiment::results::swept(&results.runs);
    let (y, unit) = upwards(groups, &keys);
    let controllers = controllers(results);
    let dots = |group: &Group| -> Vec<(f64, f64, String)> {
        let of = |run: &&Run| Some((run.summary.metric(x)?, run.summary.metric(y)?, run.seed.to_string()));
        group.runs.iter().filter_map(of).filter(|(x, y, _)| x.is_finite() && y.is_finite()).collect()
    };
    let runs: Vec<Vec<(f64, f64, String)>> = groups.iter().map(dots).collect();
    let delays = || runs.iter().flatten().map(|run| run.0);
    let (least, most) = (delays().fold(f64::INFINITY, f64::min), delays().fold(0.0, f64::max));
    let many = runs.iter().map(Vec::len).sum::<usize>() > MANY;
    let log = least > 0.0 && most / least >= WIDE;
    let clouds: Vec<Cloud> = groups
        .iter()
        .zip(runs)
        .filter_map(|(group, runs)| {
            let controller = controllers.iter().position(|(name, _)| *name == group.controller)?;
            let points: Vec<(f64, f64)> = runs.iter().map(|(x, y, _)| (if log { x.log10() } else { *x }, *y)).collect();
            let (mean, factor) = moments(&points)?;
            Some(Cloud { controller, point: ordered_name(results, group.params), mean, factor, runs })
        })
        .collect();
    let swept = groups.first()?.params.keys().cloned().collect::<Vec<_>>().join(", ");
    // Along one key a line shows a trend; through the points of several it would zigzag.
    let varied: Vec<_> = keys.iter().filter(|key| varies(groups, &key.key)).collect();
    let joined = !keys.is_empty() && varied.len() <= 1 && varied.iter().all(|key| key.unit().is_some());
    (clouds.len() > 1).then(|| Tradeoff { x: label(x), y: label(y), unit, swept, joined, log, many, clouds })
}

/// Whether a key has several values for one controller. A swept controller has not: it names the groups.
fn varies(groups: &[Group], key: &str) -> bool {
    let other =
        |one: &Group, two: &Group| one.controller == two.controller && one.params.get(key) != two.params.get(key);
    groups.iter().any(|one| groups.iter().any(|two| other(one, two)))
}

impl Tradeoff {
    /// The caption, in sentences.
    pub fn caption(&self) -> String {
        let mut said = String::from("A dot is a run; further left and higher is better.");
        if self.many {
            return said;
        }
        if self.clouds.iter().any(|cloud| cloud.factor.is_some()) {
            said.push_str(" Ellipse: one standard deviation over the replications");
            said.push_str(if self.log { ", of the logarithm of the delay." } else { "." });
        }
        if self.joined {
            said.push_str(" Lines join the means of a controller over the sweep points, in their order.");
        }
        said
    }
}

fn label(name: &str) -> &'static str {
    let figure: Option<&'static Definition> = SUMMARY.iter().find(|figure| figure.name == name);
    figure.map_or("", |figure| figure.label)
}

/// A mean, and a factor of the covariance.
type Moments = ((f64, f64), Option<[f64; 3]>);

fn moments(points: &[(f64, f64)]) -> Option<Moments> {
    if points.is_empty() {
        return None;
    }
    let n = points.len() as f64;
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(*x, *y)).sum::<f64>();
    let (mean_x, mean_y) = (sum(&|x, _| x) / n, sum(&|_, y| y) / n);
    let factor = (points.len() >= FEWEST).then(|| {
        let over = |of: &dyn Fn(f64, f64) -> f64| sum(&|x, y| of(x - mean_x, y - mean_y)) / (n - 1.0);
        let (xx, yy, xy) = (over(&|x, _| x * x), over(&|_, y| y * y), over(&|x, y| x * y));
        let first = xx.sqrt();
        let slope = if first > 0.0 { xy / first } else { 0.0 };
        [first, slope, (yy - slope * slope).max(0.0).sqrt()]
    });
    Some(((mean_x, mean_y), factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use experiment::results::groups;

    #[test]
    fn dot_has_numbers_of_run() {
        let results = example::demo();
        let found = tradeoff(&results, &groups(&results.runs)).unwrap();
        assert_eq!((found.x, found.y, found.clouds.len()), ("Queueing, mean", "Throughput", 3));
        assert!(found.log && found.clouds[0].mean.0 < 0.0, "delays of 12 us and of 3 ms: {}", found.clouds[0].mean.0);
        let summary = &results.runs[0].summary;
        let dot = &found.clouds[0].runs[0];
        assert_eq!((Some(dot.0), Some(dot.1)), (summary.queue_delay_mean_s, summary.throughput_bps));
    }

    #[test]
    fn words_have_no_joining_line() {
        let mut results = example::sweep();
        let joined = |results: &Results| tradeoff(results, &groups(&results.runs)).unwrap().joined;
        assert!(joined(&results));
        let mut of_two = results.clone();
        for (run, delay) in of_two.runs.iter_mut().zip(["1 ms", "2 ms"].into_iter().cycle()) {
            run.params.insert("path.delay".to_string(), delay.to_string());
        }
        assert!(!joined(&of_two), "two keys vary");
        for (run, queue) in results.runs.iter_mut().zip(["fifo", "red"].into_iter().cycle()) {
            run.params = std::collections::BTreeMap::from([("path.queue".to_string(), queue.to_string())]);
        }
        assert!(!joined(&results));
        for run in &mut results.runs {
            run.params = std::collections::BTreeMap::from([("flow.0.controller".to_string(), run.controller.clone())]);
        }
        assert!(joined(&results), "the word says which controller it is");
    }

    /// Of (0, 0), (2, 0), (1, 3): means 1 and 1, variances 1 and 3, covariance 0.
    /// Of (0, 0), (1, 2), (2, 4): variances 1 and 4, covariance 2: a line.
    #[test]
    fn ellipse_matches_covariance() {
        let (mean, factor) = moments(&[(0.0, 0.0), (2.0, 0.0), (1.0, 3.0)]).unwrap();
        assert_eq!((mean, factor), ((1.0, 1.0), Some([1.0, 0.0, 3f64.sqrt()])));
        assert_eq!(moments(&[(0.0, 0.0), (1.0, 2.0), (2.0, 4.0)]).unwrap().1, Some([1.0, 2.0, 0.0]));
        assert_eq!(moments(&[(0.0, 0.0), (1.0, 2.0)]).unwrap().1, None);
    }

    #[test]
    fn single_cloud_or_missing_delay_gives_no_picture() {
        let single = example::single();
        assert_eq!(tradeoff(&single, &groups(&single.runs)), None);
        let mut results = example::demo();
        for run in &mut results.runs {
            run.summary.queue_delay_mean_s = None;
        }
        assert_eq!(tradeoff(&results, &groups(&results.runs)).map(|found| found.x), Some("RTT, mean"));
        results.runs.iter_mut().for_each(|run| run.summary.rtt_mean_s = None);
        assert_eq!(tradeoff(&results, &groups(&results.runs)), None);
    }
}
