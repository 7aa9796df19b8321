//! Token bucket: in any interval, at most one bucket plus the rate times the interval leaves.
//!
//! A packet takes its size in tokens. Tokens come at the rate and fill the bucket, which is full at the beginning. A
//! packet that finds too few tokens waits for them, and all packets behind it wait too: nothing is lost. The state is
//! one instant: the time at which the bucket would be full again (the generic cell rate algorithm, ITU-T I.371). A
//! packet's tokens take size / rate to come, and with depth = bucket / rate,
//!
//! ```text
//! leaves = max(arrives, full - (depth - size / rate))
//! full   = max(leaves, full) + size / rate
//! ```
//!
//! Deviations from the token bucket filter of Linux:
//! 1. The queue before the bucket has no end: it delays, and never drops. A source whose mean is above the rate lags
//!    more and more.
//! 2. A packet larger than the bucket leaves when the bucket is full; Linux drops it.

use super::{CrossPacket, Source};
use scenario::Shaper;
use units::{Span, Time};

/// A source behind its own token bucket.
#[derive(Debug)]
pub(super) struct Shaped {
    shaper: Shaper,
    depth: Span,
    full: Time,
    /// Nothing leaves from this time on.
    end: Time,
}

impl Shaped {
    pub(super) fn new(shaper: Shaper, end: Time) -> Shaped {
        Shaped { shaper, depth: shaper.rate.time_for(shaper.bucket), full: Time::ZERO, end }
    }

    /// Returns the next packet of `source`, at the time when the bucket releases it.
    pub(super) fn next(&mut self, source: &mut impl Source) -> Option<CrossPacket> {
        let CrossPacket { at, size } = source.next()?;
        let earned_in = self.shaper.rate.time_for(size);
        let at = at.max(self.full.saturating_sub(self.depth.saturating_sub(earned_in)));
        self.full = self.full.max(at).saturating_add(earned_in);
        (at < self.end).then_some(CrossPacket { at, size })
    }
}
