//! What is under way: plain records in rings, 32 bytes for a data packet, 48 for an acknowledgment.

use transport::{Ack, Segment, Stamp};
use units::{Bytes, Time};

/// Bit that tells traffic from flows in [`Transit::flow`].
const TRAFFIC: u32 = 1 << 31;

/// A data packet between two places.
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
    retransmission: bool,
}

/// Whose packet it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Flow(usize),
    Traffic(usize),
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
            retransmission: segment.retransmission,
        }
    }

    pub(crate) fn of_traffic(source: usize, number: u64, size: Bytes, at: Time) -> Transit {
        let size = size.get().min(u64::from(u16::MAX)) as u16;
        Transit {
            at,
            sequence: number,
            transmission: number,
            flow: source as u32 | TRAFFIC,
            size,
            hop: 0,
            retransmission: false,
        }
    }

    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        if self.flow & TRAFFIC == 0 {
            Owner::Flow(self.flow as usize)
        } else {
            Owner::Traffic((self.flow & !TRAFFIC) as usize)
        }
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
            retransmission: self.retransmission,
        }
    }
}

/// An acknowledgment on its way back. The common ones (no blocks, at most one stamp) fit in the record; the others
/// lie whole in [`Details`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckTransit {
    pub(crate) at: Time,
    next_expected: u64,
    echo: u64,
    stamped: u64,
    arrived: Time,
    pub(crate) flow: u32,
    detail: u32,
}

/// No detail, no stamp.
const PLAIN: u32 = u32::MAX;
/// No detail, one stamp.
const STAMPED: u32 = u32::MAX - 1;

/// Acknowledgments that do not fit in a record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
    slots: Vec<Ack>,
    free: Vec<u32>,
}

impl Details {
    /// Packs an acknowledgment. `window` is what the receiver of this flow always advertises.
    #[inline]
    pub(crate) fn pack(&mut self, flow: usize, at: Time, ack: &Ack, window: u64) -> AckTransit {
        let lone = ack.stamps == 1 && ack.arrivals[0].transmission == ack.echo;
        let simple = ack.blocks == 0 && !ack.duplicate && ack.receive_window == window && (ack.stamps == 0 || lone);
        let mut record = AckTransit {
            at,
            next_expected: ack.next_expected,
            echo: ack.echo,
            stamped: 0,
            arrived: Time::ZERO,
            flow: flow as u32,
            detail: PLAIN,
        };
        if !simple {
            record.detail = self.store(ack);
        } else if lone {
            record.detail = STAMPED;
            record.stamped = ack.arrivals[0].sequence;
            record.arrived = ack.arrivals[0].arrived;
        }
        record
    }

    fn store(&mut self, ack: &Ack) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = *ack;
                slot
            }
            None => {
                self.slots.push(*ack);
                (self.slots.len() - 1) as u32
            }
        }
    }

    /// Unpacks it again and hands it to `read`.
    #[inline]
    pub(crate) fn unpack<R>(&mut self, record: &AckTransit, window: u64, read: impl FnOnce(&Ack) -> R) -> R {
        if record.detail < STAMPED {
            self.free.push(record.detail);
            return read(&self.slots[record.detail as usize]);
        }
        let mut ack = Ack::plain(record.next_expected, record.echo, window);
        if record.detail == STAMPED {
            ack.stamps = 1;
            ack.arrivals[0] = Stamp { sequence: record.stamped, transmission: record.echo, arrived: record.arrived };
        }
        read(&ack)
    }
}
