//! How far a run goes.

use crate::RunError;
use packetscale_models::units::Time;

/// The end of a run, and the next pause.
pub(super) struct Course {
    pub(super) end: Time,
    /// The run continues until then before its state may be read.
    pub(super) pause: Time,
    /// Why it ended early: a controller refused its handshake's round trip.
    failed: Option<RunError>,
}

impl Course {
    pub(super) fn new(end: Time) -> Course {
        Course { end, pause: Time::ZERO, failed: None }
    }

    /// Ends the run with an error.
    pub(super) fn fail(&mut self, now: Time, error: RunError) {
        (self.end, self.failed) = (now, Some(error));
    }

    /// Returns the error, once.
    pub(super) fn check(&mut self) -> Result<(), RunError> {
        self.failed.take().map_or(Ok(()), Err)
    }
}
