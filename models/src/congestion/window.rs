//! The window of a window-based controller, and the growth that all such controllers share.
//!
//! ```text
//! slow start (size < threshold):   size += acked, up to the threshold          RFC 5681 (2), RFC 3465
//! increase, one per `per` packets: credit += acked; size += credit / per; credit %= per
//! Reno's avoidance:                per = size                                  RFC 5681 (3), RFC 3465 section 2.1
//! restart after an idle time:      threshold = max(threshold, 3/4 size); size halved per timeout of it, but not below the
//!                                  restart window                              RFC 5681 section 4.1, RFC 2861
//! ```

use crate::congestion::contract::Idle;
use crate::settings::{OneOf, SettingError, Settings};

/// Linux below 4.0 calls a law once per acknowledgment, and the law adds as for one packet, whatever the acknowledgment covers
/// (`tcp_slow_start` and `tcp_cong_avoid_ai` of 2.6.32 with `tcp_abc = 0`). Where a law of 2.6.32 counts packets itself, it does
/// so here too: H-TCP, Illinois, and YeAH beyond Reno's growth.
pub(crate) const GROWTH: OneOf = OneOf::new(
    "growth",
    &["packets", "acknowledgments"],
    "what the window grows by: packets delivered, or acknowledgments",
);

/// The word of [`GROWTH`] that is not the default.
pub(crate) const PER_ACKNOWLEDGMENT: &str = "acknowledgments";

/// What the window grows by: [`GROWTH`] as it is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    per_acknowledgment: bool,
}

impl Growth {
    pub fn read(settings: &Settings) -> Result<Growth, SettingError> {
        Ok(Growth { per_acknowledgment: GROWTH.read(settings)? == PER_ACKNOWLEDGMENT })
    }

    /// The packets that an acknowledgment of this many counts as.
    #[inline]
    pub fn counted(self, packets: u32) -> u32 {
        if self.per_acknowledgment { packets.min(1) } else { packets }
    }
}

impl Idle {
    /// What is left of a window: half of it for each timeout that passed before the idle time ended, but not below the
    /// restart window. RFC 5681, section 4.1 goes down to the restart window at once; RFC 2861 and Linux in these steps.
    pub(crate) fn window(&self, size: u32) -> u32 {
        let Some(least) = self.restart_window else { return size };
        let timeouts = self.lasted.picos().saturating_sub(1) / self.rto.picos().max(1);
        (size >> timeouts.min(31)).max(least.min(size))
    }

    /// Restarts a window with fractions of packets, as [`Window::restart`] does.
    pub(crate) fn restart(&self, window: &mut f64, threshold: &mut f64) {
        if self.restart_window.is_some() {
            *threshold = threshold.max(0.75 * *window);
            *window = window.min(f64::from(self.window(*window as u32)));
        }
    }
}

/// Size, slow-start threshold, and credit towards the next packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Packets.
    pub size: u32,
    /// Slow-start threshold in packets; `u32::MAX` before the first reduction.
    pub threshold: u32,
    /// Packets acknowledged towards the next step of one.
    pub credit: u32,
}

impl Window {
    /// Largest window in packets: TCP's largest window (RFC 7323, section 2.2) in one-byte packets.
    pub const MAX: u32 = 1 << 30;

    pub fn new(size: u32) -> Window {
        Window { size: size.clamp(1, Window::MAX), threshold: u32::MAX, credit: 0 }
    }

    pub fn in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    pub fn add(&mut self, packets: u32) {
        self.size = self.size.saturating_add(packets).min(Window::MAX);
    }

    /// Grows up to the threshold. Returns the packets left to count in avoidance.
    #[inline]
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let step = acked.min(self.threshold.saturating_sub(self.size));
        self.add(step);
        acked - step
    }

    /// Adds one packet for every `per` packets acknowledged. Credit from a larger `per` counts as one packet, so that
    /// a falling `per` makes no burst.
    #[inline]
    pub fn increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        if self.credit >= per {
            self.credit = 0;
            self.add(1);
        }
        self.credit = self.credit.saturating_add(acked);
        self.add(self.credit / per);
        self.credit %= per;
    }

    /// Slow start, then one packet per window.
    #[inline]
    pub fn reno(&mut self, acked: u32) {
        let left = self.slow_start(acked);
        if left > 0 {
            self.increase(self.size, left);
        }
    }

    /// Restarts after an idle time, as Linux does (`tcp_cwnd_restart`).
    pub fn restart(&mut self, idle: &Idle) {
        if idle.restart_window.is_some() {
            self.threshold = self.threshold.max(self.size / 2 + self.size / 4);
            self.size = idle.window(self.size);
        }
    }

    /// Reno's window after a loss (RFC 5681, equation 4, with the window in place of the flight).
    pub fn half(&self) -> u32 {
        self.size / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Span, Time};

    /// RTO 200 ms, restart window 10. Linux halves while the idle time less the RTO is above zero: 160 packets become 80 after
    /// 201 to 400 ms, 40 after 401 ms, 10 after 801 ms and later. A window of 8 remains; the threshold is 3/4 of 160.
    #[test]
    fn an_idle_time_halves_the_window_per_timeout() {
        let restarted = |size, lasted_ms| {
            let mut window = Window { threshold: 100, ..Window::new(size) };
            let (lasted, rto) = (Span::from_millis(lasted_ms), Span::from_millis(200));
            window.restart(&Idle { now: Time::ZERO, lasted, rto, restart_window: Some(10) });
            (window.size, window.threshold)
        };
        assert_eq!([201, 400, 401, 801, 4900].map(|ms| restarted(160, ms).0), [80, 80, 40, 10, 10]);
        assert_eq!((restarted(160, 201).1, restarted(8, 4900)), (120, (8, 100)));
    }

    /// 8 + 2 reach the threshold of 10; the other 3 of 5 are left.
    #[test]
    fn slow_start_ends_at_the_threshold() {
        let mut window = Window { threshold: 10, ..Window::new(8) };
        assert_eq!((window.slow_start(5), window.size), (3, 10));
        assert_eq!((window.slow_start(5), window.size), (5, 10));
    }

    /// 25 / 10 = 2 packets and 5 towards the next; 5 more make it 3.
    #[test]
    fn carries_the_remainder_of_a_step() {
        let mut window = Window::new(10);
        window.increase(10, 25);
        assert_eq!((window.size, window.credit), (12, 5));
        window.increase(10, 5);
        assert_eq!((window.size, window.credit), (13, 0));
    }

    /// A credit of 90 towards 100 is one packet when the step falls to 10, not 9.
    #[test]
    fn a_falling_divisor_makes_no_burst() {
        let mut window = Window::new(100);
        window.increase(100, 90);
        window.increase(10, 1);
        assert_eq!((window.size, window.credit), (101, 1));
    }
}
