//! A circuit breaker (RFC 8084) in front of every controller: what is sent stays below 1.25 times what is acknowledged, one
//! flight and one packet each 100 ms, whatever a receiver says of arrivals and whatever a controller makes of it. What is
//! acknowledged is what the receiver claims to have.
//!
//! ```text
//! wasted = sent - acknowledged - in flight
//! credit = acknowledged / 5 + the largest flight so far - wasted,     at most that flight
//! without credit one packet leaves for each that is acknowledged, and one each 100 ms
//! ```
//!
//! A fifth, so that a quarter is never reached; and a flight: a start-up may lose as much as it has in flight, once. Debts are
//! paid by what is acknowledged while the number of packets in flight does not grow.

use packetscale_models::units::{Span, Time};

/// One packet may be wasted for so many that are acknowledged.
const PART: i64 = 5;
/// The least flight that counts, in packets.
const LEAST_FLIGHT: u32 = 64;
/// Without credit one packet leaves in this time: else nothing would ever be acknowledged again.
const ASK_AGAIN: Span = Span::from_millis(100);

/// The breaker of one flow.
#[derive(Clone, Debug)]
pub struct Breaker {
    /// In fifths of packets.
    credit: i64,
    flight: u32,
    wasted: u64,
    acknowledged: u64,
    /// Packets that may leave without credit: as many as have been acknowledged meanwhile.
    replaced: u64,
    asks: Time,
}

impl Default for Breaker {
    fn default() -> Breaker {
        let credit = PART * i64::from(LEAST_FLIGHT);
        Breaker { credit, flight: LEAST_FLIGHT, wasted: 0, acknowledged: 0, replaced: 0, asks: Time::ZERO }
    }
}

impl Breaker {
    /// When the next packet may leave, as far as the breaker goes.
    pub fn look(&mut self, now: Time, sent: u64, acknowledged: u64, in_flight: u32) -> Time {
        let wasted = sent.saturating_sub(acknowledged).saturating_sub(u64::from(in_flight));
        let grown = in_flight.saturating_sub(self.flight);
        self.flight += grown;
        self.credit += PART * i64::from(grown) + difference(acknowledged, self.acknowledged);
        // What was taken for lost and was not is given back.
        self.credit -= PART * difference(wasted, self.wasted);
        self.credit = self.credit.min(PART * i64::from(self.flight));
        let news = difference(acknowledged, self.acknowledged).max(0) as u64;
        self.replaced = if self.credit > 0 { 0 } else { (self.replaced + news).min(u64::from(self.flight)) };
        (self.wasted, self.acknowledged) = (wasted, acknowledged);
        if self.credit > 0 || self.replaced > 0 { now } else { self.asks.max(now) }
    }

    /// A packet left, which it had let go.
    pub fn left(&mut self, now: Time) {
        match self.credit > 0 {
            true => {}
            false if self.replaced > 0 => self.replaced -= 1,
            false => self.asks = now + ASK_AGAIN,
        }
    }
}

fn difference(now: u64, before: u64) -> i64 {
    now.wrapping_sub(before) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender that does not care: it would send 10 packets each ms, of which `of_ten` arrive. What it sent in 30 s, and what
    /// was acknowledged.
    fn sent(of_ten: u64) -> (u64, u64) {
        let (mut breaker, mut sent, mut acknowledged) = (Breaker::default(), 0, 0);
        for tenth in 0..300_000u64 {
            let now = Time::ZERO + Span::from_micros(100 * tenth);
            if breaker.look(now, sent, acknowledged, 0) <= now {
                breaker.left(now);
                (sent, acknowledged) = (sent + 1, acknowledged + u64::from(sent % 10 < of_ten));
            }
        }
        (sent, acknowledged)
    }

    #[test]
    fn who_wastes_a_sixth_or_less_is_not_held() {
        assert_eq!(sent(10), (300_000, 300_000));
        assert_eq!(sent(9), (300_000, 270_000));
    }

    #[test]
    fn who_wastes_more_spends_his_credit_and_then_gets_one_for_one() {
        for of_ten in [0, 1, 5, 8] {
            let (sent, acknowledged) = sent(of_ten);
            // 64 packets are given, and one of 5; 300 ask, and their acknowledgments bring one more each, and so on.
            let wasted = sent - acknowledged;
            assert!(wasted <= 64 + acknowledged / 5 + 301, "{of_ten}: {wasted} of {sent}");
            assert!(sent >= 300, "{of_ten}: {sent}");
        }
    }

    #[test]
    fn a_start_up_may_lose_its_flight() {
        let (mut breaker, at) = (Breaker::default(), |ms| Time::ZERO + Span::from_millis(ms));
        assert_eq!(breaker.look(at(0), 1000, 0, 1000), at(0));
        // 999 of the 1000 are lost.
        assert_eq!(breaker.look(at(1), 1000, 1, 0), at(1));
        // And 10 more: the first of these asks.
        // And 10 more: it asks.
        assert_eq!(breaker.look(at(2), 1010, 1, 0), at(2));
        breaker.left(at(2));
        assert_eq!(breaker.look(at(3), 1011, 1, 1), at(102));
        // One that is acknowledged lets another go, and no second.
        assert_eq!(breaker.look(at(4), 1011, 2, 0), at(4));
        breaker.left(at(4));
        assert_eq!(breaker.look(at(5), 1012, 2, 1), at(102));
    }

    #[test]
    fn a_debt_is_paid_without_a_pause() {
        let (mut breaker, mut sent, mut acknowledged, mut in_flight) = (Breaker::default(), 300, 100, 100);
        // 100 are lost, 64 and 20 of them for nothing. Then nothing is lost: each ms one of those in flight is acknowledged.
        for ms in 0..200 {
            let now = Time::ZERO + Span::from_millis(ms);
            (acknowledged, in_flight) = (acknowledged + 1, in_flight - 1);
            while in_flight < 100 && breaker.look(now, sent, acknowledged, in_flight) <= now {
                breaker.left(now);
                (sent, in_flight) = (sent + 1, in_flight + 1);
            }
            assert_eq!(in_flight, 100, "{ms}");
        }
    }
}
