//! Probe streams of the simulator: sent, judged, written, shown. For `packetscale estimate --from-simulator`, and for the
//! figures of papers that ask for them.

mod judge;
mod page;
mod search;
mod searched;
mod shown;
mod table;

use judge::{Method, answer};

use crate::args::Estimate as Arguments;
use crate::run::{threads, unwritable};
use crate::{Failure, say};
use estimation::Method as Built;
use rayon::prelude::*;
use scenario::{Experiment, Scenario};
use serde_json::{Value, json};
use simulator::ProbeStream;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The streams of one point of a sweep, run by run: streams of one run met the same traffic.
pub struct Point {
    /// Swept keys and their values.
    pub params: BTreeMap<String, String>,
    /// Rates in each stream.
    pub levels: u32,
    /// Replication by replication.
    pub runs: Vec<Vec<ProbeStream>>,
}

/// As a figure takes them.
type Answers = Vec<(BTreeMap<String, String>, Result<Value, String>)>;

/// Refuses a plan without probe streams.
pub fn check(plan: &[Experiment], file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    match plan.iter().all(|experiment| experiment.probe.is_some()) {
        true => Ok(()),
        false => Err(Failure::Input(format!(
            "{shown}: probe: found nothing, expected a table [probe] that says which streams to send"
        ))),
    }
}

/// The plan's streams follow from each other.
fn searching(plan: &[Experiment]) -> bool {
    plan.iter().all(|experiment| experiment.probe.is_some_and(|probe| probe.search.is_some()))
}

/// Sends all streams of a plan.
pub fn observe(plan: &[Experiment], jobs: Option<u16>) -> Result<Vec<Point>, Failure> {
    runner::Files::of(plan)?;
    let send =
        |experiment: &Experiment| simulator::probe(experiment).map_err(|error| Failure::Input(error.to_string()));
    let sent: Vec<Vec<ProbeStream>> =
        threads(jobs)?.install(|| plan.par_iter().map(send).collect::<Result<_, Failure>>())?;
    let mut points: Vec<Point> = Vec::new();
    for (experiment, probes) in plan.iter().zip(sent) {
        match points.last_mut().filter(|point| point.params == experiment.params) {
            Some(point) => point.runs.push(probes),
            None => points.push(Point {
                params: experiment.params.clone(),
                levels: experiment.probe.map_or(1, |probe| probe.levels),
                runs: vec![probes],
            }),
        }
    }
    Ok(points)
}

/// What every method makes of every point, with the point's keys and the method's name.
pub fn answers(points: &[Point], methods: &[Method]) -> Vec<(BTreeMap<String, String>, Value)> {
    let each = |point: &Point, method: &Method| {
        let mut key = point.params.clone();
        key.insert("method".to_string(), method.name.clone());
        (key, answer(point, method))
    };
    let pairs: Vec<(&Point, &Method)> =
        points.iter().flat_map(|point| methods.iter().map(move |m| (point, m))).collect();
    pairs.into_iter().map(|(point, method)| each(point, method)).collect()
}

/// Sends the streams of a figure's plan and reads them by its methods.
pub fn read(plan: &[Experiment], methods: &[String], jobs: Option<u16>) -> Result<Answers, Failure> {
    let built: Vec<Method> = methods
        .iter()
        .map(|text| Method::named(text))
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Input(format!("methods: {error}")))?;
    let answers = match searching(plan) {
        true => search::answers(&search::all(plan, methods, jobs)?),
        false => answers(&observe(plan, jobs)?, &built),
    };
    Ok(answers.into_iter().map(|(point, answer)| (point, Ok(answer))).collect())
}

/// `packetscale estimate --from-simulator`.
pub fn estimate(arguments: &Arguments, file: &Path) -> Result<(), Failure> {
    let scenario = Scenario::read(file, &arguments.set).map_err(|error| Failure::Input(error.to_string()))?;
    let plan = scenario.plan();
    check(&plan, file)?;
    let named = |text: &str| Method::named(text).map_err(|error| Failure::Input(format!("--method: {error}")));
    let mut methods: Vec<Method> = arguments.method.iter().map(|text| named(text)).collect::<Result<_, _>>()?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(scenario.name()));
    if searching(&plan) {
        let searches = search::all(&plan, &arguments.method, arguments.jobs)?;
        return searched::give(arguments, &scenario, &folder, &searches);
    }
    if methods.is_empty() {
        methods.push(named(Built::DEFAULT)?);
    }
    let points = observe(&plan, arguments.jobs)?;
    let mut with_baselines = methods;
    if points.iter().all(|point| point.levels > 1) {
        with_baselines.extend(Method::baselines());
    }
    let answers = answers(&points, &with_baselines);
    let files =
        write(&folder, &scenario, &points, &with_baselines, &answers).map_err(|error| unwritable(&folder, &error))?;
    if arguments.json {
        let rows: Vec<Value> =
            answers.iter().map(|(point, answer)| json!({ "point": point, "score": answer })).collect();
        return say(&format!("{}\n", json!({ "schema": results::SCHEMA, "methods": rows })));
    }
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    say(&format!("{}\nWritten to {}\n", shown::table(&answers), files.join(" and ")))
}

/// The recording and the page.
fn write(
    folder: &Path,
    scenario: &Scenario,
    points: &[Point],
    methods: &[Method],
    answers: &[(BTreeMap<String, String>, Value)],
) -> std::io::Result<[PathBuf; 2]> {
    const RECORDING: &str = "streams.csv";
    const PAGE: &str = "report.html";
    std::fs::create_dir_all(folder)?;
    results::write_file(folder, RECORDING, |file| table::write(file, points))?;
    let page = report::streams_page(&page::page(scenario, points, methods, answers));
    results::write_file(folder, PAGE, |file| file.write_all(page.as_bytes()))?;
    Ok([folder.join(RECORDING), folder.join(PAGE)])
}
