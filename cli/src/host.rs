//! Where the command meets the hosts and the report.

#[cfg(feature = "kernel")]
mod lab;

/// In a build without Linux TCP.
#[cfg(not(feature = "kernel"))]
mod lab {
    use crate::Failure;
    use results::Run;
    use scenario::Experiment;

    const MISSING: &str = "this build has no kernel host (feature \"kernel\")";

    pub fn ability() -> Result<String, String> {
        Err(MISSING.to_string())
    }

    pub fn check(_plan: &[Experiment]) -> Result<Vec<String>, Failure> {
        Err(Failure::Machine(format!("{MISSING}: run the scenario with --on simulator")))
    }

    pub fn run(_experiment: &Experiment) -> Result<Run, Failure> {
        Err(Failure::Machine(MISSING.to_string()))
    }
}

use crate::Failure;
use crate::args::On;
use results::evaluation::Evaluation;
use results::reproduction::Paper;
use results::{Host, Results, Run};
use scenario::Experiment;

/// What results call it.
pub fn named(on: On) -> Host {
    match on {
        On::Simulator => Host::Simulator,
        On::Kernel => Host::Kernel,
    }
}

/// Whether this machine can make runs in real time.
pub fn lab() -> Result<String, String> {
    lab::ability()
}

/// Whether the host can make these runs; what it does that the scenario does not say, one sentence each.
pub fn check(on: On, plan: &[Experiment]) -> Result<Vec<String>, Failure> {
    match on {
        On::Simulator => Ok(Vec::new()),
        On::Kernel => lab::check(plan),
    }
}

/// Makes one run.
pub fn make(on: On, experiment: &Experiment) -> Result<Run, Failure> {
    match on {
        On::Simulator => simulator::run(experiment).map_err(|error| Failure::Input(error.to_string())),
        On::Kernel => lab::run(experiment),
    }
}

/// What left the measured link in a run: nanoseconds, and bytes.
pub fn departures(experiment: &Experiment) -> Result<Vec<(u64, u64)>, Failure> {
    let packets = simulator::departures(experiment).map_err(|error| Failure::Input(error.to_string()))?;
    Ok(packets.iter().map(|packet| (packet.at.nanos(), packet.size.get())).collect())
}

/// The page.
pub fn page(results: &Results) -> String {
    report::page(results)
}

/// The page of a paper.
pub fn paper_page(paper: &Paper) -> String {
    report::paper_page(paper)
}

/// The page of an evaluation.
pub fn evaluation_page(evaluation: &Evaluation) -> String {
    report::evaluation_page(evaluation)
}

/// Heading of a figure, with the unit for values up to this, and what one of the unit is worth.
pub fn figure_label(name: &str, largest: f64) -> Option<(String, f64)> {
    report::figure_label(name, largest)
}
