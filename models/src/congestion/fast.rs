//! FAST: keeps a fixed number of the flow's packets queued, and reaches that by an equation, not in steps of one.
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
//! It measures only delay. The setting `delay` selects the clock:
//!
//! ```text
//! fine:    rtt = now - sent                               with what the end hosts and the way back add
//! coarse:  rtt = floor(now) - floor(sent), in ticks of 1 ms
//! stamps:  rtt = base + (owd - base owd), owd = arrived - sent, base the smallest now - sent
//! ```
//!
//! Source: C. Jin, D. Wei, S. Low, "FAST TCP: motivation, architecture, algorithms, performance", IEEE INFOCOM 2004 and
//! IEEE/ACM Transactions on Networking 14(6), 2006, equation 2 (gamma = 1/2). The three clocks: Q. Yin, "TCP RAPID: from
//! theory to practice", section 9.3 and equation 9.1.
//!
//! Choices where the papers leave one:
//! 1. alpha is 8 packets below 10 Mbit/s, 20 below 100 Mbit/s, 200 above, unless it is set. One constant would either
//!    be negligible on a fast path or cause lasting loss on a slow one.
//! 2. The smallest round-trip time of a round replaces the average, as in the dissertation that compares FAST with
//!    Rapid. A round with fewer than three samples is not judged.
//! 3. The round between two updates shows what the first of them did.
//! 4. There is no pacing within a round; the host has it for all window-based controllers.
//! 5. If an acknowledgment covers several packets, the one sent last gives the one-way delay, as it gives the
//!    round-trip time. Receivers that do not stamp give no delay, and the window stays where slow start or a loss left
//!    it.
//! 6. A coarse round-trip time of zero ticks counts as 1 us, as in Linux, where no round-trip time is zero.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::rounds::{Backlog, VegasSamples};
use crate::congestion::window::Window;
use crate::congestion::window_based::{Law, State};
use crate::settings::{OneOf, PROPER, Parameter, Parameters, SettingError, Settings};
use crate::units::{Bytes, Rate, Ratio, Span, Time};

const ALPHA: Parameter<u32> =
    Parameter::new("alpha", 0, 0..=1_000_000, "target number of queued packets; 0: 8, 20 or 200, by the rate");
const GAMMA: Parameter<Ratio> =
    Parameter::new("gamma", Ratio::of(1, 2), PROPER, "share of the way to the target per update");
const DELAY: OneOf = OneOf::new(
    "delay",
    &["fine", "coarse", "stamps"],
    "source of the delay: exact round-trip times, those of a 1 ms clock, or receiver stamps",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&ALPHA, &GAMMA, &DELAY];

/// A tick of the coarse clock.
const TICK: Span = Span::from_millis(1);
/// The least time that it measures.
const LEAST: Span = Span::from_micros(1);

/// The clock that measures delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    Fine,
    Coarse,
    Stamps,
}

impl Clock {
    /// The delay in an acknowledgment: a round-trip time, or with stamps the one-way delay, on a scale with an
    /// arbitrary zero, since two hosts have two clocks.
    #[inline]
    fn read(self, ack: &AckSample<'_>) -> Option<Span> {
        let rtt = ack.rtt?;
        let sent = ack.now.saturating_sub(rtt);
        match self {
            Clock::Fine => Some(rtt),
            Clock::Coarse => Some((TICK * (ticks(ack.now) - ticks(sent))).max(LEAST)),
            Clock::Stamps => {
                let arrived = ack.arrivals.last()?.arrived?;
                Some(Span::from_picos(arrived.picos().wrapping_sub(sent.picos()).wrapping_add(1 << 63)))
            }
        }
    }

    /// The delay as a round-trip time, of which `base` is the smallest; for stamps by equation 9.1.
    fn in_round_trips(self, shown: Backlog, base: Span) -> Backlog {
        match self {
            Clock::Fine | Clock::Coarse => shown,
            Clock::Stamps => Backlog { base, rtt: base + shown.delay() },
        }
    }
}

/// Whole ticks of the coarse clock at that time.
fn ticks(at: Time) -> u64 {
    at.picos() / TICK.picos()
}

