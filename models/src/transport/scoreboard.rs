//! The scoreboard: what is known about every packet between the first unacknowledged and the next unsent one.
//!
//! A ring holds one record of 24 bytes per packet. The counts that control needs
//! (in flight, lost, selectively acknowledged) are updated as records change, never recounted. No acknowledgment scans
//! the window:
//!
//! * An acknowledgment that moves the left edge over plain packets touches two records.
//! * A selectively acknowledged packet stores a skip: the distance to the next packet that may not be selectively
//!   acknowledged. Following and shortening these skips (path halving, Tarjan and van Leeuwen 1984) makes the cost of
//!   a block proportional to what is new in it.
//! * Loss detection checks packets in the order in which they were last sent: those sent once are in sequence
//!   order behind a cursor, retransmitted ones are in a separate queue.
//! * Lost packets wait in a queue for their retransmission.
//!
//! Both queues are cleaned when they are read, so an acknowledgment need not search them.

use crate::units::Time;
use alloc::collections::VecDeque;

use crate::transport::covered::{Covered, CoveredList, Delivered};
use crate::transport::ring::Ring;
use crate::transport::wire::{Ack, MAX_SACK_BLOCKS, SackBlock};

/// The presumed place of a packet's newest transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// In the network.
    InFlight,
    /// Declared lost, to be sent again.
    Lost,
    /// With the receiver, above a hole.
    Sacked,
}

/// The state of one packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// When it was last sent.
    pub sent: Time,
    /// The number of that transmission.
    pub transmission: u64,
    /// If selectively acknowledged: a lower bound on how many packets from here on are selectively acknowledged too.
    skip: u32,
    pub state: State,
    /// Whether it was sent more than once.
    pub retransmitted: bool,
}

impl Record {
    const EMPTY: Record =
        Record { sent: Time::ZERO, transmission: 0, skip: 0, state: State::InFlight, retransmitted: false };

    /// Its newest transmission, when that has arrived.
    pub fn delivered(&self) -> Delivered {
        Delivered { transmission: self.transmission, sent: self.sent }
    }

    /// Whether it was sent once, and nothing is known about it since.
    fn is_plain(&self) -> bool {
        self.state == State::InFlight && !self.retransmitted
    }
}

/// The packets newly covered by one acknowledgment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coverage {
    /// Transmission echoed by the acknowledgment.
    pub echo: u64,
    /// Packets newly delivered.
    pub delivered: u32,
    /// The newly delivered packets below the left edge.
    pub cumulative: u32,
    /// The newest transmission known to have arrived, for packets sent once or identified by the echo.
    pub newest: Option<Delivered>,
    /// The newest transmission that may have arrived; counts retransmissions sent before the echoed one, too.
    pub newest_likely: Option<Delivered>,
    /// When the echoed transmission left.
    pub echo_sent: Option<Time>,
    /// The oldest transmission among the packets covered that were sent once.
    pub oldest_once: u64,
    /// Packets that were declared lost and had not been sent again.
    pub exonerated: u32,
    /// Packets that were sent again, although the echo is of an older transmission.
    pub overtaken: u32,
}

impl Coverage {
    pub fn new(echo: u64) -> Coverage {
        Coverage {
            echo,
            delivered: 0,
            cumulative: 0,
            newest: None,
            newest_likely: None,
            echo_sent: None,
            oldest_once: u64::MAX,
            exonerated: 0,
            overtaken: 0,
        }
    }

    /// Whether it proves that a packet was only late: sent again, but it was an older transmission that arrived. Where several
    /// packets are covered, the echo may belong to another.
    pub fn original_was_late(&self) -> bool {
        self.delivered == 1 && self.overtaken == 1
    }

    /// Whether this transmission of a packet covered may have arrived, and not only an older one. A delayed acknowledgment echoes the
    /// first of its packets: if that is the newest transmission of one, so are those of the others.
    pub fn may_have_arrived(&self, transmission: u64) -> bool {
        self.echo_sent.is_some() || self.newest_likely.is_some_and(|likely| likely.transmission >= transmission)
    }

