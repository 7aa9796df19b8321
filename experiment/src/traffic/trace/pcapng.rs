//! The pcapng format (draft-ietf-opsawg-pcapng): blocks, each with its type, its length, a body and its length again.
//! A section header sets the byte order and forgets the interfaces. An interface description gives an interface's link
//! type and time resolution. Later packets name the interface by number.

use super::input::{Input, Order};
use super::link::Link;
use super::reader::Stamped;
use crate::traffic::error::Fault;
use std::io::BufRead;

/// Type of a section header block: the same in both byte orders.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Bytes of a block besides its body: the type, and the length twice.
const FRAME: u32 = 12;
/// Longest block that is accepted, as in Wireshark's reader.
const LONGEST: u32 = 16 << 20;

const PS_PER_S: i128 = 1_000_000_000_000;

#[derive(Debug)]
pub(super) struct Pcapng<R> {
    pub(super) input: Input<R>,
    order: Order,
    interfaces: Vec<Interface>,
    /// The first bytes of the last packet, from its network layer on.
    pub(super) head: Vec<u8>,
}

/// An interface. Its faults matter only once a packet names it.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u32,
    described_at: u64,
    clock: Clock,
}

/// A block that is being read.
struct Block {
    offset: u64,
    length: u32,
    /// Bytes of the body not yet read.
    left: u32,
}

impl<R: BufRead> Pcapng<R> {
    /// Reads the rest of the first section header, after its type.
    pub(super) fn begin(input: Input<R>) -> Result<Pcapng<R>, Fault> {
        let mut pcapng = Pcapng { input, order: Order::Big, interfaces: Vec::new(), head: Vec::new() };
        pcapng.section(0)?;
        Ok(pcapng)
    }

    pub(super) fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        while !self.input.at_end()? {
            let offset = self.input.offset();
            let kind: [u8; 4] = self.input.array("a block type")?;
            let kind = self.order.u32(&kind, 0);
            if kind == SECTION {
                self.section(offset)?;
                continue;
            }
            let mut block = self.enter(offset)?;
            match kind {
                INTERFACE => self.interface(&mut block)?,
                ENHANCED_PACKET | PACKET => return self.packet(block, kind).map(Some),
                SIMPLE_PACKET => {
                    let expected = "packets with times (enhanced packet blocks)";
                    return Err(Fault::bad(offset, "a simple packet block, which has no time", expected));
                }
                _ => {}
            }
            self.leave(block)?;
        }
        Ok(None)
    }

    fn section(&mut self, offset: u64) -> Result<(), Fault> {
        let start: [u8; 8] = self.input.array("a section header")?;
        self.order = match (Order::Big.u32(&start, 4), Order::Little.u32(&start, 4)) {
            (BYTE_ORDER_MAGIC, _) => Order::Big,
            (_, BYTE_ORDER_MAGIC) => Order::Little,
            (other, _) => return Err(Fault::bad(offset + 8, format!("{other:08x}"), "byte-order magic 1a2b3c4d")),
        };
        self.interfaces.clear();
        let mut block = self.block(offset, self.order.u32(&start, 0))?;
        block.take(4, "a section header")?;
        let version: [u8; 4] = self.body(&mut block, "a section header")?;
        let major = self.order.u16(&version, 0);
        if major != 1 {
            return Err(Fault::bad(offset + 12, format!("pcapng version {major}"), "version 1"));
        }
        self.leave(block)
    }

    fn interface(&mut self, block: &mut Block) -> Result<(), Fault> {
        let described_at = self.input.offset();
        let fixed: [u8; 8] = self.body(block, "an interface description")?;
        let mut interface =
            Interface { link: u32::from(self.order.u16(&fixed, 0)), described_at, clock: Clock::default() };
        while block.left >= 4 {
            let at = self.input.offset();
            let head: [u8; 4] = self.body(block, "an option")?;
            let (code, length) = (self.order.u16(&head, 0), self.order.u16(&head, 2));
            match (code, length) {
                (0, _) => break,
                (9, 1) => {
                    let value: [u8; 4] = self.body(block, "if_tsresol")?;
                    interface.clock.resolve(value[0], at)?;
                }
                (14, 8) => {
                    let value: [u8; 8] = self.body(block, "if_tsoffset")?;
                    interface.clock.offset_s = match self.order {
                        Order::Big => i64::from_be_bytes(value),
                        Order::Little => i64::from_le_bytes(value),
                    };
                }
                (9 | 14, _) => {
                    return Err(Fault::bad(
                        at,
                        format!("option {code} of {length} bytes"),
                        "if_tsresol of 1, if_tsoffset of 8",
                    ));
                }
                _ => {
                    let padded = u32::from(length).next_multiple_of(4);
                    block.take(padded, "an option")?;
                    self.input.skip(u64::from(padded), "an option")?;
                }
            }
        }
        self.interfaces.push(interface);
        Ok(())
    }

    /// Reads an enhanced packet block, or its predecessor, the packet block. They differ in the width of the
    /// interface's number.
    fn packet(&mut self, mut block: Block, kind: u32) -> Result<Stamped, Fault> {
        let offset = block.offset;
        let fixed: [u8; 20] = self.body(&mut block, "a packet block")?;
        let order = self.order;
        let number = if kind == PACKET { u32::from(order.u16(&fixed, 0)) } else { order.u32(&fixed, 0) };
        let Some(&interface) = self.interfaces.get(number as usize) else {
            let expected = format!("one of the section's {}", self.interfaces.len());
            return Err(Fault::bad(offset + 8, format!("interface {number}"), expected));
        };
        let link = Link::of(interface.link, interface.described_at)?;
        let ticks = u64::from(order.u32(&fixed, 4)) << 32 | u64::from(order.u32(&fixed, 8));
        let (captured, original) = (order.u32(&fixed, 12), order.u32(&fixed, 16));
        let size = link.size(original, captured, offset + 20)?;
        if captured > block.left {
            let expected = format!("at most the {} bytes that the block has left", block.left);
            return Err(Fault::bad(offset + 20, format!("{captured} captured bytes"), expected));
        }
        block.take(captured, "the captured bytes of a packet")?;
        self.input.head(u64::from(captured), &mut self.head, "the captured bytes of a packet")?;
        self.head.drain(..self.head.len() - link.inside(&self.head).len());
        self.leave(block)?;
        Ok(Stamped { offset, at_ps: interface.clock.at_ps(ticks), size })
    }

    /// Reads the length of a block, after its type.
    fn enter(&mut self, offset: u64) -> Result<Block, Fault> {
        let length: [u8; 4] = self.input.array("a block length")?;
        self.block(offset, self.order.u32(&length, 0))
    }

    fn block(&self, offset: u64, length: u32) -> Result<Block, Fault> {
        if !(FRAME..=LONGEST).contains(&length) || !length.is_multiple_of(4) {
            let expected = format!("a multiple of 4 from {FRAME} to {LONGEST}");
            return Err(Fault::bad(offset + 4, format!("a block of {length} bytes"), expected));
        }
        Ok(Block { offset, length, left: length - FRAME })
    }

    /// Reads the next N bytes of a block's body; `what` describes them in messages.
    fn body<const N: usize>(&mut self, block: &mut Block, what: &str) -> Result<[u8; N], Fault> {
        block.take(N as u32, what)?;
        self.input.array(what)
    }

    /// Skips the rest of a block and checks its second length.
    fn leave(&mut self, block: Block) -> Result<(), Fault> {
        self.input.skip(u64::from(block.left), "the rest of a block")?;
        let at = self.input.offset();
        let length: [u8; 4] = self.input.array("a block length")?;
        let length = self.order.u32(&length, 0);
        if length != block.length {
            return Err(Fault::bad(
                at,
                format!("a block length of {length}"),
                format!("{}, as in front", block.length),
            ));
        }
        Ok(())
    }
}

