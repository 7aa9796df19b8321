//! Many short lines of packets in one slab.
//!
//! A flow's packets on their way to the first link are few most of the time and many for a moment. A ring per flow
//! would reserve memory for that moment, a thousand times, and spread over the cache; here a packet takes a slot
//! of a common slab, the one freed last, and each line is a list through it.

use crate::ring::UnderWay;
use packetscale_models::units::Time;

const NONE: u32 = u32::MAX;

/// One line: first in, first out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// When its first packet is due; [`Time::MAX`] if empty. The time of each further packet is stored in the packet
    /// before, so that reading it touches no packet.
    due: Time,
    head: u32,
    tail: u32,
}

impl Line {
    pub(super) const EMPTY: Line = Line { due: Time::MAX, head: NONE, tail: NONE };

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// When its first packet is due; [`Time::MAX`] if empty.
    #[inline]
    pub(super) fn due(self) -> Time {
        self.due
    }
}

#[derive(Clone, Debug)]
struct Slot<P> {
    packet: P,
    next: u32,
    next_due: Time,
}

/// The slab that all lines go through.
#[derive(Clone, Debug)]
pub(super) struct Lines<P> {
    slots: Vec<Slot<P>>,
    free: u32,
}

impl<P: UnderWay + Copy> Lines<P> {
    pub(super) fn new() -> Lines<P> {
        Lines { slots: Vec::new(), free: NONE }
    }

    #[inline]
    pub(super) fn push(&mut self, line: &mut Line, packet: P) {
        let slot = self.take_slot(packet);
        if line.is_empty() {
            (line.head, line.due) = (slot, packet.at());
        } else {
            let last = &mut self.slots[line.tail as usize];
            (last.next, last.next_due) = (slot, packet.at());
        }
        line.tail = slot;
    }

    #[inline]
    fn take_slot(&mut self, packet: P) -> u32 {
        if self.free == NONE {
            self.slots.push(Slot { packet, next: NONE, next_due: Time::MAX });
            return (self.slots.len() - 1) as u32;
        }
        let slot = self.free;
        let place = &mut self.slots[slot as usize];
        self.free = place.next;
        *place = Slot { packet, next: NONE, next_due: Time::MAX };
        slot
    }

    /// Takes the first packet, if it is due at this time.
    #[inline]
    pub(super) fn pop_at(&mut self, line: &mut Line, at: Time) -> Option<P> {
        if line.due != at {
            return None;
        }
        let slot = line.head;
        let place = self.slots.get_mut(slot as usize)?;
        (line.head, line.due) = (place.next, place.next_due);
        place.next = self.free;
        self.free = slot;
        Some(place.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transit::Transit;
    use packetscale_models::units::{Bytes, Span};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn packet(number: u64) -> Transit {
        Transit::of_traffic(0, number, Bytes::new(100), Time::from_picos(number))
    }

    proptest! {
        #[test]
        fn lines_behave_like_separate_queues(moves in proptest::collection::vec((0usize..4, any::<bool>()), 0..300)) {
            let mut lines = Lines::new();
            let mut found = [Line::EMPTY; 4];
            let mut expected: [VecDeque<u64>; 4] = Default::default();
            for (number, (line, push)) in moves.into_iter().enumerate() {
                if push {
                    lines.push(&mut found[line], packet(number as u64));
                    expected[line].push_back(number as u64);
                } else {
                    let first = found[line].due();
                    prop_assert!(lines.pop_at(&mut found[line], first.saturating_add(Span::from_picos(1))).is_none());
                    let popped = lines.pop_at(&mut found[line], first).map(|transit| transit.sequence);
                    prop_assert_eq!(popped, expected[line].pop_front());
                }
                let due = expected[line].front().map_or(Time::MAX, |first| Time::from_picos(*first));
                prop_assert_eq!(found[line].due(), due);
                prop_assert_eq!(found[line].is_empty(), expected[line].is_empty());
            }
        }
    }
}
