//! A run that advances on request, to inspect or steer a controller between two events.

use crate::held::Held;
use crate::network::Network;
use crate::{Mode, RunError};
use experiment::scenario::Experiment;
use packetscale_models::congestion::AnyController;
use packetscale_models::units::Time;
use std::sync::Arc;

/// The run. Its events are those of [`run`](crate::run); nothing happens between two calls.
pub struct Paused {
    network: Network<'static>,
    now: Time,
    end: Time,
}

impl Paused {
    /// Builds it, at time 0.
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn new(experiment: Arc<Experiment>) -> Result<Paused, RunError> {
        let end = Time::ZERO + experiment.duration;
        let network = Network::new(Held::Shared(experiment), Mode::Fused)?;
        Ok(Paused { network, now: Time::ZERO, end })
    }

    /// Until when it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Whether it has run to its end.
    pub fn is_over(&self) -> bool {
        self.now >= self.end
    }

    /// Runs until `until`, what happens then included, or to the end.
    ///
    /// # Errors
    /// A source of traffic that cannot be read, or a flow that finds no place.
    pub fn advance(&mut self, until: Time) -> Result<(), RunError> {
        let until = until.min(self.end);
        self.network.advance(until);
        self.now = self.now.max(until);
        self.network.check()
    }

    /// Lends the controller of a flow of the scenario to `act`. The flow's sender does at once what is then decided.
    ///
    /// # Panics
    /// Where the scenario has no flow of this number.
    pub fn with_controller<T>(&mut self, flow: usize, act: impl FnOnce(&mut AnyController) -> T) -> T {
        self.network.with_controller(self.now, flow, act)
    }
}
