//! Packets under way: plain records in rings, 32 bytes for a data packet, 32 for an acknowledgment.

use packetscale_models::transport::{Ack, MAX_SACK_BLOCKS, MarkCounts, SackBlock, Segment, Stamp};
use packetscale_models::units::{Bytes, Ecn, Marks, Time};

/// Bits that distinguish traffic and acknowledgments from the data of flows in [`Transit::flow`].
const TRAFFIC: u32 = 1 << 31;
const ACKNOWLEDGMENT: u32 = 1 << 30;

/// A data packet between two places, or an acknowledgment that crosses links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    /// When it reaches the next place.
    pub(crate) at: Time,
    pub(crate) sequence: u64,
    pub(crate) transmission: u64,
    flow: u32,
    size: u16,
    /// Links of its route that lie behind it.
    pub(crate) hop: u8,
    /// Flags of the packet, one bit each.
    flags: u8,
}

const RETRANSMISSION: u8 = 1;
const ECT_0: u8 = 2;
const CONGESTION: u8 = 4;
const BURSTINESS: u8 = 8;
const ECT_1: u8 = 16;

/// The flag of a code point.
#[inline]
fn flag(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect0 => ECT_0,
        Ecn::Ect1 => ECT_1,
    }
}

/// Owner of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Flow(usize),
    Traffic(usize),
    /// Acknowledgments of a flow.
    Acknowledgment(usize),
}

impl From<Owner> for harness::measure::Owner {
    #[inline]
    fn from(owner: Owner) -> harness::measure::Owner {
        match owner {
            Owner::Flow(flow) => harness::measure::Owner::Flow(flow),
            Owner::Traffic(source) => harness::measure::Owner::Traffic(source),
            Owner::Acknowledgment(_) => harness::measure::Owner::Other,
        }
    }
}

impl Transit {
    pub(crate) fn of_flow(flow: usize, segment: &Segment, at: Time) -> Transit {
        Transit {
            at,
            sequence: segment.sequence,
            transmission: segment.transmission,
            flow: flow as u32,
            size: segment.size.get() as u16,
            hop: 0,
            flags: u8::from(segment.retransmission) * RETRANSMISSION + flag(segment.ecn),
        }
    }

    pub(crate) fn of_traffic(source: usize, number: u64, size: Bytes, at: Time) -> Transit {
        let size = size.get().min(u64::from(u16::MAX)) as u16;
        Transit { at, sequence: number, transmission: number, flow: source as u32 | TRAFFIC, size, hop: 0, flags: 0 }
    }

    /// The acknowledgment in this slot of its sender's host.
    pub(crate) fn of_acknowledgment(flow: usize, slot: u32, number: u64, size: Bytes, at: Time) -> Transit {
        let (sequence, size) = (u64::from(slot), size.get() as u16);
        Transit { at, sequence, transmission: number, flow: flow as u32 | ACKNOWLEDGMENT, size, hop: 0, flags: 0 }
    }

    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        if self.flow & (TRAFFIC | ACKNOWLEDGMENT) == 0 {
            Owner::Flow(self.flow as usize)
        } else if self.flow & TRAFFIC != 0 {
            Owner::Traffic((self.flow & !TRAFFIC) as usize)
        } else {
            Owner::Acknowledgment((self.flow & !ACKNOWLEDGMENT) as usize)
        }
    }

    /// A number for each flow and each traffic source.
    #[inline]
    pub(crate) fn owner_number(&self) -> u32 {
        self.flow
    }

    #[inline]
    pub(crate) fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }

    #[inline]
    pub(crate) fn segment(&self) -> Segment {
        Segment {
            sequence: self.sequence,
            transmission: self.transmission,
            size: self.size(),
            retransmission: self.flags & RETRANSMISSION != 0,
            ecn: self.ecn(),
            marks: self.marks(),
        }
    }

    /// Its ECN codepoint.
    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        match self.flags & (ECT_0 | ECT_1) {
            0 => Ecn::NotEct,
            ECT_0 => Ecn::Ect0,
            _ => Ecn::Ect1,
        }
    }

    #[inline]
    pub(crate) fn marks(&self) -> Marks {
        Marks { congestion: self.flags & CONGESTION != 0, burstiness: self.flags & BURSTINESS != 0 }
    }

    pub(crate) fn mark(&mut self, marks: Marks) {
        self.flags |= u8::from(marks.congestion) * CONGESTION + u8::from(marks.burstiness) * BURSTINESS;
    }
}

