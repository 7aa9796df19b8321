//! Veno: Reno that uses the number of queued packets to distinguish congestion losses from random ones.
//!
//! Per acknowledgment, with `base` the smallest round-trip time and `rtt` the latest; `backlog` is twice the number of
//! queued packets:
//!
//! ```text
//! backlog       = 2 window - 2 window base / rtt
//! slow start:   as Reno
//! avoidance:    backlog < 6: one packet per window;   otherwise one packet per two windows
//! loss:         backlog < 6: threshold = window = 4/5 window;   otherwise window / 2
//! ```
//!
//! Source: C. P. Fu, S. C. Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", IEEE
//! JSAC 21(2), 2003 (beta = 3 packets); Linux.
//!
//! Linux's behaviour, where the paper differs:
//! 1. The latest round-trip time counts, not the smallest of a round, since Linux forgets its minimum with every
//!    acknowledgment.
//! 2. The first two samples are not judged. In recovery after a timeout the window grows as Reno's.
//!
//! Deviations:
//! 1. An acknowledgment without a round-trip time keeps the last verdict; Linux takes it for an infinite queue.
//! 2. The base is not forgotten after idle times.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::rounds::proportion;
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameters, SettingError, Settings};
use crate::units::{Span, Time};

/// Half packets queued from which losses mean congestion (beta).
const CONGESTED: u32 = 6;
/// Fewest samples to judge by.
const ENOUGH: u32 = 3;

/// The settings.
pub const PARAMETERS: Parameters = &[&GROWTH];

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Veno {
    base: Span,
    /// Since the last growth.
    rtt: Option<Span>,
    samples: u32,
    /// Packets queued, in halves.
    backlog: u32,
    /// Whether the next step counts, in congestion.
    every_other: bool,
    open: bool,
}

impl Veno {
    fn slow_avoidance(&mut self, acked: u32, window: &mut Window) {
        if window.credit < window.size {
            window.credit = window.credit.saturating_add(acked);
            return;
        }
        window.credit = 0;
        if self.every_other {
            window.add(1);
        }
        self.every_other = !self.every_other;
    }
}

impl Law for Veno {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, _settings: &Settings) -> Result<Veno, SettingError> {
        Ok(Veno { base: Span::MAX, rtt: None, samples: 0, backlog: 0, every_other: true, open: true })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
            self.rtt = Some(self.rtt.map_or(rtt, |least| least.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
    }

    #[inline]
    fn grow(&mut self, _ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        let rtt = self.rtt.take();
        if !self.open || self.samples < ENOUGH {
            window.reno(acked);
            return;
        }
        if let Some(rtt) = rtt {
            let halves = 2 * window.size;
            self.backlog = halves - proportion(halves, self.base, rtt).min(halves);
        }
        let left = window.slow_start(acked);
        if left > 0 {
            if self.backlog < CONGESTED {
                window.increase(window.size, left);
            } else {
                self.slow_avoidance(left, window);
            }
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        if self.backlog < CONGESTED { (u64::from(window.size) * 4 / 5) as u32 } else { window.half() }
    }

    fn enter(&mut self, state: State, _now: Time, _window: &mut Window) {
        self.open = state == State::Open;
        self.rtt = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;

    /// A flow that knows its base of 100 ms and has seen enough.
    fn veno(window: u32, rtt_ms: u64) -> Driver<Veno> {
        let mut driver = Driver::<Veno>::avoiding(window, Span::from_millis(rtt_ms));
        driver.law().base = Span::from_millis(100);
        driver.law().samples = ENOUGH;
        driver
    }

    /// 200 - 200 * 100 / 103 = 200 - 194 = 6 halves: congested. At 102 ms: 200 - 196 = 4.
    #[test]
    fn three_packets_queued_are_congestion() {
        for (rtt_ms, backlog) in [(102, 4), (103, 6)] {
            let mut driver = veno(100, rtt_ms);
            driver.ack(1);
            assert_eq!(driver.law().backlog, backlog, "at {rtt_ms} ms");
        }
    }

    #[test]
    fn without_congestion_it_grows_as_reno() {
        let mut driver = veno(100, 100);
        driver.acks(100);
        assert_eq!(driver.window(), 101);
    }

    /// A step takes 100 packets to count and one more to act: 101 for the one that counts (100 -> 101), then 102 for
    /// the one that does not, then 102 for the next.
    #[test]
    fn in_congestion_it_grows_at_half_the_pace() {
        let mut driver = veno(100, 120);
        driver.acks(101);
        assert_eq!(driver.window(), 101);
        driver.acks(102 + 101);
        assert_eq!(driver.window(), 101);
        driver.ack(1);
        assert_eq!(driver.window(), 102);
    }

    #[test]
    fn a_random_loss_takes_a_fifth_and_congestion_half() {
        for (rtt_ms, window) in [(100, 80), (120, 50)] {
            let mut driver = veno(100, rtt_ms);
            driver.ack(1);
            driver.loss();
            assert_eq!(driver.window(), window, "at {rtt_ms} ms");
        }
    }
}
