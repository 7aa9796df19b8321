//! What a host tells a queue, and what a queue answers.

use units::{Bytes, Marks, Packets, Rate, Span, Time};

/// What a buffer holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets of any size.
    Packets(Packets),
    /// So many bytes.
    Bytes(Bytes),
    /// Everything.
    Unlimited,
}

impl Limit {
    /// Whether a packet of `size` fits beside what is there.
    #[inline]
    pub fn admits(self, packets: Packets, bytes: Bytes, size: Bytes) -> bool {
        match self {
            Limit::Packets(limit) => packets < limit,
            Limit::Bytes(limit) => bytes + size <= limit,
            Limit::Unlimited => true,
        }
    }
}

/// What a discipline knows when it is built.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Rate of the link.
    pub rate: Rate,
    /// What its buffer holds, the packet in service included.
    pub limit: Limit,
    /// The largest packet that crosses the link.
    pub packet: Bytes,
    /// Seed for any random choice the discipline makes.
    pub seed: u64,
}

/// What a discipline sees of a packet. `P` is whatever the host keeps about it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<P> {
    /// Flow it belongs to.
    pub flow: u32,
    /// Size on the wire.
    pub size: Bytes,
    /// Its sender reads marks: a discipline may mark it where it would drop another (RFC 3168, ECN-capable transport).
    pub ecn: bool,
    /// What queues have marked it with: those before this one, and this one.
    pub marks: Marks,
    /// Its sender takes the rate that routers offer; `None`: it does not.
    pub header: Option<RateHeader>,
    /// The host's own note, handed back untouched.
    pub note: P,
}

/// What a packet carries whose sender takes the rate that routers offer (RCP).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateHeader {
    /// The round-trip time that the sender knows; zero: none.
    pub rtt: Span,
    /// The lowest rate offered on the way so far.
    pub offer: Option<Rate>,
}

impl RateHeader {
    /// Offers a rate, if none before offered less.
    pub fn lower(&mut self, rate: Rate) {
        self.offer = Some(self.offer.map_or(rate, |before| before.min(rate)));
    }
}

impl<P> Packet<P> {
    /// A packet whose sender does not read marks.
    pub fn new(flow: u32, size: Bytes, note: P) -> Packet<P> {
        Packet { flow, size, ecn: false, marks: Marks::NONE, header: None, note }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The buffer has no room for it.
    Full,
    /// The discipline dropped it before the buffer was full.
    Early,
}

/// What became of a packet on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It waits, marked perhaps: the packet says so when it leaves.
    Queued,
    /// It is gone.
    Dropped(DropReason),
}

/// What a discipline measures, for the recorder; `None` for those that do not measure it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Readings {
    /// Its average of the queue, in packets.
    pub average_packets: Option<f64>,
    /// Its average of the link's utilisation.
    pub utilisation: Option<f64>,
    /// Its average of the burstiness eta.
    pub burstiness: Option<f64>,
    /// The mean of all values of eta so far, each counted once, and how many.
    pub burstiness_mean: Option<(f64, u64)>,
}

/// The contract.
pub trait Queue<P> {
    /// A packet arrives. The packet in service counts as queued until the host says it has left.
    fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict;

    /// The link is free: the next packet to send, if one may leave now.
    fn dequeue(&mut self, now: Time) -> Option<Packet<P>>;

    /// The packet last dequeued has left the link.
    fn departed(&mut self, now: Time, size: Bytes);

    /// When to ask [`Queue::dequeue`] again although nothing arrived: for disciplines that hold packets back.
    /// [`Time::MAX`] for those that do not. Extra calls are harmless.
    fn next_wakeup(&self) -> Time {
        Time::MAX
    }

    /// What is queued now, the packet in service included.
    fn length(&self) -> (Packets, Bytes);

    /// What the discipline has measured up to the last arrival.
    fn readings(&self) -> Readings {
        Readings::default()
    }
}
