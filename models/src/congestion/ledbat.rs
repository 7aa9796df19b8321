//! LEDBAT++: uses the capacity that others leave. It keeps the delay that it adds to the path below a target, and
//! yields to other flows.
//!
//! Once per round, with `base` the smallest round-trip time of the last ten minutes, `delay` the smallest of the last
//! four samples less the base, and `gain = 1 / min(16, ceil(2 target / base))`:
//!
//! ```text
//! delay <= target:   window += gain in the round, acknowledgment by acknowledgment
//! otherwise:         window -= min(window (delay / target - 1), window / 2)
//! slow start:        window += gain acked; ends for good when delay > 3/4 target, or on loss
//! slowdown:          two rounds after slow start, and again after nine times as long as the last one took:
//!                    threshold = window, window = 2 for two rounds, then slow start to the threshold
//! loss:              threshold = window = window / 2; in a slowdown, threshold = threshold / 2
//! ```
//!
//! The slowdowns empty the queue, so that all flows see the base, whichever came first. They cost at most a tenth.
//!
//! Source: P. Balasubramanian, O. Ertugay, D. Havey, "LEDBAT++: Congestion Control for Background Traffic",
//! draft-irtf-iccrg-ledbat-plus-plus-01, 2020 (target 60 ms, constant 1); it amends RFC 6817.
//!
//! Deviations:
//! 1. The decrease is applied at the end of a round, not in parts with each acknowledgment, and without the fraction of
//!    a packet by which the window would have grown.
//! 2. The base is forgotten in two halves of five minutes, not in ten of one.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::rounds::{Rounds, proportion};
use crate::congestion::window::Window;
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameter, Parameters, SettingError, Settings, above_zero};
use crate::units::{Span, Time};

const TARGET: Parameter<Span> =
    Parameter::new("target", Span::from_millis(60), above_zero(), "queueing delay to aim at");

/// The settings.
pub const PARAMETERS: Parameters = &[&TARGET];

/// Half of the time to remember a base.
const BASE_MEMORY: Span = Span::from_secs(300);
/// The present delay is the smallest of this many samples.
const SAMPLES: usize = 4;
/// Least window, and the window of a slowdown.
const MIN_WINDOW: u32 = 2;
/// Largest divisor of the growth.
const MOST_PATIENT: u64 = 16;
/// Rounds of a slowdown at the least window.
const LOW_ROUNDS: u32 = 2;
/// Time between slowdowns, as a multiple of the last one's length.
const SLOWDOWN_INTERVAL: u64 = 9;

/// Where the flow is between two slowdowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its first slow start.
    First,
    /// No slowdown before this time.
    Until(Time),
    /// In a slowdown since this time, with this many rounds of the least window left.
    Low { since: Time, rounds: u32 },
    /// Growing back; the slowdown began at this time.
    Back { since: Time },
}

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Ledbat {
    rounds: Rounds,
    /// Smallest of this half of the memory, and of the one before.
    base: [Span; 2],
    base_since: Time,
    samples: [Span; SAMPLES],
    next_sample: usize,
    phase: Phase,
    target: Span,
}

impl Ledbat {
    fn base(&self) -> Span {
        self.base[0].min(self.base[1])
    }

    fn take(&mut self, rtt: Span, now: Time) {
        if now.saturating_since(self.base_since) > BASE_MEMORY {
            self.base = [rtt, self.base[0]];
            self.base_since = now;
        }
        self.base[0] = self.base[0].min(rtt);
        self.samples[self.next_sample] = rtt;
        self.next_sample = (self.next_sample + 1) % SAMPLES;
    }

    fn delay(&self) -> Span {
        let least = self.samples.iter().copied().min().unwrap_or(Span::MAX);
        if least == Span::MAX { Span::ZERO } else { least.saturating_sub(self.base()) }
    }

    /// Packets acknowledged in slow start, or windows in avoidance, per packet added: 1 / gain.
    fn patience(&self) -> u32 {
        let base = self.base().picos().max(1);
        self.target.saturating_mul(2).picos().div_ceil(base).clamp(1, MOST_PATIENT) as u32
    }

    /// Packets to remove for a delay above the target.
    fn decrease(&self, window: u32) -> u32 {
        let above = self.delay().saturating_sub(self.target);
        proportion(window, above, self.target).min(window / 2)
    }

    fn is_low(&self) -> bool {
        matches!(self.phase, Phase::Low { .. })
    }

    fn slow_down(&mut self, now: Time, window: &mut Window) {
        window.threshold = window.size.max(MIN_WINDOW);
        window.size = window.size.min(MIN_WINDOW);
        window.credit = 0;
        self.phase = Phase::Low { since: now, rounds: LOW_ROUNDS };
    }

    fn end_round(&mut self, now: Time, window: &mut Window) {
        match self.phase {
            Phase::Until(time) if now >= time => self.slow_down(now, window),
            Phase::Low { since, rounds: 0 } => self.phase = Phase::Back { since },
            Phase::Low { since, rounds } => self.phase = Phase::Low { since, rounds: rounds - 1 },
            Phase::Back { since } if !window.in_slow_start() => {
                let took = now.saturating_since(since);
                self.phase = Phase::Until(now.saturating_add(took.saturating_mul(SLOWDOWN_INTERVAL)));
            }
            _ if !window.in_slow_start() => {
                window.size = (window.size - self.decrease(window.size)).max(MIN_WINDOW);
                window.threshold = window.threshold.min(window.size);
            }
            _ => {}
        }
    }

