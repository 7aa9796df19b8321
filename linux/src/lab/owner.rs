//! Owner of a packet, from the sending host's port.

use harness::measure::Owner;

/// Source port of flow 0; the others follow.
pub(crate) const FIRST_FLOW_PORT: u16 = 10_000;

/// Source port of traffic source 0; the others follow.
pub(crate) const FIRST_TRAFFIC_PORT: u16 = 2_000;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Returns the owner of packets with this protocol and source port, in a run with these numbers of flows and sources.
pub(crate) fn owner_of(protocol: u8, port: u16, flows: usize, traffic: usize) -> Owner {
    let (first, count, named): (u16, usize, fn(usize) -> Owner) = match protocol {
        TCP => (FIRST_FLOW_PORT, flows, Owner::Flow),
        UDP => (FIRST_TRAFFIC_PORT, traffic, Owner::Traffic),
        _ => return Owner::Other,
    };
    let number = port.checked_sub(first).map(usize::from).filter(|number| *number < count);
    number.map_or(Owner::Other, named)
}

/// The fields of an IPv4 packet's headers that the lab needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headers {
    pub protocol: u8,
    pub source: u16,
    pub destination: u16,
    /// Whether it is a TCP packet with SYN, FIN or RST.
    pub opens_or_closes: bool,
}

impl Headers {
    /// Reads the headers; `None` if the packet is not TCP or UDP over IPv4.
    pub fn parse(packet: &[u8]) -> Option<Headers> {
        let first = packet.first()?;
        let above = packet.get(usize::from(first & 0x0f) * 4..)?;
        let protocol = *packet.get(9)?;
        if first >> 4 != 4 || !matches!(protocol, TCP | UDP) {
            return None;
        }
        let port = |at: usize| Some(u16::from_be_bytes(above.get(at..at + 2)?.try_into().ok()?));
        const FIN_SYN_RST: u8 = 0b111;
        let opens_or_closes = protocol == TCP && above.get(13)? & FIN_SYN_RST != 0;
        Some(Headers { protocol, source: port(0)?, destination: port(2)?, opens_or_closes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_tcp_over_ipv4_headers() {
        let mut packet = vec![0u8; 52];
        (packet[0], packet[9]) = (0x45, TCP);
        packet[20..24].copy_from_slice(&[0x27, 0x10, 0x13, 0x88]);
        packet[33] = 0x10;
        let plain = Headers { protocol: TCP, source: 10_000, destination: 5_000, opens_or_closes: false };
        assert_eq!(Headers::parse(&packet), Some(plain));
        packet[33] = 0x12;
        assert!(Headers::parse(&packet).is_some_and(|headers| headers.opens_or_closes));
        packet[0] = 0x60;
        assert_eq!(Headers::parse(&packet), None);
        for length in 0..34 {
            packet[0] = 0x4f;
            assert_eq!(Headers::parse(&packet[..length]), None);
        }
    }
}
