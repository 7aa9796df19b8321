//! TCP-LP: Reno that backs off when the one-way delay rises, to leave the path to others.
//!
//! It uses the stamps of each acknowledgment, in ticks of 1 ms, receiver's clock less sender's:
//!
//! ```text
//! delay:        d = stamp of arrival - stamp of departure;  D = (7 D + d) / 8;  min, max over the delays
//! indication:   D >= min + 15 % (max - min).  Then min = D, max = 2 D, and:
//!                 none in the last 3 round trips:   window = window / 2
//!                 otherwise (inference):            window = 1
//! growth:       as Reno, but not within 3 round trips of an indication
//! loss:         as Reno
//! ```
//!
//! Source: A. Kuzmanovic, E. Knightly, "TCP-LP: low-priority service via end-point congestion control", IEEE/ACM
//! Transactions on Networking 14(4), 2006; Linux.
//!
//! Linux's behaviour, where the paper differs:
//! 1. **The two clocks have unrelated zeros.** A stamp counts the ticks since its host started, so `d`, `min` and 15 %
//!    of `max - min = D` mostly reflect the difference of two uptimes, `clock_offset`. If the hosts started more than a
//!    few seconds apart, no queue is 15 % of that: after one indication at the first acknowledgment, Linux's LP is
//!    Reno. The paper subtracts what the delays have in common; `clock_offset = "0 s"` is the closest that Linux's law
//!    can get.
//! 2. An indication leaves the threshold as it is, so a flow that has lost nothing returns to slow start.
//! 3. The range of delays is forgotten with every indication. The largest delay is the second largest.
//!
//! Deviations from Linux:
//! 1. Both clocks tick once per millisecond, and the law knows this. Linux estimates the receiver's rate from the
//!    stamps and divides whole numbers by it: an estimate that is one per mille too high makes all its delays zero less
//!    the sender's clock, for a while.
//! 2. Stamps are wide enough. In Linux's 32 bits a smoothed delay above 2^29 ticks (six days) overflows.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameter, Parameters, SettingError, Settings, any};
use crate::units::{Span, Time};

const CLOCK_OFFSET: Parameter<Span> = Parameter::new(
    "clock_offset",
    Span::from_secs(3600),
    any(),
    "lead of the receiver's stamp clock over the sender's",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&CLOCK_OFFSET, &GROWTH];

const TICK: Span = Span::from_millis(1);
/// Share of the range of delays, in percent, above which others use the path.
const THRESHOLD_PERCENT: u64 = 15;
/// Round trips to wait after an indication.
const INFERENCE: u64 = 3;

/// One-way delays in ticks, on two clocks.
#[derive(Clone, Copy, Debug)]
struct Delays {
    min: u64,
    max: u64,
    /// The largest; `max` is the one below it.
    largest: u64,
    /// Eight times the smoothed delay; zero before the first.
    smoothed8: u64,
}

impl Delays {
    fn take(&mut self, delay: u64) {
        self.min = self.min.min(delay);
        if delay > self.largest {
            self.max = if self.largest == 0 { delay } else { self.largest };
            self.largest = delay;
        } else {
            self.max = self.max.max(delay);
        }
        let smoothed = self.smoothed();
        self.smoothed8 = if self.smoothed8 == 0 { 8 * delay } else { self.smoothed8 + delay - smoothed };
    }

    fn smoothed(&self) -> u64 {
        self.smoothed8 / 8
    }

    fn indicate_congestion(&self) -> bool {
        self.smoothed() >= self.min.saturating_add(THRESHOLD_PERCENT * self.max.saturating_sub(self.min) / 100)
    }

    fn forget(&mut self) {
        self.min = self.smoothed();
        self.max = 2 * self.smoothed();
        self.largest = self.max;
    }
}

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Lp {
    clock_offset: Span,
    delays: Delays,
    /// When the last indication came.
    indicated: Option<Time>,
    /// Time to wait after an indication.
    inference: Span,
}

impl Lp {
    fn infers(&self, now: Time) -> bool {
        self.indicated.is_some_and(|then| now.saturating_since(then) < self.inference)
    }

    /// Of the newest packet with an arrival time.
    fn delay(&self, ack: &AckSample<'_>, rtt: Span) -> Option<u64> {
        let arrived = ack.arrivals.iter().rev().find_map(|arrival| arrival.arrived)?;
        let arrived = arrived.saturating_add(self.clock_offset).picos() / TICK.picos();
        let sent = ack.now.saturating_sub(rtt).picos() / TICK.picos();
        Some(arrived.abs_diff(sent))
    }
}

