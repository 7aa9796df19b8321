//! Numbers as people read them: SI prefixes, and no more digits than the interval supports.

use crate::results::figures::Unit;
use crate::results::statistics::Interval;

/// A unit with its prefix: values are divided by `factor` and followed by `symbol`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Value of one `symbol`, in the plain unit.
    pub factor: f64,
    /// The prefixed unit; may be empty.
    pub symbol: &'static str,
}

const RATES: [(f64, &str); 4] = [(1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
const TIMES: [(f64, &str); 3] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];

/// Returns the scale in which the value `largest` has one to three digits before the point.
pub fn scale(unit: Unit, largest: f64) -> Scale {
    let pick = |table: &[(f64, &'static str)], smallest: (f64, &'static str)| {
        let (factor, symbol) = table.iter().find(|(f, _)| largest.abs() >= *f).copied().unwrap_or(smallest);
        Scale { factor, symbol }
    };
    match unit {
        Unit::Rate => pick(&RATES, (1.0, "bit/s")),
        Unit::Time if largest == 0.0 => Scale { factor: 1.0, symbol: "s" },
        Unit::Time => pick(&TIMES, (1e-9, "ns")),
        Unit::Share => Scale { factor: 0.01, symbol: "%" },
        Unit::RoundTrips => Scale { factor: 1.0, symbol: "RTT" },
        Unit::Bytes => Scale { factor: 1.0, symbol: "B" },
        Unit::Index | Unit::Count | Unit::Packets | Unit::SquareBytes | Unit::Text | Unit::Named => {
            Scale { factor: 1.0, symbol: "" }
        }
    }
}

/// Returns `value` with four significant digits.
pub fn number(value: f64) -> String {
    fixed(value, 3 - magnitude(value))
}

/// Returns `value` with at most this number of decimals, and none that are zero at its end.
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Returns `value` with its own prefix and unit: `9.412 Gbit/s`.
pub fn quantity(value: f64, unit: Unit) -> String {
    digits(value, unit, 4)
}

/// The same with this many significant digits.
pub(crate) fn digits(value: f64, unit: Unit, digits: i32) -> String {
    let scale = scale(unit, value);
    let shown = value / scale.factor;
    let text = fixed(shown, digits - 1 - magnitude(shown));
    if scale.symbol.is_empty() { text } else { format!("{text} {}", scale.symbol) }
}

/// The fewest digits that tell a small figure.
const FEWEST_DIGITS: i32 = 2;

/// Returns with how many decimals a figure is shown: `usual`, and more where less than two digits would be left of it.
pub fn decimals(value: f64, usual: usize) -> usize {
    let needed = if value == 0.0 { 0 } else { FEWEST_DIGITS - 1 - magnitude(value) };
    usual.max(needed.clamp(0, 12) as usize)
}

/// Half-widths below this share of the mean are rounding errors of equal values.
const ROUNDING: f64 = 1e-12;

/// Returns mean and half-width in `scale`: the half-width with two significant digits, the mean to the same decimal
/// place, as the GUM (JCGM 100:2008, 7.2.6) recommends.
pub fn mean_and_half(interval: Interval, scale: Scale) -> (String, Option<String>) {
    let mean = interval.mean / scale.factor;
    match interval.half_width.map(|h| h / scale.factor) {
        Some(half) if half > mean.abs() * ROUNDING => {
            let decimals = (1 - magnitude(half)).min(5 - magnitude(mean)).clamp(0, 12);
            let last_place = 10f64.powi(-decimals);
            let below = half < last_place / 2.0;
            let shown = if below { format!("<{}", fixed(last_place, decimals)) } else { fixed(half, decimals) };
            (fixed(mean, decimals), Some(shown))
        }
        Some(_) => (number(mean), Some("0".to_string())),
        None => (number(mean), None),
    }
}

/// Returns a mean with its interval, as in `51.3 ± 0.6 ms`.
pub fn shown(interval: Interval, unit: Unit) -> String {
    let scale = scale(unit, interval.mean);
    match mean_and_half(interval, scale) {
        (mean, Some(half)) => format!("{mean} ± {half} {}", scale.symbol),
        (mean, None) => format!("{mean} {}", scale.symbol),
    }
}

/// Returns a mean, times `scale`, and its half-width in as many decimals: `51.3 ± 0.6`. One that is nothing in these decimals is left
/// out.
pub(crate) fn in_decimals(interval: Interval, scale: f64, decimals: usize) -> String {
    let number = |value: f64| format!("{:.decimals$}", value * scale);
    let says = |half: &String| half.contains(|digit: char| digit.is_ascii_digit() && digit != '0');
    let half = interval.half_width.map(number).filter(says).map_or(String::new(), |half| format!(" ± {half}"));
    number(interval.mean) + &half
}

/// Returns a count; from five digits on, in groups of three.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// Decimals after which a number of few digits ends.
const MOST_DECIMALS: i32 = 9;

/// Returns a number in `digits` significant digits, or with all digits before the point.
pub fn significant(value: f64, digits: i32) -> String {
    format!("{value:.*}", (digits - 1 - magnitude(value)).clamp(0, MOST_DECIMALS) as usize)
}

/// Returns the power of ten of the first digit.
fn magnitude(value: f64) -> i32 {
    if value == 0.0 || !value.is_finite() { 0 } else { value.abs().log10().floor() as i32 }
}

fn fixed(value: f64, decimals: i32) -> String {
    let text = format!("{value:.*}", decimals.clamp(0, 12) as usize);
    if value == 0.0 { "0".to_string() } else { text.replace('-', "\u{2212}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_end_at_the_point() {
        let shown = |value| significant(value, 2);
        assert_eq!([shown(0.0123), shown(1.26), shown(98.7), shown(1234.5)], ["0.012", "1.3", "99", "1234"]);
        assert_eq!([shown(0.0), shown(-0.5)], ["0.0", "-0.50"]);
    }

    #[test]
    fn a_quantity_takes_the_prefix_that_leaves_one_to_three_digits() {
        assert_eq!(quantity(9.4123e9, Unit::Rate), "9.412 Gbit/s");
        assert_eq!(quantity(4.3e-5, Unit::Time), "43.00 µs");
        assert_eq!(quantity(0.931, Unit::Share), "93.10 %");
        assert_eq!(quantity(0.0, Unit::Time), "0 s");
    }

    #[test]
    fn the_mean_stops_where_the_interval_makes_it_uncertain() {
        let scale = scale(Unit::Rate, 9.4e9);
        let shown = |mean, half_width| mean_and_half(Interval { mean, half_width }, scale);
        assert_eq!(shown(9.412_345e9, Some(0.0231e9)), ("9.412".into(), Some("0.023".into())));
        assert_eq!(shown(9.412_345e9, Some(1.26e9)), ("9.4".into(), Some("1.3".into())));
        assert_eq!(shown(9.412_346e9, Some(1.0)), ("9.41235".into(), Some("<0.00001".into())));
        assert_eq!(shown(9.412_346e9, Some(1e-7)), ("9.412".into(), Some("0".into())));
        assert_eq!(shown(9.412_345e9, None), ("9.412".into(), None));
    }

    #[test]
    fn a_small_figure_keeps_two_digits() {
        let shown = |value: f64| format!("{value:.*}", decimals(value, 1));
        assert_eq!([9412.3, 10.0, 3.21, 0.5].map(shown), ["9412.3", "10.0", "3.2", "0.50"]);
        assert_eq!([0.0641, 0.000_008, 0.0].map(shown), ["0.064", "0.0000080", "0.0"]);
    }

    #[test]
    fn long_counts_are_grouped() {
        assert_eq!(count(9999), "9999");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
