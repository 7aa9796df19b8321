//! Poisson arrivals: equal packets, independent exponential gaps of mean size / rate.

use super::{CrossPacket, SendingTime, Source};
use crate::traffic::draw::Draws;
use packetscale_models::units::{Bytes, Rate, Span, Time};

/// A Poisson source.
#[derive(Debug)]
pub(super) struct Poisson {
    gap: Span,
    size: Bytes,
    draws: Draws,
    last: Time,
    end: Time,
}

impl Poisson {
    pub(super) fn new(rate: Rate, size: Bytes, sending: SendingTime, draws: Draws) -> Poisson {
        Poisson { gap: rate.time_for(size), size, draws, last: sending.start, end: sending.end }
    }
}

impl Source for Poisson {
    fn next(&mut self) -> Option<CrossPacket> {
        self.last = self.last.saturating_add(self.draws.exponential(self.gap));
        (self.last < self.end).then_some(CrossPacket { at: self.last, size: self.size })
    }
}
