//! Constant bit rate: equal packets at equal gaps of size / rate.
//!
//! The gap's remainder below a picosecond is carried over (`packetscale_models::units::Serialiser`), so the long-run rate is exact.

use super::{CrossPacket, SendingTime, Source};
use packetscale_models::units::{Bytes, Rate, Serialiser, Span, Time};

/// A constant-rate source.
#[derive(Debug)]
pub(super) struct Cbr {
    spacing: Serialiser,
    size: Bytes,
    next: Time,
    end: Time,
}

impl Cbr {
    pub(super) fn new(rate: Rate, size: Bytes, sending: SendingTime, offset: Span) -> Cbr {
        Cbr { spacing: Serialiser::new(rate), size, next: sending.start.saturating_add(offset), end: sending.end }
    }
}

impl Source for Cbr {
    fn next(&mut self) -> Option<CrossPacket> {
        if self.next >= self.end {
            return None;
        }
        let packet = CrossPacket { at: self.next, size: self.size };
        self.next = self.next.saturating_add(self.spacing.next(self.size));
        Some(packet)
    }
}
