//! Throughput against delay: a dot for each run, and for each group of replications the ellipse of one standard deviation.

use crate::groups::{controllers, point_name};
use results::figures::{Definition, SUMMARY};
use results::{Group, Results};
use serde::Serialize;

/// The picture.
#[derive(Debug, PartialEq, Serialize)]
pub struct Tradeoff {
    /// Headings of the axes; rates in bit/s, delays in seconds.
    pub x: &'static str,
    /// The same of the other axis.
    pub y: &'static str,
    /// Swept keys; empty where nothing is swept.
    pub swept: String,
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
    /// The mean of both.
    pub mean: (f64, f64),
    /// The lower triangle of the Cholesky factor of their covariance, row by row; with it a circle becomes the ellipse.
    /// From three replications on: two have a line.
    pub factor: Option<[f64; 3]>,
}

const Y: &str = "throughput_bps";
/// The first that the runs have.
const X: [&str; 2] = ["queue_delay_mean_s", "rtt_mean_s"];
/// Replications from which on there is an ellipse.
const FEWEST: usize = 3;

/// Returns the picture; `None` where there are not two clouds to compare, or no delay.
pub fn tradeoff(results: &Results, groups: &[Group]) -> Option<Tradeoff> {
    let x = X.into_iter().find(|name| groups.iter().any(|group| group.interval(name).is_some()))?;
    let controllers = controllers(results);
    let clouds: Vec<Cloud> = groups
        .iter()
        .filter_map(|group| {
            let runs = group
                .runs
                .iter()
                .filter_map(|run| Some((run.summary.metric(x)?, run.summary.metric(Y)?, run.seed.to_string())));
            let runs: Vec<(f64, f64, String)> = runs.filter(|(x, y, _)| x.is_finite() && y.is_finite()).collect();
            let controller = controllers.iter().position(|(name, _)| *name == group.controller)?;
            let point = point_name(group.params);
            let (mean, factor) = moments(&runs)?;
            Some(Cloud { controller, point, mean, factor, runs })
        })
        .collect();
    let swept = groups.first()?.params.keys().cloned().collect::<Vec<_>>().join(", ");
    (clouds.len() > 1).then(|| Tradeoff { x: label(x), y: label(Y), swept, clouds })
}

impl Tradeoff {
    /// What it shows, in sentences.
    pub fn caption(&self) -> String {
        let mut said = String::from("A dot is a run; further left and higher is better.");
        if self.clouds.iter().any(|cloud| cloud.factor.is_some()) {
            said.push_str(" Ellipse: one standard deviation over the replications.");
        }
        if !self.swept.is_empty() {
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

fn moments(runs: &[(f64, f64, String)]) -> Option<Moments> {
    let n = runs.len() as f64;
    let sum = |of: &dyn Fn(&(f64, f64, String)) -> f64| runs.iter().map(of).sum::<f64>();
    if runs.is_empty() {
        return None;
    }
    let (x, y) = (sum(&|run| run.0) / n, sum(&|run| run.1) / n);
    let over = |of: &dyn Fn(&(f64, f64, String)) -> f64| sum(of) / (n - 1.0);
    let factor = (runs.len() >= FEWEST).then(|| {
        let xx = over(&|run| (run.0 - x) * (run.0 - x));
        let yy = over(&|run| (run.1 - y) * (run.1 - y));
        let xy = over(&|run| (run.0 - x) * (run.1 - y));
        let first = xx.sqrt();
        let slope = if first > 0.0 { xy / first } else { 0.0 };
        [first, slope, (yy - slope * slope).max(0.0).sqrt()]
    });
    Some(((x, y), factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use results::groups;

    #[test]
    fn a_dot_has_the_numbers_of_its_run() {
        let results = example::demo();
        let found = tradeoff(&results, &groups(&results.runs)).unwrap();
        assert_eq!((found.x, found.y, found.clouds.len()), ("Queueing, mean", "Throughput", 3));
        let summary = &results.runs[0].summary;
        let dot = &found.clouds[0].runs[0];
        assert_eq!((Some(dot.0), Some(dot.1)), (summary.queue_delay_mean_s, summary.throughput_bps));
    }

    /// Of (0, 0), (2, 0), (1, 3): means 1 and 1, variances 1 and 3, covariance 0.
    /// Of (0, 0), (1, 2), (2, 4): variances 1 and 4, covariance 2: a line.
    #[test]
    fn the_ellipse_is_that_of_the_covariance() {
        let runs = |points: &[(f64, f64)]| points.iter().map(|(x, y)| (*x, *y, String::new())).collect::<Vec<_>>();
        let (mean, factor) = moments(&runs(&[(0.0, 0.0), (2.0, 0.0), (1.0, 3.0)])).unwrap();
        assert_eq!((mean, factor), ((1.0, 1.0), Some([1.0, 0.0, 3f64.sqrt()])));
        assert_eq!(moments(&runs(&[(0.0, 0.0), (1.0, 2.0), (2.0, 4.0)])).unwrap().1, Some([1.0, 2.0, 0.0]));
        assert_eq!(moments(&runs(&[(0.0, 0.0), (1.0, 2.0)])).unwrap().1, None);
    }

    #[test]
    fn one_cloud_and_runs_without_delay_give_no_picture() {
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
