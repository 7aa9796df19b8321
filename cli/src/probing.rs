//! Probe streams of the simulator: sent, and judged by methods.

use experiment::scenario::Experiment;
use harness::probing::{ProbeHost, ProbingError};
use harness::runner::{Files, Refusal, threads};
use simulator::Simulator;
use studies::papers::Findings;

/// Where they are sent.
pub const HOST: &dyn ProbeHost = &Simulator;

/// Sends the streams of a figure's plan and judges its methods.
pub fn judge(plan: &[Experiment], methods: &[String], jobs: Option<u16>) -> Result<Findings, Refusal> {
    let scored =
        with_inputs(plan, jobs, || harness::probing::judge(HOST, plan, methods))?.map_err(refused("methods"))?;
    Ok(Findings::Answers(scored.into_iter().map(|(point, score)| (point, Ok(score))).collect()))
}

/// Does the work on as many threads as jobs, once the files that the plan replays are there.
pub fn with_inputs<T: Send>(
    plan: &[Experiment],
    jobs: Option<u16>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Refusal> {
    Files::of(plan)?;
    Ok(threads(jobs)?.install(work))
}

/// A refusal, with the key or option under which methods were written.
pub fn refused(methods: &str) -> impl Fn(ProbingError) -> Refusal {
    move |error| match error {
        ProbingError::Method(what) => Refusal::Input(format!("{methods}: {what}")),
        ProbingError::Sending(what) => Refusal::Input(what),
    }
}
