//! The receiving end: what arrived, and when to acknowledge it.
//!
//! The receiver acknowledges every `delayed_ack`-th in-order packet, or acknowledges after `delayed_ack_timeout`. It
//! acknowledges at once a packet above a hole, one that fills part of a hole, and one that had arrived before
//! (RFC 5681, section 4.2). A sorted list keeps the packets above a hole as ranges; it is empty on a path that loses
//! nothing.
//!
//! Every acknowledgment echoes marks as counts of the marked packets that have arrived, one count for each bit. This is
//! the accurate echo of RFC 9768, without the limits of its header fields. The latched ECE of RFC 3168 (section 6.1.3)
//! reports only that some packet was marked. A sender that reacts once per window behaves the same with either echo; one
//! that counts marks gets the counts.
//!
//! Deviations:
//! 1. A full set of blocks is reported whenever there are enough ranges. The ranges reported most recently come
//!    first (RFC 2018, section 4). When some of them have been filled, the lowest ranges take their place.
//! 2. A mark does not trigger an earlier acknowledgment (RFC 9768, section 3.2.2.5.1 requests it).

use crate::units::{Rate, Span, Time};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::transport::wire::{Ack, MAX_SACK_BLOCKS, MAX_STAMPS, MarkCounts, SackBlock, Segment, Stamp};

/// The parameters of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverParams {
    /// Number of in-order packets after which an acknowledgment is due (RFC 5681: 2; 1: every packet).
    pub delayed_ack: u32,
    /// Time after which it is due at the latest (RFC 1122: at most 500 ms; Linux: 40 ms).
    pub delayed_ack_timeout: Span,
    /// Number of packets the receiver is willing to hold.
    pub window: u64,
    /// Report arrival times.
    pub stamps: bool,
}

/// The receiving end of one flow. Fields used for every packet come first in memory.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    next_expected: u64,
    /// Transmission of the oldest packet with a delayed acknowledgment.
    echo: u64,
    /// Packets that arrived in order and are not acknowledged yet.
    held_back: u32,
    params: ReceiverParams,
    /// Ranges that have arrived above the first hole: sorted, disjoint, not adjacent.
    ranges: VecDeque<SackBlock>,
    /// Stamps not sent yet, oldest first; takes memory only when stamps are reported.
    stamps: Vec<Stamp>,
    deadline: Time,
    marked: MarkCounts,
    /// The rate that routers offered to the packet that arrived last.
    offer: Option<Rate>,
    /// The ranges reported most recently, newest first.
    recent: [SackBlock; MAX_SACK_BLOCKS],
    recent_count: usize,
}

impl Receiver {
    /// A receiver that expects packet 0.
    pub fn new(params: ReceiverParams) -> Receiver {
        Receiver {
            next_expected: 0,
            echo: 0,
            held_back: 0,
            deadline: Time::MAX,
            params,
            marked: MarkCounts::ZERO,
            offer: None,
            ranges: VecDeque::new(),
            recent: [SackBlock::default(); MAX_SACK_BLOCKS],
            recent_count: 0,
            stamps: Vec::new(),
        }
    }

