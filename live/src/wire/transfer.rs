//! Transfers: flows of data inside a session, each with a receiver at the server.

use super::bytes::{Fields, leb_length, put_leb, zigzag};
use super::report::Source;
use super::seal::SEGMENT_TAG;

/// Bytes of a segment before its data.
pub const SEGMENT_HEAD: usize = super::HEADER + 8 + 8;

/// Header bytes of a segment with the key of this id (0: none).
pub fn segment_overhead(key: u16) -> usize {
    SEGMENT_HEAD + if key == 0 { 0 } else { SEGMENT_TAG }
}

/// Maximum number of selective blocks in an acknowledgment.
pub const MOST_BLOCKS: usize = 3;
/// The longest name of a file, in bytes.
pub const MOST_NAME: usize = 255;
/// Length of a BLAKE3 hash.
pub const HASH: usize = 32;

/// Destination of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Count and discard.
    Measure,
    /// Save as a file.
    File {
        /// Its name, as the client sent it.
        name: String,
        /// Discard the receiver's partial file: it belongs to another file.
        restart: bool,
    },
}

/// Requests a flow. The packet's number becomes the flow's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Bytes of data in each segment but the last.
    pub size: u16,
    /// Maximum number of in-order segments per acknowledgment ...
    pub delayed_ack: u16,
    /// ... or maximum delay in microseconds.
    pub delayed_ack_us: u32,
    /// Maximum number of segments that the receiver buffers.
    pub window: u32,
    /// Whether acknowledgments report arrival times.
    pub stamps: bool,
    /// Destination of the data.
    pub purpose: Purpose,
}

/// The flow exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Number of segments that the receiver buffers.
    pub window: u32,
    /// Of a file: bytes received earlier. Segment 0 begins behind them.
    pub offset: u64,
    /// The BLAKE3 hash of these bytes; zeros if there are none.
    pub hash: [u8; HASH],
}

/// When a segment arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Its sequence number.
    pub sequence: u64,
    /// Its transmission number.
    pub transmission: u64,
    /// Nanoseconds of the receiver's clock, of arbitrary origin.
    pub ns: u64,
}

/// An acknowledgment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledgment {
    /// All segments below have arrived.
    pub next: u64,
    /// The transmission that triggered it.
    pub echo: u64,
    /// Number of segments that the receiver buffers from `next` on.
    pub window: u32,
    /// The segment that caused it was a duplicate.
    pub duplicate: bool,
    /// Number of arrived segments marked "congestion experienced"; `None`: unknown.
    pub marked: Option<u64>,
    /// Clock that took the times.
    pub source: Source,
    /// Number of steps of the receiver's clock in this session.
    pub steps: u16,
    /// Ranges above `next` that have arrived: first, and first after it.
    pub blocks: Vec<(u64, u64)>,
    /// Arrivals since the acknowledgment before the last, in order: each is reported twice, since acknowledgments get lost.
    pub came: Vec<Came>,
}

const STAMPS: u8 = 1;
const RESTART: u8 = 2;
const DUPLICATE: u8 = 1;
const COUNTS_MARKS: u8 = 2;
const MEASURE: u8 = 1;
const FILE: u8 = 2;

impl Begin {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (purpose, name, restart) = match &self.purpose {
            Purpose::Measure => (MEASURE, "", false),
            Purpose::File { name, restart } => (FILE, &name[..name.floor_char_boundary(MOST_NAME)], *restart),
        };
        let flags = if self.stamps { STAMPS } else { 0 } | if restart { RESTART } else { 0 };
        out.extend(self.size.to_be_bytes());
        out.extend(self.delayed_ack.to_be_bytes());
        out.extend(self.delayed_ack_us.to_be_bytes());
        out.extend(self.window.to_be_bytes());
        out.extend([flags, purpose, name.len() as u8]);
        out.extend(name.as_bytes());
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Begin> {
        let (size, delayed_ack) = (fields.u16()?, fields.u16()?);
        let (delayed_ack_us, window) = (fields.u32()?, fields.u32()?);
        let [flags, purpose, length] = fields.array()?;
        let name = String::from_utf8(fields.take(usize::from(length))?.to_vec()).ok()?;
        let purpose = match purpose {
            MEASURE if name.is_empty() => Purpose::Measure,
            FILE => Purpose::File { name, restart: flags & RESTART != 0 },
            _ => return None,
        };
        Some(Begin { size, delayed_ack, delayed_ack_us, window, stamps: flags & STAMPS != 0, purpose })
    }
}

