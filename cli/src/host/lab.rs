//! Real Linux TCP, with what chance decides from the same room as in virtual time.

use crate::Failure;
use ::lab::{Draws, LabError, Packets};
use results::Run;
use scenario::Experiment;
use traffic::Source;

pub fn ability() -> Result<String, String> {
    ::lab::ability()
}

pub fn check(plan: &[Experiment]) -> Result<Vec<String>, Failure> {
    ::lab::check(plan).map_err(refused)
}

pub fn run(experiment: &Experiment) -> Result<Run, Failure> {
    let sources = traffic::cross_traffic(experiment, simulator::alone);
    let sources = sources.map_err(|error| Failure::Input(error.to_string()))?;
    let packets = |mut source: traffic::Superposition<_>| -> Packets {
        Box::new(std::iter::from_fn(move || source.next().map(|packet| (packet.at, packet.size))))
    };
    let traffic = sources.into_iter().map(packets).collect();
    ::lab::run(experiment, Draws { starts: traffic::starts(experiment), traffic }).map_err(refused)
}

fn refused(error: LabError) -> Failure {
    Failure::Machine(error.to_string())
}
