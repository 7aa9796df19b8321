//! Packets between two places, first in, first out. Only the head of a ring is on the agenda.

use crate::agenda::{Agenda, EventSource};
use crate::transit::{AckTransit, Transit};
use std::collections::VecDeque;
use units::Time;

/// What is under way in a ring.
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
}

impl<P: UnderWay> Ring<P> {
    pub(crate) fn new() -> Ring<P> {
        Ring { packets: VecDeque::new() }
    }

    /// Adds a packet that arrives no earlier than those before it. `source`: this ring's events.
    #[inline(always)]
    pub(crate) fn push(&mut self, agenda: &mut Agenda, source: EventSource, packet: P) {
        if self.packets.is_empty() {
            agenda.packet(packet.at(), source);
        }
        self.packets.push_back(packet);
    }

    /// Takes the packet whose arrival is the event at hand.
    #[inline]
    pub(crate) fn pop(&mut self, agenda: &mut Agenda) -> Option<P> {
        let packet = self.packets.pop_front()?;
        agenda.advance_packet(self.packets.front().map(P::at));
        Some(packet)
    }
}
