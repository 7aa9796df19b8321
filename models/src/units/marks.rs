//! ECN of a packet: whether its sender reads marks, and the two bits that a queue may set.

use core::ops::BitOrAssign;

/// The sender's ECN codepoint. The fourth codepoint, CE, is [`Marks::congestion`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: the sender does not read marks. Queues drop the packet where they would mark another.
    #[default]
    NotEct,
    /// ECT(0): a mark means what a loss means (RFC 3168).
    Ect0,
    /// ECT(1): marks are frequent, and each means little (L4S, RFC 9331).
    Ect1,
}

impl Ecn {
    /// Whether the packet may be marked instead of dropped.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

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