/// An acknowledgment on its way back. The common ones fit in the record: no blocks, no marks, and at most the stamp that
/// follows from its time. The others are in [`Details`]: most of them as [`Brief`] ones, the rest whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckTransit {
    pub(crate) at: Time,
    next_expected: u64,
    /// From the next packet expected to the transmission echoed.
    echo: i32,
    pub(crate) flow: u32,
    detail: u32,
}

impl AckTransit {
    #[inline]
    fn echo(&self) -> u64 {
        self.next_expected.wrapping_add_signed(self.echo.into())
    }
}

/// No detail, no stamp.
const PLAIN: u32 = u32::MAX;
/// No detail, one stamp: of the last packet in order, at the usual time.
const STAMPED: u32 = u32::MAX - 1;

/// Bit of those that lie whole.
const WHOLE: u32 = 1 << 31;

/// The common content of a flow's acknowledgments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usual {
    /// The window its receiver always advertises.
    pub(crate) window: u64,
    /// The stamp of a packet that is acknowledged the instant it arrives.
    pub(crate) stamp: Time,
}

/// Stamps of a brief acknowledgment: those of two packets in order (RFC 5681, section 4.2).
const BRIEF_STAMPS: usize = 2;

/// The content of an acknowledgment beyond its record, in one cache line: blocks and stamps, as differences from the record.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Brief {
    /// From the next packet expected: where a block starts and ends.
    sack: [(u32, u32); MAX_SACK_BLOCKS],
    arrived: [Time; BRIEF_STAMPS],
    /// From the next packet expected, and from the transmission echoed.
    stamped: [(i32, i32); BRIEF_STAMPS],
    blocks: u8,
    stamps: u8,
    duplicate: bool,
}

impl Brief {
    /// `None`: it has more content than that.
    fn of(ack: &Ack, usual: Usual) -> Option<Brief> {
        let (blocks, stamps) = (usize::from(ack.blocks), usize::from(ack.stamps));
        let bare = ack.receive_window == usual.window && ack.marked == MarkCounts::ZERO && ack.offer.is_none();
        if !bare || stamps > BRIEF_STAMPS {
            return None;
        }
        let mut brief = Brief {
            sack: [(0, 0); MAX_SACK_BLOCKS],
            arrived: [Time::ZERO; BRIEF_STAMPS],
            stamped: [(0, 0); BRIEF_STAMPS],
            blocks: ack.blocks,
            stamps: ack.stamps,
            duplicate: ack.duplicate,
        };
        let above = |sequence: u64| u32::try_from(sequence.checked_sub(ack.next_expected)?).ok();
        for (place, block) in brief.sack.iter_mut().zip(&ack.sack[..blocks]) {
            *place = (above(block.start)?, above(block.end)?);
        }
        let difference = |number: u64, known: u64| i32::try_from(number.wrapping_sub(known) as i64).ok();
        for (place, stamp) in ack.arrivals[..stamps].iter().enumerate() {
            brief.stamped[place] =
                (difference(stamp.sequence, ack.next_expected)?, difference(stamp.transmission, ack.echo)?);
            brief.arrived[place] = stamp.arrived;
        }
        Some(brief)
    }

