//! FAST: keeps a fixed number of packets of its own queued, and goes there by an equation, not by steps of one.
//!
//! In every other round, with `base` the smallest round-trip time and `rtt` the smallest of the round:
//!
//! ```text
//! window = min(2 window, (1 - gamma) window + gamma (window base / rtt + alpha))
//! slow start:  as Reno, until a round has alpha / 2 packets queued
//! loss:        threshold = window = window / 2
//! ```
//!
//! At rest `window (rtt - base) / rtt = alpha`.
//!
//! Source: C. Jin, D. Wei, S. Low, "FAST TCP: motivation, architecture, algorithms, performance", IEEE INFOCOM 2004 and
//! IEEE/ACM Transactions on Networking 14(6), 2006, equation 2 (gamma = 1/2).
//!
//! Choices where the papers leave one:
//! 1. alpha is 8 packets below 10 Mbit/s, 20 below 100 Mbit/s, 200 above, unless it is set: one constant is either
//!    nothing on a fast path or a standing loss on a slow one.
//! 2. The smallest round-trip time of a round stands for the average, as the dissertation that compares it with Rapid
//!    does; a round with fewer than three samples is not judged.
//! 3. The round between two updates shows what the first of them did.
//! 4. There is no pacing within a round; the host has it for all window-based controllers.

use crate::contract::{AckSample, Setup};
use crate::registry::{Kind, Parameter, SettingError, Settings};
use crate::rounds::{Backlog, VegasSamples};
use crate::settings::{integer, proper_fraction};
use crate::window::Window;
use crate::window_based::{Law, State};
use units::{Bytes, Rate, Ratio, Time};

/// What a scenario can set.
pub const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "alpha",
        kind: Kind::Integer,
        default: "0",
        doc: "packets to keep queued; 0: 8, 20 or 200 by the rate",
    },
    Parameter { name: "gamma", kind: Kind::Ratio, default: "0.5", doc: "part of the way gone in one update" },
];

/// Least window that the law itself sets.
const MIN_WINDOW: u32 = 2;

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Fast {
    samples: VegasSamples,
    packet: Bytes,
    /// This round shows what the last update did.
    settling: bool,
    /// As set; zero: by the rate.
    alpha: u32,
    gamma: Ratio,
}

impl Fast {
    fn alpha(&self, window: u32, backlog: Backlog) -> u32 {
        if self.alpha > 0 {
            return self.alpha;
        }
        let rate = Rate::of(Bytes::new(self.packet.get() * u64::from(window)), backlog.rtt);
        match rate {
            rate if rate < Rate::from_mbps(10) => 8,
            rate if rate < Rate::from_mbps(100) => 20,
            _ => 200,
        }
    }

    fn update(&mut self, backlog: Backlog, window: &mut Window) {
        let aim = u64::from(backlog.window_without_queue(window.size)) + u64::from(self.alpha(window.size, backlog));
        let size = u64::from(window.size);
        let moved =
            if aim >= size { size + self.gamma.of_u64(aim - size) } else { size - self.gamma.of_u64(size - aim) };
        window.size = u32::try_from(moved.min(2 * size)).unwrap_or(Window::MAX).clamp(MIN_WINDOW, Window::MAX);
        window.threshold = window.threshold.min(window.size);
    }
}

impl Law for Fast {
    const PARAMETERS: &'static [Parameter] = PARAMETERS;

    fn new(setup: &Setup, settings: &Settings) -> Result<Fast, SettingError> {
        Ok(Fast {
            samples: VegasSamples::new(),
            packet: setup.packet,
            settling: false,
            alpha: integer(settings, "alpha", 0, 0..=1_000_000, "a whole number from 0 to 1000000")?,
            gamma: proper_fraction(settings, "gamma", Ratio::of(1, 2))?,
        })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        self.samples.take(ack.rtt);
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        let shown = self.samples.end_of_round(ack).flatten();
        if window.in_slow_start() {
            window.slow_start(acked);
            if let Some(backlog) = shown
                && backlog.packets_at_round_rate(window.size) >= self.alpha(window.size, backlog) / 2
            {
                self.update(backlog, window);
            }
            return;
        }
        if let Some(backlog) = shown {
            if !self.settling {
                self.update(backlog, window);
            }
            self.settling = !self.settling;
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        window.half()
    }

    fn enter(&mut self, _state: State, _now: Time, _window: &mut Window) {
        self.samples.restart();
        self.settling = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window_based::driver::Driver;
    use units::Span;

    const BASE: Span = Span::from_millis(100);

    fn backlog(rtt_ms: u64) -> Backlog {
        Backlog { base: BASE, rtt: Span::from_millis(rtt_ms) }
    }

    fn fast(window: u32) -> Driver<Fast> {
        Driver::<Fast>::avoiding(window, BASE)
    }

    fn updated(window: u32, rtt_ms: u64) -> u32 {
        let mut driver = fast(window);
        let mut after = driver.controller.window;
        driver.law().alpha = 100;
        driver.law().update(backlog(rtt_ms), &mut after);
        after.size
    }

    /// alpha 100, gamma 1/2. Empty path: 1000 + 50. A backlog of alpha, rtt = 100 / 0.9: 900 + 100, at rest.
    /// Twice the base: 500 + 100 = 600, half way from 1000 is 800.
    #[test]
    fn an_update_goes_half_way_to_where_alpha_packets_are_queued() {
        assert_eq!(updated(1000, 100), 1050);
        assert_eq!(updated(1000, 200), 800);
        let mut driver = fast(1000);
        let mut after = driver.controller.window;
        driver.law().alpha = 100;
        driver.law().update(Backlog { base: Span::from_millis(90), rtt: BASE }, &mut after);
        assert_eq!(after.size, 1000);
    }

    /// 20 + 50 would be more than twice 20.
    #[test]
    fn a_small_window_at_most_doubles() {
        assert_eq!(updated(20, 100), 40);
    }

    /// Packets of 1000 B in 100 ms: 10 make 0.8 Mbit/s, 500 make 40, 2000 make 160.
    #[test]
    fn the_packets_to_queue_follow_the_rate() {
        let mut driver = fast(10);
        assert_eq!([10, 500, 2000].map(|window| driver.law().alpha(window, backlog(100))), [8, 20, 200]);
    }

    /// Rounds of 100 packets: the first is judged, the second settles, the third is judged.
    #[test]
    fn every_other_round_is_judged() {
        let mut driver = fast(100);
        driver.ack(1);
        driver.acks(100);
        assert_eq!(driver.window(), 100);
        driver.ack(1);
        let once = driver.window();
        assert!(once > 100);
        driver.acks(once);
        driver.ack(1);
        assert_eq!(driver.window(), once);
    }
}
