//! Every claim is a scenario with expectations: `claims/*.toml` here, and `scenarios/*.toml`, which people start from. `drafts/*.toml`
//! are what standards and drafts ask for; there an expectation whose `why` has [`NOT_MET`], and then the reason, must be missed.
//! Each file is one test. The test reads the file, makes its runs and checks its expectations, as the command does.
//!
//! Runs without an expectation are not made. With `PACKETSCALE_LONG` set, all replications are made, not only the first
//! few, and two sets more: regression snapshots, with bounds from earlier measurements of our own
//! (`regressions/*.toml`), and findings of a search against other controllers (`scenarios/attack/*.toml`).

use experiment::results::{HostLabel, Manifest, Results, SCHEMA};
use experiment::scenario::Scenario;
use libtest_mimic::{Arguments, Failed, Trial};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Where scenarios with expectations are, and whether every run of the tests makes them.
const FOLDERS: [(&str, bool); 5] = [
    ("claims", true),
    ("drafts", true),
    ("../scenarios", true),
    ("regressions", false),
    ("../scenarios/attack", false),
];
/// Begins the reason for which an expectation is missed.
const NOT_MET: &str = "Not met: ";

/// If set, all are made, with all replications.
const LONG: &str = "PACKETSCALE_LONG";
/// The replications that every run of the tests makes.
const REPLICATIONS: u32 = 4;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    for (place, in_every_run) in FOLDERS {
        let mut files = scenarios(&folder.join(place));
        files.retain(|file| !sends_probe_streams(file) && !is_open_question(file));
        assert!(files.len() > 10, "only {} scenarios in {place}: the test looks at nothing", files.len());
        let ignored = !in_every_run && !is_long();
        trials.extend(files.into_iter().map(|file| one(file).with_ignored_flag(ignored)));
    }
    trials.push(Trial::test("a_missed_expectation_is_refused", a_missed_expectation_is_refused));
    trials.push(Trial::test("a_miss_that_is_met_is_refused", a_miss_that_is_met_is_refused));
    trials.push(Trial::test("a_claim_without_expectations_is_refused", a_claim_without_expectations_is_refused));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn is_long() -> bool {
    std::env::var_os(LONG).is_some()
}

/// The test of a file.
fn one(file: PathBuf) -> Trial {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(name, move || claim(&file))
}

/// Returns the scenario files of a folder, sorted by name.
fn scenarios(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

/// Whether a file only sends probe streams. Such files have no run and no expectation here:
/// `packetscale estimate --from-simulator` reads and scores them.
fn sends_probe_streams(file: &Path) -> bool {
    Scenario::read(file, &[]).is_ok_and(|scenario| scenario.plan().iter().any(|run| run.probe.is_some()))
}

/// Whether a file is an open question: a sweep of many minutes without expectations.
fn is_open_question(file: &Path) -> bool {
    const LARGE: usize = 1000;
    Scenario::read(file, &[]).is_ok_and(|scenario| scenario.plan().len() > LARGE)
}

fn claim(file: &Path) -> Result<(), Failed> {
    check(&Scenario::read(file, &[]).map_err(|error| error.to_string())?)
}

/// Makes the runs and checks them. A failure prints the table, which ends with the expectations.
fn check(scenario: &Scenario) -> Result<(), Failed> {
    if scenario.expectations().is_empty() {
        return Err("it expects nothing".into());
    }
    let mut plan = scenario.plan();
    plan.retain(|run| scenario.expectations().iter().any(|expectation| expectation.is_about(run)));
    plan.retain(|run| is_long() || run.replication < REPLICATIONS);
    let runs: Result<Vec<experiment::results::Run>, String> =
        plan.par_iter().map(|run| simulator::run(run).map_err(|error| error.to_string())).collect();
    let runs = runs?;
    let results = Results {
        schema: SCHEMA,
        host: HostLabel::default(),
        manifest: Manifest::default(),
        expectations: scenario.expectations().iter().map(|expectation| expectation.check(&runs)).collect(),
        runs,
    };
    let (missed, met): (Vec<_>, Vec<_>) =
        results.expectations.iter().partition(|outcome| outcome.why.contains(NOT_MET));
    if let Some(found) = missed.iter().find(|outcome| outcome.met) {
        return Err(
            format!("it is met now: {} {} of {} ({})", found.metric, found.bound, found.selected, found.why).into()
        );
    }
    if met.iter().all(|outcome| outcome.met) {
        return Ok(());
    }
    Err(experiment::results::to_table(&results, experiment::results::Print::default()).into())
}

/// One flow on 10 Mbit/s, with an expectation.
fn small(expect: &str) -> Scenario {
    let text = format!(
        "[run]\nduration = \"2 s\"\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\n\
         [[flow]]\ncontroller = \"newreno\"\n{expect}"
    );
    Scenario::parse(&text, Path::new("small.toml"), &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn a_missed_expectation_is_refused() -> Result<(), Failed> {
    let bound = |at_least: f64| format!("[[expect]]\nmetric = \"utilisation\"\nat_least = {at_least:?}\n");
    check(&small(&bound(0.5)))?;
    match check(&small(&bound(1.5))) {
        Err(failed) if failed.message().is_some_and(|text| text.contains("MISSED: utilisation at least 150.0 %")) => {
            Ok(())
        }
        other => Err(format!("a utilisation of 1.5 was believed: {other:?}").into()),
    }
}

fn a_miss_that_is_met_is_refused() -> Result<(), Failed> {
    let bound = |at_least: f64| {
        format!("[[expect]]\nmetric = \"utilisation\"\nat_least = {at_least:?}\nwhy = \"a test. {NOT_MET}too much\"\n")
    };
    check(&small(&bound(1.5)))?;
    match check(&small(&bound(0.5))) {
        Err(failed) if failed.message().is_some_and(|text| text.starts_with("it is met now")) => Ok(()),
        other => Err(format!("a utilisation above 0.5 was missed: {other:?}").into()),
    }
}

fn a_claim_without_expectations_is_refused() -> Result<(), Failed> {
    if check(&small("")).is_err() { Ok(()) } else { Err("nothing was expected, and it passed".into()) }
}
