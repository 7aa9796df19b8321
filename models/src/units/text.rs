//! Quantities as people write them: a number, an optional space, and a unit. Never a bare number.

use crate::units::{Bytes, Packets, Rate, Ratio, Span};
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// Why a text is not the quantity that was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The input.
    pub found: String,
    /// The problem.
    pub problem: Problem,
    /// A description of the expected input, with an example.
    pub expected: &'static str,
}

/// The problem of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No unit after the number.
    NoUnit,
    /// A unit that this quantity does not have, and the one that may be meant.
    UnknownUnit(Option<&'static str>),
    /// Not a number at all.
    NotANumber,
    /// Below zero.
    Negative,
    /// Does not fit.
    TooLarge,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::NoUnit => "no unit",
            Problem::UnknownUnit(Some(meant)) => return write!(f, "an unknown unit, perhaps \"{meant}\""),
            Problem::UnknownUnit(None) => "an unknown unit",
            Problem::NotANumber => "not a number with a unit",
            Problem::Negative => "negative",
            Problem::TooLarge => "too large",
        })
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found \"{}\" ({}); expected {}", self.found, self.problem, self.expected)
    }
}

impl core::error::Error for ParseError {}

/// One unit: its spellings and how many base units it holds.
type Unit = (&'static [&'static str], u64);

const TIME: &[Unit] = &[
    (&["ps"], 1),
    (&["ns"], 1_000),
    (&["us", "µs"], 1_000_000),
    (&["ms"], 1_000_000_000),
    (&["s"], 1_000_000_000_000),
    (&["min"], 60_000_000_000_000),
    (&["h"], 3_600_000_000_000_000),
];
const DATA: &[Unit] = &[
    (&["B", "byte", "bytes"], 1),
    (&["kB", "KB"], 1_000),
    (&["MB"], 1_000_000),
    (&["GB"], 1_000_000_000),
    (&["TB"], 1_000_000_000_000),
    (&["KiB"], 1 << 10),
    (&["MiB"], 1 << 20),
    (&["GiB"], 1 << 30),
];
const RATE: &[Unit] = &[
    (&["bit/s", "bps"], 1),
    (&["kbit/s", "kbps"], 1_000),
    (&["Mbit/s", "Mbps"], 1_000_000),
    (&["Gbit/s", "Gbps"], 1_000_000_000),
    (&["Tbit/s", "Tbps"], 1_000_000_000_000),
];
const PACKETS: &[Unit] = &[(&["packets", "packet"], 1)];

/// Reads `text` exactly: decimal digits are scaled as integers, never through floating point. Digits below one base
/// unit are cut off.
fn read(text: &str, units: &[Unit], expected: &'static str) -> Result<u64, ParseError> {
    let fail = |problem| ParseError { found: text.to_string(), problem, expected };
    let trimmed = text.trim();
    if let Some(rest) = trimmed.strip_prefix('-') {
        let numeric = rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '.');
        return Err(fail(if numeric { Problem::Negative } else { Problem::NotANumber }));
    }
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = (&trimmed[..end], trimmed[end..].trim());
    // The number continues: 10,5 or 1e3.
    let goes_on = unit.strip_prefix([',', 'e', 'E']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if !number.contains(|c: char| c.is_ascii_digit()) || number.matches('.').count() > 1 || goes_on {
        return Err(fail(Problem::NotANumber));
    }
    if unit.is_empty() {
        return Err(fail(Problem::NoUnit));
    }
    let Some((_, scale)) = units.iter().find(|(names, _)| names.contains(&unit)) else {
        return Err(fail(Problem::UnknownUnit(meant(unit, units))));
    };
    scaled(number, *scale).ok_or_else(|| fail(Problem::TooLarge))
}

/// The unit that matches except for case, or except for the end of `Mbit/s`.
fn meant(unit: &str, units: &[Unit]) -> Option<&'static str> {
    let spellings = || units.iter().flat_map(|(names, _)| names.iter().copied());
    let same = |name: &&str| name.eq_ignore_ascii_case(unit);
    let begun = |name: &&str| name.strip_suffix("/s").is_some_and(|begin| begin.eq_ignore_ascii_case(unit));
    spellings().find(same).or_else(|| spellings().find(begun))
}

fn scaled(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut total: u64 = 0;
    for digit in whole.bytes().filter(u8::is_ascii_digit) {
        total = total.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    total = total.checked_mul(scale)?;
    let (mut part, mut place) = (0u128, 1u128);
    for digit in fraction.bytes().filter(u8::is_ascii_digit).take(18) {
        part = part * 10 + u128::from(digit - b'0');
        place *= 10;
    }
    total.checked_add(u64::try_from(part * u128::from(scale) / place).ok()?)
}

/// Writes `n` base units in the largest unit that keeps it exact and short.
fn write(f: &mut fmt::Formatter<'_>, n: u64, units: &[Unit]) -> fmt::Result {
    let (names, scale) = units
        .iter()
        .rev()
        .filter(|(names, _)| !matches!(names[0], "min" | "h" | "KiB" | "MiB" | "GiB"))
        .find(|(_, scale)| n >= *scale)
        .unwrap_or(&units[0]);
    let (whole, rest) = (n / scale, n % scale);
    if rest == 0 {
        return write!(f, "{whole} {}", names[0]);
    }
    let digits = scale.ilog10() as usize;
    let fraction = alloc::format!("{rest:0digits$}");
    write!(f, "{whole}.{} {}", fraction.trim_end_matches('0'), names[0])
}

macro_rules! text {
    ($type:ty, $units:expr, $zero:literal, $example:literal, $from:expr, $to:expr) => {
        impl FromStr for $type {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<$type, ParseError> {
                read(text, $units, $example).map($from)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match $to(*self) {
                    0 => f.write_str($zero),
                    n => write(f, n, $units),
                }
            }
        }
    };
}

text!(Span, TIME, "0 s", "a time like \"30 ms\"", Span::from_picos, Span::picos);
text!(Bytes, DATA, "0 B", "an amount of data like \"1500 B\"", Bytes::new, Bytes::get);
text!(Rate, RATE, "0 bit/s", "a rate like \"10 Gbit/s\"", Rate::from_bps, Rate::bps);
text!(Packets, PACKETS, "0 packets", "a number of packets like \"100 packets\"", Packets::new, Packets::get);

impl FromStr for Ratio {
    type Err = ParseError;
    /// Reads percentages only: a fraction without a unit is a number, which the file format itself reads.
    fn from_str(text: &str) -> Result<Ratio, ParseError> {
        const PERCENT: &[Unit] = &[(&["%"], 1_000_000_000)];
        read(text, PERCENT, "a percentage like \"5 %\"").map(|billionths| Ratio::of(billionths, 100_000_000_000))
    }
}
