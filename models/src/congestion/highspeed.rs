//! HighSpeed TCP (RFC 3649): the larger the window, the faster it grows and the less a loss reduces it.
//!
//! ```text
//! slow start:   as Reno
//! avoidance:    per acknowledgment, credit += a(w); at credit >= w: credit -= w, w += 1
//! loss:         threshold = window = max(w (1 - b(w)), 2)
//! a(w)          = w^2 p(w) 2 b(w) / (2 - b(w)),   p(w) = 0.078 / w^1.2          RFC 3649, section 5
//! b(w)          = 0.5 - 0.4 ln(w / 38) / ln(83000 / 38)
//! ```
//!
//! Up to 38 packets it is Reno: a = 1, b = 1/2. Both are read from the table of RFC 3649, appendix B, whose row i
//! holds the largest window with a(w) = i; b there is rounded down to 1/256.
//!
//! Source: S. Floyd, "HighSpeed TCP for Large Congestion Windows", RFC 3649, 2003; Linux.
//!
//! Linux's behaviour:
//! 1. The row follows the window in avoidance only. A loss in the first slow start therefore halves the window, and a
//!    loss after a reduction uses the row of the last growth.
//! 2. Growth counts acknowledgments, not packets: with delayed acknowledgments it is half of what the RFC intends.
//! 3. Windows above the last row keep its a = 72 and b = 0.09.

use crate::congestion::contract::{AckSample, Setup};
use crate::congestion::window::{GROWTH, Window};
use crate::congestion::window_based::{Law, State};
use crate::settings::{Parameters, SettingError, Settings};
use crate::units::Time;

/// Largest window, in packets, that grows by 1, 2, 3, ... packets per window of acknowledgments.
const LARGEST: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036,
    5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614, 14424, 15265, 16137,
    17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193, 29557, 30975, 32450, 33986, 35586,
    37253, 38992, 40808, 42707, 44694, 46776, 48961, 51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401,
    79517, 84035, 89053,
];

/// Cut on a loss at these windows, in 1/256.
const DECREASE: [u8; 72] = [
    128, 112, 104, 98, 93, 89, 86, 83, 81, 78, 76, 74, 72, 71, 69, 68, 66, 65, 64, 62, 61, 60, 59, 58, 57, 56, 55, 54,
    53, 52, 52, 51, 50, 49, 48, 48, 47, 46, 45, 45, 44, 43, 43, 42, 41, 41, 40, 39, 39, 38, 38, 37, 36, 36, 35, 35, 34,
    33, 33, 32, 32, 31, 30, 30, 29, 28, 28, 27, 26, 26, 25, 24,
];

/// The settings.
pub const PARAMETERS: Parameters = &[&GROWTH];

/// The law. See the file's head.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    /// Row of the table: a(w) - 1.
    row: usize,
}

impl Law for HighSpeed {
    const PARAMETERS: Parameters = PARAMETERS;

    fn new(_setup: &Setup, _settings: &Settings) -> Result<HighSpeed, SettingError> {
        Ok(HighSpeed { row: 0 })
    }

    #[inline]
    fn grow(&mut self, _ack: &AckSample<'_>, acked: u32, window: &mut Window) {
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        while self.row + 1 < LARGEST.len() && window.size > LARGEST[self.row] {
            self.row += 1;
        }
        while self.row > 0 && window.size <= LARGEST[self.row - 1] {
            self.row -= 1;
        }
        window.credit += self.row as u32 + 1;
        if window.credit >= window.size {
            window.credit -= window.size;
            window.add(1);
        }
    }

    fn threshold(&mut self, window: &Window, _next: State, _now: Time) -> u32 {
        let taken = u64::from(window.size) * u64::from(DECREASE[self.row]) / 256;
        window.size - taken as u32
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::congestion::window_based::driver::Driver;
    use crate::units::Span;

    const RTT: Span = Span::from_millis(60);

    /// The formulas of section 5, in floating point. The table's windows are whole, so that a(w) misses its row's
    /// number by up to one part in twenty.
    #[test]
    fn the_table_is_what_the_formulas_give() {
        for (row, (&w, &decrease)) in LARGEST.iter().zip(&DECREASE).enumerate() {
            let w = f64::from(w);
            let b = 0.5 - 0.4 * (w / 38.0).ln() / (83_000.0_f64 / 38.0).ln();
            let a = w * w * (0.078 / w.powf(1.2)) * 2.0 * b / (2.0 - b);
            assert!((a - (row + 1) as f64).abs() < 0.05, "a({w}) = {a}");
            assert_eq!((256.0 * b) as u8, decrease, "b({w}) = {b}");
        }
    }

    /// 1000 is in row 8 (852 to 1058): 1000 acknowledgments make 8 packets, less the growth meanwhile: the eighth
    /// needs 1000 + 1001 + ... + 1007 = 8028 of the 8000 counted.
    #[test]
    fn a_window_of_1000_grows_by_nearly_8_per_rtt() {
        let mut driver = Driver::<HighSpeed>::avoiding(1000, RTT);
        driver.acks(1000);
        assert_eq!(driver.window(), 1007);
        driver.acks(4);
        assert_eq!(driver.window(), 1008);
    }

    /// Row 8: 1000 * 83 / 256 = 324.2; 1000 - 324 = 676.
    #[test]
    fn a_window_of_1000_gives_up_a_third() {
        let mut driver = Driver::<HighSpeed>::avoiding(1000, RTT);
        driver.ack(1);
        driver.loss();
        assert_eq!(driver.window(), 676);
    }

    #[test]
    fn a_loss_in_the_first_slow_start_halves_the_window() {
        let mut driver = Driver::<HighSpeed>::starting(1000, RTT);
        driver.ack(1);
        driver.loss();
        assert_eq!(driver.window(), 501);
    }

    /// Row 1: one packet per window of acknowledgments; an acknowledgment of two packets counts once.
    #[test]
    fn a_window_of_30_grows_as_reno() {
        let mut driver = Driver::<HighSpeed>::avoiding(30, RTT);
        (0..29).for_each(|_| driver.ack(2));
        assert_eq!(driver.window(), 30);
        driver.ack(2);
        assert_eq!(driver.window(), 31);
    }
}
