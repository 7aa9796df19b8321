//! Link types of captures (<https://www.tcpdump.org/linktypes.html>), and the size that a packet on each would have on
//! Ethernet.
//!
//! Every link type is counted alike: the network-layer packet and 14 bytes of Ethernet header. A header that the link
//! type puts in front is removed first. Tags (IEEE 802.1Q) count with the packet where it is replayed, as bytes of the
//! wire, and so do labels of MPLS (RFC 3032) and the header of a PPPoE session (RFC 2516); a packet that is compared with another
//! capture ([`super::Captured`]) is without them. The preamble and the gap between
//! frames are not in captures and do not count. A frame check sequence does not count either, because captures rarely
//! hold one (where one does, its 4 bytes count with the packet).

use crate::traffic::error::Fault;
use etherparse::{EtherType, SingleVlanSlice};
use packetscale_models::units::Bytes;

const ETHERNET_HEADER: u32 = 14;

/// EtherTypes of what may precede the network layer, and lengths in bytes: a label, and a session's header with PPP's protocol.
const MPLS: u16 = 0x8847;
const MPLS_MULTICAST: u16 = 0x8848;
const PPPOE: u16 = 0x8864;
const LABEL: usize = 4;
const PPPOE_HEADER: usize = 8;

/// Longest packet that is accepted: the largest snap length that libpcap allows.
const LONGEST: u32 = 262_144;

/// A link type: how many bytes it puts in front of the network-layer packet, or of its tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    header: u32,
    /// Offset of the header's EtherType, if any.
    ether_type: Option<usize>,
}

impl Link {
    /// Returns the link type of this number.
    pub(super) fn of(number: u32, offset: u64) -> Result<Link, Fault> {
        let (header, ether_type) = match number {
            1 => (ETHERNET_HEADER, Some(12)),
            // BSD loopback: the address family, in the host's (0) or in network byte order (108).
            0 | 108 => (4, None),
            // Raw IP. Systems used 12 and 14 before it had an official number.
            12 | 14 | 101 | 228 | 229 => (0, None),
            // Linux cooked captures, versions 1 and 2.
            113 => (16, Some(14)),
            276 => (20, Some(0)),
            _ => {
                let known = "Ethernet (1), null (0), loopback (108), raw IP (12, 14, 101), IPv4 (228), IPv6 (229), \
                             Linux cooked (113, 276)";
                return Err(Fault::bad(offset, format!("link type {number}"), known));
            }
        };
        Ok(Link { header, ether_type })
    }

    /// Returns what is inside the link's header and the tags, labels and PPPoE headers that follow it.
    pub(super) fn inside(self, captured: &[u8]) -> &[u8] {
        captured.get(self.header as usize + self.tags(captured)..).unwrap_or_default()
    }

    /// Returns how many bytes of them follow the header. All, where the capture ends within them: nothing is inside.
    pub(super) fn tags(self, captured: &[u8]) -> usize {
        let mut left = captured.get(self.header as usize..).unwrap_or_default();
        let whole = left.len();
        let field = self.ether_type.and_then(|at| captured.get(at..at + 2)?.try_into().ok());
        let mut kind = EtherType(field.map_or(0, u16::from_be_bytes));
        while matches!(
            kind,
            EtherType::VLAN_TAGGED_FRAME | EtherType::PROVIDER_BRIDGING | EtherType::VLAN_DOUBLE_TAGGED_FRAME
        ) {
            let Ok(tag) = SingleVlanSlice::from_slice(left) else { return whole };
            (kind, left) = (tag.ether_type(), tag.payload_slice());
        }
        let more = match kind.0 {
            MPLS | MPLS_MULTICAST => {
                // The lowest bit of a label's third byte marks the last.
                let last = left.chunks_exact(LABEL).position(|label| label[2] & 1 == 1);
                last.map(|last| (last + 1) * LABEL)
            }
            PPPOE => Some(PPPOE_HEADER),
            _ => Some(0),
        };
        whole - more.and_then(|more| left.get(more..)).map_or(0, <[u8]>::len)
    }

    /// Returns the size on the wire of a packet with these lengths from the capture: how much was on the link, and how
    /// much is in the file. Some writers put more there than was on the link; the first counts, as in Wireshark.
    pub(super) fn size(self, original: u32, captured: u32, offset: u64) -> Result<Bytes, Fault> {
        if captured > LONGEST || original > LONGEST {
            let found = format!("a packet of {original} bytes, {captured} captured");
            return Err(Fault::bad(offset, found, format!("at most {LONGEST}")));
        }
        if original <= self.header {
            let found = format!("a packet of {original} bytes");
            return Err(Fault::bad(offset, found, format!("more than {}", self.header)).of_packet());
        }
        Ok(Bytes::new(u64::from(original - self.header + ETHERNET_HEADER)))
    }
}
