//! Round-trip time and retransmission timeout (RFC 6298), from samples that name their transmission (RFC 7323).
//!
//! ```text
//! err    = R - SRTT
//! SRTT   = SRTT + err / 8                         (2.3, alpha = 1/8)
//! mdev   = mdev + (|err| - mdev) / 4              (2.3, beta = 1/4)
//! RTO    = SRTT + max(4 RTTVAR, floor)
//! ```
//!
//! Deviations:
//! 1. With a sample per acknowledgment the filters of RFC 6298 forget a window within a fraction of a round trip, and
//!    RFC 7323 section 4.2 requires a longer history. As in Linux, SRTT takes every sample. RTTVAR rises to a larger
//!    `mdev` at once; once per round it falls by a quarter of the distance to the largest `mdev` of that round.
//! 2. The floor applies to the variance term, as in Linux, not to the sum. On a path with a constant round-trip time
//!    above the floor, the sum would leave no time for a delayed acknowledgment. The RTO is never below the floor.

use crate::units::{Span, Time};

/// Longest timeout (RFC 6298, 2.5: at least 60 s).
pub const MAX_RTO: Span = Span::from_secs(60);

#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Span,
    min: Span,
    /// The timeout without back-off.
    rto: Span,
    mdev: Span,
    mdev_max: Span,
    rttvar: Span,
    floor: Span,
    /// A round ends with the first sample of a packet sent after this.
    round_start: Time,
    backoff: u32,
}

impl RttEstimator {
    /// Starts from the handshake's sample (RFC 6298, 2.2).
    pub fn new(handshake: Span, floor: Span) -> RttEstimator {
        let mut estimator = RttEstimator {
            srtt: handshake,
            min: handshake,
            rto: Span::ZERO,
            mdev: handshake / 2,
            mdev_max: Span::ZERO,
            rttvar: handshake / 2,
            floor,
            round_start: Time::ZERO,
            backoff: 0,
        };
        estimator.set_rto();
        estimator
    }

    pub fn srtt(&self) -> Span {
        self.srtt
    }

    pub fn min(&self) -> Span {
        self.min
    }

    /// Updates the smallest round-trip time. It has its own sample: that of the newest packet covered, without the
    /// delay of the acknowledgment.
    #[inline]
    pub fn see(&mut self, rtt: Span) {
        self.min = self.min.min(rtt);
    }

    /// A packet sent at `sent` is acknowledged now.
    #[inline]
    pub fn sample(&mut self, now: Time, sent: Time) {
        let rtt = now.saturating_since(sent).picos();
        let srtt = self.srtt.picos();
        let error = srtt.abs_diff(rtt);
        let step = error / 8;
        self.srtt = Span::from_picos(if rtt >= srtt { srtt + step } else { srtt - step });
        let mdev = self.mdev.picos();
        self.mdev = Span::from_picos(mdev - mdev / 4 + error / 4);
        self.mdev_max = self.mdev_max.max(self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        if sent >= self.round_start {
            self.rttvar = self.rttvar - (self.rttvar - self.mdev_max) / 4;
            self.mdev_max = Span::ZERO;
            self.round_start = now;
        }
        self.backoff = 0;
        self.set_rto();
    }

    #[inline]
    fn set_rto(&mut self) {
        self.rto = self.srtt + self.rttvar.saturating_mul(4).max(self.floor);
    }

    /// Returns the current timeout, with back-off.
    #[inline]
    pub fn rto(&self) -> Span {
        self.rto.saturating_mul(1 << self.backoff).min(MAX_RTO)
    }

    /// The timer expired (RFC 6298, 5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// Whether the timer has expired since the last sample.
    pub fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    fn at(time: u64) -> Time {
        Time::ZERO + ms(time)
    }

    /// RFC 6298, 2.2: SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50 = 300 ms.
    #[test]
    fn the_first_sample_sets_the_timeout_to_3_rtts() {
        assert_eq!(RttEstimator::new(ms(100), ms(1)).rto(), ms(300));
    }

    /// 100 ms, then 180: err = 80, SRTT = 100 + 80/8 = 110; mdev = 50 - 12.5 + 20 = 57.5, which RTTVAR follows at once:
    /// RTO = 110 + 230 = 340 ms.
    #[test]
    fn a_longer_rtt_raises_the_timeout_at_once() {
        let mut rtt = RttEstimator::new(ms(100), ms(1));
        rtt.round_start = at(1);
        rtt.sample(at(180), at(0));
        assert_eq!((rtt.srtt(), rtt.rto()), (ms(110), ms(340)));
    }

    /// On a path that never varies, the variance decays to zero, and the RTO is 100 + 200 ms.
    #[test]
    fn a_constant_path_has_the_floor_above_its_rtt() {
        let mut rtt = RttEstimator::new(ms(100), ms(200));
        (1..200).for_each(|i| rtt.sample(at(100 * i), at(100 * (i - 1))));
        assert_eq!((rtt.srtt(), rtt.rto()), (ms(100), ms(300)));
    }

    /// 300, 600, 1200, ... and at most 60 s (RFC 6298, 2.5 and 5.5), until the next sample.
    #[test]
    fn the_timeout_doubles_with_every_expiry() {
        let mut rtt = RttEstimator::new(ms(100), ms(200));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), ms(1200));
        (0..20).for_each(|_| rtt.back_off());
        assert_eq!(rtt.rto(), Span::from_secs(60));
        rtt.sample(at(100), at(0));
        assert!(!rtt.is_backed_off() && rtt.rto() <= ms(300));
    }
}
