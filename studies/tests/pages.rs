//! The page of every example scenario in a browser: no error, nothing on its console, no invalid number.

#[path = "../../report/tests/chromium/mod.rs"]
mod chromium;

use chromium::{attribute, chromium, open};
use experiment::results::{HostLabel, Manifest, Results, SCHEMA};
use experiment::scenario::Scenario;
use rayon::prelude::*;
use std::path::Path;

/// As much of a run as draws every curve.
const SHORT: [&str; 4] = ["run.duration=\"3 s\"", "run.warmup=\"1 s\"", "run.replications=2", "run.seed=1"];

/// Larger plans ask a question: their runs take minutes.
const LARGEST: usize = 200;

#[test]
#[ignore = "minutes"]
fn every_example_has_a_page_without_errors() {
    if !chromium() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let files = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    let mut drawn = 0;
    for file in files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")) {
        let short = Scenario::read(&file, &SHORT.map(String::from)).or_else(|_| Scenario::read(&file, &[]));
        let scenario = short.unwrap_or_else(|error| panic!("{error}"));
        let plan = scenario.plan();
        if plan.len() > LARGEST || plan.iter().any(|run| run.probe.is_some()) {
            continue;
        }
        let runs: Vec<_> = plan.par_iter().map(|run| simulator::run(run).unwrap()).collect();
        let expectations = scenario.expectations().iter().map(|expectation| expectation.check(&runs)).collect();
        let manifest = Manifest {
            scenario: scenario.to_toml(),
            scenario_name: scenario.name().to_string(),
            ..Manifest::default()
        };
        let results = Results { schema: SCHEMA, host: HostLabel::default(), manifest, expectations, runs };
        let (dom, log) = open(&report::page(&results), 1280, "");
        let drawing = dom.split("<body>").nth(1).and_then(|body| body.split("<script").next()).unwrap_or_default();
        assert_eq!(attribute(&dom, "<html", "data-errors"), Some("[]"), "{}: {log}", file.display());
        assert!(!log.contains("CONSOLE"), "{}: {log}", file.display());
        assert!(!drawing.contains("NaN") && !drawing.contains("Infinity"), "{}", file.display());
        drawn += 1;
    }
    assert!(drawn > 10, "only {drawn} pages were drawn");
}
