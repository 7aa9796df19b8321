//! The three blocks of pcapng that a capture needs (draft-ietf-opsawg-pcapng): a section, one interface whose clock ticks
//! in nanoseconds, and packets. All numbers are little-endian, and every block ends on a multiple of four bytes.

use std::io::{self, Write};

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;

/// Says in which order bytes stand.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const VERSION: (u16, u16) = (1, 0);
/// Length of a section that says nothing of it.
const UNKNOWN_LENGTH: u64 = u64::MAX;

/// Packets begin with the header of IP (LINKTYPE_RAW).
const RAW_IP: u16 = 101;

/// Codes of options.
const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;
/// Ticks of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Bytes of a block beside its body: its kind, and its length twice.
const FRAME: u32 = 12;

/// Writes a capture with one interface.
pub(crate) struct Pcapng<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Pcapng<W> {
    /// Begins a capture. `comment`: what a reader should know of it. `most`: captured bytes of a packet.
    pub(crate) fn begin(out: W, program: &str, comment: &str, interface: &str, most: u32) -> io::Result<Pcapng<W>> {
        let mut file = Pcapng { out, block: Vec::new() };
        file.put(&BYTE_ORDER.to_le_bytes());
        file.put(&VERSION.0.to_le_bytes());
        file.put(&VERSION.1.to_le_bytes());
        file.put(&UNKNOWN_LENGTH.to_le_bytes());
        file.option(COMMENT, comment.as_bytes());
        file.option(USER_APPLICATION, program.as_bytes());
        file.option(END_OF_OPTIONS, &[]);
        file.end(SECTION)?;
        file.put(&RAW_IP.to_le_bytes());
        file.put(&[0, 0]);
        file.put(&most.to_le_bytes());
        file.option(INTERFACE_NAME, interface.as_bytes());
        file.option(TIME_RESOLUTION, &[NANOSECONDS]);
        file.option(END_OF_OPTIONS, &[]);
        file.end(INTERFACE)?;
        Ok(file)
    }

    /// A packet at this time, nanoseconds since 1970. `captured`: its first bytes. `length`: all its bytes.
    pub(crate) fn packet(&mut self, at_ns: u64, captured: &[u8], length: u32) -> io::Result<()> {
        self.put(&0u32.to_le_bytes());
        self.put(&((at_ns >> 32) as u32).to_le_bytes());
        self.put(&(at_ns as u32).to_le_bytes());
        self.put(&(captured.len() as u32).to_le_bytes());
        self.put(&length.to_le_bytes());
        self.put(captured);
        self.end(PACKET)
    }

    /// Writes what is held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn put(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the block whose body was collected.
    fn end(&mut self, kind: u32) -> io::Result<()> {
        self.pad();
        let length = self.block.len() as u32 + FRAME;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.block.clear();
        Ok(())
    }
}
