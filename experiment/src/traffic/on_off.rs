//! On-off traffic: packets at equal gaps within bursts, nothing between them.
//!
//! The gaps follow a clock that only runs within bursts. A packet that falls beyond the end of a burst is due equally
//! far into the next one, so no burst gains or loses a fraction of a packet: the mean rate is exactly
//! rate * on / (on + off), however short the bursts are.
//!
//! Drawn lengths start in the stationary state, as if the source had run for ever. It starts within a burst with
//! probability on / (on + off). The rest of the first burst or silence is drawn from the residual law, and the first
//! packet falls anywhere within a gap. The expected rate is then the mean rate at every instant, with no transient to
//! discard.

use super::{CrossPacket, SendingTime, Source};
use crate::traffic::draw::Draws;
use packetscale_models::units::{Bytes, Rate, Serialiser, Span, Time};

/// Lengths of bursts and silences.
pub(super) trait Lengths {
    /// Returns the next burst.
    fn on(&mut self) -> Span;
    /// Returns the next silence.
    fn off(&mut self) -> Span;
}

/// A law of lengths, given their mean.
pub(super) trait Law {
    /// Draws one length.
    fn length(&self, draws: &mut Draws, mean: Span) -> Span;
    /// Draws the rest of the length that covers an arbitrary instant: density P(length > x) / mean.
    fn residual(&self, draws: &mut Draws, mean: Span) -> Span;
}

/// How an on-off source begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    /// Silence before the first burst.
    silence: Span,
    /// Length of the first burst.
    burst: Span,
    /// Time of the first packet, by the clock that runs within bursts.
    first: Span,
}

/// An on-off source.
#[derive(Debug)]
pub(super) struct OnOff<L> {
    lengths: L,
    spacing: Serialiser,
    size: Bytes,
    /// The next packet, if the burst lasts that long.
    next: Time,
    burst_end: Time,
    end: Time,
}

impl<L: Lengths> OnOff<L> {
    pub(super) fn new(lengths: L, opening: Opening, rate: Rate, size: Bytes, sending: SendingTime) -> OnOff<L> {
        let begin = sending.start.saturating_add(opening.silence);
        OnOff {
            lengths,
            spacing: Serialiser::new(rate),
            size,
            next: begin.saturating_add(opening.first),
            burst_end: begin.saturating_add(opening.burst),
            end: sending.end,
        }
    }
}

impl<L: Lengths> Source for OnOff<L> {
    fn next(&mut self) -> Option<CrossPacket> {
        while self.next >= self.burst_end {
            if self.burst_end >= self.end {
                return None;
            }
            let beyond = self.next.since(self.burst_end);
            let begin = self.burst_end.saturating_add(self.lengths.off());
            self.next = begin.saturating_add(beyond);
            self.burst_end = begin.saturating_add(self.lengths.on());
        }
        if self.next >= self.end {
            return None;
        }
        let packet = CrossPacket { at: self.next, size: self.size };
        self.next = self.next.saturating_add(self.spacing.next(self.size));
        Some(packet)
    }
}

/// Bursts of one length, silences of one length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Periodic {
    on: Span,
    off: Span,
}

impl Periodic {
    pub(super) fn new(on: Span, off: Span) -> Periodic {
        Periodic { on, off }
    }

    /// Begins with a burst, and the burst with a packet.
    pub(super) fn at_the_beginning(&self) -> Opening {
        Opening { silence: Span::ZERO, burst: self.on, first: Span::ZERO }
    }

    /// Begins at a uniformly random point of the period.
    pub(super) fn anywhere(&self, draws: &mut Draws, rate: Rate, size: Bytes) -> Opening {
        let point = draws.below(self.on + self.off);
        let first = draws.below(rate.time_for(size));
        if point < self.on {
            Opening { silence: Span::ZERO, burst: self.on - point, first }
        } else {
            Opening { silence: self.on + self.off - point, burst: self.on, first }
        }
    }
}

impl Lengths for Periodic {
    fn on(&mut self) -> Span {
        self.on
    }

    fn off(&mut self) -> Span {
        self.off
    }
}

/// Lengths drawn from a law with these means, beginning in the stationary state.
#[derive(Debug)]
pub(super) struct Stationary<L> {
    law: L,
    draws: Draws,
    on: Span,
    off: Span,
}

impl<L: Law> Stationary<L> {
    pub(super) fn new(law: L, draws: Draws, on: Span, off: Span) -> Stationary<L> {
        Stationary { law, draws, on, off }
    }

    pub(super) fn opening(&mut self, rate: Rate, size: Bytes) -> Opening {
        let within_burst = self.draws.below(self.on + self.off) < self.on;
        let first = self.draws.below(rate.time_for(size));
        if within_burst {
            Opening { silence: Span::ZERO, burst: self.law.residual(&mut self.draws, self.on), first }
        } else {
            let silence = self.law.residual(&mut self.draws, self.off);
            Opening { silence, burst: self.on(), first }
        }
    }
}

impl<L: Law> Lengths for Stationary<L> {
    fn on(&mut self) -> Span {
        self.law.length(&mut self.draws, self.on)
    }

    fn off(&mut self) -> Span {
        self.law.length(&mut self.draws, self.off)
    }
}
