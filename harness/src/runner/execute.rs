//! Makes the runs of a plan that are not done yet.

use crate::runner::checkpoint::{Checkpoint, NAME, Opened, is_no_file};
use crate::runner::files::Files;
use crate::runner::host::{Host, Refusal};
use crate::runner::job::{Job, Keep};
use crate::runner::machine::environment;
use crate::runner::made::Made;
use crate::runner::program::Program;
use crate::runner::shard::Shard;
use experiment::results::{Described, Manifest, Results, Run, SCHEMA};
use experiment::scenario::{Experiment, Scenario};
use packetscale_models::units::Span;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Makes runs on a host.
pub struct Runner<'a> {
    /// Where.
    pub host: &'a dyn Host,
    /// By which program.
    pub program: &'a Program,
    /// Most runs at the same time, up to the host's limit; `None`: that limit. Results do not depend on it.
    pub jobs: Option<u16>,
    /// Whether results of another scenario in the folder, or of an earlier form of this one, may be overwritten.
    pub replace: bool,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
}

/// Receives the progress of a plan.
pub trait Progress: Sync {
    /// Stored runs are used or overwritten, in a line.
    fn note(&self, line: &str);
    /// Runs are about to be made; some may be stored already. Finished runs are safe in `checkpoint` at any time.
    fn begin(&self, checkpoint: &Arc<Checkpoint>);
    /// The run of this number, counted as runs begin, has come to this part of its time, from 0 to 1: `at` of `all`.
    fn within(&self, run: usize, at: Span, all: Span);
    /// That run was made.
    fn made(&self, run: usize);
    /// No more are made.
    fn end(&self);
}

/// Discards all progress.
pub struct Silent;

impl Progress for Silent {
    fn note(&self, _: &str) {}
    fn begin(&self, _: &Arc<Checkpoint>) {}
    fn within(&self, _: usize, _: Span, _: Span) {}
    fn made(&self, _: usize) {}
    fn end(&self) {}
}

/// Why a plan was not finished. Finished runs are stored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The host makes no run.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Results cannot be stored.
    #[error("{}: cannot be written: {error}", folder.display())]
    Unwritable {
        /// Where they were to go.
        folder: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The folder holds what would be lost.
    #[error("{}: found {found}; expected an empty folder, or one of this plan", folder.display())]
    Occupied {
        /// Where the results were to go.
        folder: PathBuf,
        /// The existing results.
        found: String,
    },
    /// Shards that cannot be merged.
    #[error("{}: found {found}; expected {expected}", file.display())]
    Apart {
        /// The shard, or all of them.
        file: PathBuf,
        /// The shard's value.
        found: String,
        /// The expected value.
        expected: String,
    },
    /// Runs that no shard holds.
    #[error("{}: {runs} of {planned} runs are missing", folder.display())]
    Missing {
        /// Where the shards lie.
        folder: PathBuf,
        /// How many.
        runs: usize,
        /// Runs of the plan.
        planned: usize,
        /// The shards that lack runs.
        shards: Vec<Shard>,
    },
}

impl Error {
    /// For the errors of writing into this folder.
    pub fn unwritable(folder: &Path) -> impl Fn(io::Error) -> Error {
        move |error| Error::Unwritable { folder: folder.to_path_buf(), error }
    }
}

/// All runs of a plan, in its order.
pub struct Finished {
    /// The runs.
    pub runs: Vec<Run>,
    checkpoint: Arc<Checkpoint>,
}

impl Finished {
    /// Call after the results are written: removes files that would contradict `own`, and the checkpoint.
    ///
    /// # Errors
    /// An error of removing a file.
    pub fn written(&self, folder: &Path, own: &str) -> io::Result<()> {
        let mut others = experiment::results::SHOWN
            .iter()
            .map(|(file, _)| folder.join(file))
            .filter(|file| !file.ends_with(own) && file.exists());
        others.try_for_each(std::fs::remove_file)?;
        self.checkpoint.remove()
    }
}

