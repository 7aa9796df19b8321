//! The contract between a host and a queue.

use crate::units::{Bytes, Ecn, Marks, Packets, Rate, Span, Time};

/// Capacity of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Packets of any size.
    Packets(Packets),
    /// Bytes.
    Bytes(Bytes),
    /// Everything.
    Unlimited,
}

impl Limit {
    /// Whether a packet of `size` fits in addition to the current content.
    #[inline]
    pub fn admits(self, packets: Packets, bytes: Bytes, size: Bytes) -> bool {
        match self {
            Limit::Packets(limit) => packets < limit,
            Limit::Bytes(limit) => bytes + size <= limit,
            Limit::Unlimited => true,
        }
    }
}

/// Parameters of a discipline's construction.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Rate of the link.
    pub rate: Rate,
    /// The most that its buffer holds, the packet in service included.
    pub limit: Limit,
    /// The largest packet that crosses the link.
    pub packet: Bytes,
    /// Seed for any random choice the discipline makes.
    pub seed: u64,
}

/// A packet as a discipline sees it. `P` is stored with it for the host.
#[derive(Clone, Copy, Debug)]
pub struct Packet<P> {
    /// The flow it belongs to.
    pub flow: u32,
    /// Size on the wire.
    pub size: Bytes,
    /// ECN capability: the discipline may mark a capable packet instead of dropping it.
    pub ecn: Ecn,
    /// The marks that queues have set: earlier queues, and this one.
    pub marks: Marks,
    /// Present if its sender uses the rate that routers offer.
    pub header: Option<RateHeader>,
    /// The host's own note, returned unchanged.
    pub note: P,
}

/// Rate header of packets of senders that use the rate that routers offer (RCP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateHeader {
    /// The round-trip time that the sender knows; zero if it knows none.
    pub rtt: Span,
    /// The lowest rate offered on the path so far.
    pub offer: Option<Rate>,
}

impl RateHeader {
    /// Offers a rate, unless an earlier router offered less.
    pub fn lower(&mut self, rate: Rate) {
        self.offer = Some(self.offer.map_or(rate, |before| before.min(rate)));
    }
}

impl<P> Packet<P> {
    /// A packet that is not ECN-capable.
    pub fn new(flow: u32, size: Bytes, note: P) -> Packet<P> {
        Packet { flow, size, ecn: Ecn::NotEct, marks: Marks::NONE, header: None, note }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The buffer is full.
    Full,
    /// The discipline dropped it before the buffer was full.
    Early,
}

/// The fate of a packet on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Queued. It may be marked: the packet shows that when it leaves.
    Queued,
    /// Dropped.
    Dropped(DropReason),
}

/// Measurements of a discipline, for the recorder. A figure is `None` if the discipline does not measure it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// Its average of the queue, in packets.
    pub average_packets: Option<f64>,
    /// Its average of the link's utilisation.
    pub utilisation: Option<f64>,
    /// Its average of the burstiness eta.
    pub burstiness: Option<f64>,
    /// The mean of all values of eta so far, each counted once, and the number of values.
    pub burstiness_mean: Option<(f64, u64)>,
}

/// The contract that every discipline keeps.
pub trait Queue<P> {
    /// A packet arrives. The packet in service counts as queued until the host reports that it has left.
    fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict;

    /// The link is free. Returns the next packet to send, if one may leave now.
    fn dequeue(&mut self, now: Time) -> Option<Packet<P>>;

    /// Returns a packet that the discipline dropped after it had queued it, once each. The host calls it until it is `None`,
    /// after every [`Queue::enqueue`] and [`Queue::dequeue`]. Disciplines that drop only on arrival have none.
    fn take_dropped(&mut self) -> Option<Packet<P>> {
        None
    }

    /// The packet last dequeued has left the link.
    fn departed(&mut self, now: Time, size: Bytes);

    /// Returns when to call [`Queue::dequeue`] again even if nothing arrives, for disciplines that hold packets back;
    /// [`Time::MAX`] for the others. Extra calls are harmless.
    fn next_wakeup(&self) -> Time {
        Time::MAX
    }

    /// Returns what is queued now, the packet in service included.
    fn length(&self) -> (Packets, Bytes);

    /// Returns what the discipline has measured up to the last arrival.
    fn readings(&self) -> Readings {
        Readings::default()
    }
}
