//! Replays a recorded trace: streams it from the file, scales it in time, and repeats it end to end.
//!
//! A trace of n packets, B bytes, with a span s between its first and last packet has the period s + s / (n - 1): one
//! mean gap separates its last packet from its repetition. Its mean rate is 8 B / period. To replay it at the
//! rate R with k copies, each copy's period becomes 8 B k / R, and every instant is scaled alike; sizes stay. Copies
//! begin at random points of the period and do not share a file position. One pass over the file (`survey`) finds n,
//! B and s and checks everything on the way, so that a damaged file is refused before the run and not during it. Memory
//! does not depend on the length of the file.
//!
//! All copies share one period, so their sum repeats after it. In runs longer than a period, more seconds therefore
//! give no more evidence about the trace's statistics. More seeds do, because the offsets change.
//!
//! Sizes: the network-layer packet with its tags and 14 bytes of Ethernet header, whatever the link of the recording. They
//! come from
//! the original length, not the captured one ([`link`]).

mod clock;
mod csv;
mod flaws;
mod input;
mod link;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod stamped;
#[cfg(test)]
mod tests;

pub use flaws::Flaws;

use super::error::Fault;
use super::{CrossPacket, SendingTime, Source, TrafficError};
use crate::scenario::TraceSource;
use packetscale_models::units::{Bytes, Rate, Span};
use reader::{Packet, Reader};
use std::path::{Path, PathBuf};

/// The totals of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// Number of packets; at least two.
    pub packets: u64,
    /// Sum of their sizes on the wire.
    pub bytes: Bytes,
    /// Time from the first packet to the last.
    pub span: Span,
    /// Defects of the file that do not prevent reading it.
    pub flaws: Flaws,
}

impl Survey {
    /// Returns the distance between repetitions: the span and one mean gap.
    pub fn period(&self) -> Span {
        self.span + self.span / (self.packets - 1)
    }

    /// Returns the mean rate: the bytes per period.
    pub fn mean_rate(&self) -> Rate {
        Rate::of(self.bytes, self.period())
    }
}

/// Reads a trace from beginning to end. Returns its totals.
///
/// # Errors
/// [`TrafficError`], with the packet and the byte concerned: the file cannot be read, is damaged, runs backwards in time,
/// has fewer than two packets, or has an unknown format or link type.
pub fn survey(file: &Path, source: TraceSource) -> Result<Survey, TrafficError> {
    let mut reader = Reader::open(file, source)?;
    let (mut packets, mut bytes, mut span) = (0, Bytes::ZERO, Span::ZERO);
    while let Some(packet) = reader.next()? {
        packets += 1;
        bytes += packet.size;
        span = packet.since_first;
    }
    if packets < 2 || span == Span::ZERO {
        let found = format!("the end after {packets} packets within {span}");
        return Err(reader.fault(Fault::bad(reader.offset(), found, "two packets or more, at two instants or more")));
    }
    Ok(Survey { packets, bytes, span, flaws: reader.flaws() })
}

/// A capture, packet by packet, with the headers of each.
#[derive(Debug)]
pub struct Capture(Reader);

impl Capture {
    /// Opens a pcap or pcapng file.
    ///
    /// # Errors
    /// A file that cannot be read, or that is neither.
    pub fn open(file: &Path) -> Result<Capture, TrafficError> {
        Reader::open(file, TraceSource::Pcap).map(|reader| Capture(reader.in_any_order()))
    }

    /// Returns the next packet; `None` at the end. Packets come as they are stored, which need not be in order of time.
    ///
    /// # Errors
    /// A damaged file, with the packet and the byte.
    pub fn next_packet(&mut self) -> Result<Option<Captured<'_>>, TrafficError> {
        let Some(packet) = self.0.next()? else { return Ok(None) };
        let (head, tags) = self.0.head();
        let size = packet.size.saturating_sub(Bytes::new(tags));
        Ok(Some(Captured { at: packet.since_first, size, head }))
    }

    /// Returns the defects of the file so far.
    pub fn flaws(&self) -> Flaws {
        self.0.flaws()
    }
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Time since some instant before all packets, the same for all.
    pub at: Span,
    /// Size on the wire without tags, which another capture of the packet need not have.
    pub size: Bytes,
    /// The captured bytes, from the network layer on.
    pub head: &'a [u8],
}

