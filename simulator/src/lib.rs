//! Virtual time: an experiment in, a run out.
//!
//! [`run`] builds links, flows and traffic from a [`experiment::scenario::Experiment`], lets them happen in order of time, and
//! returns a [`experiment::results::Run`]. The same experiment gives the same bytes on every machine; only `cpu_s` differs.

mod agenda;
mod background;
mod cross_traffic;
mod endpoints;
mod held;
mod host;
mod network;
mod paused;
mod probes;
mod ring;
mod services;
mod topology;
mod transit;

pub use host::Simulator;
pub use paused::Paused;
pub use probes::{Prober, probe};
pub use services::Served;

use experiment::plugins::OpenError;
use experiment::scenario::Experiment;
use experiment::traffic::{CrossPacket, TrafficError};
use harness::packets::Observer;
use held::Held;
use packetscale_models::settings::SettingError;
use packetscale_models::units::Time;
use std::fmt;

/// How links are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Drop-tail links need no events of their own.
    Fused,
    /// Every hop has events: slower, the same run.
    Stepped,
}

/// Why an experiment cannot be run.
#[derive(Debug)]
pub enum RunError {
    /// No controller of this name.
    UnknownController(String),
    /// Settings that a controller refuses.
    Controller {
        /// The controller.
        name: &'static str,
        /// The refused setting.
        error: SettingError,
    },
    /// A file without a controller, though it had one when the scenario was read, or with one that cannot run here.
    External(OpenError),
    /// No queue discipline of this name.
    UnknownQueue(String),
    /// Settings that a queue discipline refuses.
    Queue {
        /// The discipline.
        name: String,
        /// The refused setting.
        error: SettingError,
    },
    /// A traffic source that cannot be opened or read.
    Traffic(TrafficError),
    /// A trace that changed or could not be read while it was replayed.
    Replay(String),
    /// Ideal estimation where what is available is not known in advance.
    NoOracle,
    /// The observer cannot write.
    Unwritable(std::io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::UnknownController(name) => write!(f, "there is no controller \"{name}\""),
            RunError::Controller { name, error } => write!(f, "controller \"{name}\": {error}"),
            RunError::External(error) => write!(f, "{error}"),
            RunError::UnknownQueue(name) => write!(f, "there is no queue \"{name}\""),
            RunError::Queue { name, error } => write!(f, "queue \"{name}\": {error}"),
            RunError::Traffic(error) => write!(f, "{error}"),
            RunError::Replay(error) => f.write_str(error),
            RunError::Unwritable(error) => write!(f, "cannot be written: {error}"),
            RunError::NoOracle => f.write_str(
                "estimator \"ideal\" needs traffic whose rate is known in advance (kinds \"cbr\" and \"on-off\", one copy each) \
                 and a link that serves at rates, not at opportunities",
            ),
        }
    }
}

impl std::error::Error for RunError {}

impl From<TrafficError> for RunError {
    fn from(error: TrafficError) -> RunError {
        RunError::Traffic(error)
    }
}

/// Makes one run.
///
/// # Errors
/// When a controller refuses its settings or a traffic source cannot be read.
pub fn run(experiment: &Experiment) -> Result<experiment::results::Run, RunError> {
    run_in(experiment, Mode::Fused)
}

/// Makes one run with links simulated in this way.
///
/// # Errors
/// As [`run`].
pub fn run_in(experiment: &Experiment, mode: Mode) -> Result<experiment::results::Run, RunError> {
    watched(experiment, mode, &|_| {})
}

/// Makes one run, and reports progress at every interval of `record.step`.
pub(crate) fn watched(
    experiment: &Experiment,
    mode: Mode,
    watch: &dyn Fn(Time),
) -> Result<experiment::results::Run, RunError> {
    let mut network = network::Network::new(Held::Lent(experiment), mode)?;
    let clock = cpu_time::ThreadTime::now();
    network.run(watch);
    let cpu_s = clock.elapsed().as_secs_f64();
    network.check()?;
    Ok(network::finish(network, experiment, cpu_s))
}

/// Makes one run, reports events of its senders and links to `observer`, and progress at every interval of `record.step`.
/// The run is the one that [`run`] makes.
///
/// # Errors
/// As [`run`], and what the observer cannot write.
pub fn observed(
    experiment: &Experiment,
    observer: &mut dyn Observer,
    watch: &dyn Fn(Time),
) -> Result<experiment::results::Run, RunError> {
    let mut network = network::Network::new(Held::Lent(experiment), Mode::Fused)?;
    let clock = cpu_time::ThreadTime::now();
    network::observe(&mut network, experiment, observer, watch)?;
    let cpu_s = clock.elapsed().as_secs_f64();
    network.check()?;
    let run = network::finish(network, experiment, cpu_s);
    observer.end(&run).map_err(RunError::Unwritable)?;
    Ok(run)
}

/// The packets of the `index`-th traffic source of unresponsive users, copy by copy, as sent over an otherwise empty
/// path.
///
/// # Errors
/// As [`run`].
pub fn alone(experiment: &Experiment, index: usize) -> Result<Vec<Vec<CrossPacket>>, RunError> {
    network::alone(experiment, index)
}

/// Makes one run and returns what left the measured link, packet by packet: a trace to replay.
///
/// # Errors
/// As [`run`].
pub fn departures(experiment: &Experiment) -> Result<Vec<CrossPacket>, RunError> {
    Ok(network::departures(experiment, 1)?.pop().unwrap_or_default())
}

/// Makes one run and returns every service of every link, in order of link and departure, drops last: for comparing
/// runs packet by packet.
///
/// # Errors
/// As [`run`].
pub fn log(experiment: &Experiment, mode: Mode) -> Result<Vec<Served>, RunError> {
    Ok(services::in_order(network::Network::new(Held::Lent(experiment), mode)?.log()))
}
