//! `packetscale run`: plan, run, write, say.

use crate::args::{On, Run as Arguments};
use crate::resume::{Finished, key};
use crate::{Failure, host, machine, say, trace};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use results::{Manifest, Results, Run, SCHEMA};
use scenario::{Experiment, Scenario};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Exit code after Ctrl-C, as shells count: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scenario =
        Scenario::read(&arguments.file, &arguments.set).map_err(|error| Failure::Input(error.to_string()))?;
    if arguments.print {
        return say(&scenario.to_toml());
    }
    if scenario.plan().iter().any(|experiment| experiment.probe.is_some()) {
        let how = format!("packetscale estimate --from-simulator {}", arguments.file.display());
        return Err(Failure::Input(format!(
            "{}: probe: found probe streams, which `{how}` sends and judges",
            arguments.file.display()
        )));
    }
    let jobs = jobs(arguments)?;
    let folder = arguments.out.clone().unwrap_or_else(|| Path::new("out").join(scenario.name()));
    let name = arguments.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plan = scenario.plan();
    trace::check(arguments.trace.as_ref(), arguments.on, &plan)?;
    let results = record(arguments.on, &scenario, &plan, name, &folder, jobs, &mut Made::new())?;
    write_page(&results, &folder, !arguments.no_page).map_err(|error| unwritable(&folder, &error))?;
    if let Some(file) = &arguments.trace {
        trace::write(file, &plan)?;
    }
    if arguments.json {
        say(&results::to_json(&results))?;
    } else {
        say(&format!("{}\nWritten to {}\n", results::to_table(&results, results::colours_wanted()), folder.display()))?;
    }
    if results.expectations.iter().all(|expectation| expectation.met) { Ok(()) } else { Err(Failure::Missed) }
}

/// Runs that this command has made, by their keys; those without detail, which are small.
pub type Made = BTreeMap<String, Run>;

/// Makes the runs of a scenario's plan that are not `made`, and puts all of the plan in `folder`, without a page.
pub fn record(
    on: On,
    scenario: &Scenario,
    plan: &[Experiment],
    name: String,
    folder: &Path,
    jobs: Option<u16>,
    made: &mut Made,
) -> Result<Results, Failure> {
    let inputs = machine::inputs(plan).map_err(Failure::Input)?;
    let conditions = host::check(on, plan)?;
    let (runs, finished) = execute(plan, &inputs, folder, on, jobs, made)?;
    let results = Results {
        schema: SCHEMA,
        host: host::named(on),
        manifest: Manifest { conditions, ..manifest(name, scenario, inputs) },
        expectations: scenario.expectations().iter().map(|expectation| expectation.check(&runs)).collect(),
        runs,
    };
    results::write(&results, folder).and_then(|()| finished.remove()).map_err(|error| unwritable(folder, &error))?;
    Ok(results)
}

/// How many runs are made at the same time; `None`: as many as there are cores. Runs in real time would share the machine,
/// and each would measure the others.
fn jobs(arguments: &Arguments) -> Result<Option<u16>, Failure> {
    match (arguments.on, arguments.jobs) {
        (On::Simulator, jobs) => Ok(jobs),
        (On::Kernel, None | Some(1)) => Ok(Some(1)),
        (On::Kernel, Some(jobs)) => {
            Err(Failure::Input(format!("--jobs: found {jobs}; expected 1, one run at a time, with --on kernel")))
        }
    }
}

fn manifest(scenario_name: String, scenario: &Scenario, inputs: Vec<String>) -> Manifest {
    Manifest {
        version: env!("CARGO_PKG_VERSION").to_string(),
        commit: option_env!("PACKETSCALE_COMMIT").map(str::to_string),
        scenario_name,
        scenario: scenario.to_toml(),
        seeds: scenario.seeds(),
        conditions: Vec::new(),
        environment: machine::environment(inputs),
    }
}

