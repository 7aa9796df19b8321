//! The curves of a run, and figures of them: mean, deviation, least and most.

use crate::papers::during::During;
use experiment::results::{Histogram, Run};

/// A point of a curve: its position, and its value if any.
pub(crate) type Point = (f64, Option<f64>);

/// Figures in a metric `curves.NAME.FIGURE`.
pub(crate) const FIGURES: [&str; 4] = ["mean", "deviation", "least", "most"];

/// Returns the name and the figure of a metric `curves.NAME.FIGURE`.
pub(crate) fn of_metric(metric: &str) -> Option<(&str, &str)> {
    metric.strip_prefix("curves.")?.split_once('.')
}

/// Returns a curve of a run: a distribution, the variation over the window length, or a series over time. Without a
/// flow, it is the path's series, or else that of the first flow.
pub(crate) fn points(run: &Run, name: &str, flow: Option<u32>) -> Vec<Point> {
    if name == "variation" {
        return run.windows.iter().map(|window| (window.window_s, window.variation)).collect();
    }
    if name == "file_duration" {
        return run
            .traffic
            .iter()
            .map(|traffic| shares(&traffic.file_duration))
            .find(|s| !s.is_empty())
            .unwrap_or_default();
    }
    let of = |flow: Option<u32>| run.series.iter().find(|series| series.metric == name && series.flow == flow);
    let Some(series) = (if flow.is_some() { of(flow) } else { of(None).or_else(|| of(Some(0))) }) else {
        return Vec::new();
    };
    let times = (0..).map(|i| series.start_s + f64::from(i) * series.step_s);
    times.zip(&series.values).map(|(time, value)| (time, value.map(f64::from))).collect()
}

/// Returns pairs `(x, share of the counts at or below x)`, from the last upper edge at which the share is zero.
fn shares(histogram: &Histogram) -> Vec<Point> {
    let total: u64 = histogram.count.iter().sum();
    if total == 0 {
        return Vec::new();
    }
    let mut below = 0;
    let share = |(upper, count): (&f64, &u64)| {
        below += count;
        (*upper, Some(below as f64 / total as f64))
    };
    let points: Vec<_> = histogram.upper_s.iter().zip(&histogram.count).map(share).collect();
    let empty = histogram.count.iter().take_while(|count| **count == 0).count();
    points[empty.saturating_sub(1)..].to_vec()
}

/// Returns a figure of the values in this time; `None` if there are none.
pub(crate) fn figure(points: &[Point], figure: &str, during: Option<During>) -> Option<f64> {
    let seen = |at: f64| during.is_none_or(|during| during.contains(at));
    let values: Vec<f64> = points.iter().filter(|(at, _)| seen(*at)).filter_map(|(_, value)| *value).collect();
    if values.is_empty() {
        return None;
    }
    match figure {
        "mean" => Some(experiment::results::mean(&values)),
        "deviation" => Some(experiment::results::deviation(&values)),
        "least" => values.into_iter().reduce(f64::min),
        "most" => values.into_iter().reduce(f64::max),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::results::Series;

    fn during(from_s: f64, to_s: f64) -> Option<During> {
        Some(toml::Value::from(vec![from_s, to_s]).try_into().expect("a time"))
    }

    /// One value a second, at 0.5 s, 1.5 s, ...; the third is missing.
    fn run() -> Run {
        let values = [2.0, 4.0, f32::NAN, 4.0, 6.0, 100.0].map(|value| (!value.is_nan()).then_some(value));
        let series = Series {
            metric: "offered".to_string(),
            flow: None,
            unit: "bit/s".to_string(),
            start_s: 0.5,
            step_s: 1.0,
            values: values.to_vec(),
        };
        Run { series: vec![series], ..Run::default() }
    }

    #[test]
    fn curve_figures_use_given_time() {
        let curve = points(&run(), "offered", None);
        let read = |name| figure(&curve, name, during(0.5, 5.0)).unwrap();
        // Of 2, 4, 4 and 6.
        assert_eq!([read("mean"), read("deviation"), read("least"), read("most")], [4.0, 2.0_f64.sqrt(), 2.0, 6.0]);
        // Of 4, 4 and 6: the value at 0.5 s is before.
        assert!((figure(&curve, "mean", during(0.6, 5.0)).unwrap() - 14.0 / 3.0).abs() < 1e-12);
        assert_eq!(figure(&curve, "most", None), Some(100.0));
    }

    #[test]
    fn curve_without_values_has_no_figure() {
        let curve = points(&run(), "offered", None);
        assert_eq!(figure(&curve, "mean", during(2.0, 3.0)), None);
        assert_eq!(figure(&points(&run(), "rtt", None), "mean", None), None);
    }

    #[test]
    fn metric_names_curve_and_figure() {
        assert_eq!(of_metric("curves.queue_rho.deviation"), Some(("queue_rho", "deviation")));
        assert_eq!(of_metric("utilisation"), None);
    }
}
