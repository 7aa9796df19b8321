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
mod sorted;
mod stamped;
#[cfg(test)]
mod tests;

pub use flaws::Flaws;

use super::error::Fault;
use super::{CrossPacket, SendingTime, Source, TrafficError};
use crate::scenario::TraceSource;
use packetscale_models::units::{Bytes, Rate, Span};
use reader::Reader;
use sorted::{LONGEST, Order, Packet, Sorted};
use std::path::{Path, PathBuf};

/// The totals of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
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
/// [`TrafficError`], with the packet and the byte concerned: the file cannot be read, is damaged before its first packet, lasts
/// over 106 days, has fewer than two packets, or has an unknown format or link type; a text file runs backwards in time.
pub fn survey(file: &Path, source: TraceSource) -> Result<Survey, TrafficError> {
    examine(file, source).map(|(survey, _)| survey)
}

/// Its totals, and the order of its times.
fn examine(file: &Path, source: TraceSource) -> Result<(Survey, Order), TrafficError> {
    let mut reader = Reader::open(file, source)?;
    let (mut packets, mut bytes) = (0, Bytes::ZERO);
    let mut times: Option<(i128, i128)> = None;
    while let Some(packet) = reader.next()? {
        packets += 1;
        bytes += packet.size;
        let (first, last) = times.unwrap_or((packet.at_ps, packet.at_ps));
        times = Some((first.min(packet.at_ps), last.max(packet.at_ps)));
    }
    let (first_ps, last_ps) = times.unwrap_or_default();
    let refused = |found: String, expected: &str| reader.fault(Fault::bad(reader.offset(), found, expected));
    let span = u64::try_from(last_ps - first_ps).ok().map(Span::from_picos).filter(|span| *span <= LONGEST);
    let Some(span) = span else {
        let days = (last_ps - first_ps) / (86_400 * 1_000_000_000_000);
        return Err(refused(format!("times over {days} days"), "a trace of 106 days at most"));
    };
    if packets < 2 || span == Span::ZERO {
        let why = reader.flaws().first_left_out.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        let found = format!("the end after {packets} packets within {span}{why}");
        return Err(refused(found, "two packets or more, at two instants or more"));
    }
    let flaws = reader.flaws().clone();
    let order = Order { first_ps, disorder: flaws.furthest };
    Ok((Survey { packets, bytes, span, flaws }, order))
}

/// A capture, packet by packet, with the headers of each.
#[derive(Debug)]
pub struct Capture {
    reader: Reader,
    first_ps: Option<i128>,
}

/// Range of times before and after the first stored packet of a capture.
const EITHER_SIDE: Span = Span::from_picos(LONGEST.picos() / 2);

impl Capture {
    /// Opens a pcap or pcapng file.
    ///
    /// # Errors
    /// A file that cannot be read, or that is neither.
    pub fn open(file: &Path) -> Result<Capture, TrafficError> {
        Ok(Capture { reader: Reader::open(file, TraceSource::Pcap)?, first_ps: None })
    }

    /// Returns the next packet; `None` at the end. Packets come as they are stored, which need not be in order of time.
    ///
    /// # Errors
    /// A file that is damaged before its first packet, or a time more than 53 days from the first packet's, with the packet
    /// and the byte.
    pub fn next_packet(&mut self) -> Result<Option<Captured<'_>>, TrafficError> {
        let Some(packet) = self.reader.next()? else { return Ok(None) };
        let after_ps = packet.at_ps - *self.first_ps.get_or_insert(packet.at_ps);
        let at = u64::try_from(after_ps + i128::from(EITHER_SIDE.picos())).ok().map(Span::from_picos);
        let Some(at) = at.filter(|at| *at <= LONGEST) else {
            let found = format!("a time {} s from the first packet's", after_ps / 1_000_000_000_000);
            return Err(self.reader.fault(Fault::bad(packet.offset, found, "times within 53 days of it")));
        };
        let (head, tags) = self.reader.head();
        Ok(Some(Captured { at, size: packet.size.saturating_sub(Bytes::new(tags)), head }))
    }

    /// Returns the defects of the file so far.
    pub fn flaws(&self) -> &Flaws {
        self.reader.flaws()
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
#[derive(Clone, Debug)]
pub(super) struct Pace {
    survey: Survey,
    order: Order,
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
        let (survey, order) = examine(file, source)?;
        let recorded = survey.period();
        let replayed = match rate {
            None => recorded,
            Some(rate) => scaled_period(survey.bytes, copies, rate).ok_or_else(|| {
                let expected = format!("a rate at which {copies} x {} last between 1 ps and 106 days", survey.bytes);
                TrafficError::setting("rate", rate, expected)
            })?,
        };
        Ok(Pace { survey, order, recorded, replayed })
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
    packets: Sorted,
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
        let packets = Sorted::new(Reader::open(file, source)?, pace.order);
        let begin_ps = i128::from(sending.start.picos()) - pace.scale(offset);
        Ok(Trace { file: file.into(), source, pace, packets, begin_ps, seen: 0, sending, failure: None })
    }

    pub(super) fn failure(&self) -> Option<&TrafficError> {
        self.failure.as_ref()
    }

    /// Returns the next packet of the file; begins the file again as often as needed.
    fn step(&mut self) -> Result<Packet, TrafficError> {
        loop {
            match self.packets.next()? {
                Some(packet) if packet.since_first <= self.pace.survey.span => {
                    self.seen += 1;
                    return Ok(packet);
                }
                None if self.seen == self.pace.survey.packets => {
                    self.begin_ps += i128::from(self.pace.replayed.picos());
                    self.seen = 0;
                    self.packets = Sorted::new(Reader::open(&self.file, self.source)?, self.pace.order);
                }
                _ => {
                    let survey = &self.pace.survey;
                    let reader = &self.packets.reader;
                    let expected = format!("{} packets within {}, as before the run", survey.packets, survey.span);
                    return Err(reader.fault(Fault::bad(reader.offset(), "another trace", expected)));
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
