//! Interface of hosts that send probe streams.

use crate::probing::{ProbeStream, ProbingError};
use experiment::scenario::Experiment;
use packetscale_models::units::{Rate, Span};

/// A host that sends probe streams over a path and knows what was available on it.
pub trait ProbeHost: Sync {
    /// Sends all streams of an experiment.
    ///
    /// # Errors
    /// [`ProbingError::Sending`]: a traffic source that cannot be opened or read.
    fn send(&self, experiment: &Experiment) -> Result<Vec<ProbeStream>, ProbingError>;

    /// A sender that sends one stream at a time over the experiment's path.
    ///
    /// # Errors
    /// [`ProbingError::Sending`]: a traffic source that cannot be opened.
    fn prober(&self, experiment: &Experiment) -> Result<Box<dyn Prober>, ProbingError>;
}

/// Sends one stream at a time: the next may follow from what the last one showed.
pub trait Prober {
    /// Sends a stream of this many packets with this mean rate, and waits for the answer. `None`: the experiment would be
    /// over before it had been sent.
    fn send(&mut self, packets: u32, mean: Rate) -> Option<ProbeStream>;

    /// How long it has been sending, and what was available over that time.
    fn available(&mut self) -> (Span, Rate);

    /// # Errors
    /// [`ProbingError::Sending`]: a traffic source that could not be read on the way.
    fn check(&self) -> Result<(), ProbingError>;
}
