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
use packetscale_models::units::Span;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Debug)]
enum Format {
    Csv(Csv),
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// Reads one file, once, as packets in the order in which they are stored.
#[derive(Debug)]
pub(super) struct Reader {
    file: PathBuf,
    format: Format,
    /// The latest time so far.
    latest_ps: Option<i128>,
    packets: u64,
    flaws: Flaws,
}

impl Reader {
    pub(super) fn open(file: &Path, source: TraceSource) -> Result<Reader, TrafficError> {
        let opened = File::open(file).map_err(|error| TrafficError::trace(file, 1, Fault::Io(error)))?;
        Reader::new(file, opened, source)
    }

    pub(super) fn new(
        file: &Path,
        from: impl Read + Send + 'static,
        source: TraceSource,
    ) -> Result<Reader, TrafficError> {
        let format = Format::begin(Input::new(from), source).map_err(|fault| TrafficError::trace(file, 1, fault))?;
        Ok(Reader { file: file.into(), format, latest_ps: None, packets: 0, flaws: Flaws::default() })
    }

    /// Returns the next packet; `None` at the end of the file. Captures are read up to damage, and past single packets that
    /// cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<Stamped>, TrafficError> {
        let is_capture = !matches!(self.format, Format::Csv(_));
        loop {
            match self.format.next().and_then(|packet| packet.map(|packet| self.timed(packet)).transpose()) {
                Ok(None) => {
                    self.flaws.cut = self.format.is_cut().then(|| (self.packets, self.offset()));
                    return Ok(None);
                }
                Ok(packet) => {
                    self.packets += 1;
                    return Ok(packet);
                }
                Err(fault @ Fault::Packet { .. }) => {
                    let what = self.fault(fault).to_string();
                    self.flaws.first_left_out.get_or_insert(what);
                    self.flaws.left_out += 1;
                }
                Err(fault @ Fault::Bad { .. }) if is_capture && self.packets > 0 => {
                    self.flaws.damage = Some(self.fault(fault).to_string());
                    return Ok(None);
                }
                Err(fault) => return Err(self.fault(fault)),
            }
        }
    }

    /// Notes a time that goes back; in a text file it is refused.
    fn timed(&mut self, packet: Stamped) -> Result<Stamped, Fault> {
        let latest_ps = self.latest_ps.map_or(packet.at_ps, |latest| latest.max(packet.at_ps));
        if latest_ps > packet.at_ps {
            let back = u64::try_from(latest_ps - packet.at_ps).map_or(Span::MAX, Span::from_picos);
            if matches!(self.format, Format::Csv(_)) {
                let found = format!("a time {back} before the packet before");
                return Err(Fault::bad(packet.offset, found, "times in order"));
            }
            self.flaws.back += 1;
            self.flaws.furthest = self.flaws.furthest.max(back);
        }
        self.latest_ps = Some(latest_ps);
        Ok(packet)
    }

    /// Returns the defects of the file so far.
    pub(super) fn flaws(&self) -> &Flaws {
        &self.flaws
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
        TrafficError::trace(&self.file, self.packets + self.flaws.left_out + 1, fault)
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
