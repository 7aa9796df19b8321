//! Westwood+: Reno that, after a loss, sets the window to what the measured rate needs without a queue.
//!
//! ```text
//! growth:       as Reno
//! bandwidth:    every max(rtt, 50 ms), b = packets delivered / time; n = (7 n + b) / 8; B = (7 B + n) / 8
//! loss:         threshold = window = max(B rtt_min, 2), at most the window; again, from the newest B, when recovery ends
//! timeout:      threshold = max(B rtt_min, 2), window = 1; the measurement of rtt_min restarts
//! ```
//!
//! Source: L. Grieco, S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control", ACM CCR 34(2), 2004; Linux.
//!
//! Linux's behaviour, where the paper differs:
//! 1. The filter is two averages in a row, each with 1/8 for the new sample (paper: one, with 0.1). The first sample
//!    fills both.
//! 2. The estimate is applied once more when recovery ends.
//!
//! Deviations from Linux:
//! 1. Since Linux 3.2, with its proportional rate reduction, the window moves towards half in recovery and jumps to the
//!    estimate at the end. The jump sends up to half a window at once, which a short buffer drops again. Here the
//!    window moves towards the estimate from the start, as in the paper and in earlier Linux; `recovery = "half"` is
//!    today's Linux.
//! 2. Selective acknowledgments report deliveries. Linux counts a packet for each duplicate acknowledgment and
//!    subtracts it later.
//! 3. The estimate is not applied at the end of a recovery that was undone. Linux applies it, and so loses some of what
//!    the undo restored.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{OneOf, Parameters, SettingError, Settings};
use crate::units::{Span, Time};

const RECOVERY: OneOf =
    OneOf::new("recovery", &["estimate", "half"], "window during recovery, before the estimate applies");

/// The settings.
pub const PARAMETERS: Parameters = &[&RECOVERY, &GROWTH];

/// Shortest time of a bandwidth sample.
const MIN_SAMPLE: Span = Span::from_millis(50);

/// Two averages in a row, in packets per second.
#[derive(Clone, Copy, Debug)]
struct Bandwidth {
    inner: f64,
    outer: f64,
}

impl Bandwidth {
    fn take(&mut self, sample: f64) {
        if self.inner == 0.0 && self.outer == 0.0 {
            *self = Bandwidth { inner: sample, outer: sample };
        } else {
            self.inner = (7.0 * self.inner + sample) / 8.0;
            self.outer = (7.0 * self.outer + self.inner) / 8.0;
        }
    }
}

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Westwood {
    bandwidth: Bandwidth,
    /// The current sample: its start and its packets.
    since: Time,
    delivered: u32,
    rtt: Span,
    min_rtt: Span,
    /// Whether the next round-trip time becomes the smallest.
    forget_min: bool,
    recovering: bool,
    /// Whether the window is first halved in recovery.
    half_first: bool,
}

impl Westwood {
    fn window_without_queue(&self) -> u32 {
        let packets = self.bandwidth.outer * self.min_rtt.as_secs_f64();
        (packets as u32).clamp(2, Window::MAX)
    }
}

