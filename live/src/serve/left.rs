//! Reports of the sending threads to the receiving one.

use crate::wire::{Source, Stamp};

/// Departures of a stream.
pub struct Left {
    /// The session that ordered it.
    pub session: u64,
    /// Departure times of its packets; empty: it could not be sent.
    pub stamps: Vec<Stamp>,
    /// Clock that took these times.
    pub source: Source,
}
