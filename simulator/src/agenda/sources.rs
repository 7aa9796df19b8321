//! Where events happen, and the numbers of these places.
//!
//! Sources are numbered so that, at one instant, causes come before effects: a packet leaves a link before another
//! arrives there, reaches its receiver, is acknowledged, the sender reacts, and only then do packets arrive at links;
//! packets from upstream links first, then those of senders by flow, then traffic. With this order a link without
//! events and one with an event per departure make the same run, ties included.

use super::schedule::SourceId;

/// Where an event happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventSource {
    /// A stepped link's departure, or its discipline's wake-up.
    Link(u32),
    /// Packets on their way from the last link of their route to a receiver.
    Delivery(u32),
    /// Packets that others overtook, on their way from a link.
    Detour(u32),
    /// A flow's interrupt coalescer.
    Coalescer(u32),
    /// A flow's delayed acknowledgment.
    DelayedAck(u32),
    /// A traffic source's next connection.
    Connection(u32),
    /// One end of a connection hands its next message over, or a flow of the scenario has nothing new to send any more.
    /// Its number is that of the flow.
    Message(u32),
    /// A user requests a file.
    User(u32),
    /// Flows of one entry of the experiment's arrivals begin.
    Arrival(u32),
    /// Acknowledgments on their way back.
    AckLane(u32),
    /// A flow of the scenario starts after a handshake that waits in queues.
    Handshake(u32),
    /// A flow's start, departures and timers.
    Flow(u32),
    /// Packets on their way between two links.
    LinkLane(u32),
    /// Packets of one flow on their way to its first link.
    Access(u32),
    /// A source of cross traffic: its next packet.
    Cross(u32),
    /// The recorder's clock.
    Sampler,
}

/// Low bits of a number: which source of its kind; the bits above: which kind.
const INDEX_BITS: u32 = 28;
/// The kinds of most events.
const ACK_LANE: u32 = 9;
const ACCESS: u32 = 13;

impl EventSource {
    /// Its number: by kind, in the order above, and then by its number among its kind.
    #[inline(always)]
    pub(super) fn id(self) -> SourceId {
        let (kind, index) = match self {
            EventSource::Link(i) => (0, i),
            EventSource::Delivery(i) => (1, i),
            EventSource::Detour(i) => (2, i),
            EventSource::Coalescer(i) => (3, i),
            EventSource::DelayedAck(i) => (4, i),
            EventSource::Connection(i) => (5, i),
            EventSource::Message(i) => (6, i),
            EventSource::User(i) => (7, i),
            EventSource::Arrival(i) => (8, i),
            EventSource::AckLane(i) => (ACK_LANE, i),
            EventSource::Handshake(i) => (10, i),
            EventSource::Flow(i) => (11, i),
            EventSource::LinkLane(i) => (12, i),
            EventSource::Access(i) => (ACCESS, i),
            EventSource::Cross(i) => (14, i),
            EventSource::Sampler => (15, 0),
        };
        debug_assert!(index >> INDEX_BITS == 0, "no run has as many sources of one kind");
        kind << INDEX_BITS | index
    }

    /// The source with this number. Most events are of two kinds: two comparisons cost less than a jump by a table.
    #[inline(always)]
    pub(super) fn of(id: SourceId) -> EventSource {
        let (kind, index) = (id >> INDEX_BITS, id & ((1 << INDEX_BITS) - 1));
        match kind {
            ACCESS => EventSource::Access(index),
            ACK_LANE => EventSource::AckLane(index),
            _ => EventSource::of_others(kind, index),
        }
    }

    #[inline(never)]
    fn of_others(kind: u32, index: u32) -> EventSource {
        match kind {
            0 => EventSource::Link(index),
            1 => EventSource::Delivery(index),
            2 => EventSource::Detour(index),
            3 => EventSource::Coalescer(index),
            4 => EventSource::DelayedAck(index),
            5 => EventSource::Connection(index),
            6 => EventSource::Message(index),
            7 => EventSource::User(index),
            8 => EventSource::Arrival(index),
            10 => EventSource::Handshake(index),
            11 => EventSource::Flow(index),
            12 => EventSource::LinkLane(index),
            14 => EventSource::Cross(index),
            _ => EventSource::Sampler,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the head of this file, one source of each kind.
    #[test]
    fn source_numbers_are_ordered_by_kind_and_convert_back() {
        type Numbered = fn(u32) -> EventSource;
        let kinds: [Numbered; 15] = [
            EventSource::Link,
            EventSource::Delivery,
            EventSource::Detour,
            EventSource::Coalescer,
            EventSource::DelayedAck,
            EventSource::Connection,
            EventSource::Message,
            EventSource::User,
            EventSource::Arrival,
            EventSource::AckLane,
            EventSource::Handshake,
            EventSource::Flow,
            EventSource::LinkLane,
            EventSource::Access,
            EventSource::Cross,
        ];
        let most = (1 << INDEX_BITS) - 1;
        let mut all: Vec<EventSource> = kinds.iter().flat_map(|kind| [0, 1, most].map(kind)).collect();
        all.push(EventSource::Sampler);
        assert!(all.is_sorted_by(|a, b| a.id() < b.id()));
        all.iter().for_each(|source| assert_eq!(EventSource::of(source.id()), *source));
    }
}
