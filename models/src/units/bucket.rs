//! Token bucket: in any interval, at most one bucket plus the rate times the interval conforms (RFC 2697 has the terms;
//! RFC 2475 those of a meter's users: a *shaper* delays what does not conform, a *policer* drops it).
//!
//! A packet takes its size in tokens. Tokens come at the rate and fill the bucket, which is full at the beginning. The
//! state is one instant: the time at which the bucket would be full again (the generic cell rate algorithm, ITU-T
//! I.371). A packet's tokens take size / rate to come, and with depth = bucket / rate,
//!
//! ```text
//! conforms = max(now, full - (depth - size / rate))
//! full     = max(taken, full) + size / rate
//! ```
//!
//! Deviation: times are rounded down to whole ps, so the rate is exact to a ps per packet. A packet larger than the bucket
//! conforms when the bucket is full.

use crate::units::{Bytes, Rate, Span, Time};

/// A token bucket: see the module.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: Rate,
    depth: Span,
    full: Time,
}

impl TokenBucket {
    /// A full bucket of this size, which fills at this rate.
    pub fn new(rate: Rate, bucket: Bytes) -> TokenBucket {
        TokenBucket { rate, depth: rate.time_for(bucket), full: Time::ZERO }
    }

    /// When a packet that arrives at `now` finds its tokens: `now` or later.
    pub fn conforms(&self, now: Time, size: Bytes) -> Time {
        let earned_in = self.rate.time_for(size);
        now.max(self.full.saturating_sub(self.depth.saturating_sub(earned_in)))
    }

    /// A packet takes its tokens then.
    pub fn take(&mut self, at: Time, size: Bytes) {
        self.full = self.full.max(at).saturating_add(self.rate.time_for(size));
    }
}
