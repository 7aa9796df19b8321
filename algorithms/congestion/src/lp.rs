//! LP: low priority. Reno that gives way as soon as the delay says that someone else is there.
//!
//! With `d` the smoothed delay (1/8 for the new sample) and its range `min` to `max`:
//!
//! ```text
//! early indication:   d >= min + 0.15 (max - min): window = max(window / 2, 1), or 1 within the inference phase;
//!                     then min = d, max = 2 d, and a new inference phase
//! inference phase:    3 round-trip times; the window does not grow
//! otherwise:          as Reno
//! loss:               threshold = window = window / 2
//! ```
//!
//! `max` passes over the largest delay: a sample above every one before raises it to the largest before it.
//!
//! Source: A. Kuzmanovic, E. Knightly, "TCP-LP: low-priority service via end-point congestion control", IEEE/ACM
//! Transactions on Networking 14(4), 2006; Linux.
//!
//! Linux's behaviour, where the paper's is another:
//! 1. After an early indication the range begins at the present delay. So LP gives way to a rise of 15 % above the
//!    delay of the last indication, or above the smallest since, not to 15 % of the range of all delays.
//! 2. The very first sample is an indication, since it is not below its own range: the initial window is halved.
//!
//! Deviations:
//! 1. The delay is the round-trip time. The paper's one-way delay needs clocks that agree; Linux takes the difference
//!    of two clocks that do not, so that its threshold of 15 % depends on when the two hosts were started. With
//!    round-trip times, a queue on the way back is given way to as well.

use crate::contract::{AckSample, Setup};
use crate::registry::{Parameter, SettingError, Settings};
use crate::window::Window;
use crate::window_based::{Law, State};
use units::{Span, Time};

/// Round-trip times in an inference phase.
const INFERENCE: u64 = 3;

/// Delays in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    /// Times eight.
    smoothed: u64,
    min: u64,
    max: u64,
    /// Largest of all; `max` takes its place when it is passed.
    largest: u64,
}

impl Delays {
    fn take(&mut self, delay: u64) {
        self.min = self.min.min(delay);
        if delay > self.largest {
            self.max = if self.largest == 0 { delay } else { self.largest.max(self.max) };
            self.largest = delay;
        } else {
            self.max = self.max.max(delay);
        }
        self.smoothed = if self.smoothed == 0 { 8 * delay } else { self.smoothed - self.smoothed / 8 + delay };
    }

    fn indicate_congestion(&self) -> bool {
        self.smoothed / 8 >= self.min + self.max.saturating_sub(self.min) / 100 * 15
    }

    fn restart(&mut self) {
        self.min = self.smoothed / 8;
        self.max = self.smoothed / 4;
        self.largest = self.max;
    }
}

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Lp {
    delays: Delays,
    rtt: Span,
    last_indication: Option<Time>,
    inferring: bool,
}

impl Law for Lp {
    const PARAMETERS: &'static [Parameter] = &[];

    fn new(setup: &Setup, _settings: &Settings) -> Result<Lp, SettingError> {
        Ok(Lp {
            delays: Delays { smoothed: 0, min: u64::MAX, max: 0, largest: 0 },
            rtt: setup.handshake_rtt,
            last_indication: None,
            inferring: false,
        })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.delays.take(rtt.nanos());
        }
        let phase = self.rtt.saturating_mul(INFERENCE);
        self.inferring = self.last_indication.is_some_and(|at| ack.now.saturating_since(at) < phase);
        if self.delays.smoothed > 0 && self.delays.indicate_congestion() {
            self.delays.restart();
            window.size = if self.inferring { 1 } else { window.half().max(1) };
            self.last_indication = Some(ack.now);
        }
    }

    #[inline]
    fn grow(&mut self, _ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if !self.inferring {
            window.reno(acked);
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        window.half()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window_based::driver::Driver;

    const RTT: Span = Span::from_millis(100);

    /// Past its first sample and the inference phase after it.
    fn lp(window: u32) -> Driver<Lp> {
        let mut driver = Driver::<Lp>::avoiding(2 * window, RTT);
        driver.ack(1);
        driver.now += Span::from_secs(1);
        driver.controller.window = Window { threshold: window, ..Window::new(window) };
        driver
    }

    /// Until the smoothed delay passes 115 ms: with 130 ms samples, 130 - 30 (7/8)^n >= 115 for n = 6
    /// (30 * 0.449 = 13.5), and not for n = 5 (30 * 0.513 = 15.4). The phase begins with the next acknowledgment, so this
    /// one still adds a packet.
    #[test]
    fn a_rise_of_the_delay_by_15_per_cent_halves_the_window() {
        let mut driver = lp(100);
        driver.rtt = Span::from_millis(130);
        driver.acks(5);
        assert_eq!(driver.window(), 100);
        driver.ack(1);
        assert_eq!(driver.window(), 51);
    }

    /// The second rise comes from about 116 ms to 134 within 3 round-trip times.
    #[test]
    fn a_second_rise_within_the_inference_phase_leaves_one_packet() {
        let mut driver = lp(100);
        driver.rtt = Span::from_millis(130);
        driver.acks(6);
        assert_eq!(driver.window(), 51);
        driver.rtt = Span::from_millis(200);
        driver.acks(2);
        assert_eq!(driver.window(), 1);
    }

    #[test]
    fn within_the_inference_phase_the_window_stands() {
        let mut driver = lp(100);
        driver.law().last_indication = Some(driver.now);
        driver.acks(200);
        assert_eq!(driver.window(), 100);
        driver.now += Span::from_millis(300);
        driver.acks(100);
        assert_eq!(driver.window(), 101);
    }

    #[test]
    fn the_first_sample_halves_the_window() {
        let mut driver = Driver::<Lp>::starting(10, RTT);
        driver.ack(1);
        assert_eq!(driver.window(), 6); // 5, and one of slow start
    }

    /// 100, then 150 (all others were 100, so max stays 100), then 140, which is below the largest: max is 140.
    #[test]
    fn the_largest_delay_is_passed_over() {
        let mut delays = Delays { smoothed: 0, min: u64::MAX, max: 0, largest: 0 };
        delays.take(100);
        delays.take(150);
        assert_eq!((delays.min, delays.max, delays.largest), (100, 100, 150));
        delays.take(140);
        assert_eq!(delays.max, 140);
    }
}
