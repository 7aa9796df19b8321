//! Stand-in until the real file lands.

use crate::wire::{Ack, Segment};
use units::{Span, Time};

/// What a scenario can set of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverParams {
    /// Acknowledge every so many in-order packets at the latest (RFC 5681: 2; 1: every packet).
    pub delayed_ack: u32,
    /// ... or after so long (RFC 1122: at most 500 ms; Linux: 40 ms).
    pub delayed_ack_timeout: Span,
    /// Packets it is willing to hold.
    pub window: u64,
    /// Report arrival times.
    pub stamps: bool,
}

/// The receiving end of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {}

impl Receiver {
    /// A receiver that expects packet 0.
    pub fn new(_params: ReceiverParams) -> Receiver {
        todo!()
    }

    /// A segment arrived: the acknowledgment to send now, if any.
    pub fn on_segment(&mut self, _now: Time, _segment: &Segment) -> Option<Ack> {
        todo!()
    }

    /// When a held-back acknowledgment is due; [`Time::MAX`] when none is.
    pub fn next_wakeup(&self) -> Time {
        todo!()
    }

    /// Time has come (or not: extra calls are harmless).
    pub fn on_wakeup(&mut self, _now: Time) -> Option<Ack> {
        todo!()
    }

    /// Packets that have arrived in order.
    pub fn next_expected(&self) -> u64 {
        todo!()
    }
}
