//! BIC: a binary search for the window at which packets were last lost.
//!
//! With `w` the window and `w_max` the window before the last loss, the window grows by one packet per `count` packets
//! acknowledged:
//!
//! ```text
//! w <= low_window                          count = w                              Reno
//! w < w_max, distance = (w_max - w) / 4
//!     distance > max_increment             count = w / max_increment              additive increase
//!     distance > 1                         count = w / distance                   binary search
//!     otherwise                            count = w smooth_part / 4              closing in
//! w >= w_max                                                                      probing for a new maximum
//!     w < w_max + 4                        count = w smooth_part / 4
//!     w < w_max + 3 max_increment          count = 3 w / (w - w_max)
//!     otherwise                            count = w / max_increment
//! no loss so far                           count = min(count, 20)
//! then                                     count = max(count / ratio, 1)          ratio: packets per acknowledgment
//! loss:      w_max = w, or w (1 + beta) / 2 if w < w_max    (fast convergence)
//!            threshold = w = beta w, or w / 2 if w <= low_window
//! timeout:   the same threshold; w_max is forgotten
//! ```
//!
//! Source: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks",
//! INFOCOM 2004; Linux.
//!
//! Linux's behaviour, where the paper differs:
//! 1. The search goes a quarter of the way per round trip, not half, and beta is 819/1024 (paper: 0.875).
//! 2. `count` is renewed when the window changes or after 1/32 s, not with every acknowledgment.
//! 3. Linux divides by the ratio of packets to acknowledgments, yet counts packets (since 2020), so a receiver that
//!    acknowledges every second packet doubles the growth. This file does the same.
//! 4. The ratio begins at 2. In whole sixteenths its average stays at 31/16 where every packet is acknowledged. But an
//!    acknowledgment that only selects counts, too, with no packet (`tcp_clean_rtx_queue`), and the first of each loss
//!    takes a sixteenth off; so the growth halves over the first fifteen losses. In the Linux of ns-2 it did not count:
//!    `sacks_count = false`.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::window::Window;
use crate::congestion::window_based::{Law, State};
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings};
use crate::units::{Ratio, Span, Time};

const BETA: Parameter<Ratio> =
    Parameter::new("beta", Ratio::of(819, 1024), PROPER, "factor on the window after a loss");
const MAX_INCREMENT: Parameter<u32> =
    Parameter::new("max_increment", 16, 1..=10_000, "maximum window increase per round trip, in packets");
const LOW_WINDOW: Parameter<u32> =
    Parameter::new("low_window", 14, 1..=10_000, "window up to which it acts as Reno, in packets");
const SMOOTH_PART: Parameter<u32> =
    Parameter::new("smooth_part", 20, 1..=10_000, "4 times the round trips per packet near the maximum");
const FAST_CONVERGENCE: Parameter<bool> =
    Parameter::switch("fast_convergence", true, "lower the maximum if the window shrank since the last loss");

const SACKS_COUNT: Parameter<bool> =
    Parameter::switch("sacks_count", true, "the first selective acknowledgment of a loss lowers the ratio");

/// The settings.
pub const PARAMETERS: Parameters = &[&BETA, &MAX_INCREMENT, &LOW_WINDOW, &SMOOTH_PART, &FAST_CONVERGENCE, &SACKS_COUNT];

/// A search step covers one part in this many of the distance.
const PART: u32 = 4;
/// Growth before any loss: at least 5 % per round trip.
const MOST_BEFORE_LOSS: u32 = 20;
/// Time for which `count` is valid while the window is constant.
const RENEWAL: Span = Span::from_micros(31_250);
/// Packets per acknowledgment: in sixteenths, averaged over sixteen acknowledgments.
const RATIO_UNIT: u32 = 16;

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Bic {
    /// Window before the last reduction; 0: none.
    w_max: u32,
    /// Packets acknowledged per packet added; the window it was computed for; when.
    count: u32,
    counted_for: u32,
    counted_at: Time,
    /// Packets per acknowledgment, in sixteenths.
    ratio: u32,
    beta: Ratio,
    max_increment: u32,
    low_window: u32,
    smooth_part: u32,
    fast_convergence: bool,
    sacks_count: bool,
    /// Since an acknowledgment that only selected, Linux is in its state of disorder, and averages nothing.
    disordered: bool,
}

impl Bic {
    fn reset(&mut self) {
        self.w_max = 0;
        self.counted_for = 0;
        self.ratio = 2 * RATIO_UNIT;
    }

    fn renew_count(&mut self, w: u32, now: Time) {
        if self.counted_for == w && now.saturating_since(self.counted_at) <= RENEWAL {
            return;
        }
        self.counted_for = w;
        self.counted_at = now;
        self.count = if w <= self.low_window { w } else { self.search(w) };
    }

    fn search(&self, w: u32) -> u32 {
        let closing_in = w.saturating_mul(self.smooth_part) / PART;
        let additive = w / self.max_increment;
        let count = if w < self.w_max {
            match (self.w_max - w) / PART {
                distance if distance > self.max_increment => additive,
                0 | 1 => closing_in,
                distance => w / distance,
            }
        } else {
            match w - self.w_max {
                beyond if beyond < PART => closing_in,
                beyond if beyond < self.max_increment * (PART - 1) => w.saturating_mul(PART - 1) / beyond,
                _ => additive,
            }
        };
        let count = if self.w_max == 0 { count.min(MOST_BEFORE_LOSS) } else { count };
        let per_packet = u64::from(count) * u64::from(RATIO_UNIT) / u64::from(self.ratio.max(1));
        u32::try_from(per_packet).unwrap_or(u32::MAX).max(1)
    }
}

