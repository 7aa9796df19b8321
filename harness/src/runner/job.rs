//! One run, and what it is known by.

use crate::runner::digest::Hash;
use crate::runner::files::Files;
use crate::runner::host::{Clock, Host};
use crate::runner::machine::machine;
use crate::runner::program::Program;
use experiment::results::Run;
use experiment::scenario::Experiment;
use packetscale_models::units::Span;
use serde::Serialize;
use std::io;

/// A run to make.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Which parts of the run are stored.
    pub keep: Keep,
    /// SHA-256 of everything that decides the outcome: the resolved experiment, the content of the files that it
    /// reads, the stored parts, the host and the program, and the machine for hosts on the machine's clock.
    /// Times of files and folders are not in it, and neither are the other runs of the plan.
    pub id: String,
    /// About how long one processor is busy with it ([`Host::cost`]).
    pub cost: Span,
}

/// Which parts of a run are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// All that was recorded.
    Everything,
    /// All but curves, probe streams and packets.
    Figures,
}

impl Keep {
    /// The run with only these parts.
    pub(crate) fn of(self, run: Run) -> Run {
        match self {
            Keep::Everything => run,
            Keep::Figures => Run { series: Vec::new(), streams: Vec::new(), sequences: Vec::new(), ..run },
        }
    }
}

/// The input of the digest, as JSON.
#[derive(Serialize)]
struct Identity<'a> {
    program: &'a str,
    host: &'a str,
    /// Where its clock is the machine's, another machine makes other runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'a str>,
    /// The host's tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<String>,
    keep: Keep,
    files: Vec<Option<&'a str>>,
    experiment: &'a Experiment,
}

impl<'a> Job<'a> {
    /// Each run of a plan, in its order.
    ///
    /// # Errors
    /// When the program does not know what it is.
    pub fn all(
        plan: &'a [Experiment],
        files: &Files,
        host: &dyn Host,
        program: &Program,
        keep: Keep,
    ) -> Result<Vec<Job<'a>>, String> {
        let program = program.identity()?;
        let tools = host.tools().map_err(|refusal| refusal.to_string())?;
        let machine = (host.clock() == Clock::Real).then(machine);
        let cost = |experiment| host.cost(experiment);
        let job = |experiment: &'a Experiment| {
            let files = files.digests(experiment).collect();
            let (host, machine, tools) = (host.name(), machine.as_deref(), tools.clone());
            let identity = Identity { program: &program, host, machine, tools, keep, files, experiment };
            let mut hash = Hash::default();
            serde_json::to_writer(io::BufWriter::new(&mut hash), &identity).map_err(|error| error.to_string())?;
            Ok(Job { experiment, keep, id: hash.hex(), cost: cost(experiment) })
        };
        plan.iter().map(job).collect()
    }
}
