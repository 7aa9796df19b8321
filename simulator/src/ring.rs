//! Packets between two places, first in, first out. Only the head of a ring is on the agenda.

use crate::agenda::{Agenda, EventSource};
use crate::transit::{AckTransit, Transit};
use packetscale_models::units::Time;
use std::collections::VecDeque;

/// An item under way in a ring.
pub(crate) trait UnderWay {
    /// When it reaches the next place.
    fn at(&self) -> Time;
}

impl UnderWay for Transit {
    #[inline]
    fn at(&self) -> Time {
        self.at
    }
}

impl UnderWay for AckTransit {
    #[inline]
    fn at(&self) -> Time {
        self.at
    }
}

/// Packets in order of their arrival times.
#[derive(Clone, Debug)]
pub(crate) struct Ring<P> {
    packets: VecDeque<P>,
    /// Packets added since its capacity was last checked.
    turn: usize,
}

/// Capacity for this many packets is never released.
const LEAST_CAPACITY: usize = 256;
/// A ring is too large if no more than this part of it is in use.
const OVERSIZED: usize = 4;

impl<P: UnderWay> Ring<P> {
    pub(crate) fn new() -> Ring<P> {
        Ring { packets: VecDeque::new(), turn: 0 }
    }

    /// Adds a packet that arrives no earlier than those before it. `source`: this ring's events.
    #[inline(always)]
    pub(crate) fn push(&mut self, agenda: &mut Agenda, source: EventSource, packet: P) {
        if self.packets.is_empty() {
            agenda.packet(packet.at(), source);
        }
        self.turn += 1;
        if self.turn > self.packets.capacity() {
            self.begin_turn();
        }
        self.packets.push_back(packet);
    }

    /// Halves a ring that a burst has left too large: each turn passes through all of its memory, of which nothing would
    /// stay in the cache.
    #[cold]
    fn begin_turn(&mut self) {
        let capacity = self.packets.capacity();
        self.turn = 0;
        if capacity > LEAST_CAPACITY && self.packets.len() <= capacity / OVERSIZED {
            self.packets.shrink_to(capacity / 2);
        }
    }

    /// Takes the packet that arrives in the current event. `source`: this ring's events.
    #[inline(always)]
    pub(crate) fn pop(&mut self, agenda: &mut Agenda, source: EventSource) -> Option<P> {
        let packet = self.packets.pop_front()?;
        agenda.advance_packet(source, self.packets.front().map(P::at));
        Some(packet)
    }
}
