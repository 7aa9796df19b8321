//! `packetscale run --pcap FILE`, `--perfetto FILE`, `--qlog DIR`: what happened to each packet, in files of other tools.
//!
//! A run is made once more for its recordings: results are the same with and without them, and runs that were kept from
//! an interruption have recordings, too.

use crate::args::run::Run as Arguments;
use crate::outcome::{Failure, unwritable};
use crate::place::may_write;
use crate::program::PROGRAM;
use crate::terminal;
use experiment::scenario::Experiment;
use harness::packets::{Capture, Observer, Perfetto, Qlog};
use harness::runner::Host;
use simulator::{RunError, Simulator};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Stands for the number of a run in the name of a file.
const RUN: &str = "{run}";

/// What is to be recorded, and where.
pub struct Recordings {
    wanted: Vec<(Kind, PathBuf)>,
}

/// A kind of recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pcap,
    Perfetto,
    Qlog,
}

impl Kind {
    fn option(self) -> &'static str {
        match self {
            Kind::Pcap => "--pcap",
            Kind::Perfetto => "--perfetto",
            Kind::Qlog => "--qlog",
        }
    }

    /// Whether it holds packets of single flows, which flows that arrive (`arrivals`) are not.
    fn needs_flows(self) -> bool {
        matches!(self, Kind::Pcap | Kind::Qlog)
    }

    /// Whether what lies there may be such a recording. What is none is never replaced.
    fn wrote(self, there: &Path) -> bool {
        match self {
            Kind::Pcap | Kind::Perfetto => there.is_file(),
            Kind::Qlog => fs::read_dir(there).is_ok_and(|mut entries| {
                entries.all(|entry| entry.is_ok_and(|entry| entry.path().extension().is_some_and(|end| end == "sqlog")))
            }),
        }
    }

    fn observer(self, file: &Path) -> io::Result<Box<dyn Observer>> {
        let program = format!("packetscale {}", PROGRAM.version());
        match self {
            Kind::Pcap => Ok(Box::new(Capture::new(BufWriter::new(File::create(file)?), &program)?)),
            Kind::Perfetto => Ok(Box::new(Perfetto::new(BufWriter::new(File::create(file)?))?)),
            Kind::Qlog => {
                fs::create_dir(file)?;
                Ok(Box::new(Qlog::new(file, &program)))
            }
        }
    }
}

impl Recordings {
    /// What the arguments ask for.
    pub fn wanted(
        arguments: &Arguments,
        host: &dyn Host,
        out: &Path,
        plan: &[Experiment],
    ) -> Result<Recordings, Failure> {
        let asked =
            [(Kind::Pcap, &arguments.pcap), (Kind::Perfetto, &arguments.perfetto), (Kind::Qlog, &arguments.qlog)];
        let wanted: Vec<(Kind, PathBuf)> =
            asked.into_iter().filter_map(|(kind, file)| Some((kind, file.clone()?))).collect();
        for (at, (kind, file)) in wanted.iter().enumerate() {
            let refuse = |found: &str, expected: &str| {
                Err(Failure::Input(format!("{}: found {found}; expected {expected}", kind.option())))
            };
            if host.name() != Simulator.name() {
                return refuse(&format!("--on {}", host.word()), "--on simulator, which records single packets");
            }
            if wanted[..at].iter().map(|(_, other)| other).chain(&arguments.trace).any(|other| other == file) {
                return refuse(&format!("{} twice", file.display()), "a different name for each recording");
            }
            if kind.needs_flows() && plan.iter().any(|experiment| experiment.flows.is_empty()) {
                let expected = "a flow without \"arrivals\": arriving flows are not recorded one by one";
                return refuse("a run whose flows all arrive", expected);
            }
            let one_name = !file.to_string_lossy().contains(RUN);
            let runs = if one_name { 1 } else { plan.len() };
            for there in (0..runs).map(|run| named(file, run)) {
                may_write(kind.option(), &there, |there| kind.wrote(there), arguments, out, plan)?;
            }
            if plan.len() > 1 && one_name {
                let found = format!("{} for a plan of {} runs", file.display(), plan.len());
                return refuse(&found, &format!("one run, or {RUN} in the name"));
            }
        }
        Ok(Recordings { wanted })
    }

    /// Records all runs of the plan.
    pub fn write(&self, plan: &[Experiment]) -> Result<(), Failure> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        plan.iter().enumerate().try_for_each(|(run, experiment)| self.record(run, experiment))
    }

    fn record(&self, run: usize, experiment: &Experiment) -> Result<(), Failure> {
        let (mut growing, mut observers) = (Vec::new(), Vec::new());
        for (kind, file) in &self.wanted {
            let file = named(file, run);
            let unwritable = |error: io::Error| unwritable(&file, &error);
            let begun = Growing::begin(file.clone()).map_err(unwritable)?;
            observers.push(kind.observer(&begun.partial).map_err(unwritable)?);
            growing.push(begun);
        }
        let mut experiment = experiment.clone();
        // The curves of a trace.
        experiment.record.detail |= self.wanted.iter().any(|(kind, _)| *kind == Kind::Perfetto);
        simulator::observed(&experiment, &mut observers, &|_| {}).map_err(|error| match &error {
            RunError::Unwritable(error) => unwritable(&growing[0].file, error),
            _ => Failure::Input(error.to_string()),
        })?;
        drop(observers);
        growing.into_iter().try_for_each(Growing::complete)
    }
}

/// The name of a run's file.
fn named(file: &Path, run: usize) -> PathBuf {
    PathBuf::from(file.to_string_lossy().replace(RUN, &run.to_string()))
}

/// A file under a temporary name, which goes away unless it is completed.
pub struct Growing {
    file: PathBuf,
    /// Where it is written.
    pub partial: PathBuf,
}

impl Growing {
    /// For a file of this name.
    ///
    /// # Errors
    /// A path that ends in no name.
    pub fn begin(file: PathBuf) -> io::Result<Growing> {
        let name = file.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
        let partial = file.with_file_name(format!(".{}.partial", name.to_string_lossy()));
        // What an earlier command left that could not clean up.
        terminal::remove(&partial);
        terminal::remove_on_interrupt(&partial);
        Ok(Growing { file, partial })
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// That of the file system.
    pub fn complete(self) -> Result<(), Failure> {
        // A folder replaces only an empty one.
        if self.file.is_dir() {
            fs::remove_dir_all(&self.file).map_err(|error| unwritable(&self.file, &error))?;
        }
        fs::rename(&self.partial, &self.file).map_err(|error| unwritable(&self.file, &error))
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        terminal::remove(&self.partial);
    }
}
