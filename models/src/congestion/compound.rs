//! Compound: Reno's window plus a window controlled by delay, which grows fast while the path has no queue and shrinks
//! to zero when it has one.
//!
//! `window = reno + delay`. Acknowledgments grow `reno` by one packet per `window`. Once per round, with `base` the
//! smallest round-trip time and `rtt` the smallest of the round:
//!
//! ```text
//! diff   = window (rtt - base) / rtt
//! diff < gamma:   delay += max(window^(3/4) / 8 - 1, 0)
//! otherwise:      delay  = max(delay - diff, 0)
//! loss:           reno = reno / 2, delay = max(window / 2 - reno / 2, 0): threshold = window = window / 2
//! timeout:        delay = 0, threshold = window / 2
//! slow start:     as Reno, delay = 0
//! ```
//!
//! Windows below 41 packets are Reno's.
//!
//! Source: K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP approach for high-speed and long distance networks",
//! IEEE INFOCOM 2006 (alpha = 1/8, beta = 1/2, k = 3/4, gamma = 30, zeta = 1), and draft-sridharan-tcpm-ctcp-02.
//!
//! Deviations:
//! 1. gamma is a constant; the later tuning of it by the smallest backlog seen at a loss is left out.
//! 2. A round with fewer than three samples is not judged, as in Vegas: all of them may be from delayed
//!    acknowledgments.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::rounds::{Backlog, VegasSamples};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::Time;

const GAMMA: Parameter<u32> =
    Parameter::new("gamma", 30, 1..=1_000_000, "queued packets from which the delay window shrinks");

/// The settings.
pub const PARAMETERS: Parameters = &[&GAMMA, &GROWTH];

/// Least window, in packets, with a delay window.
const LOW_WINDOW: u32 = 41;

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Compound {
    samples: VegasSamples,
    /// The delay window, in packets.
    delay: u32,
    /// State before the last reduction.
    prior_delay: u32,
    gamma: u32,
}

/// `n^(3/4)`, rounded down.
fn three_quarters_power(n: u32) -> u32 {
    u128::from(n).pow(3).isqrt().isqrt() as u32
}

impl Compound {
    fn judge(&mut self, backlog: Backlog, window: &mut Window) {
        let diff = backlog.packets_at_round_rate(window.size);
        if diff < self.gamma {
            let step = (three_quarters_power(window.size) / 8).saturating_sub(1);
            if window.size >= LOW_WINDOW {
                self.delay = self.delay.saturating_add(step).min(Window::MAX);
                window.add(step);
            }
        } else {
            let step = diff.min(self.delay);
            self.delay -= step;
            window.size -= step;
        }
    }
}

impl Law for Compound {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, settings: &Settings) -> Result<Compound, SettingError> {
        let gamma = GAMMA.read(settings)?;
        Ok(Compound { samples: VegasSamples::new(), delay: 0, prior_delay: 0, gamma })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        self.samples.take(ack.rtt);
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        let shown = self.samples.end_of_round(ack).flatten();
        if window.in_slow_start() {
            window.reno(acked);
            return;
        }
        window.increase(window.size, acked);
        if let Some(backlog) = shown {
            self.judge(backlog, window);
        }
    }

    fn threshold(&mut self, window: &Window, next: State, _now: Time) -> u32 {
        let reno = window.size - self.delay;
        self.prior_delay = self.delay;
        self.delay = if next == State::Loss { 0 } else { window.half().saturating_sub(reno / 2) };
        window.half()
    }

    fn enter(&mut self, _state: State, _now: Time, _window: &mut Window) {
        self.samples.restart();
    }

    fn undo(&mut self) {
        self.delay = self.delay.max(self.prior_delay);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;
    use crate::units::Span;

    const BASE: Span = Span::from_millis(100);

    /// A flow that knows the base, at the beginning of a round at the present round-trip time.
    fn compound(window: u32, rtt_ms: u64) -> Driver<Compound> {
        let mut driver = Driver::<Compound>::avoiding(window, BASE);
        driver.law().samples.take(Some(BASE));
        driver.law().samples.restart();
        driver.rtt = Span::from_millis(rtt_ms);
        driver.ack(1);
        driver
    }

    /// 10000^(3/4) = 1000 exactly, 81^(3/4) = 27.
    #[test]
    fn the_power_is_exact_where_it_is_whole() {
        assert_eq!([10_000, 81, 16, 1].map(three_quarters_power), [1000, 27, 8, 1]);
        assert_eq!(three_quarters_power(9_999), 999);
    }

    /// Reno's packet, and 10000^(3/4) / 8 - 1 = 124.
    #[test]
    fn on_an_empty_path_a_round_adds_a_power_of_the_window() {
        let mut driver = compound(10_000, 100);
        driver.acks(10_001);
        assert_eq!((driver.window(), driver.law().delay), (10_125, 124));
    }

    /// diff = 10125 (110 - 100) / 110 = 920 > 30 and more than the delay window has: it is gone, Reno's packets stay.
    #[test]
    fn a_queue_takes_only_the_delay_window() {
        let mut driver = compound(10_000, 100);
        driver.acks(10_001);
        driver.law().samples.restart();
        driver.rtt = Span::from_millis(110);
        driver.ack(1);
        driver.acks(10_126);
        assert_eq!(driver.law().delay, 0);
        assert!((10_001..=10_003).contains(&driver.window()), "{}", driver.window());
    }

    /// 30 packets: one more in a round, as Reno.
    #[test]
    fn a_small_window_is_renos() {
        let mut driver = compound(30, 100);
        driver.acks(31);
        assert_eq!((driver.window(), driver.law().delay), (31, 0));
    }

    /// Window 1000 of which 400 are the delay's: 500 in all, 300 of them Reno's.
    #[test]
    fn a_loss_halves_both_windows() {
        let mut driver = compound(1000, 100);
        driver.law().delay = 400;
        driver.loss();
        assert_eq!((driver.window(), driver.law().delay), (500, 200));
    }
}
