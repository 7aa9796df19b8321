//! The pcapng format (draft-ietf-opsawg-pcapng): blocks, each with its type, its length, a body and its length again.
//! A section header sets the byte order and forgets the interfaces. An interface description gives an interface's link
//! type and time resolution. Later packets name the interface by number.

use super::clock::Clock;
use super::link::Link;
use super::record::{Order, Records};
use super::stamped::Stamped;
use crate::traffic::error::Fault;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    Block, EPB_MAGIC, EnhancedPacketBlock, IDB_MAGIC, InterfaceDescriptionBlock, OptionCode, SHB_MAGIC, SPB_MAGIC,
    parse_block_be, parse_block_le,
};
use std::ops::Range;

/// Type of a section header block: the same in both byte orders.
pub(super) const SECTION: u32 = SHB_MAGIC;
/// The obsolete packet block, which `pcap-parser` does not know.
const PACKET: u32 = 2;

/// Bytes of a block up to its body, and those of every block: type, and length twice.
const HEAD: usize = 8;
const FRAME: u32 = 12;
/// Longest block that is accepted, as in Wireshark's reader.
const LONGEST: u32 = 16 << 20;

/// Where the captured bytes of a packet begin in its block.
const CAPTURED: usize = 28;

#[derive(Debug)]
pub(super) struct Pcapng {
    pub(super) records: Records,
    order: Order,
    interfaces: Vec<Interface>,
    /// The last packet's link, and its bytes in the block.
    captured: Option<(Link, Range<usize>)>,
}

/// An interface. An unknown link type matters only once a packet names it.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    described_at: u64,
    clock: Clock,
}

impl Pcapng {
    /// Reads the rest of the first section header, after its type.
    pub(super) fn begin(mut records: Records) -> Result<Pcapng, Fault> {
        records.need(FRAME as usize, "a section header")?;
        let mut pcapng = Pcapng { records, order: Order::Big, interfaces: Vec::new(), captured: None };
        let length = pcapng.enter()?;
        pcapng.records.need(length, "a section header")?;
        pcapng.leave(length)?;
        pcapng.read()?;
        Ok(pcapng)
    }

    /// The last packet's link, and its captured bytes; `None` before the first.
    pub(super) fn captured(&self) -> Option<(Link, &[u8])> {
        let (link, captured) = self.captured.as_ref()?;
        Some((*link, self.records.bytes.get(captured.clone())?))
    }

