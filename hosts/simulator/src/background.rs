//! Flows that are not the scenario's: those of traffic that is made of TCP connections.
//!
//! They stand behind the scenario's in [`Network::flows`] and behave like them in all but the books: their packets count
//! as traffic. A flow's place is used again when its connection is over.

use crate::network::Network;
use units::Time;

/// What such a flow carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Carries {
    /// What one end of a connection says (see [`crate::connections`]): the number of the connection, and of the end.
    Messages { slot: usize, end: usize },
    /// Files (see [`crate::web`]).
    Files,
}

impl Network {
    /// What a flow behind the scenario's carries.
    pub(crate) fn carries(&self, index: usize) -> Carries {
        self.background[index - self.plain]
    }

    /// The sending end hands over what is due.
    pub(crate) fn message(&mut self, now: Time, index: usize) {
        match self.carries(index) {
            Carries::Messages { slot, end } => self.say(now, slot, end),
            Carries::Files => self.answer(now, index),
        }
    }

    /// A packet has reached the receiver.
    #[inline]
    pub(crate) fn arrived(&mut self, now: Time, index: usize) {
        match self.carries(index) {
            Carries::Messages { slot, end } => self.heard(now, slot, end),
            Carries::Files => self.fetched(now, index),
        }
    }
}