    /// Slow start, as fast as the gain allows.
    fn start(&mut self, acked: u32, window: &mut Window) {
        let limit = window.threshold;
        window.increase(self.patience(), acked);
        window.size = window.size.min(limit);
        if self.phase == Phase::First && self.delay() > self.target / 4 * 3 {
            window.threshold = window.size;
        }
    }
}

impl Law for Ledbat {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(setup: &Setup, settings: &Settings) -> Result<Ledbat, SettingError> {
        Ok(Ledbat {
            rounds: Rounds::new(),
            base: [Span::MAX; 2],
            base_since: setup.now,
            samples: [Span::MAX; SAMPLES],
            next_sample: 0,
            phase: Phase::First,
            target: TARGET.read(settings)?,
        })
    }

    fn initial_window(&self, _setup: &Setup) -> u32 {
        MIN_WINDOW
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.take(rtt, ack.now);
        }
        if self.phase == Phase::First && !window.in_slow_start() {
            self.phase = Phase::Until(ack.now.saturating_add(ack.srtt.saturating_mul(2)));
        }
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if self.rounds.ends(ack) {
            self.end_round(ack.now, window);
        }
        if self.is_low() {
            return;
        }
        if window.in_slow_start() {
            self.start(acked, window);
        } else if self.delay() <= self.target {
            window.increase(window.size.saturating_mul(self.patience()), acked);
        }
    }

    /// In a slowdown, lost packets belong to the window before it.
    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        if self.is_low() { window.threshold / 2 } else { window.half() }
    }

    fn enter(&mut self, _state: State, _now: Time, window: &mut Window) {
        self.rounds.restart();
        if self.is_low() {
            window.size = window.size.min(MIN_WINDOW);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;

    /// Knows the base; its round-trip time is now `rtt_ms`; a round has begun.
    fn ledbat(window: u32, base_ms: u64, rtt_ms: u64) -> Driver<Ledbat> {
        let mut driver = Driver::<Ledbat>::avoiding(window, Span::from_millis(base_ms));
        driver.ack(1);
        driver.controller.window = Window { threshold: window, ..Window::new(window) };
        driver.rtt = Span::from_millis(rtt_ms);
        driver.acks(SAMPLES as u32);
        driver.controller.window = Window { threshold: window, ..Window::new(window) };
        driver
    }

    /// 2 * 60 / 100 = 1.2 -> 2; 120 / 10 = 12; 120 / 1 = 120 -> 16.
    #[test]
    fn short_paths_grow_more_slowly() {
        for (base_ms, patience) in [(200, 1), (100, 2), (10, 12), (1, 16)] {
            assert_eq!(ledbat(10, base_ms, base_ms).law().patience(), patience, "at {base_ms} ms");
        }
    }

    /// Base 100 ms, gain 1/2: one packet more for 200 acknowledged, two round trips.
    #[test]
    fn below_the_target_it_grows_by_its_gain_per_round() {
        let mut driver = ledbat(100, 100, 110);
        driver.acks(199);
        assert_eq!(driver.window(), 100);
        driver.acks(1);
        assert_eq!(driver.window(), 101);
    }

    /// Target 60 ms. A delay of 75 is a quarter too much: 25 of 100. One of 200 would take all; half goes.
    #[test]
    fn above_the_target_it_shrinks_by_the_excess() {
        assert_eq!(ledbat(100, 100, 175).law().decrease(100), 25);
        assert_eq!(ledbat(100, 100, 300).law().decrease(100), 50);
        assert_eq!(ledbat(100, 100, 160).law().decrease(100), 0);
    }

    /// Out of the first slow start at 1 s: the slowdown begins two round trips later, keeps two packets for two whole
    /// rounds, and doubles back to 64.
    #[test]
    fn a_slowdown_follows_slow_start_and_restores_the_window() {
        let mut driver = Driver::<Ledbat>::avoiding(64, Span::from_millis(200));
        driver.acks(65);
        assert!(driver.window() >= 64);
        driver.now += Span::from_millis(400);
        let before = driver.window();
        driver.acks(before + 1);
        assert_eq!(driver.window(), 2);
        assert!(driver.threshold() - before <= 1, "{} of {before}", driver.threshold());
        let mut rounds = 0;
        while driver.window() < before {
            driver.now += Span::from_millis(200);
            driver.acks(driver.window() + 1);
            rounds += 1;
            assert!(rounds < 20, "it does not grow back");
        }
        assert!(rounds >= 2 + 5, "two rounds of two packets and five doublings, not {rounds}");
    }

    /// Losses of the last window of 64 show when the slowdown has begun.
    #[test]
    fn a_loss_in_a_slowdown_halves_the_saved_window() {
        let mut driver = ledbat(64, 200, 200);
        let mut window = driver.controller.window;
        let now = driver.now;
        driver.law().slow_down(now, &mut window);
        driver.controller.window = window;
        driver.loss();
        assert_eq!((driver.window(), driver.threshold()), (2, 32));
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut driver = ledbat(100, 100, 100);
        driver.loss();
        assert_eq!(driver.window(), 50);
    }
}