impl Law for Westwood {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(setup: &Setup, settings: &Settings) -> Result<Westwood, SettingError> {
        let half_first = RECOVERY.read(settings)? == "half";
        Ok(Westwood {
            bandwidth: Bandwidth { inner: 0.0, outer: 0.0 },
            since: setup.now,
            delivered: 0,
            rtt: setup.handshake_rtt,
            min_rtt: setup.handshake_rtt,
            forget_min: true,
            recovering: false,
            half_first,
        })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        let time = ack.now.saturating_since(self.since);
        if time > self.rtt.max(MIN_SAMPLE) {
            self.bandwidth.take(f64::from(self.delivered) / time.as_secs_f64());
            self.since = ack.now;
            self.delivered = 0;
        }
        self.delivered = self.delivered.saturating_add(ack.delivered);
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.min_rtt = if self.forget_min { rtt } else { self.min_rtt.min(rtt) };
            self.forget_min = false;
        }
    }

    #[inline]
    fn grow(&mut self, _ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        window.reno(acked);
    }

    fn threshold(&mut self, window: &Window, next: State, _now: Time) -> u32 {
        match next {
            State::Loss => {
                self.forget_min = true;
                self.window_without_queue()
            }
            _ if self.half_first => window.half(),
            _ => self.window_without_queue().min(window.size),
        }
    }

    fn enter(&mut self, state: State, _now: Time, window: &mut Window) {
        if state == State::Open && self.recovering {
            window.size = self.window_without_queue();
            window.threshold = window.size;
        }
        self.recovering = state == State::Recovery;
    }

    fn undo(&mut self) {
        self.recovering = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;
    use crate::settings::Setting;

    const RTT: Span = Span::from_millis(100);

    /// The first sample fills both; then (7 * 1000 + 1800) / 8 = 1100 and (7 * 1000 + 1100) / 8 = 1012.5.
    #[test]
    fn the_bandwidth_is_smoothed_twice() {
        let mut bandwidth = Bandwidth { inner: 0.0, outer: 0.0 };
        bandwidth.take(1000.0);
        assert_eq!((bandwidth.inner, bandwidth.outer), (1000.0, 1000.0));
        bandwidth.take(1800.0);
        assert_eq!((bandwidth.inner, bandwidth.outer), (1100.0, 1012.5));
    }

    /// 2000 packets/s for 100 ms without a queue: 200, independent of the window before.
    #[test]
    fn a_loss_leaves_what_the_rate_needs() {
        let mut driver = Driver::<Westwood>::avoiding(300, RTT);
        driver.law().bandwidth = Bandwidth { inner: 2000.0, outer: 2000.0 };
        driver.ack(1);
        driver.loss();
        assert_eq!((driver.window(), driver.threshold()), (200, 200));
        driver.law().bandwidth.outer = 2100.0;
        driver.recover();
        assert_eq!((driver.window(), driver.threshold()), (210, 210));
    }

    #[test]
    fn the_window_is_halved_first_as_in_current_linux() {
        let settings = Settings::from([("recovery".into(), Setting::Word("half".into()))]);
        let mut driver = Driver::<Westwood>::with(300, RTT, &settings);
        driver.law().bandwidth = Bandwidth { inner: 2000.0, outer: 2000.0 };
        driver.ack(1);
        driver.controller.window = Window { threshold: 300, ..Window::new(300) };
        driver.loss();
        assert_eq!(driver.window(), 150);
        driver.recover();
        assert_eq!(driver.window(), 200);
    }

    #[test]
    fn after_a_timeout_the_threshold_fits_the_rate() {
        let mut driver = Driver::<Westwood>::avoiding(300, RTT);
        driver.law().bandwidth = Bandwidth { inner: 2000.0, outer: 2000.0 };
        driver.ack(1);
        driver.timeout();
        assert_eq!((driver.window(), driver.threshold()), (1, 200));
    }

    #[test]
    fn an_undone_recovery_leaves_the_window_alone() {
        let mut driver = Driver::<Westwood>::avoiding(300, RTT);
        driver.loss();
        driver.undo();
        assert_eq!(driver.window(), 300);
    }

    /// 100 packets per round trip of 100 ms: 1000 packets/s. Samples are taken just after 100 ms, so that they hold a
    /// packet or two more than a round.
    #[test]
    fn a_steady_flow_is_measured_at_its_rate() {
        let mut driver = Driver::<Westwood>::avoiding(100, RTT);
        for _ in 0..1000 {
            driver.now += Span::from_millis(1);
            driver.ack(1);
            driver.controller.window.size = 100;
        }
        let bandwidth = driver.law().bandwidth.outer;
        assert!((990.0..=1010.0).contains(&bandwidth), "{bandwidth} packets/s");
    }
}