impl Begun {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.window.to_be_bytes());
        out.extend(self.offset.to_be_bytes());
        out.extend(self.hash);
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Begun> {
        Some(Begun { window: fields.u32()?, offset: fields.u64()?, hash: fields.array()? })
    }
}

impl Acknowledgment {
    /// Truncates to the last arrivals that fit into a body of `limit` bytes. An earlier acknowledgment reported the omitted
    /// ones, as long as the new ones fit.
    pub fn cut_to(&mut self, limit: usize) {
        // The head of a run, at most: two numbers, and less than 2^21 arrivals.
        const RUN: usize = 10 + 10 + 3;
        let came = std::mem::take(&mut self.came);
        let mut head = Vec::new();
        self.write(&mut head);
        let (mut used, mut from) = (head.len() + RUN + 1, came.len());
        while let Some(at) = from.checked_sub(1) {
            let time = |next: &Came| leb_length(zigzag(next.ns.wrapping_sub(came[at].ns) as i64));
            let run = |next: &Came| if came[at].follows(next) { 0 } else { RUN };
            used += came.get(from).map_or(0, |next| time(next) + run(next));
            if used > limit {
                break;
            }
            from = at;
        }
        self.came = came;
        self.came.drain(..from);
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let blocks = &self.blocks[..self.blocks.len().min(MOST_BLOCKS)];
        let flags = if self.duplicate { DUPLICATE } else { 0 } | if self.marked.is_some() { COUNTS_MARKS } else { 0 };
        out.extend(self.next.to_be_bytes());
        out.extend(self.echo.to_be_bytes());
        out.extend(self.window.to_be_bytes());
        out.extend([flags, self.source.code()]);
        out.extend(self.steps.to_be_bytes());
        out.extend(self.marked.unwrap_or(0).to_be_bytes());
        let mut ns = self.came.first().map_or(0, |came| came.ns);
        out.extend(ns.to_be_bytes());
        out.push(blocks.len() as u8);
        for (start, end) in blocks {
            put_leb(out, start.wrapping_sub(self.next));
            put_leb(out, end.wrapping_sub(*start));
        }
        let (mut sequence, mut transmission) = (self.next, self.echo);
        for run in self.came.chunk_by(|a, b| a.follows(b)) {
            put_leb(out, zigzag(run[0].sequence.wrapping_sub(sequence) as i64));
            put_leb(out, zigzag(run[0].transmission.wrapping_sub(transmission) as i64));
            put_leb(out, run.len() as u64);
            for came in run {
                put_leb(out, zigzag(came.ns.wrapping_sub(ns) as i64));
                ns = came.ns;
                (sequence, transmission) = (came.sequence.wrapping_add(1), came.transmission.wrapping_add(1));
            }
        }
    }

    pub(super) fn read(fields: &mut Fields<'_>) -> Option<Acknowledgment> {
        let (next, echo, window) = (fields.u64()?, fields.u64()?, fields.u32()?);
        let (flags, source, steps) = (fields.u8()?, Source::of(fields.u8()?)?, fields.u16()?);
        let counted = fields.u64()?;
        let marked = (flags & COUNTS_MARKS != 0).then_some(counted);
        let (mut ns, count) = (fields.u64()?, fields.u8()?);
        let mut blocks = Vec::new();
        for _ in 0..count {
            let start = next.checked_add(fields.leb()?)?;
            let end = start.checked_add(fields.leb()?)?;
            // Received blocks are above the first hole and not empty.
            if start <= next || end <= start {
                return None;
            }
            blocks.push((start, end));
        }
        let (mut sequence, mut transmission, mut came) = (next, echo, Vec::new());
        while !fields.0.is_empty() {
            sequence = sequence.wrapping_add(fields.signed()? as u64);
            transmission = transmission.wrapping_add(fields.signed()? as u64);
            let run = fields.leb()?;
            // Each time takes a byte at least.
            if run == 0 || run > fields.0.len() as u64 {
                return None;
            }
            for _ in 0..run {
                ns = ns.wrapping_add(fields.signed()? as u64);
                came.push(Came { sequence, transmission, ns });
                (sequence, transmission) = (sequence.wrapping_add(1), transmission.wrapping_add(1));
            }
        }
        let duplicate = flags & DUPLICATE != 0;
        Some(Acknowledgment { next, echo, window, duplicate, marked, source, steps, blocks, came })
    }
}

impl Came {
    /// Whether `next` is the next segment, by the next transmission.
    fn follows(&self, next: &Came) -> bool {
        self.sequence.wrapping_add(1) == next.sequence && self.transmission.wrapping_add(1) == next.transmission
    }
}
