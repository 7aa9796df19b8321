//! Packets of a trace in order of time. Each is held back until the latest time read is as far ahead of it as any packet of
//! the file is late, so that memory grows with the disorder and not with the file.

use super::reader::Reader;
use crate::traffic::error::{Fault, TrafficError};
use packetscale_models::units::{Bytes, Span};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Longest trace: half of the range of a picosecond clock.
pub(super) const LONGEST: Span = Span::from_picos(u64::MAX / 2);

/// A packet of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    /// Time since the first packet.
    pub(super) since_first: Span,
    /// Size on the wire.
    pub(super) size: Bytes,
}

/// The times of a file, as one reading of it has found them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The earliest, in picoseconds since the format's epoch.
    pub(super) first_ps: i128,
    /// How far the time of a packet is before the latest of those before it, at most.
    pub(super) disorder: Span,
}

/// Reads a file in order of time.
#[derive(Debug)]
pub(super) struct Sorted {
    pub(super) reader: Reader,
    order: Order,
    latest_ps: i128,
    /// Time, number and size of packets that are read and not returned.
    held: BinaryHeap<Reverse<(i128, u64, Bytes)>>,
    read: u64,
    ended: bool,
}

impl Sorted {
    pub(super) fn new(reader: Reader, order: Order) -> Sorted {
        Sorted { reader, order, latest_ps: order.first_ps, held: BinaryHeap::new(), read: 0, ended: false }
    }

    /// Returns the next packet; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Packet>, TrafficError> {
        while !self.is_due() {
            let Some(packet) = self.reader.next()? else {
                self.ended = true;
                break;
            };
            self.latest_ps = self.latest_ps.max(packet.at_ps);
            self.held.push(Reverse((packet.at_ps, self.read, packet.size)));
            self.read += 1;
        }
        let Some(Reverse((at_ps, _, size))) = self.held.pop() else { return Ok(None) };
        let since_first = u64::try_from(at_ps - self.order.first_ps).map(Span::from_picos);
        let since_first = since_first.map_err(|_| {
            self.reader.fault(Fault::bad(self.reader.offset(), "another trace", "the first packet as before the run"))
        })?;
        Ok(Some(Packet { since_first, size }))
    }

    /// Whether no packet to be read can be before the first that is held.
    fn is_due(&self) -> bool {
        let ahead = |at_ps: i128| self.latest_ps - at_ps >= i128::from(self.order.disorder.picos());
        self.held.peek().is_some_and(|Reverse((at_ps, ..))| self.ended || ahead(*at_ps))
    }
}
