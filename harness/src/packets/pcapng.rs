//! The three blocks of pcapng that a capture needs (draft-ietf-opsawg-pcapng): a section, one interface with a clock
//! in nanoseconds, and packets. The crate `pcap-parser` writes them, and fills in types, lengths and ends of options.

use pcap_parser::{
    EnhancedPacketBlock, InterfaceDescriptionBlock, Linktype, OptionCode, PcapNGOption, SectionHeaderBlock, ToVec,
};
use std::borrow::Cow;
use std::io::{self, Write};

/// Packets begin with the header of IP (LINKTYPE_RAW).
const RAW_IP: Linktype = Linktype(101);
/// Ticks of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Writes a capture with one interface.
pub(crate) struct Pcapng<W> {
    out: W,
}

impl<W: Write> Pcapng<W> {
    /// Begins a capture. `comment`: what a reader should know of it. `most`: captured bytes of a packet.
    pub(crate) fn begin(out: W, program: &str, comment: &str, interface: &str, most: u32) -> io::Result<Pcapng<W>> {
        let mut file = Pcapng { out };
        file.put(SectionHeaderBlock {
            block_type: 0,
            block_len1: 0,
            bom: 0,
            major_version: 1,
            minor_version: 0,
            section_len: -1,
            options: vec![option(OptionCode::Comment, comment), option(OptionCode::ShbUserAppl, program)],
            block_len2: 0,
        })?;
        file.put(InterfaceDescriptionBlock {
            block_type: 0,
            block_len1: 0,
            linktype: RAW_IP,
            reserved: 0,
            snaplen: most,
            options: vec![option(OptionCode::IfName, interface)],
            block_len2: 0,
            if_tsresol: NANOSECONDS,
            if_tsoffset: 0,
        })?;
        Ok(file)
    }

    /// A packet at this time, nanoseconds since 1970. `captured`: its first bytes. `length`: all its bytes.
    pub(crate) fn packet(&mut self, at_ns: u64, captured: &[u8], length: u32) -> io::Result<()> {
        self.put(EnhancedPacketBlock {
            block_type: 0,
            block_len1: 0,
            if_id: 0,
            ts_high: (at_ns >> 32) as u32,
            ts_low: at_ns as u32,
            caplen: captured.len() as u32,
            origlen: length,
            data: captured,
            options: Vec::new(),
            block_len2: 0,
        })
    }

    /// Writes what is held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn put(&mut self, mut block: impl ToVec) -> io::Result<()> {
        let bytes = block.to_vec().map_err(|error| io::Error::other(format!("pcapng: {error:?}")))?;
        self.out.write_all(&bytes)
    }
}

fn option(code: OptionCode, text: &str) -> PcapNGOption<'_> {
    PcapNGOption { code, len: text.len() as u16, value: Cow::Borrowed(text.as_bytes()) }
}
