//! Where events happen, and the numbers of these places.
//!
//! Sources are numbered so that, at one instant, causes come before effects: a packet leaves a link before another
//! arrives there, reaches its receiver, is acknowledged, the sender reacts, and only then do packets arrive at links;
//! packets from upstream links first, then those of senders by flow, then traffic. With this order a link without
//! events of its own and one with an event per departure make the same run, ties included.

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
    /// A user asks for a file.
    User(u32),
    /// Flows of one entry of the experiment's arrivals begin.
    Arrival(u32),
    /// Acknowledgments on their way back.
    AckLane(u32),
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

/// The numbering of one network.
#[derive(Clone, Debug)]
pub(super) struct Numbering {
    sources: Vec<EventSource>,
    starts: [SourceId; 15],
}

/// How many of each there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SourceCounts {
    pub(crate) links: usize,
    pub(crate) flows: usize,
    pub(crate) ack_lanes: usize,
    pub(crate) link_lanes: usize,
    pub(crate) traffic: usize,
    pub(crate) users: usize,
    pub(crate) arrivals: usize,
}

impl Numbering {
    pub(super) fn new(counts: SourceCounts) -> Numbering {
        type Numbered = fn(u32) -> EventSource;
        let groups: [(usize, Numbered); 15] = [
            (counts.links, EventSource::Link),
            (counts.links, EventSource::Delivery),
            (counts.links, EventSource::Detour),
            (counts.flows, EventSource::Coalescer),
            (counts.flows, EventSource::DelayedAck),
            (counts.traffic, EventSource::Connection),
            (counts.flows, EventSource::Message),
            (counts.users, EventSource::User),
            (counts.arrivals, EventSource::Arrival),
            (counts.ack_lanes, EventSource::AckLane),
            (counts.flows, EventSource::Flow),
            (counts.link_lanes, EventSource::LinkLane),
            (counts.flows, EventSource::Access),
            (counts.traffic, EventSource::Cross),
            (1, |_| EventSource::Sampler),
        ];
        let mut sources = Vec::new();
        let mut starts = [0; 15];
        for (group, (count, source)) in groups.into_iter().enumerate() {
            starts[group] = sources.len() as SourceId;
            sources.extend((0..count as u32).map(source));
        }
        Numbering { sources, starts }
    }

    #[inline]
    pub(super) fn source(&self, id: SourceId) -> EventSource {
        self.sources[id as usize]
    }

    #[inline]
    pub(super) fn id(&self, source: EventSource) -> SourceId {
        let (group, index) = match source {
            EventSource::Link(i) => (0, i),
            EventSource::Delivery(i) => (1, i),
            EventSource::Detour(i) => (2, i),
            EventSource::Coalescer(i) => (3, i),
            EventSource::DelayedAck(i) => (4, i),
            EventSource::Connection(i) => (5, i),
            EventSource::Message(i) => (6, i),
            EventSource::User(i) => (7, i),
            EventSource::Arrival(i) => (8, i),
            EventSource::AckLane(i) => (9, i),
            EventSource::Flow(i) => (10, i),
            EventSource::LinkLane(i) => (11, i),
            EventSource::Access(i) => (12, i),
            EventSource::Cross(i) => (13, i),
            EventSource::Sampler => (14, 0),
        };
        self.starts[group] + index
    }
}
