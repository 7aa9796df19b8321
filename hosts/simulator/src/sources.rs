//! Numbers for everything that can happen.
//!
//! Sources are numbered so that, at one instant, causes come before effects: a packet leaves a link before another
//! arrives there, reaches its receiver, is acknowledged, the sender reacts, and only then do packets arrive at links;
//! packets from upstream links first, then those of senders by flow, then traffic. With this order a link without
//! events of its own and one with an event per departure make the same run, ties included.

use crate::schedule::SourceId;

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
    Arrivals(u32),
    /// One end of a connection hands its next message over. Its number is that of its flow.
    Message(u32),
    /// A user asks for a file.
    User(u32),
    /// Acknowledgments on their way back.
    AckLane(u32),
    /// A flow's start, departures and timers.
    Flow(u32),
    /// Packets on their way between two links.
    LinkLane(u32),
    /// Packets of one flow on their way to its first link.
    Access(u32),
    /// One traffic source.
    Traffic(u32),
    /// The recorder's clock.
    Sampler,
}

/// The numbering of one network.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    kinds: Vec<Kind>,
    starts: [SourceId; 14],
}

/// How many of each there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    pub(crate) links: usize,
    pub(crate) flows: usize,
    pub(crate) ack_lanes: usize,
    pub(crate) link_lanes: usize,
    pub(crate) traffic: usize,
    pub(crate) users: usize,
}

impl Sources {
    pub(crate) fn new(counts: Counts) -> Sources {
        type Numbered = fn(u32) -> Kind;
        let groups: [(usize, Numbered); 14] = [
            (counts.links, Kind::Link),
            (counts.links, Kind::Delivery),
            (counts.links, Kind::Detour),
            (counts.flows, Kind::Coalescer),
            (counts.flows, Kind::DelayedAck),
            (counts.traffic, Kind::Arrivals),
            (counts.flows, Kind::Message),
            (counts.users, Kind::User),
            (counts.ack_lanes, Kind::AckLane),
            (counts.flows, Kind::Flow),
            (counts.link_lanes, Kind::LinkLane),
            (counts.flows, Kind::Access),
            (counts.traffic, Kind::Traffic),
            (1, |_| Kind::Sampler),
        ];
        let mut kinds = Vec::new();
        let mut starts = [0; 14];
        for (group, (count, kind)) in groups.into_iter().enumerate() {
            starts[group] = kinds.len() as SourceId;
            kinds.extend((0..count as u32).map(kind));
        }
        Sources { kinds, starts }
    }

    #[inline]
    pub(crate) fn kind(&self, source: SourceId) -> Kind {
        self.kinds[source as usize]
    }

    #[inline]
    pub(crate) fn id(&self, kind: Kind) -> SourceId {
        let (group, index) = match kind {
            Kind::Link(i) => (0, i),
            Kind::Delivery(i) => (1, i),
            Kind::Detour(i) => (2, i),
            Kind::Coalescer(i) => (3, i),
            Kind::DelayedAck(i) => (4, i),
            Kind::Arrivals(i) => (5, i),
            Kind::Message(i) => (6, i),
            Kind::User(i) => (7, i),
            Kind::AckLane(i) => (8, i),
            Kind::Flow(i) => (9, i),
            Kind::LinkLane(i) => (10, i),
            Kind::Access(i) => (11, i),
            Kind::Traffic(i) => (12, i),
            Kind::Sampler => (13, 0),
        };
        self.starts[group] + index
    }
}
