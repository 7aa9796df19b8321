//! Token bucket: what leaves in any interval is at most a bucket, and the rate times the interval.
//!
//! A packet takes its size in tokens; tokens come at the rate and fill the bucket, which is full in the beginning. A
//! packet that finds too few waits for them, and all behind it wait as well: nothing is lost. The state is one instant,
//! that at which the bucket would be full again (the generic cell rate algorithm, ITU-T I.371): with size / rate the
//! time a packet takes to earn and depth = bucket / rate,
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

/// A source behind a token bucket of its own.
#[derive(Debug)]
pub(super) struct Shaped {
    shaper: Shaper,
    depth: Span,
    full: Time,
    /// Nothing leaves from here on.
    end: Time,
}

impl Shaped {
    pub(super) fn new(shaper: Shaper, end: Time) -> Shaped {
        Shaped { shaper, depth: shaper.rate.time_for(shaper.bucket), full: Time::ZERO, end }
    }

    /// The next packet of `source`, when the bucket lets it go.
    pub(super) fn next(&mut self, source: &mut impl Source) -> Option<CrossPacket> {
        let CrossPacket { at, size } = source.next()?;
        let earned_in = self.shaper.rate.time_for(size);
        let at = at.max(self.full.saturating_sub(self.depth.saturating_sub(earned_in)));
        self.full = self.full.max(at).saturating_add(earned_in);
        (at < self.end).then_some(CrossPacket { at, size })
    }
}
