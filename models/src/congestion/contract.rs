//! Events that a host reports to a controller, and the controller's decisions.

use crate::units::{Bytes, Ecn, Rate, Span, Time};
use alloc::vec::Vec;

/// Parameters of a controller's construction.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Now.
    pub now: Time,
    /// Size of a full packet on the wire, payload and headers.
    pub packet: Bytes,
    /// Round-trip time seen by the handshake.
    pub handshake_rtt: Span,
    /// Window to start with, in packets (RFC 6928: 10).
    pub initial_window: u32,
    /// Seed for any random choice the controller makes.
    pub seed: u64,
}

/// A packet has left. Retransmissions count too.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// When it really left.
    pub now: Time,
    /// From when on time may count for the departure of the next packet: `now`, or earlier by the tick of a host's timer, at
    /// which all that was due since the last tick leaves.
    pub paced_from: Time,
    /// Number of this transmission in its flow: 0, 1, 2, ... without holes.
    pub transmission: u64,
    /// Its size on the wire.
    pub size: Bytes,
    /// Packets in flight, this one included.
    pub in_flight: u32,
    /// Whether the flow had nothing else to send.
    pub app_limited: bool,
    /// Whether it is a retransmission.
    pub retransmission: bool,
}

/// One packet newly known to have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The transmission that arrived.
    pub transmission: u64,
    /// When the receiver saw it, on the receiver's clock; `None` if not reported.
    pub arrived: Option<Time>,
}

/// The path's delivery rate, by the newest packet that an acknowledgment covers (draft-ietf-ccwg-bbr,
/// section "Delivery Rate Samples").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Packets delivered between the departure of that packet and now.
    pub delivered: u64,
    /// How long that took; zero when it is shorter than the smallest round trip, which no path allows.
    pub interval: Span,
    /// Packets delivered when that packet left. Plus `delivered`: the total now.
    pub prior_delivered: u64,
    /// Whether the flow lacked data to send when that packet left.
    pub is_app_limited: bool,
    /// Packets in flight after it left, itself included.
    pub tx_in_flight: u32,
    /// Packets declared lost since it left.
    pub lost: u64,
}

/// A lost packet, as it was when it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostFlight {
    /// Its number.
    pub sequence: u64,
    /// Packets in flight after it left, itself included.
    pub tx_in_flight: u32,
    /// Packets declared lost since it left, itself included.
    pub lost: u64,
    /// Whether the flow lacked data to send when it left.
    pub is_app_limited: bool,
}

/// One acknowledgment, measured.
#[derive(Clone, Copy, Debug)]
pub struct AckSample<'a> {
    /// When the acknowledgment arrived.
    pub now: Time,
    /// Packets newly delivered: cumulatively and selectively acknowledged.
    pub delivered: u32,
    /// Of those, packets newly acknowledged cumulatively (the left edge moved by at least this).
    pub cumulative: u32,
    /// Packets in flight before this acknowledgment (RFC 6675 pipe).
    pub prior_in_flight: u32,
    /// Packets in flight after it.
    pub in_flight: u32,
    /// Round-trip time of the newest transmission it covers, if it is unambiguous (RFC 6298, Karn).
    pub rtt: Option<Span>,
    /// Smoothed round-trip time (RFC 6298).
    pub srtt: Span,
    /// Smallest round-trip time seen by this connection.
    pub min_rtt: Span,
    /// Sequence number, in packets, up to which everything has arrived.
    pub next_unacked: u64,
    /// Sequence number, in packets, of the next packet never sent.
    pub next_unsent: u64,
    /// Whether the window limits the flow, not the application or the receiver.
    pub window_limited: bool,
    /// Whether the sender is in fast recovery or in loss recovery after a timeout.
    pub in_recovery: bool,
    /// The packets it covers, in order of transmission, with their arrival times. Empty unless
    /// the controller needs them ([`Needs::arrivals`]).
    pub arrivals: &'a [Arrival],
    /// The delivery rate, for controllers that need it ([`Needs::rate_samples`]).
    pub rate: Option<RateSample>,
}

