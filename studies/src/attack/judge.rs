//! Judges a path: runs the subject and the reference on it, and computes how much worse the subject is. A file caches
//! judgements, so that an interrupted search resumes.

use crate::attack::figure::{Figure, LEAST_REFERENCE_SHARE, Reading};
use crate::attack::genome::Genome;
use crate::attack::written::{Frame, capacity_bps, least_completion_s, scenario};
use experiment::results::Run;
use experiment::scenario::{Experiment, Scenario};
use harness::runner::{Error, Files, Host, Job, Keep, Program, Refusal, alone_in};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Cached runs, a line each, with their measurements.
fn remembered(figure: Figure) -> String {
    format!("judged-{}.ndjson", figure.name())
}

/// What the subject is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// Another controller on the same path, with the same draws.
    Controller(String),
    /// The bandwidth that others leave.
    Bound,
}

/// Result on a path: subject and reference with the same random draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// How many times worse the subject is; 1 if the path is no evidence.
    pub times_worse: f64,
    /// The subject's figure.
    pub subject: f64,
    /// The reference's.
    pub reference: f64,
}

/// A cached run.
#[derive(Serialize, Deserialize)]
struct Remembered {
    id: String,
    value: f64,
    throughput_bps: f64,
    traffic_bps: f64,
}

/// Judges paths.
pub struct Judge<'a> {
    host: &'a dyn Host,
    program: &'a Program,
    /// The subject, then the reference if it is a controller.
    controllers: Vec<String>,
    /// The compared figure.
    pub figure: Figure,
    /// The seed of every scenario.
    pub seed: u64,
    known: Mutex<BTreeMap<String, Reading>>,
    memory: Option<Memory>,
}

/// Where runs are remembered.
struct Memory {
    file: Mutex<BufWriter<File>>,
    path: PathBuf,
    /// The folder, locked.
    _alone: File,
}

