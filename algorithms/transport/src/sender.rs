//! Stand-in until the real files land.

use crate::wire::{Ack, Segment};
use congestion::Controller;
use units::{Bytes, Span, Time};

/// How much there is to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// More than the run can carry.
    Unlimited,
    /// So many bytes, the last packet perhaps short.
    Sized(Bytes),
}

/// What a scenario can set of a sender.
#[derive(Clone, Copy, Debug)]
pub struct SenderParams {
    /// Wire size of a full packet.
    pub packet: Bytes,
    /// What to send.
    pub transfer: Transfer,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Round-trip time seen by the handshake.
    pub handshake_rtt: Span,
    /// Least retransmission timeout (RFC 6298: 1 s; Linux: 200 ms).
    pub min_rto: Span,
    /// Pace window-based controllers at this many windows per smoothed round trip, in percent; 0: ack-clocked.
    pub pacing_percent: u32,
}

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Transmissions, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Packets delivered: acknowledged cumulatively or selectively.
    pub delivered: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Recovery episodes entered.
    pub recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Reductions undone because they proved needless.
    pub undone: u64,
    /// Acknowledgments that gave a round-trip time.
    pub rtt_samples: u64,
    /// The sum of these times.
    pub rtt_sum: Span,
}

/// The sending end of one flow, with its controller.
#[derive(Clone, Debug)]
pub struct Sender<C> {
    controller: C,
}

impl<C: Controller> Sender<C> {
    /// A sender that is ready at `now`.
    pub fn new(_params: SenderParams, controller: C, _now: Time) -> Sender<C> {
        let _ = &controller;
        todo!()
    }

    /// An acknowledgment arrived. Call [`Sender::poll_transmit`] afterwards.
    pub fn on_ack(&mut self, _now: Time, _ack: &Ack) {
        todo!()
    }

    /// What may leave now. Call until it answers `None`.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Segment> {
        todo!()
    }

    /// When to call [`Sender::on_wakeup`]: the earlier of the next departure and the next timer. [`Time::MAX`] when
    /// only an acknowledgment can move it. May move in either direction after any call.
    pub fn next_wakeup(&self) -> Time {
        todo!()
    }

    /// Time has come (or not: extra calls are harmless). Call [`Sender::poll_transmit`] afterwards.
    pub fn on_wakeup(&mut self, _now: Time) {
        todo!()
    }

    /// Everything was delivered.
    pub fn is_done(&self) -> bool {
        todo!()
    }

    /// What has happened so far.
    pub fn counters(&self) -> &Counters {
        todo!()
    }

    /// Packets in flight (RFC 6675 pipe).
    pub fn in_flight(&self) -> u32 {
        todo!()
    }

    /// Smoothed round-trip time (RFC 6298), and the smallest seen.
    pub fn rtt(&self) -> (Span, Span) {
        todo!()
    }

    /// The controller, to look at.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The controller, for the recorder's trace calls.
    pub fn controller_mut(&mut self) -> &mut C {
        &mut self.controller
    }
}
