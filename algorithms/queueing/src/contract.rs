//! What a host tells a queue, and what a queue answers.

use units::{Bytes, Packets, Time};

/// What a discipline sees of a packet. `P` is whatever the host keeps about it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<P> {
    /// Flow it belongs to.
    pub flow: u32,
    /// Size on the wire.
    pub size: Bytes,
    /// The host's own note, handed back untouched.
    pub note: P,
}

/// A congestion mark, for disciplines that mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Not marked.
    None,
    /// Congestion experienced (RFC 3168).
    CongestionExperienced,
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
    /// It waits.
    Queued,
    /// It waits, marked.
    Marked(Mark),
    /// It is gone.
    Dropped(DropReason),
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
}
