//! Vegas: keeps a few of the flow's packets queued at the bottleneck, which it estimates from the round-trip time.
//!
//! Once per round, with `base` the smallest round-trip time and `rtt` the smallest of the round:
//!
//! ```text
//! diff          = window (rtt - base) / base
//! slow start:   diff > gamma: window = min(window, window base / rtt + 1), threshold = min(threshold, window)
//!               otherwise as Reno, as for all acknowledgments within the round
//! avoidance:    diff < alpha: window += 1;   diff > beta: window -= 1, threshold = min(threshold, window)
//! afterwards:   threshold = max(threshold, 3/4 window)
//! loss:         threshold = window = window / 2
//! ```
//!
//! Source: L. Brakmo, L. Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE JSAC 13(8),
//! 1995; Linux.
//!
//! Linux's behaviour, where the paper differs:
//! 1. Slow start doubles every round, not every other. It ends with the window that the round's rate needs.
//! 2. alpha is 2, beta 4, gamma 1 packets (paper: 1, 3, 1); diff uses the rate that the base would allow, window /
//!    base.
//! 3. Loss detection and reduction are those of every other controller. A round is not judged across recovery. After a
//!    timeout, until recovery ends, the window grows as Reno's.
//! 4. A round with fewer than three samples grows as Reno: all of them may be from delayed acknowledgments.
//!
//! Deviations:
//! 1. A round does not end while the window does not limit the flow. Linux's Vegas, unlike its other laws, grows even
//!    then.
//! 2. The base is not forgotten after idle times.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::rounds::{Backlog, VegasSamples};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::Time;

const ALPHA: Parameter<u32> = Parameter::new("alpha", 2, 0..=1_000_000, "queued packets below which the window grows");
const BETA: Parameter<u32> = Parameter::new("beta", 4, 0..=1_000_000, "queued packets above which the window shrinks");
const GAMMA: Parameter<u32> = Parameter::new("gamma", 1, 0..=1_000_000, "queued packets above which slow start ends");

/// The settings.
pub const PARAMETERS: Parameters = &[&ALPHA, &BETA, &GAMMA, &GROWTH];

/// Least window that the law sets.
const MIN_WINDOW: u32 = 2;

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Vegas {
    samples: VegasSamples,
    open: bool,
    alpha: u32,
    beta: u32,
    gamma: u32,
}

impl Vegas {
    fn judge(&self, backlog: Backlog, acked: u32, window: &mut Window) {
        let diff = backlog.packets_at_base_rate(window.size);
        if window.in_slow_start() {
            if diff > self.gamma {
                window.size = window.size.min(backlog.window_without_queue(window.size) + 1);
                window.threshold = window.threshold.min(window.size);
            } else {
                window.slow_start(acked);
            }
        } else if diff > self.beta {
            window.size -= 1;
            window.threshold = window.threshold.min(window.size);
        } else if diff < self.alpha {
            window.add(1);
        }
        window.size = window.size.max(MIN_WINDOW);
        window.threshold = window.threshold.max(window.size / 2 + window.size / 4);
    }
}

impl Law for Vegas {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, settings: &Settings) -> Result<Vegas, SettingError> {
        let vegas = Vegas {
            samples: VegasSamples::new(),
            open: true,
            alpha: ALPHA.read(settings)?,
            beta: BETA.read(settings)?,
            gamma: GAMMA.read(settings)?,
        };
        if vegas.alpha > vegas.beta {
            return Err(BETA.refuse("at least alpha"));
        }
        Ok(vegas)
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        self.samples.take(ack.rtt);
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if !self.open {
            window.reno(acked);
            return;
        }
        match self.samples.end_of_round(ack) {
            Some(Some(backlog)) => self.judge(backlog, acked, window),
            Some(None) => window.reno(acked),
            None => {
                window.slow_start(acked);
            }
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        window.half()
    }

    fn enter(&mut self, state: State, _now: Time, _window: &mut Window) {
        self.open = state == State::Open;
        self.samples.restart();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;
    use crate::units::Span;

    const BASE: Span = Span::from_millis(100);

    /// A flow that knows the base, with one round begun at its present round-trip time.
    fn vegas(window: u32, rtt_ms: u64) -> Driver<Vegas> {
        let mut driver = Driver::<Vegas>::avoiding(window, BASE);
        driver.law().samples.take(Some(BASE));
        driver.law().samples.restart();
        driver.rtt = Span::from_millis(rtt_ms);
        driver.ack(1);
        driver
    }

    /// From the packet that began the round, 100 in flight: the 101st ends it.
    #[test]
    fn a_round_ends_with_a_packet_sent_in_it() {
        let mut driver = vegas(100, 100);
        driver.acks(100);
        assert_eq!(driver.window(), 100);
        driver.ack(1);
        assert_eq!(driver.window(), 101);
    }

    /// diff = 100 (rtt - 100) / 100 packets: 1 below alpha, 2 and 4 between, 5 above beta.
    #[test]
    fn holds_two_to_four_packets_in_the_queue() {
        for (rtt_ms, window) in [(101, 101), (102, 100), (104, 100), (105, 99)] {
            let mut driver = vegas(100, rtt_ms);
            driver.acks(101);
            assert_eq!(driver.window(), window, "at {rtt_ms} ms");
        }
    }

    /// Begun at 50, a round of slow start ends 51 packets later with a window of 50 + 1 + 50 = 101 at 120 ms:
    /// diff = 101 * 20 / 100 = 20 > 1; 101 * 100 / 120 + 1 = 85.
    #[test]
    fn slow_start_ends_at_the_queue_free_window() {
        let mut driver = Driver::<Vegas>::starting(50, BASE);
        driver.law().samples.take(Some(BASE));
        driver.law().samples.restart();
        driver.rtt = Span::from_millis(120);
        driver.acks(51);
        assert_eq!(driver.window(), 101);
        driver.ack(1);
        assert_eq!((driver.window(), driver.threshold()), (85, 85));
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut driver = vegas(100, 100);
        driver.loss();
        assert_eq!(driver.window(), 50);
    }
}
