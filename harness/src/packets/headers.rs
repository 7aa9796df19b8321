//! Headers of IPv4 and TCP by the crate `etherparse`, with correct checksums for data of zeros.

use TcpOptionElement::{
    MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp, WindowScale,
};
use etherparse::checksum::Sum16BitWords;
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, TcpOptions};

/// Bytes of a header of IPv4 without options.
pub(crate) const IP: u32 = Ipv4Header::MIN_LEN as u32;
/// Bytes of a header of TCP without options.
pub(crate) const TCP: u32 = TcpHeader::MIN_LEN as u32;
/// Bytes of the longest headers: 40 bytes of options.
pub(crate) const LONGEST: u32 = IP + TcpHeader::MAX_LEN as u32;

/// Flags of TCP, of which accurate ECN (RFC 9768) takes three as a number.
pub(crate) const SYN: u16 = 0x002;
pub(crate) const ACK: u16 = 0x010;
const ECE: u16 = 0x040;
const CWR: u16 = 0x080;
const AE: u16 = 0x100;
/// The lowest bit of ACE: ECE, CWR and AE follow each other.
const ACE_SHIFT: u32 = 6;

/// Where a packet comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: [u8; 4],
    pub(crate) port: u16,
}

/// A segment of TCP, as in its headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers<'a> {
    pub(crate) from: Address,
    pub(crate) to: Address,
    /// Identification of the IPv4 packet.
    pub(crate) identification: u16,
    /// The two bits of ECN in IP.
    pub(crate) ecn: u8,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) flags: u16,
    pub(crate) window: u16,
    pub(crate) options: &'a Options,
    /// Bytes of data.
    pub(crate) data: u32,
}

/// The three bits of ACE as flags.
pub(crate) fn ace(count: u64) -> u16 {
    ((count & 7) as u16) << ACE_SHIFT
}

impl Headers<'_> {
    /// Bytes of headers and data.
    pub(crate) fn length(&self) -> u32 {
        IP + TCP + self.options.bytes.len() as u32 + self.data
    }

    /// Writes the headers over `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut ip = Ipv4Header {
            ecn: IpEcn::try_new(self.ecn).unwrap_or_default(),
            total_len: self.length() as u16,
            identification: self.identification,
            dont_fragment: true,
            time_to_live: 64,
            protocol: IpNumber::TCP,
            source: self.from.host,
            destination: self.to.host,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        let mut tcp = self.tcp();
        // The pseudo-header, and TCP's: zeros add nothing.
        let sum = Sum16BitWords::new()
            .add_4bytes(ip.source)
            .add_4bytes(ip.destination)
            .add_2bytes([0, IpNumber::TCP.0])
            .add_2bytes((ip.total_len - IP as u16).to_be_bytes())
            .add_slice(&tcp.to_bytes());
        tcp.checksum = sum.ones_complement().to_be();
        out.clear();
        out.extend(ip.to_bytes());
        out.extend(tcp.to_bytes());
    }

    fn tcp(&self) -> TcpHeader {
        let set = |flag| self.flags & flag != 0;
        TcpHeader {
            source_port: self.from.port,
            destination_port: self.to.port,
            sequence_number: self.sequence,
            acknowledgment_number: self.acknowledgment,
            syn: set(SYN),
            ack: set(ACK),
            ece: set(ECE),
            cwr: set(CWR),
            // AE has the bit of the nonce sum of RFC 3540.
            ns: set(AE),
            window_size: self.window,
            options: self.options.bytes.clone(),
            ..TcpHeader::default()
        }
    }
}

/// The options of a segment, each filled up to a multiple of four bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    elements: Vec<TcpOptionElement>,
    bytes: TcpOptions,
}

impl Options {
    pub(crate) fn clear(&mut self) -> &mut Options {
        self.elements.clear();
        self.bytes = TcpOptions::default();
        self
    }

    pub(crate) fn mss(&mut self, bytes: u16) -> &mut Options {
        self.add(&[MaximumSegmentSize(bytes)])
    }

    pub(crate) fn window_scale(&mut self, shift: u8) -> &mut Options {
        self.add(&[Noop, WindowScale(shift)])
    }

    pub(crate) fn sack_permitted(&mut self) -> &mut Options {
        self.add(&[Noop, Noop, SelectiveAcknowledgementPermitted])
    }

    pub(crate) fn timestamps(&mut self, value: u32, echo: u32) -> &mut Options {
        self.add(&[Noop, Noop, Timestamp(value, echo)])
    }

    pub(crate) fn sack(&mut self, blocks: &[(u32, u32)]) -> &mut Options {
        let Some((first, others)) = blocks.split_first() else { return self };
        let others = [0, 1, 2].map(|other| others.get(other).copied());
        self.add(&[Noop, Noop, SelectiveAcknowledgement(*first, others)])
    }

    /// Adds options. Those that find no place in the 40 bytes are left out.
    fn add(&mut self, options: &[TcpOptionElement]) -> &mut Options {
        let before = self.elements.len();
        self.elements.extend_from_slice(options);
        match TcpOptions::try_from_elements(&self.elements) {
            Ok(bytes) => self.bytes = bytes,
            Err(_) => self.elements.truncate(before),
        }
        self
    }
}