    /// Completes `ack`, which has the content of the record.
    fn complete(&self, ack: &mut Ack) {
        (ack.blocks, ack.stamps, ack.duplicate) = (self.blocks, self.stamps, self.duplicate);
        for (block, (start, end)) in ack.sack.iter_mut().zip(&self.sack[..usize::from(self.blocks)]) {
            *block =
                SackBlock { start: ack.next_expected + u64::from(*start), end: ack.next_expected + u64::from(*end) };
        }
        for place in 0..usize::from(self.stamps) {
            let (sequence, transmission) = self.stamped[place];
            ack.arrivals[place] = Stamp {
                sequence: ack.next_expected.wrapping_add_signed(sequence.into()),
                transmission: ack.echo.wrapping_add_signed(transmission.into()),
                arrived: self.arrived[place],
            };
        }
    }
}

/// Places for acknowledgments; the place freed last is taken first.
#[derive(Clone, Debug)]
struct Slots<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slots<T> {
    const EMPTY: Slots<T> = Slots { slots: Vec::new(), free: Vec::new() };

    fn keep(&mut self, ack: T) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = ack;
                slot
            }
            None => {
                self.slots.push(ack);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// The value is valid until another is stored.
    fn take(&mut self, slot: u32) -> &T {
        self.free.push(slot);
        &self.slots[slot as usize]
    }
}

/// Acknowledgments that do not fit in a record.
#[derive(Clone, Debug)]
pub(crate) struct Details {
    brief: Slots<Brief>,
    whole: Slots<Ack>,
    /// Where one that does not lie whole is unpacked.
    unpacked: Ack,
}

impl Default for Details {
    fn default() -> Details {
        Details { brief: Slots::EMPTY, whole: Slots::EMPTY, unpacked: Ack::plain(0, 0, 0) }
    }
}

impl Details {
    /// Packs an acknowledgment that reaches its sender at `at`. A transmission that is too far from the packet expected does
    /// not fit in the record: the acknowledgment is then stored whole.
    #[inline(always)]
    pub(crate) fn pack(&mut self, flow: usize, at: Time, ack: &Ack, usual: Usual) -> AckTransit {
        let beyond = ack.echo.wrapping_sub(ack.next_expected) as i64;
        let echo = beyond as i32;
        let near = i64::from(echo) == beyond;
        let bare = near
            && ack.blocks == 0
            && !ack.duplicate
            && ack.receive_window == usual.window
            && ack.marked == MarkCounts::ZERO
            && ack.offer.is_none();
        let lone = Stamp { sequence: ack.next_expected.wrapping_sub(1), transmission: ack.echo, arrived: usual.stamp };
        let detail = match ack.stamps {
            0 if bare => PLAIN,
            1 if bare && ack.arrivals[0] == lone => STAMPED,
            _ => self.store(ack, usual, near),
        };
        AckTransit { at, next_expected: ack.next_expected, echo, flow: flow as u32, detail }
    }

    #[inline(never)]
    fn store(&mut self, ack: &Ack, usual: Usual, near: bool) -> u32 {
        match Brief::of(ack, usual).filter(|_| near) {
            Some(brief) => self.brief.keep(brief),
            None => self.whole.keep(*ack) | WHOLE,
        }
    }

    /// Forgets one that will not be unpacked.
    pub(crate) fn forget(&mut self, record: &AckTransit) {
        match record.detail {
            PLAIN | STAMPED => {}
            detail if detail & WHOLE != 0 => _ = self.whole.take(detail & !WHOLE),
            detail => _ = self.brief.take(detail),
        }
    }