/// Packets have been declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// When.
    pub now: Time,
    /// The lost transmissions; filled only for controllers that need arrivals.
    pub transmissions: &'a [u64],
    /// The lost packets; filled only for controllers that need rate samples.
    pub flights: &'a [LostFlight],
    /// Number of packets declared lost.
    pub lost: u32,
    /// Whether it is the first loss of a recovery episode: react only to this one (RFC 6675, section 5).
    pub enters_recovery: bool,
    /// Packets in flight before the loss was declared.
    pub prior_in_flight: u32,
    /// Smoothed round-trip time.
    pub srtt: Span,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug)]
pub struct Timeout {
    /// When.
    pub now: Time,
    /// Packets in flight when it expired.
    pub in_flight: u32,
    /// Whether it is the first expiry for this data; later ones only back off.
    pub first: bool,
}

/// New data is about to leave after an idle time longer than the retransmission timeout, with nothing in flight.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// When.
    pub now: Time,
    /// Time since the last packet left.
    pub lasted: Span,
    /// The retransmission timeout.
    pub rto: Span,
    /// The window to restart with, in packets; `None`: windows last.
    pub restart_window: Option<u32>,
}

/// The last reduction was needless: the packets were not lost (RFC 5682, RFC 4015).
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// When this became known.
    pub now: Time,
}

/// Packets newly known to have arrived marked. Comes before their acknowledgment.
#[derive(Clone, Copy, Debug)]
pub struct Marked {
    /// When this became known.
    pub now: Time,
    /// Packets with congestion experienced.
    pub congestion: u32,
    /// Packets with the burstiness bit.
    pub burstiness: u32,
    /// The first congestion mark of a window: the one that a controller with one answer per window answers (RFC 3168,
    /// section 6.1.2). Never set during recovery.
    pub answer: bool,
    /// Smoothed round-trip time.
    pub srtt: Span,
}

/// The controller's decision for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// At most this many packets in flight.
    pub window: u32,
    /// The next packet may leave no earlier than this.
    pub departure: Time,
}

/// Who controls departures while the window shrinks: during fast recovery, and in the round trip after a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossResponse {
    /// The host, by proportional rate reduction (RFC 6937) towards the window that the controller set on loss.
    ProportionalReduction,
    /// The controller: its window and departure times hold in recovery, too.
    OwnWindow,
}

/// What a controller needs of its host in addition to the events. Each has a cost, paid only by controllers that set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// [`AckSample::arrivals`] and [`Loss::transmissions`] are filled.
    pub arrivals: bool,
    /// [`AckSample::rate`] and [`Loss::flights`] are filled.
    pub rate_samples: bool,
    /// [`Extras::on_available`] is called, by hosts that know the available capacity.
    pub available: bool,
    /// ECN capability of its packets, and so how it answers marks. Only capable packets may be marked instead of dropped.
    pub ecn: Ecn,
    /// Its packets carry a rate field that routers fill in ([`Extras::on_offer`]).
    pub offers: bool,
}

impl Needs {
    /// Nothing.
    pub const NOTHING: Needs =
        Needs { arrivals: false, rate_samples: false, available: false, ecn: Ecn::NotEct, offers: false };
}