fn write_page(results: &Results, folder: &Path, page: bool) -> std::io::Result<()> {
    const PAGE: &str = "report.html";
    if page {
        return results::write_file(folder, PAGE, |file| file.write_all(host::page(results).as_bytes()));
    }
    match std::fs::remove_file(folder.join(PAGE)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

pub fn unwritable(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::Input(format!("{}: cannot be written: {error}; name another folder with --out", folder.display()))
}

/// Makes every run of the plan that is neither in the folder nor `known` already, in parallel; returns all in the plan's
/// order.
fn execute(
    plan: &[Experiment],
    inputs: &[String],
    folder: &Path,
    on: On,
    jobs: Option<u16>,
    known: &mut Made,
) -> Result<(Vec<Run>, Arc<Finished>), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    let keys: Vec<String> = plan.iter().map(|experiment| key(on, experiment, inputs)).collect();
    let (finished, mut kept) = Finished::open(folder, &keys).map_err(|error| unwritable(folder, &error))?;
    kept.extend(keys.iter().filter_map(|key| known.get(key).map(|run| (key.clone(), run.clone()))));
    let progress = Progress { all: plan.len(), finished: Arc::new(finished) };
    progress.keep_on_interrupt(folder.to_path_buf());
    let bar = progress.bar();
    let missing: Vec<_> = plan.iter().zip(&keys).filter(|(_, key)| !kept.contains_key(*key)).collect();
    let made: Result<Vec<(String, Run)>, Failure> = threads(jobs)?.install(|| {
        let runs = missing.into_par_iter().map(|(experiment, key)| {
            let run = host::make(on, experiment)?;
            progress.finished.add(key, &run).map_err(|error| unwritable(folder, &error))?;
            bar.inc(1);
            Ok((key.clone(), run))
        });
        runs.collect()
    });
    bar.finish_and_clear();
    kept.extend(made.inspect_err(|_| progress.finished.remove_if_empty())?);
    let small = plan.iter().zip(&keys).filter(|(experiment, _)| !experiment.record.detail);
    known.extend(small.filter_map(|(_, key)| kept.get(key).map(|run| (key.clone(), run.clone()))));
    let runs = keys.iter().filter_map(|key| kept.get(key).cloned()).collect();
    Ok((runs, progress.finished))
}

/// As many threads as jobs.
pub fn threads(jobs: Option<u16>) -> Result<rayon::ThreadPool, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.map_or(0, usize::from)).build();
    pool.map_err(|error| Failure::Machine(format!("no threads to run on: {error}")))
}

/// How far the plan is.
struct Progress {
    all: usize,
    finished: Arc<Finished>,
}

impl Progress {
    /// On standard error, when that is a terminal.
    fn bar(&self) -> ProgressBar {
        let bar = ProgressBar::new(self.all as u64).with_position(self.finished.lock().runs as u64);
        if let Ok(style) = ProgressStyle::with_template("{pos}/{len} runs {wide_bar} {elapsed}, {eta} left") {
            bar.set_style(style);
        }
        bar.tick();
        bar
    }

    /// On Ctrl-C lets the line that is being written be completed, says what is kept, and ends the program. One plan
    /// is under way at a time: the last that asked.
    fn keep_on_interrupt(&self, folder: PathBuf) {
        static UNDER_WAY: Mutex<Option<(usize, PathBuf, Arc<Finished>)>> = Mutex::new(None);
        let under_way = || UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
        *under_way() = Some((self.all, folder, Arc::clone(&self.finished)));
        let handler = move || {
            if let Some((all, folder, finished)) = &*under_way() {
                let no_more_lines = finished.lock();
                let kept = format!("{} of {all} runs are kept in {}", no_more_lines.runs, folder.display());
                let _ = writeln!(std::io::stderr(), "\ninterrupted: {kept}; the same command resumes");
                std::process::exit(INTERRUPTED);
            }
        };
        // Without a handler Ctrl-C ends the program at once; finished runs are kept all the same.
        let _ = ctrlc::set_handler(handler);
    }
}