impl Block {
    fn take(&mut self, count: u32, what: &str) -> Result<(), Fault> {
        let found = || format!("a block of {} bytes", self.length);
        self.left = self
            .left
            .checked_sub(count)
            .ok_or_else(|| Fault::bad(self.offset + 4, found(), format!("room for {what} of {count} bytes")))?;
        Ok(())
    }
}

/// How an interface counts time.
#[derive(Clone, Copy, Debug)]
struct Clock {
    tick: Tick,
    offset_s: i64,
}

/// A tick of a clock.
#[derive(Clone, Copy, Debug)]
enum Tick {
    /// This number of picoseconds.
    Picoseconds(u64),
    /// This fraction of a second, where that is not a whole number of picoseconds.
    PartOfSecond(u128),
}

impl Default for Clock {
    /// Microseconds, unless an option says otherwise.
    fn default() -> Clock {
        Clock { tick: Tick::Picoseconds(1_000_000), offset_s: 0 }
    }
}

impl Clock {
    /// Reads the option if_tsresol: a negative power of ten, or of two if the highest bit is set.
    fn resolve(&mut self, option: u8, offset: u64) -> Result<(), Fault> {
        let power = u32::from(option & 0x7f);
        let parts = if option & 0x80 == 0 { 10u128.checked_pow(power) } else { 1u128.checked_shl(power) };
        self.tick = match parts {
            Some(parts) if (PS_PER_S as u128).is_multiple_of(parts) => {
                Tick::Picoseconds((PS_PER_S as u128 / parts) as u64)
            }
            Some(parts) => Tick::PartOfSecond(parts),
            None => return Err(Fault::bad(offset, format!("if_tsresol 10^-{power}"), "10^-38 or coarser")),
        };
        Ok(())
    }

    fn at_ps(&self, ticks: u64) -> i128 {
        let since_epoch = match self.tick {
            Tick::Picoseconds(ps) => i128::from(ticks) * i128::from(ps),
            Tick::PartOfSecond(parts) => (u128::from(ticks) * PS_PER_S as u128 / parts) as i128,
        };
        since_epoch + i128::from(self.offset_s) * PS_PER_S
    }
}
