//! The two bits that a queue may set in a packet.

use core::ops::BitOrAssign;

/// What queues have written into a packet, or say about it: two bits that do not depend on each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Congestion experienced (RFC 3168): too much traffic. TDQM's rho-bit.
    pub congestion: bool,
    /// Too bursty, whatever its amount. TDQM's eta-bit.
    pub burstiness: bool,
}

impl Marks {
    /// Neither.
    pub const NONE: Marks = Marks { congestion: false, burstiness: false };

    /// Whether any bit is set.
    #[inline]
    pub const fn any(self) -> bool {
        self.congestion || self.burstiness
    }
}

/// A later queue adds bits and takes none away.
impl BitOrAssign for Marks {
    #[inline]
    fn bitor_assign(&mut self, more: Marks) {
        self.congestion |= more.congestion;
        self.burstiness |= more.burstiness;
    }
}