impl Runner<'_> {
    /// Makes the runs of a scenario's plan that are not `made`, and puts all of the plan in `folder`.
    ///
    /// # Errors
    /// The host's refusal, or the folder that cannot be written.
    pub fn record(
        &self,
        scenario: &Scenario,
        plan: &[Experiment],
        name: String,
        folder: &Path,
        made: &mut Made,
    ) -> Result<Results, Error> {
        let files = Files::of(plan)?;
        self.may_take_page(folder, experiment::results::MANIFEST)?;
        self.may_replace(folder, existing(folder, &name, &scenario.to_toml(), self.host.name()))?;
        // A host may measure this machine for minutes.
        let conditions = self.host.check(plan)?;
        let mut finished = self.finish(plan, &files, Keep::Everything, folder, made)?;
        let conditions = conditions.into_iter().chain(experiment::results::remarks(&finished.runs)).collect();
        let manifest = Manifest {
            version: self.program.version().to_string(),
            commit: self.program.commit().map(str::to_string),
            scenario_name: name,
            scenario: scenario.to_toml(),
            seeds: scenario.seeds(),
            conditions,
            environment: environment(files.described()),
        };
        let results = Results {
            schema: SCHEMA,
            host: self.host.label(),
            manifest,
            expectations: scenario.expectations().iter().map(|one| one.check(&finished.runs)).collect(),
            runs: std::mem::take(&mut finished.runs),
        };
        let written = experiment::results::write(&results, folder)
            .and_then(|()| finished.written(folder, experiment::results::MANIFEST));
        written.map_err(Error::unwritable(folder))?;
        Ok(results)
    }

    /// Refuses a folder with results of the same name and other settings, unless they may be replaced: for a command that
    /// changes settings.
    ///
    /// # Errors
    /// [`Error::Occupied`].
    pub fn may_change(&self, scenario: &Scenario, name: &str, folder: &Path) -> Result<(), Error> {
        match existing(folder, name, &scenario.to_toml(), self.host.name()) {
            Existing::Earlier(found) if !self.replace => Err(Error::Occupied { folder: folder.to_path_buf(), found }),
            _ => Ok(()),
        }
    }

    /// Checks what is in a folder, and reports what is replaced.
    ///
    /// # Errors
    /// [`Error::Occupied`], if it may not be.
    pub fn may_replace(&self, folder: &Path, existing: Existing) -> Result<(), Error> {
        let found = match existing {
            Existing::Nothing => return Ok(()),
            Existing::Other(found) if !self.replace => {
                return Err(Error::Occupied { folder: folder.to_path_buf(), found });
            }
            Existing::Other(found) | Existing::Earlier(found) => found,
        };
        self.progress.note(&format!("{}: replaces {found}", folder.display()));
        Ok(())
    }

    /// The page in a folder is to be of what `own` shows the folder to hold.
    ///
    /// # Errors
    /// As [`Runner::may_replace`], where it is of something else.
    pub fn may_take_page(&self, folder: &Path, own: &str) -> Result<(), Error> {
        let other = experiment::results::SHOWN.iter().find(|(file, _)| *file != own && folder.join(file).exists());
        let found = |(file, what): &(&str, &str)| Existing::Other(format!("the {file} of {what}, and its page"));
        let page = experiment::results::PAGE;
        let strange = !folder.join(own).exists() && !folder.join(NAME).exists() && folder.join(page).is_file();
        let lone = match strange {
            _ if is_no_file(&folder.join(page)) => Existing::Other(format!("a file {page} that is not a regular file")),
            true => Existing::Other(format!("a file {page} without {own}")),
            false => Existing::Nothing,
        };
        self.may_replace(folder, other.map_or(lone, found))
    }

    /// Makes every run of a plan that is neither stored in the folder nor `made`, in parallel. The same run is made once,
    /// even if the plan repeats it.
    ///
    /// # Errors
    /// As [`Runner::record`].
    pub fn finish(
        &self,
        plan: &[Experiment],
        files: &Files,
        keep: Keep,
        folder: &Path,
        made: &mut Made,
    ) -> Result<Finished, Error> {
        std::fs::create_dir_all(folder).map_err(Error::unwritable(folder))?;
        let jobs = Job::all(plan, files, self.host, self.program, keep).map_err(Refusal::Machine)?;
        let ids: BTreeSet<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
        let opened = Checkpoint::open(folder, &ids, ids.len(), self.replace).map_err(Error::unwritable(folder))?;
        let (checkpoint, mut runs) = match opened {
            Opened::Checkpoint(checkpoint, runs) => (checkpoint, runs),
            Opened::Foreign(found) => return Err(Error::Occupied { folder: folder.to_path_buf(), found }),
        };
        if !runs.is_empty() {
            let (kept, planned) = (runs.len(), ids.len());
            self.progress.note(&format!("{}: resumes; {kept} of {planned} runs are already done", folder.display()));
        }
        let other: Vec<(String, Run)> = ids
            .iter()
            .filter(|id| !runs.contains_key(**id))
            .filter_map(|id| made.get(id).map(|run| (id.to_string(), run)))
            .collect();
        runs.extend(other);
        let checkpoint = Arc::new(checkpoint);
        self.progress.begin(&checkpoint);
        let mut asked: BTreeSet<&str> = runs.keys().map(String::as_str).collect();
        let missing: Vec<&Job<'_>> = jobs.iter().filter(|job| asked.insert(&job.id)).collect();
        let fresh = self.make(&missing, files, &checkpoint, folder, made);
        self.progress.end();
        runs.extend(fresh.inspect_err(|_| checkpoint.remove_if_empty())?);
        let small = jobs.iter().filter(|job| !job.experiment.record.detail);
        made.remember(small.filter_map(|job| runs.get(&job.id).map(|run| (job.id.clone(), run.clone()))));
        let runs = jobs.iter().filter_map(|job| runs.get(&job.id).cloned()).collect();
        Ok(Finished { runs, checkpoint })
    }

    pub(crate) fn make(
        &self,
        jobs: &[&Job<'_>],
        files: &Files,
        checkpoint: &Checkpoint,
        folder: &Path,
        made: &Made,
    ) -> Result<Vec<(String, Run)>, Error> {
        let one = |(number, job): (usize, &&Job<'_>)| {
            let all = job.experiment.duration;
            let run = self.host.run_watched(job.experiment, &|at| self.progress.within(number, at, all))?;
            let run = job.keep.of(run);
            files.unchanged(job.experiment)?;
            checkpoint.add(&job.id, &run).map_err(Error::unwritable(folder))?;
            made.keep(&job.id, &run).map_err(|(folder, error)| Error::unwritable(&folder)(error))?;
            self.progress.made(number);
            Ok((job.id.clone(), run))
        };
        let at_once = self.jobs.into_iter().chain(self.host.at_once()).min();
        threads(at_once)?.install(|| jobs.par_iter().enumerate().map(one).collect())
    }
}