/// Least window that the law sets.
const MIN_WINDOW: u32 = 2;

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Fast {
    samples: VegasSamples,
    packet: Bytes,
    /// Whether this round shows the last update's effect.
    settling: bool,
    /// The setting; zero: by the rate.
    alpha: u32,
    gamma: Ratio,
    clock: Clock,
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

fn clock(settings: &Settings) -> Result<Clock, SettingError> {
    Ok(match DELAY.read(settings)? {
        "coarse" => Clock::Coarse,
        "stamps" => Clock::Stamps,
        _ => Clock::Fine,
    })
}

impl Law for Fast {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(setup: &Setup, settings: &Settings) -> Result<Fast, SettingError> {
        Ok(Fast {
            samples: VegasSamples::new(),
            packet: setup.packet,
            settling: false,
            alpha: ALPHA.read(settings)?,
            gamma: GAMMA.read(settings)?,
            clock: clock(settings)?,
        })
    }

    fn needs_arrivals(&self) -> bool {
        self.clock == Clock::Stamps
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        self.samples.take(self.clock.read(ack));
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        let shown = self.samples.end_of_round(ack).flatten();
        let shown = shown.map(|shown| self.clock.in_round_trips(shown, ack.min_rtt));
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
    use crate::congestion::testing::setup;
    use crate::congestion::window_based::driver::Driver;
    use crate::settings::Setting;
    use alloc::string::ToString;

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
    fn an_update_goes_half_way_to_alpha_queued_packets() {
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

    fn settings(delay: &str) -> Settings {
        [("alpha", Setting::Integer(100)), ("delay", Setting::Word(delay.to_string()))]
            .map(|(name, setting)| (name.to_string(), setting))
            .into()
    }

    /// A window of 1000 packets, alpha 100, after a round on a path that was seen idle before. Each path: the round-trip
    /// time, and by how much the receiver's stamp is after the departure on the sender's clock, in microseconds.
    fn judged(delay: &str, idle: (u64, i64), loaded: (u64, i64)) -> u32 {
        let mut driver = Driver::<Fast>::with(1000, BASE, &settings(delay));
        driver.controller.window.threshold = 1000;
        driver.now += Span::from_micros(900);
        for ((rtt, after), packets) in [(idle, 1), (loaded, 1002)] {
            driver.rtt = Span::from_micros(rtt);
            let sent = driver.now - driver.rtt;
            driver.stamp = Some(Time::from_nanos(sent.nanos().strict_add_signed(1000 * after)));
            driver.law().samples.restart();
            driver.acks(packets);
        }
        driver.window()
    }

    /// An empty path: 1050, as above. At 5.5 ms of 5: 1000 / 1.1 = 909, and 100, half way from 1000 is 1004. At 6 ms:
    /// 833 and 100, half way is 967.
    #[test]
    fn fine_round_trips_include_queue_and_way_back() {
        assert_eq!(judged("fine", (5000, 2500), (5500, 3000)), 1004);
        assert_eq!(judged("fine", (5000, 2500), (6000, 3000)), 967);
    }

    /// At 1000.9 ms: what left 5.0 or 5.5 ms before left in the tick of 995, what left 6 ms before in that of 994.
    #[test]
    fn a_clock_of_1_ms_misses_half_a_millisecond_of_queue() {
        assert_eq!(judged("coarse", (5000, 2500), (5500, 3000)), 1050);
        assert_eq!(judged("coarse", (5000, 2500), (6000, 3500)), 967);
    }

    #[test]
    fn a_round_trip_within_one_tick_is_not_zero() {
        assert_eq!(judged("coarse", (300, 150), (600, 450)), 1050);
    }

    /// Equation 9.1: 0.5 ms of one-way delay more are 5.5 ms of 5, independent of the acknowledgments' delay.
    #[test]
    fn stamps_exclude_the_way_back() {
        assert_eq!(judged("stamps", (5000, 2500), (6000, 2500)), 1050);
        assert_eq!(judged("stamps", (5000, 2500), (6000, 3000)), 1004);
    }

    /// The receiver's clock is 0.9 s behind: its stamps are before the departures.
    #[test]
    fn stamps_need_no_common_clock() {
        assert_eq!(judged("stamps", (5000, -897_500), (6000, -897_000)), 1004);
    }

    #[test]
    fn without_stamps_there_is_no_judgement() {
        let mut driver = Driver::<Fast>::with(1000, BASE, &settings("stamps"));
        driver.controller.window.threshold = 1000;
        driver.acks(1002);
        assert_eq!(driver.window(), 1000);
    }

    #[test]
    fn only_stamps_need_arrivals_and_other_words_are_refused() {
        let asks = |delay| Driver::<Fast>::with(10, BASE, &settings(delay)).law().needs_arrivals();
        assert_eq!(["fine", "coarse", "stamps"].map(asks), [false, false, true]);
        let refused = Fast::new(&setup(1000, BASE, 10), &settings("exact")).map(|_| ());
        assert!(matches!(refused, Err(SettingError::Invalid { name: "delay", .. })), "{refused:?}");
    }
}
