//! The pcap format (draft-ietf-opsawg-pcap): a header of 24 bytes, then per packet a header of 16 bytes (seconds,
//! fraction, captured length, original length) and the captured bytes. The magic number says the byte order and
//! whether the fraction counts micro- or nanoseconds.

use super::input::{Input, Order};
use super::link::Link;
use super::reader::Stamped;
use crate::traffic::error::Fault;
use std::io::BufRead;

const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

#[derive(Debug)]
pub(super) struct Pcap<R> {
    pub(super) input: Input<R>,
    order: Order,
    /// Fractions in a second.
    resolution: u32,
    link: Link,
    /// The first bytes of the last packet.
    head: Vec<u8>,
}

impl<R: BufRead> Pcap<R> {
    /// Reads the rest of the file's header, after the magic number.
    pub(super) fn begin(mut input: Input<R>, magic: [u8; 4]) -> Result<Pcap<R>, Fault> {
        let (order, resolution) = match (u32::from_be_bytes(magic), u32::from_le_bytes(magic)) {
            (MICROSECONDS, _) => (Order::Big, 1_000_000),
            (_, MICROSECONDS) => (Order::Little, 1_000_000),
            (NANOSECONDS, _) => (Order::Big, 1_000_000_000),
            (_, NANOSECONDS) => (Order::Little, 1_000_000_000),
            (other, _) => {
                let hint = if magic[..2] == [0x1f, 0x8b] { " (gzip: unpack it first)" } else { "" };
                let expected = "the magic number of pcap (a1b2c3d4 or a1b23c4d) or pcapng (0a0d0d0a)";
                return Err(Fault::bad(0, format!("{other:08x}{hint}"), expected));
            }
        };
        let header: [u8; 20] = input.array("a pcap file header")?;
        let major = order.u16(&header, 0);
        if major != 2 {
            return Err(Fault::bad(4, format!("pcap version {major}"), "version 2"));
        }
        // The upper half says whether frames end with a frame check sequence.
        let link = Link::of(order.u32(&header, 16) & 0xffff, 20)?;
        Ok(Pcap { input, order, resolution, link, head: Vec::new() })
    }

    /// The first captured bytes of the last packet, from its network layer on.
    pub(super) fn head(&self) -> &[u8] {
        self.link.inside(&self.head)
    }

    pub(super) fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        if self.input.at_end()? {
            return Ok(None);
        }
        let offset = self.input.offset();
        let header: [u8; 16] = self.input.array("a packet header")?;
        let field = |at| self.order.u32(&header, at);
        let (seconds, fraction, captured, original) = (field(0), field(4), field(8), field(12));
        if fraction >= self.resolution {
            let found = format!("{fraction} / {} of a second", self.resolution);
            return Err(Fault::bad(offset + 4, found, "a fraction below one"));
        }
        let size = self.link.size(original, captured, offset + 8)?;
        self.input.head(u64::from(captured), &mut self.head, "the captured bytes of a packet")?;
        let unit_ps = 1_000_000_000_000 / u64::from(self.resolution);
        let at_ps = i128::from(seconds) * 1_000_000_000_000 + i128::from(u64::from(fraction) * unit_ps);
        Ok(Some(Stamped { offset, at_ps, size }))
    }
}
