//! Hybla: on a long path the rate in packets per second grows as fast as on a reference path of 25 ms.
//!
//! With `rho = max(srtt / rtt0, 1)`, taken at the smallest srtt so far, per acknowledgment:
//!
//! ```text
//! slow start:   window += 2^rho - 1, up to the threshold
//! avoidance:    window += rho^2 / window
//! loss:         threshold = window = window / 2
//! ```
//!
//! rho is stored in eighths, 2^rho and the fractions of the window in 1/128.
//!
//! Source: C. Caini, R. Firrincieli, "TCP Hybla: a TCP enhancement for heterogeneous networks", Int. J. of Satellite
//! Communications and Networking 22(5), 2004; Linux.
//!
//! Linux's behaviour, where the paper differs:
//! 1. Growth counts acknowledgments, not packets: with delayed acknowledgments it is half of what the paper intends.
//! 2. The window is at most 65 535 packets, and 2^rho at most 2^16.
//! 3. After a timeout, until recovery ends, it grows as Reno.
//! 4. An acknowledgment adds nothing once rho^2 / window is below 1/128; then one packet is added per window.
//!
//! Deviations:
//! 1. It starts with the larger of the host's initial window and rho; Linux replaces the initial window by rho.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::window::Window;
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameter, Parameters, SettingError, Settings, above_zero};
use crate::units::{Span, Time};

const RTT0: Parameter<Span> =
    Parameter::new("rtt0", Span::from_millis(25), above_zero(), "round-trip time of the reference path");

/// The settings.
pub const PARAMETERS: Parameters = &[&RTT0];

/// Largest window, in packets.
const MAX_WINDOW: u32 = 65_535;
/// One packet, in the unit of increments.
const PACKET: u32 = 128;
/// 2^(k/8) in 1/128.
const EIGHTHS_OF_AN_OCTAVE: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct Hybla {
    rtt0: Span,
    /// Smallest smoothed round-trip time; rho belongs to it.
    min_srtt: Span,
    /// In eighths.
    rho: u32,
    /// Fraction of a packet to add, in 1/128.
    fraction: u32,
    open: bool,
}

impl Hybla {
    /// In eighths, from 1 to 4096.
    fn rho(srtt: Span, rtt0: Span) -> u32 {
        let eighths = u128::from(srtt.picos()) * 8 / u128::from(rtt0.picos());
        eighths.clamp(8, 1 << 15) as u32
    }

    /// 2^rho - 1, in 1/128.
    fn slow_start_increment(&self) -> u32 {
        let octaves = (self.rho / 8).min(16);
        (1 << octaves) * EIGHTHS_OF_AN_OCTAVE[self.rho as usize % 8] - PACKET
    }

    /// rho^2 / window, in 1/128.
    fn avoidance_increment(&self, window: u32) -> u32 {
        2 * self.rho * self.rho / window
    }
}

impl Law for Hybla {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(setup: &Setup, settings: &Settings) -> Result<Hybla, SettingError> {
        let rtt0 = RTT0.read(settings)?;
        let min_srtt = setup.handshake_rtt;
        Ok(Hybla { rtt0, min_srtt, rho: Hybla::rho(min_srtt, rtt0), fraction: 0, open: true })
    }

    fn initial_window(&self, setup: &Setup) -> u32 {
        setup.initial_window.max(self.rho / 8).min(MAX_WINDOW)
    }

    #[inline]
    fn measure(&mut self, ack: &AckSample<'_>, _state: State, _window: &mut Window) {
        if ack.srtt < self.min_srtt {
            self.min_srtt = ack.srtt;
            self.rho = Hybla::rho(ack.srtt, self.rtt0);
        }
    }

    #[inline]
    fn grow(&mut self, _ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if !self.open {
            window.reno(acked);
            return;
        }
        let slow_start = window.in_slow_start();
        let increment = if slow_start { self.slow_start_increment() } else { self.avoidance_increment(window.size) };
        self.fraction += increment % PACKET;
        let step = increment / PACKET + self.fraction / PACKET;
        self.fraction %= PACKET;
        if step > 0 {
            window.add(step);
            window.credit = 0;
        } else if increment == 0 {
            window.increase(window.size, 1);
        }
        if slow_start {
            window.size = window.size.min(window.threshold);
        }
        window.size = window.size.min(MAX_WINDOW);
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        window.half()
    }

    fn enter(&mut self, state: State, _now: Time, _window: &mut Window) {
        self.open = state == State::Open;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::congestion::window_based::driver::Driver;

    #[test]
    fn the_table_has_powers_of_two_rounded_down() {
        for (k, &entry) in EIGHTHS_OF_AN_OCTAVE.iter().enumerate() {
            assert_eq!((128.0 * (k as f64 / 8.0).exp2()) as u32, entry);
        }
    }

    /// 100 ms / 25 ms: rho = 4, so 2^4 - 1 = 15 packets per acknowledgment.
    #[test]
    fn slow_start_over_100_ms_adds_15_packets_per_ack() {
        let mut driver = Driver::<Hybla>::starting(10, Span::from_millis(100));
        driver.acks(3);
        assert_eq!(driver.window(), 10 + 45);
    }

    /// rho^2 = 16: 2 * 32^2 / 200 = 10 parts of 128 per acknowledgment; 200 of them make 2000 / 128 = 15.6 packets.
    #[test]
    fn avoidance_over_100_ms_adds_nearly_16_packets_per_rtt() {
        let mut driver = Driver::<Hybla>::avoiding(200, Span::from_millis(100));
        driver.acks(26);
        assert_eq!(driver.window(), 202); // 26 * 10 / 128 = 2.03; up to 204 packets the increment is 10
    }

    /// 10 ms: rho = 1, 2^1 - 1 = 1 packet per acknowledgment, as Reno.
    #[test]
    fn a_path_shorter_than_the_reference_is_reno() {
        let mut driver = Driver::<Hybla>::starting(10, Span::from_millis(10));
        driver.acks(3);
        assert_eq!(driver.window(), 13);
        let mut driver = Driver::<Hybla>::avoiding(64, Span::from_millis(10));
        driver.acks(63); // 2 * 8^2 / 64 = 2 parts of 128: a packet per 64
        assert_eq!(driver.window(), 64);
        driver.ack(1);
        assert_eq!(driver.window(), 65);
    }

    /// 2 * 8^2 / 200 = 0: the packet per window comes from counting.
    #[test]
    fn an_increment_below_the_resolution_accumulates() {
        let mut driver = Driver::<Hybla>::avoiding(200, Span::from_millis(10));
        driver.acks(199);
        assert_eq!(driver.window(), 200);
        driver.ack(1);
        assert_eq!(driver.window(), 201);
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut driver = Driver::<Hybla>::avoiding(200, Span::from_millis(100));
        driver.loss();
        assert_eq!((driver.window(), driver.threshold()), (100, 100));
    }
}
