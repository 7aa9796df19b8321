//! The pcap format (draft-ietf-opsawg-pcap): a header of 24 bytes, then per packet a header of 16 bytes (seconds,
//! fraction, captured length, original length) and the captured bytes. The magic number encodes the byte order and
//! whether the fraction counts micro- or nanoseconds. Seconds have 32 bits: a step of over half their range is across zero, as
//! in serial number arithmetic (RFC 1982).

use super::link::Link;
use super::record::{Order, Records};
use super::stamped::Stamped;
use crate::traffic::error::Fault;
use pcap_parser::{PcapHeader, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

/// Bytes of the file's header, and of a packet's.
const FILE: usize = 24;
const PACKET: usize = 16;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

#[derive(Debug)]
pub(super) struct Pcap {
    pub(super) records: Records,
    header: PcapHeader,
    order: Order,
    link: Link,
    /// Seconds of the last packet.
    seconds: Option<i64>,
}

impl Pcap {
    /// Reads the rest of the file's header, after the magic number.
    pub(super) fn begin(mut records: Records, magic: [u8; 4]) -> Result<Pcap, Fault> {
        let order = match (u32::from_be_bytes(magic), u32::from_le_bytes(magic)) {
            (MICROSECONDS | NANOSECONDS, _) => Order::Big,
            (_, MICROSECONDS | NANOSECONDS) => Order::Little,
            (other, _) => {
                let hint = if magic[..2] == [0x1f, 0x8b] { " (gzip: unpack it first)" } else { "" };
                let expected = "the magic number of pcap (a1b2c3d4 or a1b23c4d) or pcapng (0a0d0d0a)";
                return Err(Fault::bad(0, format!("{other:08x}{hint}"), expected));
            }
        };
        records.need(FILE, "a pcap file header")?;
        let damaged = |_| Fault::bad(0, "a damaged header", "a pcap file header");
        let (_, header) = parse_pcap_header(&records.bytes).map_err(damaged)?;
        if header.version_major != 2 {
            return Err(Fault::bad(4, format!("pcap version {}", header.version_major), "version 2"));
        }
        // The upper half encodes whether frames end with a frame check sequence.
        let link = Link::of(header.network.0 as u32 & 0xffff, 20)?;
        Ok(Pcap { records, header, order, link, seconds: None })
    }

    /// The last packet's link, and its captured bytes.
    pub(super) fn captured(&self) -> (Link, &[u8]) {
        (self.link, self.records.bytes.get(PACKET..).unwrap_or_default())
    }

    /// Returns the next packet; `None` at the end, or where the file is cut.
    pub(super) fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        self.records.begin();
        if !self.records.fill(PACKET)? {
            return Ok(None);
        }
        let offset = self.records.offset;
        let (captured, original) = (self.order.u32(&self.records.bytes, 8), self.order.u32(&self.records.bytes, 12));
        let size = self.link.size(original, captured, offset + 8);
        // A length that cannot be is damage: where the next record begins is not known.
        if matches!(size, Err(Fault::Bad { .. })) {
            return size.map(|_| None);
        }
        if !self.records.fill(PACKET + captured as usize)? {
            return Ok(None);
        }
        let parse = if self.order == Order::Big { parse_pcap_frame_be } else { parse_pcap_frame };
        let damaged = |_| Fault::bad(offset, "a damaged packet", "a packet of pcap");
        let (_, packet) = parse(&self.records.bytes).map_err(damaged)?;
        let (resolution, unit_ps) =
            if self.header.is_nanosecond_precision() { (1_000_000_000, 1_000) } else { (1_000_000, 1_000_000) };
        if packet.ts_usec >= resolution {
            let found = format!("{} / {resolution} of a second", packet.ts_usec);
            return Err(Fault::bad(offset + 4, found, "a fraction below one"));
        }
        let before = *self.seconds.get_or_insert(i64::from(packet.ts_sec));
        let seconds = before + i64::from(packet.ts_sec.wrapping_sub(before as u32) as i32);
        self.seconds = Some(seconds);
        let (at_s, size) = (i128::from(seconds), size?);
        let at_ps = at_s * 1_000_000_000_000 + i128::from(packet.ts_usec) * unit_ps;
        Ok(Some(Stamped { offset, at_ps, size }))
    }
}
