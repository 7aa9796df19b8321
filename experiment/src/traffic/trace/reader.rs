//! Reads a trace file of any format as packets in order of time.

use super::csv::Csv;
use super::input::Input;
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use crate::scenario::TraceSource;
use crate::traffic::error::{Fault, TrafficError};
use packetscale_models::units::{Bytes, Span};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A packet as its format gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamped {
    /// Offset of its record in the file.
    pub(super) offset: u64,
    /// Picoseconds since the format's epoch.
    pub(super) at_ps: i128,
    /// Size on the wire.
    pub(super) size: Bytes,
}

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Time since the first packet.
    pub(super) since_first: Span,
    /// Size on the wire.
    pub(super) size: Bytes,
}

#[derive(Debug)]
enum Format<R> {
    Csv(Csv<R>),
    Pcap(Pcap<R>),
    Pcapng(Pcapng<R>),
}

/// Reads one file, once.
#[derive(Debug)]
pub(super) struct Reader<R = BufReader<File>> {
    file: PathBuf,
    format: Format<R>,
    first_ps: Option<i128>,
    /// What the first packet's time is called; zero: times must be in order.
    lead: Span,
    last: Span,
    packets: u64,
}

/// How long before the first packet of a capture another may have been stamped.
const DISORDER: Span = Span::from_secs(1);

/// Longest trace: half of the range of a picosecond clock.
const LONGEST: Span = Span::from_picos(u64::MAX / 2);

impl Reader {
    pub(super) fn open(file: &Path, source: TraceSource) -> Result<Reader, TrafficError> {
        let opened = File::open(file).map_err(|error| TrafficError::trace(file, 1, Fault::Io(error)))?;
        Reader::new(file, BufReader::with_capacity(1 << 16, opened), source)
    }

    /// The same, but packets may be out of order, as those of a machine with several processors are; none by more than
    /// [`DISORDER`] before the first.
    pub(super) fn in_any_order(self) -> Reader {
        Reader { lead: DISORDER, ..self }
    }
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(file: &Path, from: R, source: TraceSource) -> Result<Reader<R>, TrafficError> {
        let format = Format::begin(Input::new(from), source).map_err(|fault| TrafficError::trace(file, 1, fault))?;
        Ok(Reader { file: file.into(), format, first_ps: None, lead: Span::ZERO, last: Span::ZERO, packets: 0 })
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
            return Ok(None);
        };
        let since_first_ps = at_ps - *self.first_ps.get_or_insert(at_ps) + i128::from(self.lead.picos());
        let earliest_ps = if self.lead == Span::ZERO { i128::from(self.last.picos()) } else { 0 };
        if since_first_ps < earliest_ps {
            let back = i128::from(self.last.picos()) - since_first_ps;
            let back = Span::from_picos(u64::try_from(back).unwrap_or(u64::MAX));
            return Err(Fault::bad(offset, format!("a time {back} before the packet before"), "times in order"));
        }
        if since_first_ps > i128::from(LONGEST.picos()) {
            return Err(Fault::bad(offset, "a time over 106 days after the first packet", "a shorter trace"));
        }
        self.last = Span::from_picos(since_first_ps as u64);
        Ok(Some(Packet { since_first: self.last, size }))
    }

    /// Returns the first captured bytes of the last packet, from its network layer on; none in a CSV file.
    pub(super) fn head(&self) -> &[u8] {
        match &self.format {
            Format::Csv(_) => &[],
            Format::Pcap(pcap) => pcap.head(),
            Format::Pcapng(pcapng) => &pcapng.head,
        }
    }

    /// Returns the reader's offset in the file.
    pub(super) fn offset(&self) -> u64 {
        match &self.format {
            Format::Csv(csv) => csv.input.offset(),
            Format::Pcap(pcap) => pcap.input.offset(),
            Format::Pcapng(pcapng) => pcapng.input.offset(),
        }
    }

    /// Returns the error of a fault at the next packet.
    pub(super) fn fault(&self, fault: Fault) -> TrafficError {
        TrafficError::trace(&self.file, self.packets + 1, fault)
    }
}

impl<R: BufRead> Format<R> {
    fn begin(mut input: Input<R>, source: TraceSource) -> Result<Format<R>, Fault> {
        if source == TraceSource::Csv {
            return Csv::begin(input).map(Format::Csv);
        }
        let magic = input.array::<4>("the first 4 bytes of a pcap or pcapng file")?;
        if magic == super::pcapng::SECTION.to_be_bytes() {
            return Pcapng::begin(input).map(Format::Pcapng);
        }
        Pcap::begin(input, magic).map(Format::Pcap)
    }

    fn next(&mut self) -> Result<Option<Stamped>, Fault> {
        match self {
            Format::Csv(csv) => csv.next(),
            Format::Pcap(pcap) => pcap.next(),
            Format::Pcapng(pcapng) => pcapng.next(),
        }
    }
}
