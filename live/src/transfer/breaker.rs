//! Circuit breaker (RFC 8084) in front of every controller. It keeps the number of packets sent below 1.25 times the number
//! acknowledged, plus one flight and one packet per 100 ms, whatever arrival times a receiver reports and whatever the
//! controller does with them. Acknowledged means: the receiver claims to have it.
//!
//! ```text
//! wasted = sent - acknowledged - in flight
//! credit = acknowledged / 5 + the largest flight so far - wasted,     at most that flight
//! without credit, one packet leaves per acknowledged packet, and one per 100 ms
//! ```
//!
//! One fifth keeps the ratio below a quarter. The allowance of one flight covers start-up, which may lose everything in flight
//! once. Acknowledgments repay debt while the number of packets in flight does not grow.

use packetscale_models::units::{Span, Time};

/// Acknowledged packets per packet that may be wasted.
const PART: i64 = 5;
/// The least flight that counts, in packets.
const LEAST_FLIGHT: u32 = 64;
/// Without credit, one packet leaves per interval; otherwise no acknowledgment would ever arrive again.
const RETRY_AFTER: Span = Span::from_millis(100);

/// The breaker of one flow.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// In fifths of packets.
    credit: i64,
    flight: u32,
    wasted: u64,
    acknowledged: u64,
    /// Packets that may leave without credit: one per packet acknowledged since.
    replaced: u64,
    next_probe: Time,
}

impl Default for Breaker {
    fn default() -> Breaker {
        let credit = PART * i64::from(LEAST_FLIGHT);
        Breaker { credit, flight: LEAST_FLIGHT, wasted: 0, acknowledged: 0, replaced: 0, next_probe: Time::ZERO }
    }
}

impl Breaker {
    /// When the next packet may leave, as far as the breaker goes.
    pub fn release_at(&mut self, now: Time, sent: u64, acknowledged: u64, in_flight: u32) -> Time {
        let wasted = sent.saturating_sub(acknowledged).saturating_sub(u64::from(in_flight));
        let grown = in_flight.saturating_sub(self.flight);
        self.flight += grown;
        self.credit += PART * i64::from(grown) + difference(acknowledged, self.acknowledged);
        // Refund packets that were wrongly declared lost.
        self.credit -= PART * difference(wasted, self.wasted);
        self.credit = self.credit.min(PART * i64::from(self.flight));
        let news = difference(acknowledged, self.acknowledged).max(0) as u64;
        self.replaced = if self.credit > 0 { 0 } else { (self.replaced + news).min(u64::from(self.flight)) };
        (self.wasted, self.acknowledged) = (wasted, acknowledged);
        if self.credit > 0 || self.replaced > 0 { now } else { self.next_probe.max(now) }
    }

    /// A packet left, which it had let go.
    pub fn left(&mut self, now: Time) {
        match self.credit > 0 {
            true => {}
            false if self.replaced > 0 => self.replaced -= 1,
            false => self.next_probe = now + RETRY_AFTER,
        }
    }
}

fn difference(now: u64, before: u64) -> i64 {
    now.wrapping_sub(before) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unresponsive sender of 10 packets per ms, of which `of_ten` arrive. Returns packets sent and acknowledged in 30 s.
    fn sent(of_ten: u64) -> (u64, u64) {
        let (mut breaker, mut sent, mut acknowledged) = (Breaker::default(), 0, 0);
        for tenth in 0..300_000u64 {
            let now = Time::ZERO + Span::from_micros(100 * tenth);
            if breaker.release_at(now, sent, acknowledged, 0) <= now {
                breaker.left(now);
                (sent, acknowledged) = (sent + 1, acknowledged + u64::from(sent % 10 < of_ten));
            }
        }
        (sent, acknowledged)
    }

    #[test]
    fn does_not_limit_loss_of_one_sixth() {
        assert_eq!(sent(10), (300_000, 300_000));
        assert_eq!(sent(9), (300_000, 270_000));
    }

    #[test]
    fn limits_to_acknowledged_rate_after_credit() {
        for of_ten in [0, 1, 5, 8] {
            let (sent, acknowledged) = sent(of_ten);
            // 64 packets are given, and one of 5; 300 ask, and their acknowledgments bring one more each, and so on.
            let wasted = sent - acknowledged;
            assert!(wasted <= 64 + acknowledged / 5 + 301, "{of_ten}: {wasted} of {sent}");
            assert!(sent >= 300, "{of_ten}: {sent}");
        }
    }

    #[test]
    fn startup_may_lose_one_flight() {
        let (mut breaker, at) = (Breaker::default(), |ms| Time::ZERO + Span::from_millis(ms));
        assert_eq!(breaker.release_at(at(0), 1000, 0, 1000), at(0));
        // 999 of the 1000 are lost.
        assert_eq!(breaker.release_at(at(1), 1000, 1, 0), at(1));
        // 10 more: the first is the packet of this interval.
        assert_eq!(breaker.release_at(at(2), 1010, 1, 0), at(2));
        breaker.left(at(2));
        assert_eq!(breaker.release_at(at(3), 1011, 1, 1), at(102));
        // One that is acknowledged lets another go, and no second.
        assert_eq!(breaker.release_at(at(4), 1011, 2, 0), at(4));
        breaker.left(at(4));
        assert_eq!(breaker.release_at(at(5), 1012, 2, 1), at(102));
    }

    #[test]
    fn debt_is_repaid_without_pause() {
        let (mut breaker, mut sent, mut acknowledged, mut in_flight) = (Breaker::default(), 300, 100, 100);
        // 100 are lost, 64 and 20 of them spuriously. Then nothing is lost: each ms one packet in flight is acknowledged.
        for ms in 0..200 {
            let now = Time::ZERO + Span::from_millis(ms);
            (acknowledged, in_flight) = (acknowledged + 1, in_flight - 1);
            while in_flight < 100 && breaker.release_at(now, sent, acknowledged, in_flight) <= now {
                breaker.left(now);
                (sent, in_flight) = (sent + 1, in_flight + 1);
            }
            assert_eq!(in_flight, 100, "{ms}");
        }
    }
}