    /// Unpacks it again, to be read before another is packed.
    #[inline(always)]
    pub(crate) fn unpack(&mut self, record: &AckTransit, usual: Usual) -> &Ack {
        if record.detail < STAMPED && record.detail & WHOLE != 0 {
            return self.whole.take(record.detail & !WHOLE);
        }
        let ack = &mut self.unpacked;
        ack.clear(record.next_expected, record.echo(), usual.window);
        if record.detail == STAMPED {
            ack.stamps = 1;
            ack.arrivals[0] =
                Stamp { sequence: record.next_expected - 1, transmission: record.echo(), arrived: usual.stamp };
        } else if record.detail != PLAIN {
            self.brief.take(record.detail).complete(ack);
        }
        ack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packetscale_models::units::Rate;

    const USUAL: Usual = Usual { window: 1000, stamp: Time::from_nanos(500) };

    fn there_and_back(ack: &Ack) -> Ack {
        let mut details = Details::default();
        let record = details.pack(3, Time::from_nanos(900), ack, USUAL);
        let out = *details.unpack(&record, USUAL);
        assert_eq!(details.pack(3, Time::ZERO, ack, USUAL).detail, record.detail, "its place is free again");
        out
    }

    fn assert_round_trip(ack: &Ack) {
        assert_eq!(format!("{:?}", there_and_back(ack)), format!("{ack:?}"));
    }

    #[test]
    fn records_fit_in_half_a_cache_line() {
        assert_eq!((size_of::<Transit>(), size_of::<AckTransit>(), size_of::<Brief>()), (32, 32, 64));
    }

    #[test]
    fn acknowledgments_round_trip() {
        assert_round_trip(&Ack::plain(17, 40, 1000));
        assert_round_trip(&Ack::plain(17, 40, 999));
        assert_round_trip(&Ack::plain(17, 4, 1000));
        assert_round_trip(&Ack::plain(17, 1 << 33, 1000));
        assert_round_trip(&Ack::plain(1 << 50, 17, 1000));
        for (sequence, transmission, ns) in [(16, 40, 500), (16, 41, 500), (15, 40, 500), (16, 40, 499)] {
            let mut ack = Ack::plain(17, 40, 1000);
            ack.stamps = 1;
            ack.arrivals[0] = Stamp { sequence, transmission, arrived: Time::from_nanos(ns) };
            assert_round_trip(&ack);
        }
        for (start, end) in [(19, 22), (17, 1 << 40), (12, 15)] {
            let mut ack = Ack::plain(17, 40, 1000);
            (ack.blocks, ack.sack[0]) = (1, SackBlock { start, end });
            assert_round_trip(&ack);
            (ack.sack[1], ack.sack[2]) = (SackBlock { start: 30, end: 31 }, SackBlock { start: 25, end: 26 });
            (ack.blocks, ack.duplicate) = (3, true);
            ack.stamps = 2;
            ack.arrivals[0] = Stamp { sequence: 30, transmission: 38, arrived: Time::from_nanos(3) };
            ack.arrivals[1] = Stamp { sequence: 16, transmission: 1 << 50, arrived: Time::from_nanos(5) };
            assert_round_trip(&ack);
            ack.stamps = 3;
            assert_round_trip(&ack);
        }
        assert_round_trip(&Ack { offer: Some(Rate::from_mbps(7)), ..Ack::plain(17, 40, 1000) });
        for (congestion, burstiness) in [(1, 0), (0, 1), (7, 9)] {
            let mut ack = Ack::plain(17, 40, 1000);
            ack.marked = MarkCounts { congestion, burstiness };
            assert_round_trip(&ack);
        }
    }

    #[test]
    fn a_packet_keeps_its_flags_and_gains_marks() {
        let size = Bytes::new(1500);
        let said =
            [false, true].into_iter().flat_map(|again| [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1].map(|ecn| (again, ecn)));
        for (retransmission, ecn) in said {
            let segment = Segment { sequence: 4, transmission: 5, size, retransmission, ecn, marks: Marks::NONE };
            let mut transit = Transit::of_flow(3, &segment, Time::ZERO);
            assert_eq!(transit.segment(), segment);
            transit.mark(Marks { congestion: false, burstiness: true });
            assert_eq!(transit.marks(), Marks { congestion: false, burstiness: true });
            transit.mark(Marks { congestion: true, burstiness: false });
            assert_eq!(transit.segment(), Segment { marks: Marks { congestion: true, burstiness: true }, ..segment });
        }
    }

    #[test]
    fn acknowledgment_before_in_order_data_round_trips() {
        let mut ack = Ack::plain(0, 5, 1000);
        ack.stamps = 1;
        ack.arrivals[0] = Stamp { sequence: 5, transmission: 5, arrived: USUAL.stamp };
        assert_round_trip(&ack);
    }
}
