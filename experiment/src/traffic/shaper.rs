//! A source behind a token bucket (`packetscale_models::units::TokenBucket`): a packet that finds too few tokens waits for them, and all
//! packets behind it wait too. Nothing is lost.
//!
//! Deviations from the token bucket filter of Linux:
//! 1. The queue before the bucket has no end: it delays, and never drops. A source with a mean above the rate lags
//!    more and more.
//! 2. A packet larger than the bucket leaves when the bucket is full; Linux drops it.

use super::{CrossPacket, Source};
use crate::scenario::Shaper;
use packetscale_models::units::{Time, TokenBucket};

/// A source behind its own token bucket.
#[derive(Debug)]
pub(super) struct Shaped {
    bucket: TokenBucket,
    /// When the packet before left.
    before: Time,
    /// Nothing leaves from this time on.
    end: Time,
}

impl Shaped {
    pub(super) fn new(shaper: Shaper, end: Time) -> Shaped {
        Shaped { bucket: TokenBucket::new(shaper.rate, shaper.bucket), before: Time::ZERO, end }
    }

    /// Returns the next packet of `source`, at the time when the bucket releases it.
    pub(super) fn next(&mut self, source: &mut impl Source) -> Option<CrossPacket> {
        let CrossPacket { at, size } = source.next()?;
        let at = self.bucket.conforms(at.max(self.before), size);
        self.bucket.take(at, size);
        self.before = at;
        (at < self.end).then_some(CrossPacket { at, size })
    }
}