    /// Adds one more packet that has arrived.
    fn add(&mut self, record: &Record) {
        let this = record.delivered();
        self.delivered += 1;
        if self.echo == this.transmission {
            self.echo_sent = Some(this.sent);
        }
        if !record.retransmitted {
            self.oldest_once = self.oldest_once.min(this.transmission);
        }
        if !record.retransmitted || self.echo == this.transmission {
            self.newest = newer(self.newest, this);
        }
        if !record.retransmitted || self.echo >= this.transmission {
            self.newest_likely = newer(self.newest_likely, this);
        }
        match record.state {
            State::Lost => self.exonerated += 1,
            _ if record.retransmitted && self.echo < this.transmission => self.overtaken += 1,
            _ => {}
        }
    }
}

fn newer(known: Option<Delivered>, this: Delivered) -> Option<Delivered> {
    match known {
        Some(known) if known.transmission > this.transmission => Some(known),
        _ => Some(this),
    }
}

/// The scoreboard; the head of this file explains it. Fields used for every packet come first in memory.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scoreboard {
    ring: Ring<Record>,
    /// First packet not acknowledged cumulatively.
    first: u64,
    /// Next packet never sent.
    next: u64,
    in_flight: u32,
    lost: u32,
    sacked: u32,
    /// Packets that are not plain.
    marked: u32,
    /// All packets before this one that were sent once have been delivered or declared lost.
    cursor: u64,
    /// Lost packets in the order in which they were found; entries may be stale.
    to_retransmit: VecDeque<u64>,
    /// Packet and transmission of every retransmission, oldest first; entries may be stale.
    retransmissions: VecDeque<(u64, u64)>,
}

impl Scoreboard {
    pub fn new() -> Scoreboard {
        Scoreboard {
            ring: Ring::new(Record::EMPTY),
            first: 0,
            next: 0,
            in_flight: 0,
            lost: 0,
            sacked: 0,
            marked: 0,
            cursor: 0,
            to_retransmit: VecDeque::new(),
            retransmissions: VecDeque::new(),
        }
    }

