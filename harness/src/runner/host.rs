//! The interface of hosts.

use experiment::results::{HostLabel, Run};
use experiment::scenario::Experiment;
use packetscale_models::units::{Bytes, Rate, Span};

/// Makes runs of experiments. To add one: a crate that implements this, and a line in the list of hosts of the command.
pub trait Host: Sync {
    /// Its name in results, and in what a run is known by.
    fn name(&self) -> &'static str;

    /// The word that `--on` takes for it.
    fn word(&self) -> &'static str {
        self.name()
    }

    /// Its summary, in one line.
    fn summary(&self) -> &'static str;

    /// How a page describes its runs: a few words, and a paragraph.
    fn label(&self) -> HostLabel;

    /// Whether this machine has what the host needs: a description of it, or of what is missing.
    ///
    /// # Errors
    /// A description of what is missing.
    fn ability(&self) -> Result<String, String>;

    /// Which time passes in its runs.
    fn clock(&self) -> Clock;

    /// About how long one processor is busy with a run. Plans are divided by it; no result depends on it.
    fn cost(&self, experiment: &Experiment) -> Span {
        match self.clock() {
            Clock::Virtual => packets(experiment, A_PACKET),
            Clock::Real => experiment.duration,
        }
    }

    /// The most runs that it makes at the same time; `None`: the number of cores.
    fn at_once(&self) -> Option<u16> {
        match self.clock() {
            Clock::Virtual => None,
            // Runs in real time would share the machine, and each would measure the others.
            Clock::Real => Some(1),
        }
    }

    /// What decides the results in addition to program, experiment and machine: other programs that it
    /// uses, each with its digest.
    ///
    /// # Errors
    /// What is missing.
    fn tools(&self) -> Result<Vec<String>, Refusal> {
        Ok(Vec::new())
    }

    /// Whether the host supports everything in a plan, on any machine: a check without side effects.
    ///
    /// # Errors
    /// The unsupported key.
    fn accept(&self, _plan: &[Experiment]) -> Result<(), Unfit> {
        Ok(())
    }

    /// Whether it can make all of these runs, the checks of [`Host::accept`] included. Returns deviations from the scenario, one sentence each, for
    /// the manifest.
    ///
    /// # Errors
    /// The unsupported key, or what this machine lacks.
    fn check(&self, plan: &[Experiment]) -> Result<Vec<String>, Refusal>;

    /// Makes one run.
    ///
    /// # Errors
    /// Why there is no run.
    fn run(&self, experiment: &Experiment) -> Result<Run, Refusal>;

    /// Makes one run, and reports now and then how much of its time has passed, if the host can.
    ///
    /// # Errors
    /// As [`Host::run`].
    fn run_watched(&self, experiment: &Experiment, _watch: &(dyn Fn(Span) + Sync)) -> Result<Run, Refusal> {
        self.run(experiment)
    }
}

/// Approximate time of the simulator for a packet on a link and its acknowledgment (docs/performance.md).
const A_PACKET: Span = Span::from_nanos(150);
/// The size that packets are taken to have.
const FULL_SIZE: Bytes = Bytes::new(1500);

/// So long for every packet that a busy bottleneck carries in a run, on each link.
fn packets(experiment: &Experiment, each: Span) -> Span {
    let rate = experiment.links.get(experiment.bottleneck).map_or(Rate::ZERO, |link| link.rate);
    let packets = rate.amount_in(experiment.duration).packets_of(FULL_SIZE).get();
    each.saturating_mul(packets.saturating_mul(experiment.links.len() as u64))
}

/// Which time passes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The run's own: as fast as the machine computes, and the same on every machine.
    Virtual,
    /// The machine's time.
    Real,
}

/// Why a host makes no run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The input is wrong.
    #[error("{0}")]
    Input(String),
    /// A key is unsupported by the host.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The input is right, but this machine cannot do it.
    #[error("{0}")]
    Machine(String),
}

/// A value of a scenario that a host does not do. `Scenario::refuse` adds where it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: found {found}; expected {expected}")]
pub struct Unfit {
    /// The key, dotted. Flows are numbered with their counts unfolded, links with both directions of `duplex`; the only
    /// link is `path`.
    pub key: String,
    /// The requested feature.
    pub found: String,
    /// The supported features.
    pub expected: String,
}
