//! Amounts of bytes and of packets: two types that never mix.

use crate::units::Ratio;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

macro_rules! amount {
    ($(#[$doc:meta])* $name:ident, $new:ident, $get:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name(u64);

        impl $name {
            /// None.
            pub const ZERO: $name = $name(0);
            /// The largest amount, which means "unlimited".
            pub const MAX: $name = $name(u64::MAX);

            /// From a count.
            pub const fn $new(n: u64) -> $name {
                $name(n)
            }

            /// The count.
            pub const fn $get(self) -> u64 {
                self.0
            }

            /// `self - other`, or zero.
            pub const fn saturating_sub(self, other: $name) -> $name {
                $name(self.0.saturating_sub(other.0))
            }

            /// `self * ratio`, rounded down.
            pub fn scale(self, ratio: Ratio) -> $name {
                $name(ratio.of_u64(self.0))
            }

            /// `self / other` as a fraction; zero when `other` is zero.
            pub fn ratio_to(self, other: $name) -> Ratio {
                Ratio::of(self.0, other.0)
            }
        }

        impl Add for $name {
            type Output = $name;
            fn add(self, other: $name) -> $name {
                $name(self.0.checked_add(other.0).expect("amount overflow"))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: $name) {
                *self = *self + other;
            }
        }

        impl Sub for $name {
            type Output = $name;
            fn sub(self, other: $name) -> $name {
                $name(self.0.checked_sub(other.0).expect("negative amount"))
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: $name) {
                *self = *self - other;
            }
        }

        impl Mul<u64> for $name {
            type Output = $name;
            fn mul(self, n: u64) -> $name {
                $name(self.0.checked_mul(n).expect("amount overflow"))
            }
        }

        impl Div<u64> for $name {
            type Output = $name;
            fn div(self, n: u64) -> $name {
                $name(self.0 / n)
            }
        }

        impl Div for $name {
            type Output = u64;
            fn div(self, other: $name) -> u64 {
                self.0 / other.0
            }
        }

        impl core::iter::Sum for $name {
            fn sum<I: Iterator<Item = $name>>(amounts: I) -> $name {
                amounts.fold($name::ZERO, Add::add)
            }
        }
    };
}

amount!(
    /// An amount of data. On a link it counts every byte that occupies the wire.
    Bytes,
    new,
    get
);

amount!(
    /// A number of packets.
    Packets,
    new,
    get
);

impl Bytes {
    /// The same amount in bits.
    ///
    /// # Panics
    /// Above 2 exabytes.
    pub const fn bits(self) -> u64 {
        self.0.checked_mul(8).expect("amount overflow")
    }

    /// Returns how many packets of `size` it takes; the last one may be short.
    pub fn packets_of(self, size: Bytes) -> Packets {
        Packets(self.0.div_ceil(size.0))
    }
}