    /// Returns the next packet; `None` at the end, or where the file is cut.
    pub(super) fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        loop {
            self.records.begin();
            if !self.records.fill(FRAME as usize)? {
                return Ok(None);
            }
            let length = self.enter()?;
            if !self.records.fill(length)? {
                return Ok(None);
            }
            self.leave(length)?;
            if let Some(packet) = self.read()? {
                return Ok(Some(packet));
            }
        }
    }

    fn kind(&self) -> u32 {
        self.order.u32(&self.records.bytes, 0)
    }

    /// Returns the length of the block that begins with the bytes read so far.
    fn enter(&mut self) -> Result<usize, Fault> {
        let (bytes, offset) = (&self.records.bytes, self.records.offset);
        if self.kind() == SECTION {
            const MAGIC: u32 = 0x1a2b_3c4d;
            self.order = match (Order::Big.u32(bytes, HEAD), Order::Little.u32(bytes, HEAD)) {
                (MAGIC, _) => Order::Big,
                (_, MAGIC) => Order::Little,
                (other, _) => return Err(Fault::bad(offset + 8, format!("{other:08x}"), "byte-order magic 1a2b3c4d")),
            };
        }
        let length = self.order.u32(bytes, 4);
        if !(FRAME..=LONGEST).contains(&length) || !length.is_multiple_of(4) {
            let expected = format!("a multiple of 4 from {FRAME} to {LONGEST}");
            return Err(Fault::bad(offset + 4, format!("a block of {length} bytes"), expected));
        }
        Ok(length as usize)
    }

    /// Compares the two lengths of a block.
    fn leave(&self, length: usize) -> Result<(), Fault> {
        let again = self.order.u32(&self.records.bytes, length - 4);
        if again as usize == length {
            return Ok(());
        }
        let at = self.records.offset + length as u64 - 4;
        Err(Fault::bad(at, format!("a block length of {again}"), format!("{length}, as in front")))
    }

    /// Reads the block. Others than these are passed over.
    fn read(&mut self) -> Result<Option<Stamped>, Fault> {
        let offset = self.records.offset;
        match self.kind() {
            SECTION | IDB_MAGIC | EPB_MAGIC => {}
            PACKET => self.modernize()?,
            SPB_MAGIC => {
                let expected = "packets with times (enhanced packet blocks)";
                return Err(Fault::bad(offset, "a simple packet block, which has no time", expected).of_packet());
            }
            _ => return Ok(None),
        }
        let parse = if self.order == Order::Big { parse_block_be } else { parse_block_le };
        match parse(&self.records.bytes) {
            Ok((_, Block::SectionHeader(section))) if section.major_version == 1 => self.interfaces.clear(),
            Ok((_, Block::SectionHeader(section))) => {
                return Err(Fault::bad(offset + 12, format!("pcapng version {}", section.major_version), "version 1"));
            }
            Ok((_, Block::InterfaceDescription(block))) => {
                let clock = clock(&block, self.order, offset)?;
                let link = block.linktype.0 as u32;
                self.interfaces.push(Interface { link, described_at: offset + 8, clock });
            }
            Ok((_, Block::EnhancedPacket(block))) => {
                let (link, packet) = packet(&block, &self.interfaces, offset)?;
                self.captured = Some((link, CAPTURED..CAPTURED + block.packet_data().len()));
                return Ok(Some(packet));
            }
            _ => {
                let what = match self.kind() {
                    SECTION => "section header",
                    IDB_MAGIC => "interface description",
                    _ => "packet block",
                };
                let expected = format!("a {what} whose fields and captured bytes are within its length");
                return Err(Fault::bad(offset, format!("a damaged {what}"), expected));
            }
        }
        Ok(None)
    }

    /// Makes an enhanced packet block of an obsolete packet block, which differs in the width of the interface's number.
    fn modernize(&mut self) -> Result<(), Fault> {
        let (bytes, order) = (&mut self.records.bytes, self.order);
        let number = match order {
            Order::Big => order.u32(bytes, HEAD) >> 16,
            Order::Little => order.u32(bytes, HEAD) & 0xffff,
        };
        let put = |value: u32| if order == Order::Big { value.to_be_bytes() } else { value.to_le_bytes() };
        bytes[..4].copy_from_slice(&put(EPB_MAGIC));
        if bytes.len() >= HEAD + 8 {
            bytes[HEAD..HEAD + 4].copy_from_slice(&put(number));
        }
        Ok(())
    }
}

/// Reads the options if_tsresol and if_tsoffset.
fn clock(block: &InterfaceDescriptionBlock<'_>, order: Order, offset: u64) -> Result<Clock, Fault> {
    let options = || block.options.iter().take_while(|option| option.code != OptionCode::EndOfOpt);
    let described: usize = options().map(|option| 4 + option.value().len()).sum();
    if options().count() == block.options.len() && 20 + described != block.block_len1 as usize {
        return Err(Fault::bad(offset + 16 + described as u64, "a damaged option", "options within the block"));
    }
    let value = |code: OptionCode, length: usize| {
        let Some(option) = options().find(|option| option.code == code) else { return Ok(None) };
        let bytes = option.as_bytes().ok().filter(|bytes| bytes.len() == length);
        bytes.map(Some).ok_or_else(|| {
            let found = format!("option {} of {} bytes", option.code.0, option.len);
            Fault::bad(offset, found, "if_tsresol of 1, if_tsoffset of 8")
        })
    };
    let resolution = value(OptionCode::IfTsresol, 1)?.map_or(6, |bytes| bytes[0]);
    let eight = value(OptionCode::IfTsoffset, 8)?.map_or([0; 8], |bytes| bytes.try_into().unwrap_or_default());
    let offset_s = if order == Order::Big { i64::from_be_bytes(eight) } else { i64::from_le_bytes(eight) };
    Clock::of(resolution, offset_s)
        .ok_or_else(|| Fault::bad(offset, format!("if_tsresol 10^-{}", resolution & 0x7f), "10^-38 or coarser"))
}

fn packet(block: &EnhancedPacketBlock<'_>, interfaces: &[Interface], offset: u64) -> Result<(Link, Stamped), Fault> {
    let Some(interface) = interfaces.get(block.if_id as usize) else {
        let expected = format!("one of the section's {}", interfaces.len());
        return Err(Fault::bad(offset + 8, format!("interface {}", block.if_id), expected));
    };
    let link = Link::of(interface.link, interface.described_at).map_err(Fault::of_packet)?;
    let size = link.size(block.origlen, block.caplen, offset + 20).map_err(Fault::of_packet)?;
    let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
    Ok((link, Stamped { offset, at_ps: interface.clock.at_ps(ticks), size }))
}
