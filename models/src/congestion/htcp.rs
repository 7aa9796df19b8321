//! H-TCP: the longer ago the last loss, the faster it grows. A loss reduces the window just enough to empty the queue.
//!
//! With `t` the time since the last recovery ended, in seconds, `rtt_min` and `rtt_max` the extremes of the round-trip
//! time, and `B` the throughput before a loss:
//!
//! ```text
//! factor = 1 + 10 (t - 1) + ((t - 1) / 2)^2 for t > 1, otherwise 1
//! factor = factor rtt_min / 100 ms, the second part within 1/10 and 2         (RTT scaling), at least 1
//! alpha  = 2 (1 - beta) factor                                    packets per window of packets acknowledged
//! beta   = rtt_min / rtt_max, within 0.5 and 0.8;   0.5 if B changed by more than a fifth from loss to loss,
//!          at the loss after such a change, and for rtt_min up to 10 ms
//! loss:    threshold = window = beta window; rtt_max moves 5 % towards rtt_min
//! ```
//!
//! alpha and beta are stored in 1/128, factors in whole numbers, times in milliseconds.
//!
//! Source: R. Shorten, D. Leith, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, and
//! draft-leith-tcp-htcp-06; Linux.
//!
//! Linux's behaviour, where the draft differs:
//! 1. Factors are truncated to whole numbers and are at least 1, so RTT scaling never slows Reno's pace.
//! 2. The acknowledgment that makes a step is not counted, and the step empties the credit.
//! 3. rtt_max rises by at most 20 ms at a time, only outside recovery.
//! 4. An undo restores the time since the last loss, but not rtt_max and B, since Linux saves these after recovery has
//!    changed them.
//!
//! Deviation from both: idle time does not count as time since the last loss. The law would leap after it.

use crate::congestion::contract::{AckSample, Idle, Setup};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Span, Time};

const RTT_SCALING: Parameter<bool> =
    Parameter::switch("rtt_scaling", true, "grow on long paths as fast as on one of 100 ms");
const BANDWIDTH_SWITCH: Parameter<bool> =
    Parameter::switch("bandwidth_switch", true, "halve the window if throughput changed since the last loss");

/// The settings.
pub const PARAMETERS: Parameters = &[&RTT_SCALING, &BANDWIDTH_SWITCH, &GROWTH];

/// One, in the unit of alpha and beta.
const ONE: u64 = 128;
const BETA_MIN: u64 = ONE / 2;
const BETA_MAX: u64 = 102;
/// Round-trip times up to this do not show the queue.
const SHORT_RTT: Span = Span::from_millis(10);
/// Largest step of rtt_max.
const MAX_RISE: Span = Span::from_millis(20);
/// Round trips after a loss in which throughput is not averaged.
const SETTLING: u64 = 3;

/// Throughput in packets per second, one sample per window and round trip.
#[derive(Clone, Copy, Debug)]
struct Throughput {
    packets: u64,
    since: Time,
    smoothed: u64,
    max: u64,
    /// `max` at the loss before.
    max_before: u64,
}

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Htcp {
    alpha: u64,
    beta: u64,
    /// Whether throughput was steady at the last loss.
    adaptive: bool,
    min_rtt: Span,
    max_rtt: Span,
    /// End of the last recovery; within one, its beginning.
    last_loss: Time,
    /// `last_loss` before the recovery that is under way.
    undo: Option<Time>,
    throughput: Throughput,
    rtt_scaling: bool,
    bandwidth_switch: bool,
}

