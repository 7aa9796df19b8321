//! Figures of curves as a figure's file requests them: curve, and time.

use crate::figures;
use experiment::results::{Run, Series};
use studies::papers::{Figure, Findings, Task};

/// A test's additions begin at line 23; the value begins at line 18.
const FIGURE: &str = r#"title = "Figure 1"
place = "section 1"
says = "So it is."

[[simulate]]
name = "runs"
scenario = '''
[path]
rate = "10 Mbit/s"
delay = "5 ms"

[[flow]]
controller = "cubic"
packet = "1000 B"

'''

[[value]]
what = "It"
published = 2.0
place = "here"
from = "runs"
"#;

fn read(more: &str) -> Result<Figure, String> {
    figures::read(&[FIGURE, more].concat(), false)
}

fn refusal(more: &str) -> String {
    let message = read(more).expect_err("it is wrong");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

/// Ours, where the rate is 1 at half a second, 3 at two and a half, and not known between.
fn ours(more: &str) -> Option<f64> {
    let figure = read(more).unwrap_or_else(|error| panic!("{error}"));
    let Task::Simulate { plan, .. } = &figure.tasks[0] else { panic!("the first task is a simulation") };
    let values = vec![Some(1.0), None, Some(3.0)];
    let rate = Series { metric: "rate".into(), flow: Some(0), start_s: 0.5, step_s: 1.0, values, ..Series::default() };
    let run = |experiment: &experiment::scenario::Experiment| Run {
        controller: experiment.controller.clone(),
        series: vec![rate.clone()],
        ..Run::default()
    };
    figure.outcome(&[Findings::Runs(plan.iter().map(run).collect())]).values[0].ours
}

const MEAN: &str = "metric = \"curves.rate.mean\"\n";

#[test]
fn reads_only_requested_time() {
    for (more, mean) in [
        ("", Some(2.0)),
        ("during_s = [0, 1]", Some(1.0)),
        ("during_s = [2.5, 3]", Some(3.0)),
        ("during_s = [1, 2.5]", None),
        // Another reading has the same time or its own.
        ("during_s = [2, 3]\ndivided_by = {}", Some(1.0)),
        ("during_s = [2, 3]\ndivided_by = { during_s = [0, 3] }", Some(1.5)),
    ] {
        assert_eq!(ours(&format!("{MEAN}{more}\n")), mean, "{more}");
    }
}

#[test]
fn invalid_time_range_is_refused_with_line() {
    for time in ["[2, 3, 5]", "[2]", "[3, 2]", "[2, 2]", "[-1, 2]", "[nan, 2]", "[\"2 s\", \"3 s\"]", "2"] {
        let message = refusal(&format!("{MEAN}during_s = {time}\n"));
        let expected = format!("figure-1.toml:24: during_s: found {time}, expected [FROM, TO] in seconds");
        assert!(message.contains(&expected), "{message}");
    }
    let other = refusal(&format!("{MEAN}less = {{ during_s = [2, 3, 5] }}\n"));
    assert!(other.contains("figure-1.toml:24: during_s: found [2, 3, 5]"), "{other}");
}

#[test]
fn refuses_unknown_curve_figure_and_lists_valid() {
    for metric in ["curves.rates.mean", "curves.rate.median", "curves.rate"] {
        let message = refusal(&format!("metric = \"{metric}\"\n"));
        assert!(
            message.contains(&format!("figure-1.toml:18: value \"It\": metric: found \"{metric}\", ")),
            "{message}"
        );
        for known in ["rate, ", "queue_delay, ", "file_duration, ", "mean, deviation, least, most"] {
            assert!(message.contains(known), "{known}: {message}");
        }
        assert!(!message.contains("flows.N.FIELD") && !message.contains("fairness_jain"), "{message}");
    }
}
