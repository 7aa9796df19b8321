//! Rates in bits per second, and exact times on the wire.

use crate::units::{Bytes, Ratio, Span};
use core::ops::{Add, Sub};

const PS_PER_S: u64 = 1_000_000_000_000;

/// `a * b / c`, rounded down and saturated. Most multiplications fit into a word, where a division costs a fraction of one of
/// two words.
#[inline]
fn part(a: u64, b: u64, c: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / c,
        None => u64::try_from(u128::from(a) * u128::from(b) / u128::from(c)).unwrap_or(u64::MAX),
    }
}

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rate(u64);

impl Rate {
    /// No data moves.
    pub const ZERO: Rate = Rate(0);

    /// From bits per second.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// From megabits per second.
    pub const fn from_mbps(mbps: u64) -> Rate {
        Rate(mbps.checked_mul(1_000_000).expect("rate overflow"))
    }

    /// From gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate(gbps.checked_mul(1_000_000_000).expect("rate overflow"))
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// The rate that moves `amount` in `span`, rounded down; zero when `span` is zero.
    #[inline]
    pub fn of(amount: Bytes, span: Span) -> Rate {
        if span == Span::ZERO {
            return Rate::ZERO;
        }
        Rate(part(amount.bits(), PS_PER_S, span.picos()))
    }

    /// Returns how long `amount` takes, rounded down; [`Span::MAX`] at rate zero.
    #[inline]
    pub fn time_for(self, amount: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        Span::from_picos(part(amount.bits(), PS_PER_S, self.0))
    }

    /// Returns how much data passes in `span`, rounded down.
    #[inline]
    pub fn amount_in(self, span: Span) -> Bytes {
        Bytes::new(part(self.0, span.picos(), 8 * PS_PER_S))
    }

    /// `self * ratio`, rounded down.
    #[inline]
    pub fn scale(self, ratio: Ratio) -> Rate {
        Rate(ratio.of_u64(self.0))
    }

    /// `self / other` as a fraction; zero when `other` is zero.
    pub fn ratio_to(self, other: Rate) -> Ratio {
        Ratio::of(self.0, other.0)
    }

    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Rate) -> Rate {
        Rate(self.0.saturating_sub(other.0))
    }
}

impl Add for Rate {
    type Output = Rate;
    fn add(self, other: Rate) -> Rate {
        Rate(self.0.checked_add(other.0).expect("rate overflow"))
    }
}

impl Sub for Rate {
    type Output = Rate;
    fn sub(self, other: Rate) -> Rate {
        Rate(self.0.checked_sub(other.0).expect("negative rate"))
    }
}

/// Times on the wire at one rate. The sub-picosecond remainder is carried from packet to packet, so that the long-run
/// rate is exact.
///
/// Most links carry one or two packet sizes, so the division is done once per change of size.
#[derive(Clone, Debug)]
pub struct Serialiser {
    rate: Rate,
    size: Bytes,
    whole: Span,
    part: u64,
    carried: u64,
}

impl Serialiser {
    /// A wire of this rate.
    ///
    /// # Panics
    /// If the rate is zero.
    pub fn new(rate: Rate) -> Serialiser {
        assert!(rate.0 > 0, "a wire needs a rate");
        Serialiser { rate, size: Bytes::ZERO, whole: Span::ZERO, part: 0, carried: 0 }
    }

    /// The rate of the wire.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns how long the next packet, of `size`, occupies the wire.
    ///
    /// # Panics
    /// If the time exceeds [`Span::MAX`].
    #[inline]
    pub fn next(&mut self, size: Bytes) -> Span {
        if size != self.size {
            self.resize(size);
        }
        if self.part == 0 {
            return self.whole;
        }
        let carried = self.carried as u128 + self.part as u128;
        if carried >= self.rate.0 as u128 {
            self.carried = (carried - self.rate.0 as u128) as u64;
            self.whole + Span::from_picos(1)
        } else {
            self.carried = carried as u64;
            self.whole
        }
    }

    /// Returns how long a packet of `size` would occupy the wire if it were next; zero where the last one had another size.
    #[inline]
    pub fn peek(&self, size: Bytes) -> Span {
        if size != self.size {
            return Span::ZERO;
        }
        let carries = self.carried as u128 + self.part as u128 >= self.rate.0 as u128;
        self.whole + Span::from_picos(u64::from(carries))
    }

    #[cold]
    fn resize(&mut self, size: Bytes) {
        let product = size.bits() as u128 * PS_PER_S as u128;
        self.size = size;
        self.whole = Span::from_picos(u64::try_from(product / self.rate.0 as u128).expect("span overflow"));
        self.part = (product % self.rate.0 as u128) as u64;
    }
}