impl Law for Lp {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, settings: &Settings) -> Result<Lp, SettingError> {
        let clock_offset = CLOCK_OFFSET.read(settings)?;
        let delays = Delays { min: u64::MAX, max: 0, largest: 0, smoothed8: 0 };
        Ok(Lp { clock_offset, delays, indicated: None, inference: Span::ZERO })
    }

    fn needs_arrivals(&self) -> bool {
        true
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        let Some(delay) = self.delay(ack, rtt) else { return };
        // Linux takes a delay of zero ticks for unknown.
        if delay > 0 {
            self.delays.take(delay);
        }
        self.inference = rtt.saturating_mul(INFERENCE);
        if self.delays.indicate_congestion() {
            self.delays.forget();
            window.size = if self.infers(ack.now) { 1 } else { window.half().max(1) };
            self.indicated = Some(ack.now);
        }
    }

    #[inline]
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if !self.infers(ack.now) {
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
    use crate::congestion::window_based::driver::Driver;
    use crate::settings::Setting;

    const RTT: Span = Span::from_millis(100);

    fn with_offset(seconds: u64) -> Driver<Lp> {
        let settings = Settings::from([("clock_offset".into(), Setting::Span(Span::from_secs(seconds)))]);
        Driver::with(64, RTT, &settings)
    }

    /// An acknowledgment 100 ms after its packet left, which arrived so much after that.
    fn ack_with_delay(driver: &mut Driver<Lp>, delay_ms: u64) {
        let sent = driver.now.saturating_sub(RTT);
        driver.stamp = Some(sent + Span::from_millis(delay_ms));
        driver.ack(1);
    }

    /// The first delay is smallest and largest, and so an indication; then the range is 50 to 100 ms, and 15 % of it
    /// above 50 is 57.5: after n delays of 70, D = 70 - 20 (7/8)^n, which is above 57 from the fourth on. Then D = 58 + 142 / 8 = 75,
    /// against 58 to 116.
    #[test]
    fn delay_above_15_percent_of_the_range_leaves_one_packet() {
        let mut driver = with_offset(0);
        ack_with_delay(&mut driver, 50);
        assert_eq!(driver.window(), 32);
        for _ in 0..3 {
            ack_with_delay(&mut driver, 70);
            assert_eq!(driver.window(), 32, "no growth for three round trips");
        }
        ack_with_delay(&mut driver, 70);
        assert_eq!(driver.window(), 1, "a second indication within them");
        driver.now += Span::from_millis(301);
        driver.controller.window.size = 64;
        ack_with_delay(&mut driver, 200);
        assert_eq!(driver.window(), 32, "the first for three round trips");
    }

    /// 15 % of ten seconds is 1.5 s: no queue of this path.
    #[test]
    fn with_different_uptimes_only_the_first_acknowledgment_indicates() {
        let mut driver = with_offset(10);
        ack_with_delay(&mut driver, 50);
        assert_eq!(driver.window(), 32);
        driver.now += Span::from_millis(301);
        for _ in 0..1000 {
            ack_with_delay(&mut driver, 90);
        }
        assert_eq!(driver.window(), 1032, "slow start, as Reno");
    }

    #[test]
    fn an_indication_leaves_the_threshold() {
        let mut driver = with_offset(0);
        driver.controller.window.threshold = 64;
        ack_with_delay(&mut driver, 50);
        assert_eq!((driver.window(), driver.threshold()), (32, 64));
    }

    #[test]
    fn without_stamps_it_is_reno() {
        let mut driver = with_offset(0);
        driver.acks(10);
        assert_eq!(driver.window(), 74);
        driver.loss();
        assert_eq!((driver.window(), driver.threshold()), (37, 37));
    }

    /// 8 x 100; + 108 - 100; + 108 - 101.
    #[test]
    fn delays_are_smoothed_by_an_eighth() {
        let mut delays = Delays { min: u64::MAX, max: 0, largest: 0, smoothed8: 0 };
        delays.take(100);
        delays.take(108);
        delays.take(108);
        assert_eq!((delays.smoothed8, delays.smoothed()), (815, 101));
        assert_eq!((delays.min, delays.max), (100, 108));
    }
}