/// Trace time and replayed time, side by side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    survey: Survey,
    recorded: Span,
    replayed: Span,
}

impl Pace {
    /// Plans `copies` replays of a file that have `rate` together; `None`: each as recorded.
    pub(super) fn plan(
        file: &Path,
        source: TraceSource,
        rate: Option<Rate>,
        copies: u32,
    ) -> Result<Pace, TrafficError> {
        let survey = survey(file, source)?;
        let recorded = survey.period();
        let replayed = match rate {
            None => recorded,
            Some(rate) => scaled_period(survey.bytes, copies, rate).ok_or_else(|| {
                let expected = format!("a rate at which {copies} x {} last between 1 ps and 106 days", survey.bytes);
                TrafficError::setting("rate", rate, expected)
            })?,
        };
        Ok(Pace { survey, recorded, replayed })
    }

    /// Returns the period in trace time.
    pub(super) fn period(&self) -> Span {
        self.recorded
    }

    fn scale(&self, recorded: Span) -> i128 {
        let product = u128::from(recorded.picos()) * u128::from(self.replayed.picos());
        (product / u128::from(self.recorded.picos())) as i128
    }
}

/// Returns the time that one copy takes for its bytes when all copies together send at `rate`.
fn scaled_period(bytes: Bytes, copies: u32, rate: Rate) -> Option<Span> {
    let bits = u128::from(bytes.get()) * 8 * u128::from(copies);
    let picos = bits.checked_mul(1_000_000_000_000)?.checked_div(u128::from(rate.bps()))?;
    // At most half of a clock's range, so that one period always fits after any other instant.
    u64::try_from(picos).ok().filter(|ps| (1..=u64::MAX / 2).contains(ps)).map(Span::from_picos)
}

/// One copy of a replayed trace.
#[derive(Debug)]
pub(super) struct Trace {
    file: PathBuf,
    source: TraceSource,
    pace: Pace,
    reader: Reader,
    /// Replayed time at which this repetition begins, in picoseconds. At first it is before the run's start if a
    /// copy begins in mid-trace.
    begin_ps: i128,
    seen: u64,
    sending: SendingTime,
    failure: Option<TrafficError>,
}

impl Trace {
    /// Opens a copy that begins at the first packet at or after `offset` into the trace.
    pub(super) fn open(
        file: &Path,
        source: TraceSource,
        pace: Pace,
        sending: SendingTime,
        offset: Span,
    ) -> Result<Trace, TrafficError> {
        let reader = Reader::open(file, source)?;
        let begin_ps = i128::from(sending.start.picos()) - pace.scale(offset);
        Ok(Trace { file: file.into(), source, pace, reader, begin_ps, seen: 0, sending, failure: None })
    }

    pub(super) fn failure(&self) -> Option<&TrafficError> {
        self.failure.as_ref()
    }

    /// Returns the next packet of the file; begins the file again as often as needed.
    fn step(&mut self) -> Result<Packet, TrafficError> {
        loop {
            match self.reader.next()? {
                Some(packet) if packet.since_first <= self.pace.survey.span => {
                    self.seen += 1;
                    return Ok(packet);
                }
                None if self.seen == self.pace.survey.packets => {
                    self.begin_ps += i128::from(self.pace.replayed.picos());
                    self.seen = 0;
                    self.reader = Reader::open(&self.file, self.source)?;
                }
                _ => {
                    let survey = self.pace.survey;
                    let expected = format!("{} packets within {}, as before the run", survey.packets, survey.span);
                    return Err(self.reader.fault(Fault::bad(self.reader.offset(), "another trace", expected)));
                }
            }
        }
    }
}

impl Source for Trace {
    fn next(&mut self) -> Option<CrossPacket> {
        while self.failure.is_none() {
            match self.step() {
                Err(error) => self.failure = Some(error),
                Ok(packet) => {
                    let at_ps = self.begin_ps + self.pace.scale(packet.since_first);
                    if at_ps >= i128::from(self.sending.end.picos()) {
                        return None;
                    }
                    if at_ps >= i128::from(self.sending.start.picos()) {
                        return Some(CrossPacket {
                            at: packetscale_models::units::Time::from_picos(at_ps as u64),
                            size: packet.size,
                        });
                    }
                }
            }
        }
        None
    }
}
