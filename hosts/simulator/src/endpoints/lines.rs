//! Many short lines of packets in one slab.
//!
//! A flow's packets on their way to the first link are few most of the time and many for a moment. A ring per flow
//! would keep the room for that moment for ever, a thousand times, and spread over the cache; here a packet takes a slot
//! of a common slab, the one freed last, and each line is a list through it.

use crate::transit::Transit;
use units::Time;

const NONE: u32 = u32::MAX;

/// One line: first in, first out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    head: u32,
    tail: u32,
}

impl Line {
    pub(super) const EMPTY: Line = Line { head: NONE, tail: NONE };

    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.head == NONE
    }
}

#[derive(Clone, Debug)]
struct Slot {
    transit: Transit,
    next: u32,
}

/// The slab that all lines go through.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    slots: Vec<Slot>,
    free: u32,
}

impl Lines {
    pub(super) fn new() -> Lines {
        Lines { slots: Vec::new(), free: NONE }
    }

    #[inline]
    pub(super) fn push(&mut self, line: &mut Line, transit: Transit) {
        let slot = self.take_slot(transit);
        if line.is_empty() {
            line.head = slot;
        } else {
            self.slots[line.tail as usize].next = slot;
        }
        line.tail = slot;
    }

    #[inline]
    fn take_slot(&mut self, transit: Transit) -> u32 {
        if self.free == NONE {
            self.slots.push(Slot { transit, next: NONE });
            return (self.slots.len() - 1) as u32;
        }
        let slot = self.free;
        let place = &mut self.slots[slot as usize];
        self.free = place.next;
        *place = Slot { transit, next: NONE };
        slot
    }

    /// Takes the first packet, if it is due at this time.
    #[inline]
    pub(super) fn pop_at(&mut self, line: &mut Line, at: Time) -> Option<Transit> {
        let slot = line.head;
        let place = self.slots.get_mut(slot as usize).filter(|place| place.transit.at == at)?;
        line.head = place.next;
        place.next = self.free;
        self.free = slot;
        Some(place.transit)
    }

    #[inline]
    pub(super) fn front(&self, line: Line) -> Option<&Transit> {
        self.slots.get(line.head as usize).map(|slot| &slot.transit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use units::{Bytes, Span};

    fn packet(number: u64) -> Transit {
        Transit::of_traffic(0, number, Bytes::new(100), Time::from_picos(number))
    }

    proptest! {
        #[test]
        fn lines_behave_like_queues_of_their_own(moves in proptest::collection::vec((0usize..4, any::<bool>()), 0..300)) {
            let mut lines = Lines::new();
            let mut found = [Line::EMPTY; 4];
            let mut expected: [VecDeque<u64>; 4] = Default::default();
            for (number, (line, push)) in moves.into_iter().enumerate() {
                if push {
                    lines.push(&mut found[line], packet(number as u64));
                    expected[line].push_back(number as u64);
                } else {
                    let first = lines.front(found[line]).map_or(Time::ZERO, |transit| transit.at);
                    prop_assert!(lines.pop_at(&mut found[line], first + Span::from_picos(1)).is_none());
                    let popped = lines.pop_at(&mut found[line], first).map(|transit| transit.sequence);
                    prop_assert_eq!(popped, expected[line].pop_front());
                }
                let front = lines.front(found[line]).map(|transit| transit.sequence);
                prop_assert_eq!(front, expected[line].front().copied());
                prop_assert_eq!(found[line].is_empty(), expected[line].is_empty());
            }
        }
    }
}