impl<'a> Judge<'a> {
    /// A judge without a cache on disk.
    pub fn new(
        host: &'a dyn Host,
        program: &'a Program,
        subject: &str,
        against: &Against,
        figure: Figure,
        seed: u64,
    ) -> Judge<'a> {
        let reference = match against {
            Against::Controller(name) => Some(name.clone()),
            Against::Bound => None,
        };
        let controllers = std::iter::once(subject.to_string()).chain(reference).collect();
        Judge { host, program, controllers, figure, seed, known: Mutex::default(), memory: None }
    }

    /// Caches judgements in this folder, which is created, and loads those already there.
    ///
    /// # Errors
    /// Another command uses the folder, or the file cannot be read or written.
    pub fn remember_in(&mut self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(remembered(self.figure));
        let alone = fs::create_dir_all(folder).and_then(|()| alone_in(folder)).map_err(Error::unwritable(folder))?;
        let (known, file) = opened(&path).map_err(Error::unwritable(&path))?;
        self.known = Mutex::new(known);
        self.memory = Some(Memory { file: Mutex::new(BufWriter::new(file)), path, _alone: alone });
        Ok(())
    }

    /// The surroundings of a path, with this number of replications.
    pub fn frame(&self, replications: usize) -> Frame<'_> {
        let whole = self.figure.is_of_whole_runs();
        Frame { controllers: &self.controllers, whole, seed: self.seed, replications }
    }

    /// The runs on a path: all of the subject, then all of the reference.
    ///
    /// # Errors
    /// A missing controller, or an unreadable file.
    pub fn plan(&self, genome: &Genome, replications: usize) -> Result<Vec<Experiment>, Refusal> {
        let text = scenario(genome, &self.frame(replications));
        // Curves are not needed: figures are the same without them.
        let changes = ["record.detail=false".to_string()];
        let parsed = Scenario::parse(&text, Path::new("attack.toml"), &changes);
        Ok(parsed.map_err(|error| Refusal::Input(self.in_words_of_the_command(&error)))?.plan())
    }

    fn in_words_of_the_command(&self, error: &experiment::scenario::ScenarioError) -> String {
        let controller =
            error.of_controller(0).map(|mistake| format!("judge attack {}: {mistake}", self.controllers[0]));
        let against = (error.key.starts_with("compare")).then(|| {
            let name = self.controllers.last().map_or("", String::as_str);
            format!("judge attack --against {name}: found {}; expected {}", error.found, error.expected)
        });
        controller.or(against).unwrap_or_else(|| error.to_string())
    }

    /// The scores of a path, one per seed.
    ///
    /// # Errors
    /// The host refuses, or the cache cannot be written.
    pub fn scores(&self, genome: &Genome, replications: usize) -> Result<Vec<Score>, Error> {
        let plan = self.plan(genome, replications)?;
        let readings = self.readings(&plan, genome)?;
        let (subjects, references) = readings.split_at(replications);
        Ok((0..replications).map(|seed| self.score(genome, subjects[seed], references.get(seed).copied())).collect())
    }

    /// The score of each path, for the first seed.
    ///
    /// # Errors
    /// As [`Judge::scores`].
    pub fn all(&self, genomes: &[Genome]) -> Result<Vec<Score>, Error> {
        genomes.par_iter().map(|genome| Ok(self.scores(genome, 1)?[0])).collect()
    }

    /// The score of given runs: the subject's, then the reference's.
    pub fn score_of(&self, genome: &Genome, runs: &[Run]) -> Score {
        let read = |run: &Run| self.figure.read(run, genome.duration_s);
        let nothing = Reading { value: 0.0, throughput_bps: 0.0, traffic_bps: 0.0 };
        self.score(genome, runs.first().map_or(nothing, read), runs.get(1).map(read))
    }

    fn score(&self, genome: &Genome, subject: Reading, reference: Option<Reading>) -> Score {
        let capacity = capacity_bps(genome, self.figure.is_of_whole_runs());
        let left = (capacity - subject.traffic_bps).max(0.0);
        let bound = || self.figure.bound(left, least_completion_s(genome));
        let value = reference.map_or_else(bound, |reading| reading.value);
        let carried = reference.map_or(left, |reading| reading.throughput_bps);
        // A transfer that is not done has no time. One that is done has been carried.
        let empty = if self.figure == Figure::Completion {
            value.max(subject.value) >= genome.duration_s
        } else {
            carried < LEAST_REFERENCE_SHARE * capacity
        };
        let times = self.figure.times_worse(subject.value, value, capacity);
        Score { times_worse: if empty { 1.0 } else { times }, subject: subject.value, reference: value }
    }

    fn readings(&self, plan: &[Experiment], genome: &Genome) -> Result<Vec<Reading>, Error> {
        let files = Files::of(plan)?;
        let jobs = Job::all(plan, &files, self.host, self.program, Keep::Figures).map_err(Refusal::Machine)?;
        let one = |job: &Job<'_>| {
            let known = self.known().get(&job.id).copied();
            known.map_or_else(|| self.make(job, genome), Ok)
        };
        jobs.par_iter().map(one).collect()
    }

    fn make(&self, job: &Job<'_>, genome: &Genome) -> Result<Reading, Error> {
        let run = self.host.run(job.experiment)?;
        let reading = self.figure.read(&run, genome.duration_s);
        let Reading { value, throughput_bps, traffic_bps } = reading;
        if let Some(Memory { file, path, .. }) = &self.memory {
            let remembered = Remembered { id: job.id.clone(), value, throughput_bps, traffic_bps };
            let line = serde_json::to_string(&remembered).map_err(io::Error::from);
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            line.and_then(|line| writeln!(file, "{line}")).map_err(Error::unwritable(path))?;
        }
        self.known().insert(job.id.clone(), reading);
        Ok(reading)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Reading>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Flushes new results to disk.
    ///
    /// # Errors
    /// The file that cannot be written.
    pub fn save(&self) -> Result<(), Error> {
        let Some(Memory { file, path, .. }) = &self.memory else { return Ok(()) };
        file.lock().unwrap_or_else(PoisonError::into_inner).flush().map_err(Error::unwritable(path))
    }

    /// Removes the cache: the search is complete.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget(&self) -> Result<(), Error> {
        self.memory
            .as_ref()
            .map_or(Ok(()), |memory| fs::remove_file(&memory.path).map_err(Error::unwritable(&memory.path)))
    }
}

/// Content of the cache file, and the file, open for appending. An incomplete last line is dropped; records of other programs
/// are never looked up.
fn opened(path: &Path) -> io::Result<(BTreeMap<String, Reading>, File)> {
    let content = match fs::read_to_string(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        read => read.unwrap_or_default(),
    };
    let whole = content.rfind('\n').map_or(0, |end| end + 1);
    let read = |line: &str| serde_json::from_str::<Remembered>(line).ok();
    let known = content[..whole].lines().filter_map(read).map(|run| {
        let Remembered { id, value, throughput_bps, traffic_bps } = run;
        (id, Reading { value, throughput_bps, traffic_bps })
    });
    let file = File::options().create(true).append(true).open(path)?;
    file.set_len(whole as u64)?;
    Ok((known.collect(), file))
}
