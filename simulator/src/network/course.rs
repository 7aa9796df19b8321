//! How far a run goes.

use crate::RunError;
use packetscale_models::units::Time;

/// The end of a run, and the next pause.
pub(super) struct Course {
    pub(super) end: Time,
    /// Until when it goes on before somebody may look at it.
    pub(super) pause: Time,
    /// Why it ended early: a controller refused its handshake's round trip.
    failed: Option<RunError>,
}

impl Course {
    pub(super) fn new(end: Time) -> Course {
        Course { end, pause: Time::ZERO, failed: None }
    }

    /// It ends now, and there is no run.
    pub(super) fn fail(&mut self, now: Time, error: RunError) {
        (self.end, self.failed) = (now, Some(error));
    }

    /// Why there is no run, once.
    pub(super) fn check(&mut self) -> Result<(), RunError> {
        self.failed.take().map_or(Ok(()), Err)
    }
}
