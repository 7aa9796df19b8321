//! Illinois: losses decide when the window is reduced. The queueing delay decides by how much, and how fast it grows.
//!
//! Once per round, with `da` the mean queueing delay of the round and `dm` the largest seen, both above the base:
//!
//! ```text
//! alpha = 10                                 da <= dm / 100, in the fifth such round (at once before any other round)
//! alpha = dm' 10 / (dm' + da' (10 - 0.3) / 0.3)            otherwise; dm' = dm - dm / 100, da' = da - dm / 100
//! beta  = 1/8                                da <= dm / 10
//! beta  = 1/2                                da >= 8 dm / 10
//! beta  = linear between them                otherwise
//! avoidance:   alpha packets per window of packets acknowledged
//! loss:        threshold = window = window (1 - beta)
//! ```
//!
//! Windows below 15 packets have alpha = 1, beta = 1/2. So has every window after a timeout until its next round.
//! alpha is stored in 1/128, beta in 1/64.
//!
//! Source: S. Liu, T. Basar, R. Srikant, "TCP-Illinois: a loss- and delay-based congestion control algorithm for
//! high-speed networks", Performance Evaluation 65, 2008; Linux.
//!
//! Linux's behaviour:
//! 1. The largest delay is never forgotten.
//! 2. A step empties the credit: what was counted beyond whole packets is lost.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::rounds::Rounds;
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Span, Time};

const WIN_THRESH: Parameter<u32> =
    Parameter::new("win_thresh", 15, 0..=1_000_000, "window below which it acts as Reno, in packets");
const THETA: Parameter<u32> = Parameter::new("theta", 5, 1..=255, "rounds of low delay before the fastest growth");

/// The settings.
pub const PARAMETERS: Parameters = &[&WIN_THRESH, &THETA, &GROWTH];

/// One packet per window, in the unit of alpha.
const ALPHA_ONE: u64 = 128;
const ALPHA_MIN: u64 = 3 * ALPHA_ONE / 10;
const ALPHA_MAX: u64 = 10 * ALPHA_ONE;
/// The whole window, in the unit of beta.
const BETA_ONE: u64 = 64;
const BETA_MIN: u64 = BETA_ONE / 8;
const BETA_MAX: u64 = BETA_ONE / 2;
/// Longer round-trip times count as this, as in Linux.
const MAX_RTT: Span = Span::from_millis(3_355);

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Illinois {
    rounds: Rounds,
    /// Round-trip times in nanoseconds: of this round, and the extremes of all.
    sum: u64,
    count: u64,
    base: u64,
    max: u64,
    alpha: u64,
    beta: u64,
    /// Whether a round had more than a little delay.
    above: bool,
    /// Rounds with little delay since.
    low_rounds: u32,
    win_thresh: u32,
    theta: u32,
}

impl Illinois {
    fn end_round(&mut self, window: u32) {
        if window < self.win_thresh {
            self.alpha = ALPHA_ONE;
            self.beta = BETA_MAX;
        } else if let Some(mean) = self.sum.checked_div(self.count) {
            let mean = mean - self.base;
            let largest = self.max - self.base;
            self.alpha = self.alpha_at(mean, largest);
            self.beta = beta_at(mean, largest);
        }
        self.forget_round();
    }

    fn forget_round(&mut self) {
        self.sum = 0;
        self.count = 0;
    }

    fn alpha_at(&mut self, mean: u64, largest: u64) -> u64 {
        let little = largest / 100;
        if mean > little {
            self.above = true;
            let (mean, largest) = (mean - little, largest - little);
            return largest * ALPHA_MAX / (largest + mean * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN);
        }
        if self.above {
            self.low_rounds += 1;
            if self.low_rounds < self.theta {
                return self.alpha;
            }
            self.low_rounds = 0;
            self.above = false;
        }
        ALPHA_MAX
    }
}

fn beta_at(mean: u64, largest: u64) -> u64 {
    let (low, high) = (largest / 10, largest * 8 / 10);
    if mean <= low {
        BETA_MIN
    } else if mean >= high {
        BETA_MAX
    } else {
        BETA_MIN + (BETA_MAX - BETA_MIN) * (mean - low) / (high - low)
    }
}

