//! `packetscale estimate --from-simulator`: probe streams of the simulator, judged, written and shown.

use crate::args::estimate::Estimate as Arguments;
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use crate::probing::{HOST, refused, with_inputs};
use experiment::results::{MANIFEST, to_lines};
use experiment::scenario::{Experiment, Scenario};
use harness::probing::search::{self, Search};
use harness::probing::{Reader, Scored, SweepPoint};
use packetscale_models::estimation::Method;
use report::PAGE;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The table of streams, or that of searches.
const RECORDING: &str = "streams.csv";
const SEARCHES: &str = "searches.csv";

pub fn estimate(arguments: &Arguments, file: &Path) -> Result<(), Failure> {
    let scenario = Scenario::read(file, &arguments.set).map_err(|error| Failure::Input(error.to_string()))?;
    let plan = scenario.plan();
    check(&plan, file)?;
    let named = |text: &str| Reader::named(text).map_err(refused("--method"));
    let mut readers: Vec<Reader> = arguments.method.iter().map(|text| named(text)).collect::<Result<_, _>>()?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(scenario.name()));
    if !arguments.output.replace {
        not_of_another(&folder)?;
    }
    if harness::probing::searches(&plan) {
        let all = with_inputs(&plan, arguments.jobs, || search::all(HOST, &plan, &arguments.method))?;
        return give_searches(arguments, &scenario, &folder, &all.map_err(refused("--method"))?);
    }
    if readers.is_empty() {
        readers.push(named(Method::DEFAULT)?);
    }
    let points =
        with_inputs(&plan, arguments.jobs, || harness::probing::observe(HOST, &plan))?.map_err(refused("--method"))?;
    if points.iter().all(|point| point.levels > 1) {
        readers.extend(Reader::baselines());
    }
    give_scores(arguments, &scenario, &folder, &points, &readers)
}

/// Refuses a folder whose files an earlier estimate has not written: that leaves its table and its page, and no manifest.
fn not_of_another(folder: &Path) -> Result<(), Failure> {
    let there = |name: &str| folder.join(name).symlink_metadata().is_ok();
    let own = (there(RECORDING) || there(SEARCHES)) && there(PAGE) && !there(MANIFEST);
    let Some(name) = [MANIFEST, RECORDING, SEARCHES, PAGE].into_iter().find(|name| !own && there(name)) else {
        return Ok(());
    };
    let expected = "expected a new folder, or --replace to overwrite what is there";
    Err(Failure::Input(format!("{}: found {name}; {expected}", folder.display())))
}

/// Refuses a plan without probe streams.
fn check(plan: &[Experiment], file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    match plan.iter().all(|experiment| experiment.probe.is_some()) {
        true => Ok(()),
        false => Err(Failure::Input(format!(
            "{shown}: probe: found nothing, expected a table [probe] that says which streams to send"
        ))),
    }
}

/// Prints scores, and writes the recording and the page.
fn give_scores(
    arguments: &Arguments,
    scenario: &Scenario,
    folder: &Path,
    points: &[SweepPoint],
    readers: &[Reader],
) -> Result<(), Failure> {
    let scores = harness::probing::scores(points, readers);
    let files =
        write_streams(folder, scenario, points, readers, &scores).map_err(|error| unwritable(folder, &error))?;
    if arguments.json {
        return say(&format!("{}\n", json!({ "schema": experiment::results::SCHEMA, "methods": objects(&scores) })));
    }
    let table = harness::probing::score_table(&scores);
    let keys = scores.first().map_or(0, |(point, _)| point.len());
    say(&format!("{}\n{}", to_lines(&table, keys..table[0].len()), written(&files)))
}

/// Prints searches, and writes their streams and a page.
fn give_searches(
    arguments: &Arguments,
    scenario: &Scenario,
    folder: &Path,
    searches: &[Search],
) -> Result<(), Failure> {
    let files = write_searches(folder, scenario, searches).map_err(|error| unwritable(folder, &error))?;
    let scores = search::scores(searches);
    if arguments.json {
        let searches: Vec<Value> = searches.iter().map(Search::figures).collect();
        let all = json!({ "schema": experiment::results::SCHEMA, "methods": objects(&scores), "searches": searches });
        return say(&format!("{all}\n"));
    }
    let table = search::search_table(searches);
    let keys = searches.first().map_or(0, |search| search.key.len());
    let mut text = to_lines(&table, keys..table[0].len());
    if searches.len() > scores.len() {
        let summary = search::summary_table(&scores);
        text += &format!("\n{}", to_lines(&summary, keys..summary[0].len()));
    }
    say(&format!("{text}\n{}", written(&files)))
}

fn objects(scores: &[Scored]) -> Vec<Value> {
    scores.iter().map(|(point, score)| json!({ "point": point, "score": score })).collect()
}

fn written(files: &[PathBuf]) -> String {
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    format!("Written to {}\n", files.join(" and "))
}

fn write_streams(
    folder: &Path,
    scenario: &Scenario,
    points: &[SweepPoint],
    readers: &[Reader],
    scores: &[Scored],
) -> std::io::Result<[PathBuf; 2]> {
    std::fs::create_dir_all(folder)?;
    experiment::results::write_file(folder, RECORDING, |file| harness::probing::recording::write(file, points))?;
    let page = report::streams_page(scenario.name(), scenario.to_toml(), points, readers, scores);
    experiment::results::write_file(folder, PAGE, |file| file.write_all(page.as_bytes()))?;
    Ok([RECORDING, PAGE].map(|file| folder.join(file)))
}

fn write_searches(folder: &Path, scenario: &Scenario, searches: &[Search]) -> std::io::Result<[PathBuf; 2]> {
    std::fs::create_dir_all(folder)?;
    experiment::results::write_file(folder, SEARCHES, |file| search::write(file, searches))?;
    let page = report::searches_page(scenario.name(), scenario.to_toml(), searches);
    experiment::results::write_file(folder, PAGE, |file| file.write_all(page.as_bytes()))?;
    Ok([SEARCHES, PAGE].map(|file| folder.join(file)))
}
