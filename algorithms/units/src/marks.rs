//! The two bits that a queue may set in a packet.

use core::ops::BitOrAssign;

/// The marks that queues set in a packet: two independent bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Congestion experienced (RFC 3168): too much traffic. TDQM's rho-bit.
    pub congestion: bool,
    /// The traffic is too bursty, whatever its amount. TDQM's eta-bit.
    pub burstiness: bool,
}

impl Marks {
    /// Neither bit.
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