    /// First packet not acknowledged cumulatively.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Next packet never sent.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Packets believed to be in the network: the pipe of RFC 6675.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Packets declared lost and not sent again.
    #[inline]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Packets delivered above a hole.
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Whether every outstanding packet was sent once and nothing is known about it since.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.marked == 0
    }

    /// Whether nothing is outstanding.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first == self.next
    }

    /// Returns the record of an outstanding packet.
    #[inline]
    pub fn record(&self, sequence: u64) -> &Record {
        self.ring.get(sequence)
    }

    #[inline]
    fn record_mut(&mut self, sequence: u64) -> &mut Record {
        self.ring.get_mut(sequence)
    }

    /// The next new packet leaves. Returns its number.
    #[inline]
    pub fn send_new(&mut self, now: Time, transmission: u64) -> u64 {
        self.ring.reserve(self.first, self.next);
        let sequence = self.next;
        *self.record_mut(sequence) =
            Record { sent: now, transmission, skip: 0, state: State::InFlight, retransmitted: false };
        self.next += 1;
        self.in_flight += 1;
        sequence
    }

    /// Returns the lost packet to send again next.
    pub fn next_retransmission(&mut self) -> Option<u64> {
        while let Some(&sequence) = self.to_retransmit.front() {
            if sequence >= self.first && self.record(sequence).state == State::Lost {
                return Some(sequence);
            }
            self.to_retransmit.pop_front();
        }
        None
    }

    /// An outstanding packet leaves again.
    pub fn retransmit(&mut self, sequence: u64, now: Time, transmission: u64) {
        let record = self.record_mut(sequence);
        let before = *record;
        *record = Record { sent: now, transmission, skip: 0, state: State::InFlight, retransmitted: true };
        if before.state == State::Lost {
            self.lost -= 1;
            self.in_flight += 1;
        } else if before.is_plain() {
            self.marked += 1;
        }
        self.retransmissions.push_back((sequence, transmission));
    }

    /// Applies an acknowledgment. `list` gets every packet newly delivered.
    #[inline(always)]
    pub fn take_in(&mut self, ack: &Ack, coverage: &mut Coverage, list: Option<&mut CoveredList<'_>>) {
        if ack.blocks > 0 || !self.is_plain() {
            return self.acknowledge(ack, coverage, list);
        }
        if ack.next_expected <= self.first {
            return;
        }
        if let Some(list) = list {
            let plain = self.first..ack.next_expected;
            plain.for_each(|sequence| list.push(Covered { sequence, this: self.record(sequence).delivered() }));
        }
        self.advance_plain(ack.next_expected, coverage);
    }

    /// The same, packet by packet.
    fn acknowledge(&mut self, ack: &Ack, coverage: &mut Coverage, mut list: Option<&mut CoveredList<'_>>) {
        if ack.next_expected > self.first {
            self.advance(ack.next_expected, coverage, &mut list);
        }
        if ack.blocks > 0 {
            for block in &ack.sack[..usize::from(ack.blocks).min(MAX_SACK_BLOCKS)] {
                self.select(block, coverage, &mut list);
            }
        }
    }

    /// Moves the left edge over plain packets, all at once.
    #[inline]
    fn advance_plain(&mut self, next_expected: u64, coverage: &mut Coverage) {
        let (oldest, newest) = (self.record(self.first), self.record(next_expected - 1));
        let delivered = (next_expected - self.first) as u32;
        let last = Some(newest.delivered());
        coverage.newest = last;
        coverage.newest_likely = last;
        coverage.oldest_once = oldest.transmission;
        coverage.echo_sent = match coverage.echo {
            echo if echo == oldest.transmission => Some(oldest.sent),
            echo if echo == newest.transmission => Some(newest.sent),
            echo => self.sent_at(next_expected, echo),
        };
        coverage.delivered = delivered;
        coverage.cumulative = delivered;
        self.in_flight -= delivered;
        self.first = next_expected;
    }

    /// When this transmission left, if it is one of those below `end`, all of them plain. Where an acknowledgment was lost,
    /// the next one echoes a packet in the middle of what it covers.
    #[cold]
    fn sent_at(&self, end: u64, transmission: u64) -> Option<Time> {
        let (mut low, mut high) = (self.first, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.record(middle).transmission < transmission {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < end)
            .then(|| self.record(low).delivered())
            .filter(|this| this.transmission == transmission)
            .map(|this| this.sent)
    }

    fn advance(&mut self, next_expected: u64, coverage: &mut Coverage, list: &mut Option<&mut CoveredList<'_>>) {
        while self.first < next_expected {
            let record = *self.record(self.first);
            if !record.is_plain() {
                self.marked -= 1;
            }
            if record.state == State::Sacked {
                self.sacked -= 1;
            } else {
                self.deliver(self.first, &record, coverage, list);
                coverage.cumulative += 1;
            }
            self.first += 1;
        }
        if self.is_empty() {
            self.to_retransmit.clear();
            self.retransmissions.clear();
        }
    }

    // Else the compiler leaves it out of line as soon as something else grows, for 0.7 % of a run.
    #[inline]
    fn select(&mut self, block: &SackBlock, coverage: &mut Coverage, list: &mut Option<&mut CoveredList<'_>>) {
        let end = block.end.min(self.next);
        let mut sequence = self.next_unsacked(block.start.max(self.first), end);
        while sequence < end {
            let record = *self.record(sequence);
            self.deliver(sequence, &record, coverage, list);
            self.sacked += 1;
            self.marked += u32::from(record.is_plain());
            let marked = self.record_mut(sequence);
            marked.state = State::Sacked;
            marked.skip = 1;
            sequence = self.next_unsacked(sequence + 1, end);
        }
    }

    fn deliver(
        &mut self,
        sequence: u64,
        record: &Record,
        coverage: &mut Coverage,
        list: &mut Option<&mut CoveredList<'_>>,
    ) {
        match record.state {
            State::InFlight => self.in_flight -= 1,
            State::Lost => self.lost -= 1,
            State::Sacked => unreachable!("delivered twice"),
        }
        coverage.add(record);
        if let Some(list) = list {
            list.push(Covered { sequence, this: record.delivered() });
        }
    }

    /// Returns the first packet from `sequence` on that is not selectively acknowledged, if it is below `end`, else `end` or
    /// one above it. Shortens the skips on the way. Reads nothing from `end` on: most blocks are known already, and the
    /// hole behind them is other memory.
    fn next_unsacked(&mut self, mut sequence: u64, end: u64) -> u64 {
        while sequence < end && self.record(sequence).state == State::Sacked {
            let skip = self.record(sequence).skip;
            let after = sequence + u64::from(skip);
            if after < end && self.record(after).state == State::Sacked {
                let further = skip + self.record(after).skip;
                self.record_mut(sequence).skip = further;
                sequence += u64::from(further);
            } else {
                sequence = after;
            }
        }
        sequence
    }

    /// Returns the packet that left first, among those in flight and sent once.
    pub fn oldest_sent_once(&mut self) -> Option<u64> {
        let mut sequence = self.cursor.max(self.first);
        loop {
            sequence = self.next_unsacked(sequence, self.next);
            if sequence >= self.next || self.record(sequence).is_plain() {
                break;
            }
            sequence += 1;
        }
        self.cursor = sequence;
        (sequence < self.next).then_some(sequence)
    }

    /// Returns the retransmitted packet in flight with the oldest newest transmission.
    pub fn oldest_retransmitted(&mut self) -> Option<u64> {
        while let Some(&(sequence, transmission)) = self.retransmissions.front() {
            if sequence >= self.first {
                let record = self.record(sequence);
                if record.transmission == transmission && record.state == State::InFlight {
                    return Some(sequence);
                }
            }
            self.retransmissions.pop_front();
        }
        None
    }

    /// Whether a packet that was declared lost is still not delivered.
    pub fn is_repairing(&mut self) -> bool {
        self.lost > 0 || self.oldest_retransmitted().is_some()
    }

    /// Declares a packet in flight lost. Returns the transmission that was lost.
    pub fn lose(&mut self, sequence: u64) -> u64 {
        let record = self.record_mut(sequence);
        let before = *record;
        record.state = State::Lost;
        self.marked += u32::from(before.is_plain());
        self.in_flight -= 1;
        self.lost += 1;
        self.to_retransmit.push_back(sequence);
        before.transmission
    }

    /// Sorts the lost packets by sequence number, because a timeout starts over from the left edge.
    pub fn rewind(&mut self) {
        self.to_retransmit.clear();
        for sequence in self.first..self.next {
            if self.record(sequence).state == State::Lost {
                self.to_retransmit.push_back(sequence);
            }
        }
    }

    /// Takes back every declaration of loss that no retransmission has followed.
    pub fn believe_in_flight(&mut self) {
        for sequence in self.first..self.next {
            let record = self.record_mut(sequence);
            if record.state == State::Lost {
                record.state = State::InFlight;
                if record.retransmitted {
                    let transmission = record.transmission;
                    self.retransmissions.push_back((sequence, transmission));
                } else {
                    self.marked -= 1;
                }
                self.lost -= 1;
                self.in_flight += 1;
            }
        }
        self.retransmissions.make_contiguous().sort_unstable_by_key(|&(_, transmission)| transmission);
        self.to_retransmit.clear();
        self.cursor = self.first;
    }
}

#[cfg(test)]
mod tests;
