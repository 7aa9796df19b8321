//! Expectations, checked on runs.

use experiment::results::{Run, Summary};
use experiment::scenario::Expectation;
use std::collections::BTreeMap;

fn run(controller: &str, loss: &str, replication: u32, summary: Summary) -> Run {
    Run {
        controller: controller.to_string(),
        replication,
        params: BTreeMap::from([("path.loss".to_string(), loss.to_string())]),
        summary,
        queue_delay: Default::default(),
        ..Run::default()
    }
}

fn used(utilisation: f64) -> Summary {
    Summary { utilisation: Some(utilisation), ..Summary::default() }
}

fn runs() -> Vec<Run> {
    vec![
        run("rapid", "0.0", 0, used(0.98)),
        run("rapid", "0.0", 1, used(0.96)),
        run("rapid", "0.01", 0, used(0.95)),
        run("rapid", "0.01", 1, used(0.87)),
        run("cubic", "0.0", 0, used(0.90)),
        run("cubic", "0.01", 0, used(0.10)),
    ]
}

fn expectation(conditions: &[(&str, &str)], at_least: Option<f64>, at_most: Option<f64>) -> Expectation {
    let conditions = conditions.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let metric = "utilisation".to_string();
    Expectation { metric, conditions, at_least, at_most, why: "a test".to_string() }
}

#[test]
fn the_worst_selected_group_is_reported_by_its_mean_over_replications() {
    // The means are 0.97 without loss and 0.91 with it.
    let outcome = expectation(&[("controller", "rapid")], Some(0.9), None).check(&runs());
    assert!(outcome.met);
    assert!((outcome.found.expect("a mean") - 0.91).abs() < 1e-12);
    assert_eq!(outcome.selected, "rapid, path.loss = 0.01, the worst of 2");
    assert_eq!(outcome.bound, "at least 0.9");
    assert!(!expectation(&[("controller", "rapid")], Some(0.92), None).check(&runs()).met);
}

#[test]
fn conditions_select_by_swept_keys_too() {
    let conditions = [("controller", "rapid"), ("path.loss", "0.0")];
    let outcome = expectation(&conditions, Some(0.965), Some(0.975)).check(&runs());
    assert!(outcome.met);
    assert_eq!(outcome.selected, "rapid, path.loss = 0.0");
    assert_eq!(outcome.bound, "at least 0.965 and at most 0.975");
}

#[test]
fn an_upper_bound_is_missed_by_the_largest_group() {
    let outcome = expectation(&[], None, Some(0.95)).check(&runs());
    assert!(!outcome.met);
    assert_eq!(outcome.selected, "rapid, path.loss = 0.0, the worst of 4");
}

#[test]
fn a_figure_that_one_replication_does_not_have_misses_every_bound() {
    let converged = |convergence_s| Summary { convergence_s, ..Summary::default() };
    let runs = [run("rapid", "0.0", 0, converged(Some(1.0))), run("rapid", "0.0", 1, converged(None))];
    let metric = "convergence_s".to_string();
    let outcome = Expectation { metric, ..expectation(&[], None, Some(5.0)) }.check(&runs);
    assert_eq!((outcome.met, outcome.found), (false, None));
}

#[test]
fn an_expectation_of_no_run_is_missed() {
    let outcome = expectation(&[("controller", "bbr")], Some(0.0), None).check(&runs());
    assert_eq!((outcome.met, outcome.selected.as_str()), (false, "no run"));
}
