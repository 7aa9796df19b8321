//! Explicit congestion notification (RFC 3168): the two low bits of IPv4's type of service and of IPv6's traffic class.

/// ECN codepoint of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Not-ECT: packets must not be marked.
    #[default]
    None,
    /// ECT(1), as RFC 9331 defines it (L4S).
    Ect1,
    /// ECT(0): marks are treated as losses.
    Ect0,
    /// CE: a queue on the path has marked the packet.
    Ce,
}

impl Mark {
    const MASK: u8 = 0b11;
    /// By codepoint.
    const ALL: [Mark; 4] = [Mark::None, Mark::Ect1, Mark::Ect0, Mark::Ce];

    /// The codepoint.
    pub fn bits(self) -> u8 {
        Mark::ALL.iter().position(|mark| *mark == self).unwrap_or(0) as u8
    }

    /// The codepoint of a type of service or a traffic class.
    pub fn of(class: u8) -> Mark {
        Mark::ALL[usize::from(class & Mark::MASK)]
    }

    /// Name in RFC 3168.
    pub fn words(self) -> &'static str {
        match self {
            Mark::None => "not ECT",
            Mark::Ect1 => "ECT(1)",
            Mark::Ect0 => "ECT(0)",
            Mark::Ce => "CE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_match_rfc_3168() {
        // Section 5, figure 1.
        let bits = [(Mark::None, 0b00), (Mark::Ect1, 0b01), (Mark::Ect0, 0b10), (Mark::Ce, 0b11)];
        assert!(bits.iter().all(|(mark, bits)| mark.bits() == *bits && Mark::of(*bits) == *mark));
        // The other six bits are the class of service (RFC 2474): 46 is expedited forwarding.
        assert_eq!(Mark::of(46 << 2 | 0b11), Mark::Ce);
    }
}
