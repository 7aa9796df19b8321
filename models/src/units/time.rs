//! Time in picoseconds: at 400 Gbit/s a byte takes 20 ps, so no link speed in use needs a fraction.

use crate::units::Ratio;
use core::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

/// Picoseconds in a second.
const PS_PER_S: u64 = 1_000_000_000_000;

/// A point in time: picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Time(u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// The latest time, which means "never".
    pub const MAX: Time = Time(u64::MAX);

    /// From picoseconds since the start.
    pub const fn from_picos(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    pub const fn picos(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds since the start, rounded down.
    pub const fn nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// From whole nanoseconds since the start.
    pub const fn from_nanos(ns: u64) -> Time {
        Time(ns.checked_mul(1_000).expect("time overflow"))
    }

    /// Seconds since the start, for display and statistics only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The span since `earlier`.
    ///
    /// # Panics
    /// If `earlier` is later than `self`.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.checked_sub(earlier.0).expect("time runs forwards"))
    }

    /// The span since `earlier`, or zero if it is later.
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// `self + span`, or [`Time::MAX`].
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }

    /// `self - span`, or [`Time::ZERO`].
    pub const fn saturating_sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span.
    pub const MAX: Span = Span(u64::MAX);

    /// From picoseconds.
    pub const fn from_picos(ps: u64) -> Span {
        Span(ps)
    }

    /// From nanoseconds.
    pub const fn from_nanos(ns: u64) -> Span {
        Span(ns.checked_mul(1_000).expect("span overflow"))
    }

    /// From microseconds.
    pub const fn from_micros(us: u64) -> Span {
        Span(us.checked_mul(1_000_000).expect("span overflow"))
    }

    /// From milliseconds.
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms.checked_mul(1_000_000_000).expect("span overflow"))
    }

    /// From seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s.checked_mul(PS_PER_S).expect("span overflow"))
    }

    /// From seconds in floating point, rounded to the nearest picosecond. Negative values and NaN become zero; values
    /// that are too large become [`Span::MAX`].
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s * PS_PER_S as f64 + 0.5) as u64)
    }

    /// Picoseconds.
    pub const fn picos(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds, rounded down.
    pub const fn nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds, for display and statistics only.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// `self * n`, or [`Span::MAX`].
    pub const fn saturating_mul(self, n: u64) -> Span {
        Span(self.0.saturating_mul(n))
    }

    /// `self * ratio`, rounded down.
    pub fn scale(self, ratio: Ratio) -> Span {
        Span(ratio.of_u64(self.0))
    }

    /// `self / other` as a fraction; zero when `other` is zero.
    pub fn ratio_to(self, other: Span) -> Ratio {
        Ratio::of(self.0, other.0)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.checked_add(span.0).expect("time overflow"))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.checked_sub(span.0).expect("time before the start"))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.checked_add(other.0).expect("span overflow"))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.checked_sub(other.0).expect("negative span"))
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, n: u64) -> Span {
        Span(self.0.checked_mul(n).expect("span overflow"))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, n: u64) -> Span {
        Span(self.0 / n)
    }
}

impl Div<Span> for Span {
    type Output = u64;
    fn div(self, other: Span) -> u64 {
        self.0 / other.0
    }
}

impl Rem<Span> for Span {
    type Output = Span;
    fn rem(self, other: Span) -> Span {
        Span(self.0 % other.0)
    }
}

/// A sum of spans. A span ends at 213 days; the round trips of a flow that fills a deep queue add up to more in minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanSum {
    ps: u128,
}

impl SpanSum {
    /// In seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.ps as f64 / PS_PER_S as f64
    }
}

impl From<Span> for SpanSum {
    fn from(span: Span) -> SpanSum {
        SpanSum { ps: u128::from(span.0) }
    }
}

impl AddAssign<Span> for SpanSum {
    fn add_assign(&mut self, span: Span) {
        self.ps += u128::from(span.0);
    }
}

impl core::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(spans: I) -> Span {
        spans.fold(Span::ZERO, Add::add)
    }
}
