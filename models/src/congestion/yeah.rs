//! YeAH: Scalable TCP while the queue is short, Reno while it is not. It drains the queue before it overflows.
//!
//! Per acknowledgment in avoidance: fast mode adds one packet per min(window, 100) acknowledged, slow mode one per
//! window. Once per round, with `base` the smallest round-trip time and `rtt` the smallest of the round:
//!
//! ```text
//! queue = window (rtt - base) / rtt
//! queue > 80 or rtt - base > base / 8:
//!     queue > 80 and window > reno:  window = max(window - min(queue, window / 2), reno); threshold = window
//!     reno <= 2:                     reno = max(window / 2, 2);   otherwise reno += 1
//!     slow mode; slow_rounds += 1
//! otherwise:
//!     fast_rounds += 1; above 50: reno = 2, fast_rounds = 0
//!     fast mode; slow_rounds = 0
//! loss: taken = max(min(queue, max(window / 2, 2)), window / 8),  or max(window / 2, 2) at slow_rounds >= 16
//!       threshold = window = window - taken; fast_rounds = 0; reno = max(reno / 2, 2)
//! ```
//!
//! `reno` estimates the window of a Reno flow on the same path: sixteen rounds with a queue imply such a
//! flow.
//!
//! Source: A. Baiocchi, A. Castellani, F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007; Linux, whose
//! constants these are.
//!
//! Linux's behaviour: a round with fewer than three samples is not judged; rounds restart after recovery.
//!
//! Deviations:
//! 1. The base is not forgotten after idle times.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::rounds::{Backlog, VegasSamples};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameters, SettingError, Settings};
use crate::units::Time;

/// Most packets to leave in the queue (alpha).
const MAX_QUEUE: u32 = 80;
/// Largest queueing delay, as a share of the base (phi).
const MAX_DELAY_PART: u64 = 8;
/// Rounds in slow mode after which a loss means competition (rho).
const COMPETITION: u32 = 16;
/// Rounds in fast mode after which there is no competition (zeta).
const NO_COMPETITION: u32 = 50;
/// Packets acknowledged per packet added in fast mode.
const PER_PACKET: u32 = 100;

/// The settings.
pub const PARAMETERS: Parameters = &[&GROWTH];

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Yeah {
    samples: VegasSamples,
    /// Packets queued in the last judged round.
    queue: u32,
    /// Rounds in slow mode without a break; 0: fast mode.
    slow_rounds: u32,
    fast_rounds: u32,
    reno: u32,
}

impl Yeah {
    fn judge(&mut self, backlog: Backlog, window: &mut Window) {
        let queue = backlog.packets_at_round_rate(window.size);
        if queue > MAX_QUEUE || backlog.delay() > backlog.base / MAX_DELAY_PART {
            if queue > MAX_QUEUE && window.size > self.reno {
                window.size = (window.size - queue.min(window.half())).max(self.reno);
                window.threshold = window.size;
            }
            self.reno = if self.reno <= 2 { window.half().max(2) } else { self.reno.saturating_add(1) };
            self.slow_rounds = self.slow_rounds.saturating_add(1);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > NO_COMPETITION {
                self.reno = 2;
                self.fast_rounds = 0;
            }
            self.slow_rounds = 0;
        }
        self.queue = queue;
    }
}

impl Law for Yeah {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, _settings: &Settings) -> Result<Yeah, SettingError> {
        Ok(Yeah { samples: VegasSamples::new(), queue: 0, slow_rounds: 0, fast_rounds: 0, reno: 2 })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        self.samples.take(ack.rtt);
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        let left = window.slow_start(acked);
        if left > 0 && self.slow_rounds == 0 {
            // As in Linux, its fast mode counts packets where `acked` counts acknowledgments.
            window.increase(window.size.min(PER_PACKET), left + (ack.delivered - acked));
        } else if left > 0 {
            window.increase(window.size, left);
        }
        if let Some(Some(backlog)) = self.samples.end_of_round(ack) {
            self.judge(backlog, window);
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        let half = window.half().max(2);
        let taken = if self.slow_rounds < COMPETITION { self.queue.min(half).max(window.size / 8) } else { half };
        self.fast_rounds = 0;
        self.reno = (self.reno / 2).max(2);
        window.size.saturating_sub(taken)
    }

    fn enter(&mut self, state: State, _now: Time, _window: &mut Window) {
        if state == State::Open {
            self.samples.restart();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;
    use crate::units::Span;

    const BASE: Span = Span::from_millis(100);

    fn judged(window: u32, rtt_ms: u64) -> Driver<Yeah> {
        let mut driver = Driver::<Yeah>::avoiding(window, BASE);
        let backlog = Backlog { base: BASE, rtt: Span::from_millis(rtt_ms) };
        let controller = &mut driver.controller;
        controller.law.judge(backlog, &mut controller.window);
        driver
    }

    /// 1000 * 10 / 110 = 90 > 80: 1000 - 90 = 910, and a Reno flow is guessed at half of that.
    #[test]
    fn a_long_queue_is_drained() {
        let mut driver = judged(1000, 110);
        assert_eq!((driver.window(), driver.threshold()), (910, 910));
        assert_eq!((driver.law().reno, driver.law().slow_rounds, driver.law().queue), (455, 1, 90));
    }

    /// 100 * 13 / 113 = 11 packets only, but 13 ms > 100 / 8: slow mode, nothing drained.
    #[test]
    fn a_large_delay_switches_to_reno() {
        let mut driver = judged(100, 113);
        assert_eq!((driver.window(), driver.law().slow_rounds), (100, 1));
        driver.acks(99);
        assert_eq!(driver.window(), 100);
        driver.ack(1);
        assert_eq!(driver.window(), 101);
    }

    /// Queue and delay small: 500 packets at 100 to the packet make 5.
    #[test]
    fn a_short_queue_is_scalable() {
        let mut driver = judged(500, 101);
        driver.acks(500);
        assert_eq!(driver.window(), 505);
    }

    /// Queue 0 and 1000 packets: an eighth, 875. Queue 90 after draining to 910: max(min(90, 455), 113) = 113, 797.
    /// After 16 slow rounds: half.
    #[test]
    fn a_loss_takes_the_queue_and_at_least_an_eighth() {
        let mut driver = judged(1000, 100);
        driver.loss();
        assert_eq!(driver.window(), 875);
        let mut driver = judged(1000, 110);
        driver.loss();
        assert_eq!((driver.window(), driver.law().reno), (797, 227));
        let mut driver = judged(1000, 100);
        driver.law().slow_rounds = 16;
        driver.loss();
        assert_eq!(driver.window(), 500);
    }
}
