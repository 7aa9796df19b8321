//! Headers of IPv4 (RFC 791) and TCP (RFC 9293), with correct checksums for data of zeros.

/// Bytes of a header of IPv4 without options.
pub(crate) const IP: u32 = 20;
/// Bytes of a header of TCP without options.
pub(crate) const TCP: u32 = 20;
/// Bytes of the longest headers: 40 bytes of options.
pub(crate) const LONGEST: u32 = IP + TCP + 40;

/// Flags of TCP, of which accurate ECN (RFC 9768) takes three as a number.
pub(crate) const SYN: u16 = 0x002;
pub(crate) const ACK: u16 = 0x010;
/// The lowest bit of ACE: ECE, CWR and AE follow each other.
const ACE_SHIFT: u32 = 6;

/// Kinds of TCP options, and the one that only fills.
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Where a packet comes from or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: [u8; 4],
    pub(crate) port: u16,
}

/// A segment of TCP, as its headers say it.
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
        out.clear();
        let length = self.length() as u16;
        out.extend([0x45, self.ecn]);
        out.extend(length.to_be_bytes());
        out.extend(self.identification.to_be_bytes());
        // Not to be cut into fragments; 64 hops; TCP; the checksum comes later.
        out.extend([0x40, 0, 64, 6, 0, 0]);
        out.extend(self.from.host);
        out.extend(self.to.host);
        let checksum = !sum(&out[..IP as usize], 0);
        out[10..12].copy_from_slice(&checksum.to_be_bytes());
        self.write_tcp(out);
        let mut pseudo = Vec::with_capacity(12);
        pseudo.extend(self.from.host);
        pseudo.extend(self.to.host);
        pseudo.extend([0, 6]);
        pseudo.extend((length - IP as u16).to_be_bytes());
        let checksum = !sum(&out[IP as usize..], u32::from(sum(&pseudo, 0)));
        out[IP as usize + 16..IP as usize + 18].copy_from_slice(&checksum.to_be_bytes());
    }

    fn write_tcp(&self, out: &mut Vec<u8>) {
        out.extend(self.from.port.to_be_bytes());
        out.extend(self.to.port.to_be_bytes());
        out.extend(self.sequence.to_be_bytes());
        out.extend(self.acknowledgment.to_be_bytes());
        let words = (TCP + self.options.bytes.len() as u32) as u16 / 4;
        out.extend((words << 12 | self.flags).to_be_bytes());
        out.extend(self.window.to_be_bytes());
        out.extend([0; 4]);
        out.extend(&self.options.bytes);
    }
}

/// The options of a segment, each filled up to a multiple of four bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    bytes: Vec<u8>,
}

impl Options {
    pub(crate) fn clear(&mut self) -> &mut Options {
        self.bytes.clear();
        self
    }

    pub(crate) fn mss(&mut self, bytes: u16) -> &mut Options {
        self.bytes.extend([MSS, 4]);
        self.bytes.extend(bytes.to_be_bytes());
        self
    }

    pub(crate) fn window_scale(&mut self, shift: u8) -> &mut Options {
        self.bytes.extend([NOP, WINDOW_SCALE, 3, shift]);
        self
    }

    pub(crate) fn sack_permitted(&mut self) -> &mut Options {
        self.bytes.extend([NOP, NOP, SACK_PERMITTED, 2]);
        self
    }

    pub(crate) fn timestamps(&mut self, value: u32, echo: u32) -> &mut Options {
        self.bytes.extend([NOP, NOP, TIMESTAMPS, 10]);
        self.bytes.extend(value.to_be_bytes());
        self.bytes.extend(echo.to_be_bytes());
        self
    }

    pub(crate) fn sack(&mut self, blocks: &[(u32, u32)]) -> &mut Options {
        if !blocks.is_empty() {
            self.bytes.extend([NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
            for (start, end) in blocks {
                self.bytes.extend(start.to_be_bytes());
                self.bytes.extend(end.to_be_bytes());
            }
        }
        self
    }
}

/// The ones' complement sum of 16-bit words (RFC 1071). The length is even.
fn sum(bytes: &[u8], start: u32) -> u16 {
    let words = bytes.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let mut sum = words.fold(start, |sum, word| sum + word);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_rfc_1071() {
        // The example of its section 3: the sum of these bytes is ddf2.
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7], 0), 0xddf2);
    }
}