/// Results that a folder already holds, in words.
pub enum Existing {
    /// Nothing, or results of the same.
    Nothing,
    /// Results of the same name, with other settings: they are replaced.
    Earlier(String),
    /// Results of another scenario or command: they are replaced only on request.
    Other(String),
}

impl Existing {
    /// Compares the request that a file stores (`there`) with the request `asked`. `found`: the file in words; `alike`: whether
    /// both have the same names.
    pub fn compared(there: &Value, asked: &str, alike: bool, found: String) -> Existing {
        match &there["asked"] {
            Value::String(before) if before == asked => Existing::Nothing,
            // Earlier versions did not store the request.
            Value::Null if alike => Existing::Nothing,
            _ if alike => Existing::Earlier(format!("{found}, with other settings")),
            _ => Existing::Other(found),
        }
    }

    /// The form of the stored results, short or full, where it differs from the requested one.
    pub fn form(short: bool, asked_short: bool) -> &'static str {
        match (short, asked_short) {
            (true, _) => " in its short form",
            (false, true) => " in its full form",
            (false, false) => "",
        }
    }
}

fn existing(folder: &Path, name: &str, scenario: &str, host: &str) -> Existing {
    if is_no_file(&folder.join(experiment::results::MANIFEST)) {
        return Existing::Other(format!("a file {} that is not a regular file", experiment::results::MANIFEST));
    }
    let Ok(content) = std::fs::read(folder.join(experiment::results::MANIFEST)) else {
        // Stored runs show that a command of this program was interrupted here.
        let strange =
            experiment::results::files().find(|file| folder.join(file).exists() && !folder.join(NAME).exists());
        return strange.map_or(Existing::Nothing, |file| {
            Existing::Other(format!("a file {file} without {}", experiment::results::MANIFEST))
        });
    };
    match serde_json::from_slice::<Described>(&content) {
        // Earlier versions did not write the host.
        Ok(Described { manifest, host: there, .. }) if !["", host].contains(&there.name.as_str()) => {
            Existing::Other(format!("results of {} with --on {}", manifest.scenario_name, there.name))
        }
        Ok(Described { manifest, .. }) if manifest.scenario_name == name => match manifest.scenario == scenario {
            true => Existing::Nothing,
            false => Existing::Earlier(format!("results of {name} with other settings")),
        },
        Ok(Described { manifest, .. }) => Existing::Other(format!("results of {}", manifest.scenario_name)),
        Err(_) => Existing::Other(format!("a file {} that is not of packetscale", experiment::results::MANIFEST)),
    }
}

/// A pool with one thread per job.
///
/// # Errors
/// When this machine gives none.
pub fn threads(jobs: Option<u16>) -> Result<rayon::ThreadPool, Refusal> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.map_or(0, usize::from)).build();
    pool.map_err(|error| Refusal::Machine(format!("no threads to run on: {error}")))
}
