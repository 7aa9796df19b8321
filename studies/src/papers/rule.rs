//! The rule by which every published value and order is judged. It is the same for all figures and was
//! fixed before the runs.
//!
//! A value is as published if ours is within 15 % of it, or prints as it does:
//!
//! ```text
//! |ours - published| <= max(0.15 |published|, last printed place / 2)
//! ```
//!
//! The second term is the noise of print. It makes 0.000 an absolute bound of 0.0005, and leaves 6.17 to the first term.
//! An order is as published if half of the variance of the ranks is shared: Spearman's coefficient is at least 0.7.

use experiment::results::reproduction::Value;

/// How far ours may be from a published value, as a part of it.
pub(crate) const NEAR: f64 = 0.15;
/// Least rank correlation of an order.
pub(crate) const ORDER: f64 = 0.7;
/// Note on a bound that was chosen when our value was known.
pub(crate) const AFTER_RUN: &str = " (bound set after the run)";
/// Place of a claim that is ours and not the paper's.
const OURS: &str = "not in the paper";
/// Possible rounding error of a distance, as a part of the tolerance.
const ROUNDING: f64 = 1e-9;

/// The tolerance of a published value.
pub(crate) fn tolerance(published: f64, last_place: f64) -> f64 {
    (NEAR * published.abs()).max(last_place / 2.0)
}

/// Whether ours is as published.
pub(crate) fn met(ours: f64, published: f64, tolerance: f64) -> bool {
    (ours - published).abs() <= tolerance * (1.0 + ROUNDING)
}

/// The value of the last digit of a number as written: 0.001 of `6.170`, 1 of `25`, 1e-5 of `1.5e-4`.
pub(crate) fn last_place(written: &str) -> f64 {
    let (digits, exponent) = written.split_once(['e', 'E']).unwrap_or((written, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, after)| after.chars().filter(char::is_ascii_digit).count());
    // Read as text: 10^-3 by multiplication is not the nearest number to 0.001.
    let exponent = exponent.replace('_', "").parse().unwrap_or(0) - decimals as i32;
    format!("1e{exponent}").parse().unwrap_or(0.0)
}

/// Whether a claim at this place is the paper's. Only those are stored and counted.
pub(crate) fn is_of_the_paper(place: &str) -> bool {
    !place.contains(OURS)
}

/// Whether ours agrees with the published value, whatever the figure expects.
pub fn is_kept(value: &Value) -> bool {
    value.ours.is_some_and(|ours| met(ours, value.published, value.tolerance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(ours: f64, written: &str) -> bool {
        let published = written.parse().unwrap();
        met(ours, published, tolerance(published, last_place(written)))
    }

    #[test]
    fn last_place_follows_text() {
        for (written, place) in [("25", 1.0), ("6.17", 0.01), ("6.170", 0.001), ("0.000", 0.001), ("1.5e-4", 1e-5)] {
            assert_eq!(last_place(written), place, "{written}");
        }
    }

    #[test]
    fn value_tolerance_is_15_percent() {
        assert!(judged(0.85 * 6.17, "6.17") && judged(1.15 * 6.17, "6.17"));
        assert!(!judged(0.849 * 6.17, "6.17") && !judged(1.151 * 6.17, "6.17"));
    }

    #[test]
    fn printed_zero_is_judged_absolutely() {
        assert!(judged(0.0005, "0.000") && !judged(0.000_51, "0.000"));
        assert!(judged(0.04, "0.0") && !judged(0.04, "0.00"));
    }

    #[test]
    fn tiny_value_is_judged_by_printed_digits() {
        assert!(judged(0.0015, "0.001") && judged(0.0005, "0.001"));
        assert!(!judged(0.0016, "0.001"));
    }
}
