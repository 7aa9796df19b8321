//! Loss detection by time of transmission: RACK (RFC 8985, section 6).
//!
//! A packet is lost when one that was sent later has arrived, and it has had time to arrive too:
//!
//! ```text
//! lost  <=>  transmission < newest delivered transmission   and   sent + rtt + window <= now
//! ```
//!
//! `rtt` is that of the newest transmission delivered, `window` what reordering is given. Chosen over the counting
//! of RFC 6675 because one rule finds lost originals, lost retransmissions and lost tails, and because it learns to
//! wait on a path that reorders. Before reordering was ever seen it acts on the third packet above the hole, as
//! RFC 6675 does.
//!
//! Deviations:
//! 1. Transmissions are numbered, so ties between send times need no second key (RFC 8985 uses sequence numbers).
//! 2. Reordering is noticed by transmission, not by sequence: a packet sent once arrives after a later transmission.

use units::{Span, Time};

use crate::scoreboard::{Coverage, Delivered, Record};

/// Packets above a hole that end the wait while no reordering was seen (RFC 5681).
const DUPLICATE_THRESHOLD: u32 = 3;

/// Recoveries for which a widened window is kept (RFC 8985, 6.2 step 4).
const PERSISTENCE: u32 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Newest transmission known to have arrived, plus one; 0 before the first.
    horizon: u64,
    /// Its round-trip time.
    rtt: Span,
    /// Reordering window in quarters of the smallest round-trip time.
    quarters: u32,
    persistence: u32,
    /// Duplicates widen the window at most once until this transmission has arrived.
    widened_at: u64,
    reordering: bool,
}

/// What RACK says of a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing sent later has arrived.
    Expected,
    /// Lost unless it arrives before this.
    LateAfter(Time),
    Lost,
}

impl Rack {
    pub fn new() -> Rack {
        Rack { horizon: 0, rtt: Span::ZERO, quarters: 1, persistence: 0, widened_at: 0, reordering: false }
    }

    /// Packets were delivered (RFC 8985, 6.2 steps 1 to 3).
    #[inline]
    pub fn on_delivery(&mut self, now: Time, coverage: &Coverage, min_rtt: Span) {
        if coverage.oldest_once < self.horizon {
            self.reordering = true;
        }
        let Some(Delivered { transmission, sent }) = coverage.newest_likely else { return };
        let rtt = now.saturating_since(sent);
        let certain = coverage.newest.is_some_and(|newest| newest.transmission == transmission);
        if transmission >= self.horizon && (certain || rtt >= min_rtt) {
            self.horizon = transmission + 1;
            self.rtt = rtt;
        }
    }

    /// A needless retransmission arrived: give reordering more time (step 4).
    pub fn on_duplicate(&mut self, echo: u64, next_transmission: u64) {
        if echo >= self.widened_at {
            self.widened_at = next_transmission;
            self.quarters = self.quarters.saturating_add(1);
            self.persistence = PERSISTENCE;
        }
    }

    /// A recovery is over.
    pub fn on_recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.quarters = 1;
        }
    }

    /// What reordering is given now (step 4).
    pub fn reordering_window(&self, recovering: bool, sacked: u32, min_rtt: Span, srtt: Span) -> Span {
        if !self.reordering && (recovering || sacked >= DUPLICATE_THRESHOLD) {
            return Span::ZERO;
        }
        (min_rtt / 4).saturating_mul(u64::from(self.quarters)).min(srtt)
    }

    /// Step 5, for one packet.
    pub fn judge(&self, now: Time, record: &Record, window: Span) -> Verdict {
        if record.transmission >= self.horizon {
            return Verdict::Expected;
        }
        let late = record.sent + self.rtt + window;
        if late <= now { Verdict::Lost } else { Verdict::LateAfter(late) }
    }

    /// After a timeout: a packet sent so recently may still arrive (RFC 8985, 6.3).
    pub fn may_arrive_after_timeout(&self, now: Time, record: &Record, window: Span) -> bool {
        record.sent + self.rtt + window > now
    }
}
