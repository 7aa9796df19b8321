//! The receiving end of a flow, without a clock or a socket: the transport's receiver decides when to acknowledge, and each
//! acknowledgment carries the arrival times since the last one.

use super::{MOST_DELAYED, MOST_HELD, MOST_RANGES, MOST_WINDOW};
use crate::store::{Keeping, Part};
use crate::wire::{Acknowledgment, Begin, Begun, Came, HASH, Purpose, Source};
use packetscale_models::transport::{Ack, Receiver, ReceiverParams, Segment};
use packetscale_models::units::{Bytes, Ecn, Marks, Span, Time};
use std::collections::BTreeMap;

/// The receiving end of a flow.
pub struct Incoming {
    receiver: Receiver,
    /// The reply to its request, for repeated requests.
    begun: Begun,
    size: usize,
    stamps: bool,
    /// Arrivals that no acknowledgment has reported yet, and those that only the last has reported: it may be lost.
    came: Vec<Came>,
    reported: Vec<Came>,
    source: Source,
    /// Whether arrivals report their ECN marks.
    reads_marks: bool,
    file: Option<Assembly>,
}

/// A segment that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its sequence number.
    pub sequence: u64,
    /// Its transmission number.
    pub transmission: u64,
    /// Its data.
    pub data: &'a [u8],
    /// Arrival time in nanoseconds of the stamping clock.
    pub ns: u64,
    /// Clock that took the times.
    pub source: Source,
    /// Whether it was marked "congestion experienced"; `None`: unknown.
    pub marked: Option<bool>,
}

/// A file in progress.
struct Assembly {
    part: Box<dyn Part>,
    /// Segments above a hole.
    above: BTreeMap<u64, Vec<u8>>,
    /// A short segment arrived, or the sender reported the end: no more data follow.
    ended: bool,
    /// Whether it was saved under its name.
    saved: bool,
}

/// Why a flow fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// Its sender violates the agreement.
    Wrong,
    /// The file cannot be written, or differs from the sender's.
    File(String),
}

impl Incoming {
    /// The granted window: the requested one, limited by the memory for a flow.
    pub fn window(begin: &Begin) -> u32 {
        let held = match begin.purpose {
            Purpose::Measure => u64::from(MOST_WINDOW),
            Purpose::File { .. } => (MOST_HELD / u64::from(begin.size.max(1))).max(1),
        };
        begin.window.min(MOST_WINDOW).min(u32::try_from(held).unwrap_or(u32::MAX))
    }

    /// A new flow. `part`: its file, with the bytes received earlier.
    pub fn new(begin: &Begin, part: Option<(Box<dyn Part>, u64, [u8; HASH])>) -> Incoming {
        let window = Incoming::window(begin);
        let params = ReceiverParams {
            delayed_ack: u32::from(begin.delayed_ack).clamp(1, MOST_DELAYED),
            delayed_ack_timeout: Span::from_micros(u64::from(begin.delayed_ack_us)),
            window: u64::from(window),
            // The transport's list of arrivals is too short for all.
            stamps: false,
        };
        let (file, offset, hash) = match part {
            Some((part, offset, hash)) => {
                (Some(Assembly { part, above: BTreeMap::new(), ended: false, saved: false }), offset, hash)
            }
            None => (None, 0, [0; HASH]),
        };
        Incoming {
            receiver: Receiver::new(params),
            begun: Begun { window, offset, hash },
            size: usize::from(begin.size),
            stamps: begin.stamps,
            came: Vec::new(),
            reported: Vec::new(),
            source: Source::Card,
            reads_marks: false,
            file,
        }
    }

    /// The reply to the request that began it.
    pub fn begun(&self) -> Begun {
        self.begun
    }

