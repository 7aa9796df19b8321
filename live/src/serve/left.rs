//! What the sending threads report to the receiving one.

use crate::wire::{Source, Stamp};

/// Departures of a stream that was sent.
pub struct Left {
    /// The session that ordered it.
    pub session: u64,
    /// When its packets left; none: it could not be sent.
    pub stamps: Vec<Stamp>,
    /// Clock that took these times.
    pub source: Source,
}
