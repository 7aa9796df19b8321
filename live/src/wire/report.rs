//! The times of many packets in one datagram: about two bytes for a packet that follows within 8 us of the one before.

use super::bytes::{Fields, leb_length, put_leb, zigzag};

/// The time of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The packet's number.
    pub sequence: u64,
    /// Nanoseconds of the reporter's clock; only differences have a meaning.
    pub ns: u64,
}

/// Kind of times in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// When packets arrived at the reporter.
    Arrivals,
    /// When packets left the reporter.
    Departures,
}

impl What {
    pub(super) fn code(self) -> u8 {
        match self {
            What::Arrivals => 1,
            What::Departures => 2,
        }
    }

    pub(super) fn of(code: u8) -> Option<What> {
        [What::Arrivals, What::Departures].into_iter().find(|what| what.code() == code)
    }
}

/// Clock that took the times of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The program, when it read or wrote the packet.
    Program,
    /// The kernel, at the device's driver.
    Kernel,
    /// The network card.
    Card,
}

impl Source {
    /// All kinds, from the worst to the best.
    pub const ALL: [Source; 3] = [Source::Program, Source::Kernel, Source::Card];

    /// The worse of two kinds.
    pub fn worse(self, other: Source) -> Source {
        Source::ALL.into_iter().find(|source| *source == self || *source == other).unwrap_or(self)
    }

    pub(super) fn code(self) -> u8 {
        match self {
            Source::Program => 1,
            Source::Kernel => 2,
            Source::Card => 3,
        }
    }

    pub(super) fn of(code: u8) -> Option<Source> {
        Source::ALL.into_iter().find(|source| source.code() == code)
    }

    /// Text for messages.
    pub fn words(self) -> &'static str {
        match self {
            Source::Program => "program",
            Source::Kernel => "kernel",
            Source::Card => "card",
        }
    }
}

/// Times of packets `first` to `first + count - 1`. Packets without a time did not arrive, or have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Kind of times.
    pub what: What,
    /// Clock that took them.
    pub source: Source,
    /// Number of steps of the reporter's clock in this session.
    pub steps: u16,
    /// Whether the reporter counts marks (RFC 3168); if not, the two counts are 0.
    pub marks: Option<Marks>,
    /// Ordered streams have not left yet: more departures will follow.
    pub pending: bool,
    /// Packets that have arrived (or left) in this session.
    pub total: u64,
    /// The first packet that this report covers.
    pub first: u64,
    /// Number of packets covered.
    pub count: u32,
    /// The times, in the order of the packets.
    pub stamps: Vec<Stamp>,
}

/// Marked packets that have arrived in this session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Congestion experienced.
    pub ce: u32,
    /// ECT(1).
    pub ect1: u32,
}

/// Bytes before the blocks: what, source, steps, flags with 3 of reserve, the two counts, total, first, count, base.
const FIXED: usize = 1 + 1 + 2 + 4 + 4 + 4 + 8 + 8 + 4 + 8;
const COUNTS_MARKS: u8 = 1;
const PENDING: u8 = 2;

impl Report {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let marks = self.marks.unwrap_or(Marks { ce: 0, ect1: 0 });
        out.extend([self.what.code(), self.source.code()]);
        out.extend(self.steps.to_be_bytes());
        let flags = if self.marks.is_some() { COUNTS_MARKS } else { 0 } | if self.pending { PENDING } else { 0 };
        out.extend([flags, 0, 0, 0]);
        out.extend(marks.ce.to_be_bytes());
        out.extend(marks.ect1.to_be_bytes());
        out.extend(self.total.to_be_bytes());
        out.extend(self.first.to_be_bytes());
        out.extend(self.count.to_be_bytes());
        out.extend(self.stamps.first().map_or(0, |stamp| stamp.ns).to_be_bytes());
        let (mut next, mut ns) = (self.first, self.stamps.first().map_or(0, |stamp| stamp.ns));
        for run in self.stamps.chunk_by(|a, b| a.sequence.wrapping_add(1) == b.sequence) {
            put_leb(out, run[0].sequence.wrapping_sub(next));
            put_leb(out, run.len() as u64);
            for stamp in run {
                put_leb(out, zigzag(stamp.ns.wrapping_sub(ns) as i64));
                ns = stamp.ns;
                next = stamp.sequence.wrapping_add(1);
            }
        }
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Report> {
        let (what, source) = (What::of(fields.u8()?)?, Source::of(fields.u8()?)?);
        let steps = fields.u16()?;
        let [flags, ..] = fields.array::<4>()?;
        let counted = Marks { ce: fields.u32()?, ect1: fields.u32()? };
        let (marks, pending) = ((flags & COUNTS_MARKS != 0).then_some(counted), flags & PENDING != 0);
        let (total, first, count, mut ns) = (fields.u64()?, fields.u64()?, fields.u32()?, fields.u64()?);
        let end = first.checked_add(u64::from(count))?;
        let (mut next, mut stamps) = (first, Vec::new());
        while !fields.0.is_empty() {
            next = next.checked_add(fields.leb()?)?;
            let run = fields.leb()?;
            // Each time takes at least a byte, so a report's memory is at most a constant times its length.
            if run == 0 || run > fields.0.len() as u64 || next.checked_add(run)? > end {
                return None;
            }
            for sequence in next..next + run {
                ns = ns.wrapping_add(fields.signed()? as u64);
                stamps.push(Stamp { sequence, ns });
            }
            next += run;
        }
        Some(Report { what, source, steps, marks, pending, total, first, count, stamps })
    }

    /// Truncates to the packets that fit into a body of `limit` bytes; returns the number of packets covered.
    pub fn cut_to(&mut self, limit: usize) -> u32 {
        let mut used = FIXED;
        let (mut next, mut ns) = (self.first, self.stamps.first().map_or(0, |stamp| stamp.ns));
        // A run's length is taken as 3 bytes: a datagram holds less than 2^21 times.
        const RUN: usize = 3;
        for at in 0..self.stamps.len() {
            let Stamp { sequence, ns: at_ns } = self.stamps[at];
            let skipped = sequence.wrapping_sub(next);
            let begins = at == 0 || skipped > 0;
            used += leb_length(zigzag(at_ns.wrapping_sub(ns) as i64));
            used += if begins { leb_length(skipped) + RUN } else { 0 };
            if used > limit {
                self.stamps.truncate(at);
                self.count = sequence.wrapping_sub(self.first) as u32;
                break;
            }
            (next, ns) = (sequence.wrapping_add(1), at_ns);
        }
        self.count
    }
}
