//! Loss detection by time of transmission: RACK (RFC 8985, section 6).
//!
//! A packet is lost when a packet sent later has arrived, and this one has had time to arrive too:
//!
//! ```text
//! lost  <=>  transmission < newest delivered transmission   and   sent + rtt + window <= now
//! ```
//!
//! `rtt` is the round-trip time of the newest transmission delivered; `window` is the reordering window. RACK replaces
//! the counting of RFC 6675 for two reasons: one rule finds lost originals and lost retransmissions, and it learns to
//! wait on a path that reorders. Until reordering has been seen, it acts on the third packet above the hole, as
//! RFC 6675 does.
//!
//! Deviations:
//! 1. Transmissions are numbered, so ties between send times need no second key (RFC 8985 uses sequence numbers).
//! 2. There is no tail loss probe (RFC 8985, section 7): a lost tail waits for the timer.
//! 3. Reordering is detected by transmission number, not by sequence number: a packet sent once arrives after a later
//!    transmission.
//! 4. A retransmission that was sent before its original arrived shows reordering, too. Section 6.2 step 2 considers only
//!    packets sent once: reordering by more than three packets from the start would then never be seen, because the third
//!    packet above each hole triggers a retransmission. Linux learns it in the same way (`tcp_try_undo_partial`).

use crate::units::{Span, Time};

use crate::transport::covered::Delivered;
use crate::transport::scoreboard::{Coverage, Record};

/// With this many packets above a hole, and no reordering seen, RACK does not wait (RFC 5681).
const DUPLICATE_THRESHOLD: u32 = 3;

/// Number of recoveries for which a widened window lasts (RFC 8985, 6.2 step 4).
const PERSISTENCE: u32 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Newest transmission known to have arrived, plus one; 0 before the first.
    horizon: u64,
    /// Its round-trip time; the handshake's before the first arrival.
    rtt: Span,
    /// Reordering window in quarters of the smallest round-trip time.
    quarters: u32,
    persistence: u32,
    /// Duplicates do not widen the window again until this transmission has arrived.
    widened_at: u64,
    reordering: bool,
}

/// RACK's verdict on a packet in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing sent later has arrived.
    Expected,
    /// Lost unless it arrives before this time.
    LateAfter(Time),
    Lost,
}

impl Rack {
    pub fn new(handshake_rtt: Span) -> Rack {
        Rack { horizon: 0, rtt: handshake_rtt, quarters: 1, persistence: 0, widened_at: 0, reordering: false }
    }

    /// Packets were delivered (RFC 8985, 6.2 steps 1 to 3).
    #[inline]
    pub fn on_delivery(&mut self, now: Time, coverage: &Coverage, min_rtt: Span) {
        if coverage.oldest_once < self.horizon || coverage.original_was_late() {
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

    /// Returns the reordering window (step 4).
    pub fn reordering_window(&self, recovering: bool, sacked: u32, min_rtt: Span, srtt: Span) -> Span {
        if !self.reordering && (recovering || sacked >= DUPLICATE_THRESHOLD) {
            return Span::ZERO;
        }
        (min_rtt / 4).saturating_mul(u64::from(self.quarters)).min(srtt)
    }

    /// Returns the verdict on one packet (step 5).
    pub fn judge(&self, now: Time, record: &Record, window: Span) -> Verdict {
        if record.transmission >= self.horizon {
            return Verdict::Expected;
        }
        let late = record.sent + self.rtt + window;
        if late <= now { Verdict::Lost } else { Verdict::LateAfter(late) }
    }

    /// Whether, after a timeout, a packet was sent recently enough to arrive still (RFC 8985, 6.3).
    pub fn may_arrive_after_timeout(&self, now: Time, record: &Record, window: Span) -> bool {
        record.sent + self.rtt + window > now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN_RTT: Span = Span::from_millis(100);

    /// Transmission `newest` has arrived; the oldest transmission covered with it was `oldest`.
    fn delivery(oldest: u64, newest: u64) -> Coverage {
        let last = Some(Delivered { transmission: newest, sent: Time::ZERO });
        Coverage { oldest_once: oldest, newest: last, newest_likely: last, ..Coverage::new(newest) }
    }

    fn window(rack: &Rack, recovering: bool, sacked: u32) -> Span {
        rack.reordering_window(recovering, sacked, MIN_RTT, MIN_RTT)
    }

    /// The window is a quarter of 100 ms. It is zero from the third packet above the hole on, and in recovery.
    #[test]
    fn before_reordering_the_third_packet_ends_the_wait() {
        let rack = Rack::new(MIN_RTT);
        assert_eq!(window(&rack, false, 2), Span::from_millis(25));
        assert_eq!(window(&rack, false, 3), Span::ZERO);
        assert_eq!(window(&rack, true, 1), Span::ZERO);
    }

    #[test]
    fn after_reordering_it_waits_a_quarter_rtt() {
        let mut rack = Rack::new(MIN_RTT);
        rack.on_delivery(Time::ZERO + MIN_RTT, &delivery(5, 5), MIN_RTT);
        rack.on_delivery(Time::ZERO + MIN_RTT, &delivery(6, 7), MIN_RTT);
        assert_eq!(window(&rack, false, 3), Span::ZERO, "nothing arrived late");
        rack.on_delivery(Time::ZERO + MIN_RTT, &delivery(4, 4), MIN_RTT);
        assert_eq!(window(&rack, false, 3), Span::from_millis(25));
    }

    /// Transmission 1 of a packet arrives after 2 to 4 have, and after its retransmission 5 has left.
    #[test]
    fn an_original_that_arrives_after_its_retransmission_left_is_reordering() {
        let mut rack = Rack::new(MIN_RTT);
        rack.on_delivery(Time::ZERO + MIN_RTT, &delivery(2, 4), MIN_RTT);
        let late = Coverage { delivered: 1, overtaken: 1, ..Coverage::new(1) };
        rack.on_delivery(Time::ZERO + MIN_RTT, &late, MIN_RTT);
        assert_eq!(window(&rack, false, 3), Span::from_millis(25));
    }

    /// Each round trip with a duplicate adds a quarter, for sixteen recoveries, up to the smoothed round-trip time.
    #[test]
    fn duplicates_widen_the_window_once_per_round_trip() {
        let mut rack = Rack::new(MIN_RTT);
        rack.reordering = true;
        rack.on_duplicate(10, 20);
        rack.on_duplicate(15, 30);
        assert_eq!(window(&rack, false, 0), Span::from_millis(50));
        rack.on_duplicate(20, 40);
        assert_eq!(window(&rack, false, 0), Span::from_millis(75));
        (0..15).for_each(|_| rack.on_recovered());
        assert_eq!(window(&rack, false, 0), Span::from_millis(75));
        rack.on_recovered();
        assert_eq!(window(&rack, false, 0), Span::from_millis(25));
        (0..9).for_each(|i| rack.on_duplicate(40 + 10 * i, 50 + 10 * i));
        assert_eq!(window(&rack, false, 0), MIN_RTT);
    }
}
