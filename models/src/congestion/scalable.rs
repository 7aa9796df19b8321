//! Scalable TCP: growth and reduction in proportion to the window.
//!
//! ```text
//! slow start:   as Reno
//! avoidance:    one packet more per min(window, 100) packets acknowledged
//! loss:         threshold = window = window - window / 8
//! ```
//!
//! So recovery from a loss takes the same number of round trips at any rate: at 1 % per round trip,
//! ln(8/7) / 0.01 = 13.4.
//!
//! Source: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", ACM CCR 33(2), 2003
//! (a = 0.01, b = 0.125); Linux since 2020, which counts packets (before, it counted acknowledgments, 50 of them).
//!
//! Deviations:
//! 1. The paper uses Reno below a window of 16. Here, as in Linux, the growth is Reno's up to a window of 100, where
//!    the two are equal, and the reduction is 1/8 at every window.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameters, SettingError, Settings};
use crate::units::Time;

/// Packets acknowledged per packet added: 1 / a.
const PER_PACKET: u32 = 100;

/// The settings.
pub const PARAMETERS: Parameters = &[&GROWTH];

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Scalable;

impl Law for Scalable {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, _settings: &Settings) -> Result<Scalable, SettingError> {
        Ok(Scalable)
    }

    #[inline]
    fn grow(&mut self, _ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        let left = window.slow_start(acked);
        if left > 0 {
            window.increase(window.size.min(PER_PACKET), left);
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        window.size - window.size / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::window_based::driver::Driver;
    use crate::units::Span;

    const RTT: Span = Span::from_millis(60);

    /// 1000 packets acknowledged at 100 to the packet: 10 more.
    #[test]
    fn a_large_window_grows_by_1_percent_per_rtt() {
        let mut driver = Driver::<Scalable>::avoiding(1000, RTT);
        driver.acks(1000);
        assert_eq!(driver.window(), 1010);
    }

    /// Below 100 packets: one per window, 40 -> 41.
    #[test]
    fn a_small_window_grows_as_reno() {
        let mut driver = Driver::<Scalable>::avoiding(40, RTT);
        driver.acks(40);
        assert_eq!(driver.window(), 41);
    }

    /// 1000 - 125 = 875.
    #[test]
    fn a_loss_takes_an_eighth() {
        let mut driver = Driver::<Scalable>::avoiding(1000, RTT);
        driver.loss();
        assert_eq!((driver.window(), driver.threshold()), (875, 875));
    }

    /// From 875 with 1 % per round trip: 1.01^13 = 1.138 < 8/7 = 1.143 < 1.01^14 = 1.149. The window grows in whole
    /// packets of a fixed 100 acknowledgments, so each round multiplies by 1.01 within a packet.
    #[test]
    fn recovery_from_a_loss_takes_14_rtts_at_any_rate() {
        for window in [1000, 100_000] {
            let mut driver = Driver::<Scalable>::avoiding(window, RTT);
            driver.loss();
            driver.recover();
            let rounds = (1..100).find(|_| {
                driver.acks(driver.window());
                driver.window() >= window
            });
            assert_eq!(rounds, Some(14));
        }
    }
}