impl Law for Illinois {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, settings: &Settings) -> Result<Illinois, SettingError> {
        Ok(Illinois {
            rounds: Rounds::new(),
            sum: 0,
            count: 0,
            base: u64::MAX,
            max: 0,
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            above: false,
            low_rounds: 0,
            win_thresh: WIN_THRESH.read(settings)?,
            theta: THETA.read(settings)?,
        })
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, state: State, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.min(MAX_RTT).nanos();
            self.base = self.base.min(rtt);
            self.max = self.max.max(rtt);
            self.sum += rtt;
            self.count += 1;
        }
        if state != State::Recovery && self.rounds.ends(ack) {
            self.end_round(window.size);
        }
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        window.credit = window.credit.saturating_add(ack.delivered);
        let steps = (u64::from(window.credit) * self.alpha / ALPHA_ONE) / u64::from(window.size);
        if steps > 0 {
            window.add(steps as u32);
            window.credit = 0;
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        let taken = u64::from(window.size) * self.beta / BETA_ONE;
        window.size - taken as u32
    }

    fn enter(&mut self, state: State, _now: Time, _window: &mut Window) {
        if state == State::Loss {
            self.alpha = ALPHA_ONE;
            self.beta = BETA_MAX;
            self.low_rounds = 0;
            self.above = false;
            self.rounds.restart();
            self.forget_round();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;

    const BASE: Span = Span::from_millis(100);
    const MS: u64 = 1_000_000;

    fn illinois(window: u32) -> Driver<Illinois> {
        Driver::<Illinois>::avoiding(window, BASE)
    }

    /// Largest 100 ms, mean 50: dm' = 99, da' = 49; 99 * 1280 / (99 + 49 * 1242 / 38) = 126720 / 1700.5 = 74 (0.58).
    /// At the largest: 126720 / (99 + 99 * 1242 / 38) = 38 (0.3); just above a hundredth, nearly 1280 (10).
    #[test]
    fn growth_falls_from_10_to_0_3_with_delay() {
        let mut driver = illinois(100);
        assert_eq!(driver.law().alpha_at(50 * MS, 100 * MS), 74);
        assert_eq!(driver.law().alpha_at(100 * MS, 100 * MS), 38);
        assert_eq!(driver.law().alpha_at(MS + 1, 100 * MS), 1279);
    }

    #[test]
    fn after_delay_the_fastest_growth_takes_five_rounds() {
        let mut driver = illinois(100);
        let law = driver.law();
        assert_eq!(law.alpha_at(0, 100 * MS), ALPHA_MAX);
        law.alpha = law.alpha_at(100 * MS, 100 * MS);
        for _ in 0..4 {
            assert_eq!(law.alpha_at(0, 100 * MS), ALPHA_MIN);
        }
        assert_eq!(law.alpha_at(0, 100 * MS), ALPHA_MAX);
    }

    /// From 8/64 at 10 ms to 32/64 at 80 ms; half way, at 45 ms, 20/64.
    #[test]
    fn the_cut_rises_from_an_eighth_to_a_half_with_delay() {
        for (ms, beta) in [(5, 8), (10, 8), (45, 20), (80, 32), (100, 32)] {
            assert_eq!(beta_at(ms * MS, 100 * MS), beta, "at {ms} ms");
        }
    }

    /// alpha = 10: ten packets acknowledged at a window of 100 make 1000 / 1000 = 1 packet.
    #[test]
    fn without_delay_a_window_adds_ten_packets() {
        let mut driver = illinois(100);
        driver.acks(9);
        assert_eq!(driver.window(), 100);
        driver.ack(1);
        assert_eq!(driver.window(), 101);
    }

    /// A first round without delay: beta = 1/8, 104 - 13 = 91.
    #[test]
    fn a_loss_without_delay_takes_an_eighth() {
        let mut driver = illinois(104);
        driver.law().end_round(104);
        driver.ack(1);
        driver.law().end_round(104);
        driver.loss();
        assert_eq!(driver.window(), 91);
    }

    #[test]
    fn a_small_window_is_reno() {
        let mut driver = illinois(14);
        driver.law().end_round(14);
        assert_eq!((driver.law().alpha, driver.law().beta), (ALPHA_ONE, BETA_MAX));
    }
}