impl Htcp {
    fn measure_rtt(&mut self, rtt: Span, state: State) {
        self.min_rtt = self.min_rtt.min(rtt);
        if state == State::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt <= self.max_rtt + MAX_RISE {
                self.max_rtt = self.max_rtt.max(rtt);
            }
        }
    }

    fn measure_throughput(&mut self, ack: &AckSample<'_>, window: u32) {
        let throughput = &mut self.throughput;
        throughput.packets += u64::from(ack.cumulative);
        let time = ack.now.saturating_since(throughput.since);
        let enough = u64::from(window).saturating_sub((self.alpha / ONE).max(1));
        if throughput.packets < enough || self.min_rtt == Span::MAX || time < self.min_rtt || time == Span::ZERO {
            return;
        }
        let sample = u128::from(throughput.packets) * u128::from(Span::from_secs(1).picos()) / u128::from(time.picos());
        let sample = sample.min(u128::from(u32::MAX)) as u64;
        let since_loss = ack.now.saturating_since(self.last_loss);
        if since_loss < self.min_rtt.saturating_mul(SETTLING + 1) {
            throughput.smoothed = sample;
            throughput.max = sample;
        } else {
            throughput.smoothed = (3 * throughput.smoothed + sample) / 4;
            throughput.max = throughput.max.max(throughput.smoothed);
        }
        throughput.packets = 0;
        throughput.since = ack.now;
    }

    fn update_alpha(&mut self, now: Time) {
        let since_ms = milliseconds(now.saturating_since(self.last_loss)).min(1 << 30);
        let beyond_ms = since_ms.saturating_sub(1000);
        let mut factor = 1 + (10 * beyond_ms + (beyond_ms / 2) * (beyond_ms / 2) / 1000) / 1000;
        let min_rtt_ms = milliseconds(self.min_rtt);
        if self.rtt_scaling && self.min_rtt != Span::MAX && min_rtt_ms > 0 {
            let scale_in_eighths = (800 / min_rtt_ms).clamp(4, 80);
            factor = (8 * factor / scale_in_eighths).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    fn update_beta(&mut self) {
        if self.bandwidth_switch {
            let (max, before) = (self.throughput.max, self.throughput.max_before);
            self.throughput.max_before = max;
            if 5 * max < 4 * before || 5 * max > 6 * before {
                self.beta = BETA_MIN;
                self.adaptive = false;
                return;
            }
        }
        if self.adaptive && self.min_rtt != Span::MAX && self.min_rtt > SHORT_RTT && self.max_rtt > Span::ZERO {
            let beta = u128::from(self.min_rtt.picos()) * u128::from(ONE) / u128::from(self.max_rtt.picos());
            self.beta = (beta as u64).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.adaptive = true;
        }
    }

    fn fade_max_rtt(&mut self) {
        if self.min_rtt < self.max_rtt {
            let range = self.max_rtt.saturating_sub(self.min_rtt);
            self.max_rtt = self.min_rtt + range / 100 * 95;
        }
    }
}

fn milliseconds(span: Span) -> u64 {
    span.nanos() / 1_000_000
}

impl Law for Htcp {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(setup: &Setup, settings: &Settings) -> Result<Htcp, SettingError> {
        Ok(Htcp {
            alpha: ONE,
            beta: BETA_MIN,
            adaptive: false,
            min_rtt: Span::MAX,
            max_rtt: Span::ZERO,
            last_loss: setup.now,
            undo: None,
            throughput: Throughput { packets: 0, since: setup.now, smoothed: 0, max: 0, max_before: 0 },
            rtt_scaling: RTT_SCALING.read(settings)?,
            bandwidth_switch: BANDWIDTH_SWITCH.read(settings)?,
        })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, state: State, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.measure_rtt(rtt, state);
        }
        if state == State::Open {
            self.measure_throughput(ack, window.size);
        } else {
            self.throughput.packets = 0;
            self.throughput.since = ack.now;
        }
    }

    /// Idle time is no time without loss: RFC 9438, section 4.2 has this rule for CUBIC. Linux counts it.
    fn idle(&mut self, idle: &Idle) {
        self.last_loss += idle.lasted;
        (self.throughput.packets, self.throughput.since) = (0, idle.now);
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if window.in_slow_start() {
            window.slow_start(acked);
        } else if u64::from(window.credit) * self.alpha / ONE >= u64::from(window.size) {
            window.add(1);
            window.credit = 0;
            self.update_alpha(ack.now);
        } else {
            window.credit = window.credit.saturating_add(ack.delivered);
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, now: Time) -> u32 {
        self.update_beta();
        self.update_alpha(now);
        self.fade_max_rtt();
        (u64::from(window.size) * self.beta / ONE) as u32
    }

    fn enter(&mut self, state: State, now: Time, _window: &mut Window) {
        if state != State::Open {
            self.undo = Some(self.last_loss);
            self.last_loss = now;
        } else if self.undo.take().is_some() {
            self.last_loss = now;
        }
    }

    fn undo(&mut self) {
        if let Some(last_loss) = self.undo.take() {
            self.last_loss = last_loss;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::contract::Controller;
    use crate::congestion::window_based::driver::Driver;

    const RTT: Span = Span::from_millis(100);

    fn htcp(window: u32) -> Driver<Htcp> {
        let mut driver = Driver::<Htcp>::avoiding(window, RTT);
        driver.law().min_rtt = RTT;
        driver.law().max_rtt = RTT;
        driver
    }

    /// At 100 ms the scale is 1. Up to 1 s: 1. At 2 s: 1 + 10 + 0.25 = 11. At 5 s: 1 + 40 + 4 = 45. alpha is that,
    /// since 2 (1 - 0.5) = 1.
    #[test]
    fn growth_rises_with_time_since_the_last_loss() {
        for (seconds, alpha) in [(0, 1), (1, 1), (2, 11), (5, 45)] {
            let mut driver = htcp(100);
            let now = driver.now + Span::from_secs(seconds);
            driver.law().update_alpha(now);
            assert_eq!(driver.law().alpha, alpha * ONE, "after {seconds} s");
        }
    }

    /// 20 ms: scale 800 / 20 = 40 eighths; 8 * 45 / 40 = 9. 400 ms: 2 eighths, held at 4; 8 * 45 / 4 = 90.
    #[test]
    fn growth_follows_the_length_of_the_path() {
        for (rtt_ms, alpha) in [(20, 9), (100, 45), (400, 90)] {
            let mut driver = htcp(100);
            let now = driver.now + Span::from_secs(5);
            driver.law().min_rtt = Span::from_millis(rtt_ms);
            driver.law().update_alpha(now);
            assert_eq!(driver.law().alpha, alpha * ONE, "over {rtt_ms} ms");
        }
    }

    /// With a steady throughput: first 0.5, then 100 / 150 = 85 / 128, within 0.5 and 0.8.
    #[test]
    fn a_loss_empties_the_queue_at_steady_throughput() {
        let mut driver = htcp(1280);
        driver.law().throughput.max = 1000;
        driver.law().max_rtt = Span::from_millis(150);
        driver.loss();
        assert_eq!(driver.window(), 640); // 1000 after 0: a change
        driver.loss();
        assert_eq!(driver.window(), 320); // steady, but only now
        driver.law().max_rtt = Span::from_millis(150);
        driver.controller.window.size = 1280;
        driver.loss();
        assert_eq!(driver.window(), 850);
    }

    /// 5 * 1300 > 6 * 1000.
    #[test]
    fn a_throughput_that_changes_halves_the_window() {
        let mut driver = htcp(1280);
        driver.law().adaptive = true;
        driver.law().throughput.max = 1300;
        driver.law().throughput.max_before = 1000;
        driver.loss();
        assert_eq!(driver.window(), 640);
    }

    /// alpha = 1: 100 packets counted, and one that acts.
    #[test]
    fn a_step_takes_one_acknowledgment_more() {
        let mut driver = htcp(100);
        driver.acks(100);
        assert_eq!(driver.window(), 100);
        driver.ack(1);
        assert_eq!(driver.window(), 101);
    }

    /// 2 s after a loss alpha is 11 (see above). 15 s of idle time later, and 1 s more, it is that of 3 s: 1 + 20 + 1 = 22.
    #[test]
    fn idle_time_is_not_time_without_loss() {
        let mut driver = htcp(100);
        driver.now += Span::from_secs(2 + 15);
        let (lasted, rto) = (Span::from_secs(15), Span::from_millis(200));
        driver.controller.on_idle(&Idle { now: driver.now, lasted, rto, restart_window: None });
        let now = driver.now + Span::from_secs(1);
        driver.law().update_alpha(now);
        assert_eq!(driver.law().alpha, 22 * ONE);
    }

    #[test]
    fn time_since_loss_starts_after_recovery_and_survives_undo() {
        let mut driver = htcp(100);
        let start = driver.now;
        driver.now += Span::from_secs(3);
        driver.loss();
        driver.undo();
        assert_eq!(driver.law().last_loss, start);
        driver.loss();
        driver.now += RTT;
        driver.recover();
        assert_eq!(driver.law().last_loss, start + Span::from_secs(3) + RTT);
    }
}
