//! Per-packet events in the file formats of other tools.
//!
//! A host that simulates single packets reports them to an [`Observer`] during a run. Each observer writes at
//! once, so that memory does not grow with the length of a run.
//!
//! | observer | file |
//! |---|---|
//! | [`Capture`] | pcapng, for Wireshark, tshark and tcptrace |
//! | [`Perfetto`] | a trace of counters and slices, for ui.perfetto.dev |
//! | [`Qlog`] | qlog, one file per flow, for qvis |
//!
//! [`Sequences`] writes no file: it keeps points for the page's pictures.

mod capture;
mod connection;
mod headers;
mod pcapng;
mod perfetto;
mod qlog;
mod sequences;

pub use capture::Capture;
pub use perfetto::Perfetto;
pub use qlog::Qlog;
pub use sequences::Sequences;

use experiment::results::Run;
use packetscale_models::transport::{Ack, Segment};
use packetscale_models::units::{Bytes, Ecn, Rate, Span, Time};
use std::io;

/// Receives the events of a run, one by one.
pub trait Observer {
    /// A run begins.
    ///
    /// # Errors
    /// The start cannot be written.
    fn begin(&mut self, start: &Start) -> io::Result<()>;

    /// Something happened. Events of senders come in order of time.
    ///
    /// # Errors
    /// The event cannot be written.
    fn see(&mut self, at: Time, event: &Event) -> io::Result<()>;

    /// The run is over, with these results. All events are written when this returns.
    ///
    /// # Errors
    /// The rest cannot be written.
    fn end(&mut self, run: &Run) -> io::Result<()>;
}

/// Forwards each event to all of them in order.
impl Observer for Vec<Box<dyn Observer>> {
    fn begin(&mut self, start: &Start) -> io::Result<()> {
        self.iter_mut().try_for_each(|one| one.begin(start))
    }

    fn see(&mut self, at: Time, event: &Event) -> io::Result<()> {
        self.iter_mut().try_for_each(|one| one.see(at, event))
    }

    fn end(&mut self, run: &Run) -> io::Result<()> {
        self.iter_mut().try_for_each(|one| one.end(run))
    }
}

/// A run before its first event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// When it is over.
    pub end: Time,
    /// Distance between the points of curves.
    pub step: Span,
    /// Whether logs have every packet.
    pub packets: bool,
    /// The flows of the scenario.
    pub flows: Vec<FlowStart>,
    /// The links.
    pub links: Vec<LinkStart>,
    /// The link where queue and utilisation are measured.
    pub measured: usize,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkStart {
    /// Its name in the scenario.
    pub name: String,
    /// When what leaves it is lost: from, to.
    pub outages: Vec<(Time, Time)>,
}

/// A flow of the scenario, before its first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// Its controller, as tables name it.
    pub controller: String,
    /// When its first packet may leave.
    pub start: Time,
    /// Wire size of a full packet.
    pub packet: Bytes,
    /// Base round-trip time.
    pub rtt: Span,
    /// Window that its receiver advertises, in packets; `u64::MAX`: without a limit.
    pub receive_window: u64,
    /// ECN capability of its packets.
    pub ecn: Ecn,
}

/// An event. A flow is named by its number in the scenario, a link as well.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "events are passed one by one, and only to observers")]
pub enum Event {
    /// A segment leaves its sender.
    Sent {
        /// Its flow.
        flow: usize,
        /// The segment.
        segment: Segment,
    },
    /// An acknowledgment reaches its sender.
    Acknowledged {
        /// Its flow.
        flow: usize,
        /// The acknowledgment.
        ack: Ack,
    },
    /// State of a sender after one of the above.
    Sender {
        /// Its flow.
        flow: usize,
        /// The state.
        state: SenderState,
    },
    /// A link serves a packet of any flow or traffic. Reported when the packet arrives or when it leaves.
    Served {
        /// The link.
        link: usize,
        /// Size on the wire.
        size: Bytes,
        /// When the packet arrived there.
        arrival: Time,
        /// When its last bit leaves.
        departs: Time,
    },
    /// A packet of a flow is dropped at a queue or lost on a link. Reported once known, perhaps ahead of its time.
    Lost {
        /// Its flow.
        flow: usize,
        /// Its place in the flow, in packets.
        sequence: u64,
    },
    /// A link takes a packet of any flow or traffic, with unknown departure: it is served or dropped later, or
    /// waits at the end of the run.
    Queued {
        /// The link.
        link: usize,
    },
    /// A link drops a packet of any flow or traffic.
    Dropped {
        /// The link.
        link: usize,
        /// When the packet arrived there.
        arrival: Time,
        /// Whether it had been queued.
        queued: bool,
    },
}

impl Event {
    /// The flow that it is about, if it is about one.
    pub fn flow(&self) -> Option<usize> {
        match self {
            Event::Sent { flow, .. }
            | Event::Acknowledged { flow, .. }
            | Event::Sender { flow, .. }
            | Event::Lost { flow, .. } => Some(*flow),
            Event::Served { .. } | Event::Queued { .. } | Event::Dropped { .. } => None,
        }
    }
}

/// State of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderState {
    /// Congestion window in packets.
    pub window: u64,
    /// Slow-start threshold in packets; `u32::MAX`: not known yet, or the controller has none.
    pub threshold: u32,
    /// Packets in flight.
    pub in_flight: u32,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Span,
    /// Smallest round-trip time.
    pub min_rtt: Span,
    /// Latest round-trip time; zero: none yet.
    pub latest_rtt: Span,
    /// Rate that the controller chose, if it chooses one.
    pub rate: Option<Rate>,
    /// Whether it repairs a loss.
    pub in_recovery: bool,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
}