    /// Whether its data are a file.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// A segment arrived. Returns the acknowledgment to send now, if any.
    ///
    /// # Errors
    /// Why the flow ends.
    pub fn segment(&mut self, now: Time, seen: &Seen<'_>) -> Result<Option<Acknowledgment>, Halt> {
        let Seen { sequence, transmission, data, .. } = *seen;
        let next = self.receiver.next_expected();
        // Without a key, anyone may have sent a segment of a wrong length.
        if data.is_empty() || data.len() > self.size || sequence >= next.saturating_add(u64::from(self.begun.window)) {
            return Ok(None);
        }
        // Drop it when the list of ranges is full; the sender repeats it.
        if self.receiver.ranges() >= MOST_RANGES && self.receiver.is_apart(sequence) {
            return Ok(None);
        }
        if let Some(file) = &mut self.file {
            file.take(next, sequence, data, self.size)?;
        }
        self.reads_marks |= seen.marked.is_some();
        if self.stamps {
            self.came.push(Came { sequence, transmission, ns: seen.ns });
            self.source = self.source.worse(seen.source);
        }
        let marks = Marks { congestion: seen.marked == Some(true), burstiness: false };
        let size = Bytes::new(data.len() as u64);
        // Marks and the retransmission flag have no effect here.
        let segment = Segment { sequence, transmission, size, retransmission: false, ecn: Ecn::NotEct, marks };
        Ok(self.receiver.on_segment(now, &segment).map(|ack| self.reported(&ack)))
    }

    /// When a delayed acknowledgment is due; [`Time::MAX`]: none.
    pub fn next_wakeup(&self) -> Time {
        self.receiver.next_wakeup()
    }

    /// Sends a delayed acknowledgment, if due.
    pub fn on_wakeup(&mut self, now: Time) -> Option<Acknowledgment> {
        self.receiver.on_wakeup(now).map(|ack| self.reported(&ack))
    }

    fn reported(&mut self, ack: &Ack) -> Acknowledgment {
        let came = std::mem::take(&mut self.came);
        let again = std::mem::replace(&mut self.reported, came.clone());
        let blocks = ack.sack[..usize::from(ack.blocks)].iter().map(|block| (block.start, block.end));
        Acknowledgment {
            next: ack.next_expected,
            echo: ack.echo,
            window: ack.receive_window.min(u64::from(u32::MAX)) as u32,
            duplicate: ack.duplicate,
            marked: self.reads_marks.then_some(ack.marked.congestion),
            source: std::mem::replace(&mut self.source, Source::Card),
            steps: 0,
            blocks: blocks.collect(),
            came: again.into_iter().chain(came).collect(),
        }
    }

    /// Handles the sender's report that all data have arrived. Returns whether the file is saved; `false`: not yet known.
    /// Idempotent.
    ///
    /// # Errors
    /// Why the file cannot be saved.
    pub fn finish(&mut self, bytes: u64, hash: &[u8; HASH]) -> Result<bool, Halt> {
        let Some(file) = &mut self.file else { return Err(Halt::Wrong) };
        file.ended = true;
        if !file.saved {
            match file.part.keep(bytes, hash) {
                Keeping::Later => return Ok(false),
                Keeping::Kept => file.saved = true,
                Keeping::Refused(why) => return Err(Halt::File(why)),
            }
        }
        Ok(true)
    }
}

impl Assembly {
    /// Stores a segment's data: writes them if next in order, else buffers them above the hole.
    fn take(&mut self, next: u64, sequence: u64, data: &[u8], size: usize) -> Result<(), Halt> {
        if self.saved || sequence < next {
            return Ok(());
        }
        if sequence > next {
            self.above.entry(sequence).or_insert_with(|| data.to_vec());
            return Ok(());
        }
        self.append(data, size)?;
        let mut next = next + 1;
        while let Some(data) = self.above.remove(&next) {
            self.append(&data, size)?;
            next += 1;
        }
        Ok(())
    }

    fn append(&mut self, data: &[u8], size: usize) -> Result<(), Halt> {
        if self.ended {
            return Err(Halt::Wrong);
        }
        self.ended = data.len() < size;
        self.part.append(data).map_err(|error| Halt::File(format!("it cannot be written: {error}")))
    }
}
