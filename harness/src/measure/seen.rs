//! The host's knowledge beyond the packets at the measured link. Unknown values are `None`, and so are the figures that
//! need them.

use experiment::results::StreamRecord;
use packetscale_models::congestion::Extras;
use packetscale_models::transport::Sender;
use packetscale_models::units::{Rate, Span, SpanSum, Time};

/// Owner of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A flow of the scenario, by number. Numbers beyond those are flows that a host makes to carry traffic: see
    /// [`crate::measure::Recorder::belongs`].
    Flow(usize),
    /// A traffic source, by number.
    Traffic(usize),
    /// Overhead of the network, such as address resolution: it loads the link and counts for no flow.
    Other,
}

/// The host's knowledge at the end of a run.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The flows of the scenario, in order.
    pub flows: Vec<FlowSeen>,
    /// The flows that arrived, one entry for each table of them.
    pub arrivals: Vec<ArrivalsSeen>,
    /// The host knows when each packet's own transmission began. Without that, the number of packets at the link, the one
    /// in service included, is unknown.
    pub transmissions: bool,
    /// The path is unknown: the scenario's values are not those of the real link. Figures that need its rate, or its queue,
    /// stay empty.
    pub path_unknown: bool,
    /// Mean burstiness of the busy periods, from a queue discipline that measures it.
    pub burstiness_eta: Option<f64>,
    /// Probe streams that the host has traced itself.
    pub streams: Vec<StreamRecord>,
    /// How many packets each link marked.
    pub link_marks: Option<Vec<u64>>,
    /// Link crossings of all packets.
    pub hops: Option<u64>,
    /// Events processed.
    pub events: Option<u64>,
    /// Processor time.
    pub cpu_s: Option<f64>,
}

/// The host's knowledge of one flow at the end of a run.
#[derive(Clone, Debug, Default)]
pub struct FlowSeen {
    /// A remark to show after the name of its controller.
    pub remark: Option<String>,
    /// When it completed, if it did.
    pub completed: Option<Time>,
    /// Its round-trip time without any queue.
    pub base_rtt: Span,
    /// Its round-trip times.
    pub round_trips: RoundTrips,
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Packets that reached its receiver marked.
    pub marked: Option<Marked>,
    /// Retransmission timeouts.
    pub timeouts: Option<u64>,
    /// Recovery episodes.
    pub recoveries: Option<u64>,
    /// Reductions undone.
    pub undone: Option<u64>,
    /// Probe streams completed, and those that gave no estimate, of a controller that probes.
    pub streams: Option<(u64, u64)>,
    /// Its controller sets a rate.
    pub has_rate: bool,
}

/// The host's knowledge of all arriving flows of one table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArrivalsSeen {
    /// Packets sent, retransmissions included.
    pub sent: u64,
    /// Packets that reached their receivers marked.
    pub marked: Marked,
    /// The sum of the flows' mean round-trip times, seconds.
    pub rtt_means_s: f64,
    /// How many flows have one.
    pub rtt_flows: u64,
}

impl ArrivalsSeen {
    /// Adds a flow.
    pub fn add(&mut self, flow: &FlowSeen) {
        let marked = flow.marked.unwrap_or_default();
        self.sent += flow.sent;
        self.marked.congestion += marked.congestion;
        self.marked.burstiness += marked.burstiness;
        if let Some(rtt_s) = flow.round_trips.mean_s() {
            self.rtt_means_s += rtt_s;
            self.rtt_flows += 1;
        }
    }
}

/// Round-trip times, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// Their sum.
    pub sum: SpanSum,
    /// Their number.
    pub count: u64,
}

impl RoundTrips {
    /// Their mean; `None` without any.
    pub(crate) fn mean_s(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.as_secs_f64() / self.count as f64)
    }
}

/// Packets that arrived marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// With congestion experienced.
    pub congestion: u64,
    /// With the burstiness bit.
    pub burstiness: u64,
}

/// A sample of a flow's state; all `None` while it is not active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSample {
    /// The rate that its controller has chosen.
    pub rate: Option<Rate>,
    /// Its smoothed round-trip time.
    pub rtt: Option<Span>,
    /// Its window in packets.
    pub window: Option<u64>,
    /// Its slow-start threshold in packets, if it has one.
    pub threshold: Option<u64>,
    /// Packets that it has sent again so far.
    pub retransmissions: Option<u64>,
}

impl FlowSample {
    /// A sample of an active sender, with the window last advertised to it, in packets.
    pub fn of<C: Extras>(sender: &Sender<C>, receive_window: u64) -> FlowSample {
        let controller = sender.controller();
        FlowSample {
            rate: controller.rate(),
            rtt: Some(sender.rtt().0),
            window: Some(u64::from(controller.decision().window).min(receive_window)),
            threshold: Some(controller.slow_start_threshold()).filter(|size| *size < u32::MAX).map(u64::from),
            retransmissions: Some(sender.counters().retransmitted),
        }
    }
}
