//! Reads a trace file of any format as packets in order of time.

use super::Flaws;
use super::csv::Csv;
use super::input::Input;
use super::pcap::Pcap;
use super::pcapng::{Pcapng, SECTION};
use super::record::Records;
use super::stamped::Stamped;
use crate::scenario::TraceSource;
use crate::traffic::error::{Fault, TrafficError};
use packetscale_models::units::{Bytes, Span};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Time since the first packet.
    pub(super) since_first: Span,
    /// Size on the wire.
    pub(super) size: Bytes,
}

#[derive(Debug)]
enum Format {
    Csv(Csv),
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Reads one file, once.
#[derive(Debug)]
pub(super) struct Reader {
    file: PathBuf,
    format: Format,
    first_ps: Option<i128>,
    /// Whether packets keep times that are not in order.
    any_order: bool,
    last: Span,
    packets: u64,
    flaws: Flaws,
}

/// How far a time of a capture may be before that of the packet before; in any order, before that of the first.
const DISORDER: Span = Span::from_secs(1);

/// Longest trace: half of the range of a picosecond clock.
const LONGEST: Span = Span::from_picos(u64::MAX / 2);

impl Reader {
    pub(super) fn open(file: &Path, source: TraceSource) -> Result<Reader, TrafficError> {
        let opened = File::open(file).map_err(|error| TrafficError::trace(file, 1, Fault::Io(error)))?;
        Reader::new(file, opened, source)
    }

    /// The same, but packets keep times that are out of order, as those of a machine with several processors are; none by
    /// more than [`DISORDER`] before the first; earlier times count as the first's.
    pub(super) fn in_any_order(self) -> Reader {
        Reader { any_order: true, ..self }
    }

    pub(super) fn new(
        file: &Path,
        from: impl Read + Send + 'static,
        source: TraceSource,
    ) -> Result<Reader, TrafficError> {
        let format = Format::begin(Input::new(from), source).map_err(|fault| TrafficError::trace(file, 1, fault))?;
        let (last, flaws) = (Span::ZERO, Flaws::default());
        Ok(Reader { file: file.into(), format, first_ps: None, any_order: false, last, packets: 0, flaws })
    }

    /// Returns the next packet; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Packet>, TrafficError> {
        match self.read() {
            Ok(packet) => {
                self.packets += u64::from(packet.is_some());
                Ok(packet)
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    fn read(&mut self) -> Result<Option<Packet>, Fault> {
        let Some(Stamped { offset, at_ps, size }) = self.format.next()? else {
            self.flaws.cut = self.format.is_cut().then(|| (self.packets, self.offset()));
            return Ok(None);
        };
        let lead = if self.any_order { DISORDER } else { Span::ZERO };
        let since_first_ps = at_ps - *self.first_ps.get_or_insert(at_ps) + i128::from(lead.picos());
        if since_first_ps > i128::from(LONGEST.picos()) {
            return Err(Fault::bad(offset, "a time over 106 days after the first packet", "a shorter trace"));
        }
        self.last = match u64::try_from(since_first_ps).map(Span::from_picos) {
            Ok(since_first) if self.any_order || since_first >= self.last => since_first,
            _ => self.back(offset, i128::from(self.last.picos()) - since_first_ps)?,
        };
        Ok(Some(Packet { since_first: self.last, size }))
    }

    /// Returns the time of a packet that is stamped before the packet before: that packet's time, if it is a little
    /// before and the file is a capture.
    fn back(&mut self, offset: u64, back_ps: i128) -> Result<Span, Fault> {
        let back = Span::from_picos(u64::try_from(back_ps).unwrap_or(u64::MAX));
        if matches!(self.format, Format::Csv(_)) || back > DISORDER || self.any_order {
            return Err(Fault::bad(offset, format!("a time {back} before the packet before"), "times in order"));
        }
        self.flaws.back += 1;
        self.flaws.furthest = self.flaws.furthest.max(back);
        Ok(self.last)
    }

    /// Returns the defects of the file so far.
    pub(super) fn flaws(&self) -> Flaws {
        self.flaws
    }

    /// Returns the captured bytes of the last packet, from its network layer on, and how many bytes of tags are before
    /// them; none in a CSV file.
    pub(super) fn head(&self) -> (&[u8], u64) {
        let captured = match &self.format {
            Format::Csv(_) => None,
            Format::Pcap(pcap) => Some(pcap.captured()),
            Format::Pcapng(pcapng) => pcapng.captured(),
        };
        captured.map_or((&[], 0), |(link, bytes)| (link.inside(bytes), link.tags(bytes) as u64))
    }

    /// Returns the reader's offset in the file.
    pub(super) fn offset(&self) -> u64 {
        match &self.format {
            Format::Csv(csv) => csv.input.offset(),
            Format::Pcap(pcap) => pcap.records.end(),
            Format::Pcapng(pcapng) => pcapng.records.end(),
        }
    }

    /// Returns the error of a fault at the next packet.
    pub(super) fn fault(&self, fault: Fault) -> TrafficError {
        TrafficError::trace(&self.file, self.packets + 1, fault)
    }
}

impl Format {
    fn begin(input: Input, source: TraceSource) -> Result<Format, Fault> {
        if source == TraceSource::Csv {
            return Csv::begin(input).map(Format::Csv);
        }
        let mut records = Records::new(input);
        records.need(4, "the first 4 bytes of a pcap or pcapng file")?;
        let magic = [records.bytes[0], records.bytes[1], records.bytes[2], records.bytes[3]];
        if magic == SECTION.to_be_bytes() {
            return Pcapng::begin(records).map(Format::Pcapng);
        }
        Pcap::begin(records, magic).map(Format::Pcap)
    }

    fn is_cut(&self) -> bool {
        match self {
            Format::Csv(_) => false,
            Format::Pcap(pcap) => pcap.records.is_cut(),
            Format::Pcapng(pcapng) => pcapng.records.is_cut(),
        }
    }

    fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        match self {
            Format::Csv(csv) => csv.next(),
            Format::Pcap(pcap) => pcap.next(),
            Format::Pcapng(pcapng) => pcapng.next(),
        }
    }
}