    /// A segment arrived. Returns the acknowledgment to send now, if any.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) -> Option<Ack> {
        let mut ack = Ack::plain(0, 0, 0);
        self.answer(now, segment, &mut ack).then_some(ack)
    }

    /// A segment arrived. Returns whether to send an acknowledgment now, and writes it over `ack`. For hosts that read an
    /// acknowledgment in place: it is ten times as large as its usual content.
    #[inline(always)]
    pub fn answer(&mut self, now: Time, segment: &Segment, ack: &mut Ack) -> bool {
        if segment.marks.any() {
            self.marked.count(segment.marks);
        }
        if segment.sequence != self.next_expected || !self.ranges.is_empty() || self.params.window == 0 {
            return self.on_irregular(now, segment, ack);
        }
        self.next_expected += 1;
        if self.held_back == 0 {
            self.echo = segment.transmission;
        }
        self.held_back += 1;
        if self.held_back >= self.params.delayed_ack {
            self.acknowledge(false, self.stamp(now, segment), ack);
            return true;
        }
        self.hold(now, segment);
        if self.held_back == 1 {
            self.deadline = now + self.params.delayed_ack_timeout;
        }
        false
    }

    /// A segment arrived above a hole, in a hole, or for the second time.
    fn on_irregular(&mut self, now: Time, segment: &Segment, ack: &mut Ack) -> bool {
        self.echo = segment.transmission;
        let sequence = segment.sequence;
        let room = sequence < self.next_expected.saturating_add(self.params.window);
        if room && self.extends(sequence) {
            self.acknowledge(false, self.stamp(now, segment), ack);
            return true;
        }
        let duplicate = room && self.holds(sequence);
        let mut stamp = None;
        if room && !duplicate {
            stamp = self.stamp(now, segment);
            if sequence == self.next_expected {
                self.fill_hole();
            } else {
                let range = self.insert(sequence);
                self.report(range);
            }
        }
        self.acknowledge(duplicate, stamp, ack);
        true
    }

    /// Whether a packet is the next one above all holes, behind the range reported last, as most are while a hole is open.
    /// Then it is part of that range.
    #[inline]
    fn extends(&mut self, sequence: u64) -> bool {
        let Some(top) = self.ranges.back_mut() else { return false };
        if self.recent_count == 0 || self.recent[0] != *top || top.end != sequence {
            return false;
        }
        top.end += 1;
        self.recent[0] = *top;
        true
    }

    fn holds(&self, sequence: u64) -> bool {
        if sequence < self.next_expected {
            return true;
        }
        let after = self.ranges.partition_point(|range| range.start <= sequence);
        after > 0 && sequence < self.ranges[after - 1].end
    }

    /// The next expected packet arrived.
    fn fill_hole(&mut self) {
        self.next_expected += 1;
        if let Some(range) = self.ranges.pop_front_if(|range| range.start == self.next_expected) {
            self.next_expected = range.end;
            let edge = self.next_expected;
            self.forget(|range| range.end <= edge);
        }
    }

    /// Adds a packet above the first hole. Returns the range it is now part of.
    fn insert(&mut self, sequence: u64) -> SackBlock {
        let at = self.ranges.partition_point(|range| range.start <= sequence);
        let joins_before = at > 0 && self.ranges[at - 1].end == sequence;
        let joins_after = at < self.ranges.len() && self.ranges[at].start == sequence + 1;
        match (joins_before, joins_after) {
            (true, true) => {
                self.ranges[at - 1].end = self.ranges[at].end;
                self.ranges.remove(at);
                self.ranges[at - 1]
            }
            (true, false) => {
                self.ranges[at - 1].end += 1;
                self.ranges[at - 1]
            }
            (false, true) => {
                self.ranges[at].start = sequence;
                self.ranges[at]
            }
            (false, false) => {
                let range = SackBlock { start: sequence, end: sequence + 1 };
                self.ranges.insert(at, range);
                range
            }
        }
    }

    /// Puts a range first among the reported ranges, and removes the ranges it contains.
    fn report(&mut self, range: SackBlock) {
        self.forget(|known| known.start >= range.start && known.end <= range.end);
        let kept = self.recent_count.min(MAX_SACK_BLOCKS - 1);
        self.recent.copy_within(..kept, 1);
        self.recent[0] = range;
        self.recent_count = kept + 1;
    }

    fn forget(&mut self, gone: impl Fn(&SackBlock) -> bool) {
        let mut kept = 0;
        for i in 0..self.recent_count {
            if !gone(&self.recent[i]) {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.recent_count = kept;
    }

    /// The stamp of a packet that arrives now, if stamps are reported.
    #[inline]
    fn stamp(&self, now: Time, segment: &Segment) -> Option<Stamp> {
        let Segment { sequence, transmission, .. } = *segment;
        self.params.stamps.then_some(Stamp { sequence, transmission, arrived: now })
    }

    /// Keeps the stamp of a packet that is not acknowledged at once.
    #[inline]
    fn hold(&mut self, now: Time, segment: &Segment) {
        if let Some(stamp) = self.stamp(now, segment) {
            if self.stamps.len() == MAX_STAMPS {
                self.stamps.remove(0);
            }
            self.stamps.push(stamp);
        }
    }

    /// `last`: the stamp of the packet that is acknowledged at once; beyond the maximum, the oldest is left out.
    #[inline]
    fn acknowledge(&mut self, duplicate: bool, last: Option<Stamp>, ack: &mut Ack) {
        self.held_back = 0;
        self.deadline = Time::MAX;
        ack.clear(self.next_expected, self.echo, self.params.window);
        ack.marked = self.marked;
        ack.offer = self.offer;
        ack.duplicate = duplicate;
        let mut count = 0;
        if !self.stamps.is_empty() {
            let left_out = usize::from(self.stamps.len() == MAX_STAMPS && last.is_some());
            for stamp in self.stamps.drain(..).skip(left_out) {
                ack.arrivals[count] = stamp;
                count += 1;
            }
        }
        if let Some(stamp) = last {
            ack.arrivals[count] = stamp;
            count += 1;
        }
        ack.stamps = count as u8;
        if !self.ranges.is_empty() {
            self.write_blocks(ack);
        }
    }

    fn write_blocks(&self, ack: &mut Ack) {
        let recent = &self.recent[..self.recent_count];
        let others = self.ranges.iter().filter(|range| !recent.contains(range));
        let mut count = 0;
        for block in recent.iter().chain(others).take(MAX_SACK_BLOCKS) {
            ack.sack[count] = *block;
            count += 1;
        }
        ack.blocks = count as u8;
    }

    /// Returns when a delayed acknowledgment is due; [`Time::MAX`] without one.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.deadline
    }

    /// The wake-up time has arrived. Calling too early is harmless.
    pub fn on_wakeup(&mut self, now: Time) -> Option<Ack> {
        if now < self.deadline {
            return None;
        }
        let mut ack = Ack::plain(0, 0, 0);
        self.acknowledge(false, None, &mut ack);
        Some(ack)
    }

    /// Sets the rate that routers offered to the segment that arrives next. Call it before [`Receiver::on_segment`].
    pub fn on_offer(&mut self, offer: Option<Rate>) {
        self.offer = offer;
    }

    /// Returns how many packets have arrived marked, duplicates included.
    pub fn marked(&self) -> MarkCounts {
        self.marked
    }

    /// Returns how many ranges above the first hole it keeps.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// Whether a packet would be a separate range: above the first hole and adjacent to nothing that has arrived.
    pub fn is_apart(&self, sequence: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= sequence);
        let beside_before = after > 0 && sequence <= self.ranges[after - 1].end;
        let beside_after = self.ranges.get(after).is_some_and(|range| range.start - 1 == sequence);
        sequence > self.next_expected && !beside_before && !beside_after
    }

    /// Returns how many packets have arrived in order.
    #[inline]
    pub fn next_expected(&self) -> u64 {
        self.next_expected
    }
}