impl Law for Bic {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(setup: &Setup, settings: &Settings) -> Result<Bic, SettingError> {
        Ok(Bic {
            w_max: 0,
            count: 1,
            counted_for: 0,
            counted_at: setup.now,
            ratio: 2 * RATIO_UNIT,
            beta: BETA.read(settings)?,
            max_increment: MAX_INCREMENT.read(settings)?,
            low_window: LOW_WINDOW.read(settings)?,
            smooth_part: SMOOTH_PART.read(settings)?,
            fast_convergence: FAST_CONVERGENCE.read(settings)?,
            sacks_count: SACKS_COUNT.read(settings)?,
            disordered: false,
        })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, state: State, _window: &mut Window) {
        let only_selects = ack.cumulative == 0;
        let counts = if only_selects { self.sacks_count && !self.disordered } else { true };
        if state == State::Open && counts {
            self.ratio = (self.ratio - self.ratio / RATIO_UNIT).saturating_add(ack.cumulative);
        }
        self.disordered = only_selects;
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        let left = window.slow_start(acked);
        if left > 0 {
            self.renew_count(window.size, ack.now);
            window.increase(self.count, left);
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        let w = u64::from(window.size);
        let kept = self.beta.of_u64(w);
        let shrinking = self.fast_convergence && window.size < self.w_max;
        self.w_max = if shrinking { ((w + kept) / 2) as u32 } else { window.size };
        if window.size <= self.low_window { window.half() } else { kept as u32 }
    }

    fn enter(&mut self, state: State, _now: Time, _window: &mut Window) {
        if state == State::Loss {
            self.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;

    const RTT: Span = Span::from_millis(60);

    /// In avoidance at `window` after a loss at `w_max`, with one acknowledgment per packet.
    fn searching(window: u32, w_max: u32) -> Driver<Bic> {
        let mut driver = Driver::<Bic>::avoiding(window, RTT);
        driver.law().w_max = w_max;
        driver.law().ratio = RATIO_UNIT;
        driver
    }

    /// How many packets make the window one larger.
    fn packets_to_grow(driver: &mut Driver<Bic>) -> u32 {
        let window = driver.window();
        (1..=10_000)
            .find(|_| {
                driver.ack(1);
                driver.window() > window
            })
            .expect("it grows")
    }

    /// distance (1000 - 800) / 4 = 50 > 16: 800 / 16 = 50. (1000 - 960) / 4 = 10: 960 / 10 = 96.
    /// (1000 - 995) / 4 = 1: 995 * 20 / 4 = 4975.
    #[test]
    fn below_the_maximum_it_searches() {
        assert_eq!(packets_to_grow(&mut searching(800, 1000)), 50);
        assert_eq!(packets_to_grow(&mut searching(960, 1000)), 96);
        assert_eq!(packets_to_grow(&mut searching(995, 1000)), 4975);
    }

    /// 2 above: 1002 * 20 / 4 = 5010. 24 above: 3 * 1024 / 24 = 128. 48 above: 1048 / 16 = 65.
    #[test]
    fn above_the_maximum_it_probes_ever_faster() {
        assert_eq!(packets_to_grow(&mut searching(1002, 1000)), 5010);
        assert_eq!(packets_to_grow(&mut searching(1024, 1000)), 128);
        assert_eq!(packets_to_grow(&mut searching(1048, 1000)), 65);
    }

    #[test]
    fn a_small_window_grows_as_reno() {
        assert_eq!(packets_to_grow(&mut searching(14, 1000)), 14);
    }

    /// 800 / 16 = 50 as above, with two packets to the acknowledgment halved: 25.
    #[test]
    fn delayed_acknowledgments_double_the_growth() {
        let mut driver = searching(800, 1000);
        driver.law().ratio = 2 * RATIO_UNIT;
        (0..13).for_each(|_| driver.ack(2));
        assert_eq!(driver.window(), 801);
        assert_eq!(driver.law().count, 25);
    }

    /// From 32: 32 - 2 + 1 = 31, and 31 - 1 + 1. The first selective acknowledgment of a loss: 31 - 1 = 30; more do nothing.
    #[test]
    fn losses_bring_the_ratio_down_to_one() {
        let mut driver = Driver::<Bic>::avoiding(1000, RTT);
        driver.acks(50);
        assert_eq!(driver.law().ratio, 31);
        (0..2).for_each(|_| driver.ack(0));
        assert_eq!(driver.law().ratio, 30);
        for _ in 0..30 {
            driver.acks(3);
            driver.ack(0);
        }
        driver.ack(1);
        assert_eq!(driver.law().ratio, RATIO_UNIT);
        driver.law().sacks_count = false;
        driver.law().ratio = 31;
        (0..9).for_each(|_| driver.ack(0));
        assert_eq!(driver.law().ratio, 31);
    }

    /// 1000 * 819 / 1024 = 799.8. Then, at 799 < 1000: w_max = (799 + 639) / 2 = 719, with 799 * 819 / 1024 = 639.03.
    #[test]
    fn a_loss_takes_a_fifth_and_a_second_one_lowers_the_maximum() {
        let mut driver = Driver::<Bic>::avoiding(1000, RTT);
        driver.loss();
        assert_eq!((driver.window(), driver.law().w_max), (799, 1000));
        driver.loss();
        assert_eq!((driver.window(), driver.law().w_max), (639, 719));
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut driver = Driver::<Bic>::avoiding(1000, RTT);
        driver.timeout();
        assert_eq!((driver.window(), driver.threshold(), driver.law().w_max), (1, 799, 0));
    }
}