/// The contract: events in, a value out. Events with a default are optional.
pub trait Controller {
    /// A packet left.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// An acknowledgment arrived.
    fn on_ack(&mut self, ack: &AckSample<'_>);

    /// Packets were declared lost.
    fn on_loss(&mut self, loss: &Loss<'_>);

    /// Packets arrived marked.
    fn on_mark(&mut self, _marked: &Marked) {}

    /// The retransmission timer expired.
    fn on_timeout(&mut self, timeout: &Timeout);

    /// The flow restarts after an idle time.
    fn on_idle(&mut self, _idle: &Idle) {}

    /// The last reduction proved needless.
    fn on_undo(&mut self, _undo: &Undo) {}

    /// The current decision. Cheap, without effect, valid until the next event.
    fn decision(&self) -> Decision;

    /// Who controls departures in fast recovery.
    fn loss_response(&self) -> LossResponse {
        LossResponse::ProportionalReduction
    }

    /// Slow-start threshold in packets; `u32::MAX` before the first reduction, and for those that have none.
    fn slow_start_threshold(&self) -> u32 {
        u32::MAX
    }

    /// Requirements on the host in addition to these calls. Constant: hosts read it once.
    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

/// Features of only some controllers, or for only some hosts. The defaults fit every [`Controller`]: one without extras
/// is declared with `impl Extras for Mine {}`.
pub trait Extras: Controller {
    /// The path's routers offer this rate; the next acknowledgment carries the offer (RCP). For [`Needs::offers`].
    fn on_offer(&mut self, _now: Time, _rate: Rate) {}

    /// The true available capacity, from hosts that know it: for experiments with ideal estimation. For
    /// [`Needs::available`].
    fn on_available(&mut self, _now: Time, _available: Rate) {}

    /// When the next packet may leave, as in [`Controller::decision`], with this many in flight; `None`: not before fewer are.
    /// With none in flight, one may leave. Hosts call it once per packet: a controller may answer without computing its window.
    #[inline]
    fn departure(&self, in_flight: u32) -> Option<Time> {
        let decision = self.decision();
        (in_flight < decision.window.max(1)).then_some(decision.departure)
    }

    /// Whether no news brings the departure now decided forward: only a packet that leaves sets the next.
    fn keeps_departure(&self) -> bool {
        false
    }

    /// Who controls departures in the round trip after an answered mark: by default as for a loss.
    fn mark_response(&self) -> LossResponse {
        self.loss_response()
    }

    /// The mean rate that the controller aims at, if it has one.
    fn rate(&self) -> Option<Rate> {
        None
    }

    /// Its measurements, if it probes.
    fn probing(&self) -> Option<&dyn Probing> {
        None
    }

    /// The same, mutable, to trace streams.
    fn probing_mut(&mut self) -> Option<&mut dyn Probing> {
        None
    }
}

/// The measurements of a controller that probes: for recorders only.
pub trait Probing {
    /// Returns its view of the path.
    fn probe(&self) -> Probe;

    /// Keeps a trace of the next probe stream to complete.
    fn arm_trace(&mut self);

    /// Returns, once, the trace of a stream that completed since.
    fn take_trace(&mut self) -> Option<StreamTrace>;
}

/// A probing controller's view of its path.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Mean sending rate aimed at.
    pub rate: Rate,
    /// Last estimate of the available capacity (RFC 5136).
    pub available: Rate,
    /// Standing queue seen above the base delay.
    pub queue: Span,
    /// Probe streams completed.
    pub streams: u64,
    /// Probe streams that gave no estimate.
    pub unusable: u64,
}

/// One packet of a traced probe stream. Gaps are to the packet before it.
#[derive(Clone, Copy, Debug)]
pub struct GapRecord {
    /// Scheduled gap.
    pub intended: Span,
    /// Gap that the sender created.
    pub created: Span,
    /// Gap at the receiver; `None` when this packet or the one before it has no arrival time.
    pub received: Option<Span>,
    /// Gap after the controller's own denoising, if any: with envelopes, the created gap plus the envelope's slope.
    pub denoised: Option<Span>,
    /// Size of the packet.
    pub size: Bytes,
    /// The rate that the gap probes: that of the previous packet's level.
    pub rate: Rate,
    /// Arrival minus send time, above the smallest of the stream.
    pub delay: Option<Span>,
}

/// A whole probe stream, gap by gap.
#[derive(Clone, Debug)]
pub struct StreamTrace {
    /// When its first packet left.
    pub start: Time,
    /// Mean rate aimed at.
    pub rate: Rate,
    /// The controller's estimate; `None` when it abstained.
    pub estimate: Option<Rate>,
    /// Its packets in order.
    pub gaps: Vec<GapRecord>,
}
