//! The schedule: a 4-ary heap of (time, source).
//!
//! Only the head of each ring of packets is in it, so it holds about one entry per busy source, not one per packet.
//! Equal times are served in order of source number, and sources are numbered so that causes come before effects
//! (see [`super::sources`]); the order of insertion never matters. Entries are never cancelled: a source that moved
//! its time ignores the stale entry when it surfaces.
//!
//! Timers live in a heap of their own: a thousand retransmission timers, almost all far away, would otherwise deepen
//! the heap that every packet passes. So do acknowledgments: flows share few rings of them, and half of all events would
//! otherwise sink through a heap with an entry for every paced flow.

use packetscale_models::units::Time;

/// Number of an event source.
pub(super) type SourceId = u32;

/// Time, then source, as one number. Which of two events comes first cannot be predicted, so that a branch for it costs
/// more than the comparison; numbers are compared without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event(u128);

impl Event {
    const NEVER: Event = Event::new(Time::MAX, SourceId::MAX);

    #[inline(always)]
    const fn new(time: Time, source: SourceId) -> Event {
        Event((time.picos() as u128) << SourceId::BITS | source as u128)
    }

    #[inline(always)]
    const fn time(self) -> Time {
        Time::from_picos((self.0 >> SourceId::BITS) as u64)
    }

    #[inline(always)]
    const fn source(self) -> SourceId {
        self.0 as SourceId
    }
}

const ARITY: usize = 4;

/// Entries that are compared with each other. They share a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Siblings([Event; ARITY]);

impl Siblings {
    const NONE: Siblings = Siblings([Event::NEVER; ARITY]);

    /// The first of them, and which it is. It is found without a branch: which one it is cannot be predicted.
    #[inline(always)]
    fn first(&self) -> (usize, Event) {
        let mut found = (0, self.0[0]);
        for (place, event) in self.0.iter().enumerate().skip(1) {
            let less = *event < found.1;
            found = (if less { place } else { found.0 }, if less { *event } else { found.1 });
        }
        found
    }
}

/// A 4-ary implicit heap: half the depth of a binary one. Its root is the last of the first four places; the children of
/// place p are siblings p - 2. A place without an entry holds one that never happens.
#[derive(Clone, Debug)]
struct Heap {
    siblings: Vec<Siblings>,
    /// The first place after the last entry.
    end: usize,
}

const ROOT: usize = ARITY - 1;

impl Default for Heap {
    fn default() -> Heap {
        Heap { siblings: vec![Siblings::NONE], end: ROOT }
    }
}

impl Heap {
    #[inline(always)]
    fn set(&mut self, place: usize, entry: Event) {
        self.siblings[place / ARITY].0[place % ARITY] = entry;
    }

    #[inline(always)]
    fn push(&mut self, entry: Event) {
        let mut place = self.end;
        self.end += 1;
        if place / ARITY == self.siblings.len() {
            self.siblings.push(Siblings::NONE);
        }
        while place > ROOT {
            let parent = place / ARITY + ROOT - 1;
            let above = self.siblings[parent / ARITY].0[parent % ARITY];
            if above <= entry {
                break;
            }
            self.set(place, above);
            place = parent;
        }
        self.set(place, entry);
    }

    /// The top was the head of a ring; the ring's next packet, if any, takes its place.
    #[inline(always)]
    fn advance(&mut self, next: Option<Time>) {
        match next {
            Some(time) => self.sink(Event::new(time, self.top().source())),
            None => self.pop(),
        }
    }

    /// Puts `entry` where the top was and restores the order.
    #[inline]
    fn sink(&mut self, entry: Event) {
        let mut place = ROOT;
        while let Some(children) = self.siblings.get(place + 1 - ROOT) {
            let (least, child) = children.first();
            if entry <= child {
                break;
            }
            self.set(place, child);
            place = (place + 1 - ROOT) * ARITY + least;
        }
        self.set(place, entry);
    }

    #[inline]
    fn pop(&mut self) {
        if self.end == ROOT {
            return;
        }
        self.end -= 1;
        let last = self.siblings[self.end / ARITY].0[self.end % ARITY];
        self.set(self.end, Event::NEVER);
        if self.end > ROOT {
            if self.end.is_multiple_of(ARITY) {
                self.siblings.pop();
            }
            self.sink(last);
        }
    }

    #[inline]
    fn top(&self) -> Event {
        self.siblings[0].0[ROOT]
    }
}

/// The three heaps as one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    packets: Heap,
    acknowledgments: Heap,
    timers: Heap,
}

impl Schedule {
    /// A ring of packets has a new head.
    #[inline(always)]
    pub(super) fn packet(&mut self, time: Time, source: SourceId) {
        self.packets.push(Event::new(time, source));
    }

    /// A ring of acknowledgments has a new head.
    #[inline(always)]
    pub(super) fn acknowledgment(&mut self, time: Time, source: SourceId) {
        self.acknowledgments.push(Event::new(time, source));
    }

    /// A timer was set.
    #[inline]
    pub(super) fn timer(&mut self, time: Time, source: SourceId) {
        self.timers.push(Event::new(time, source));
    }

    /// The next event, left in place. ([`Time::MAX`], _) when nothing happens.
    #[inline]
    pub(super) fn peek(&self) -> (Time, SourceId) {
        let next = self.packets.top().min(self.acknowledgments.top()).min(self.timers.top());
        (next.time(), next.source())
    }

    /// The first of the packets.
    #[inline(always)]
    pub(super) fn peek_packet(&self) -> (Time, SourceId) {
        let top = self.packets.top();
        (top.time(), top.source())
    }

    /// Takes away the entry that [`Schedule::peek`] showed, a ring's head; the ring's next packet, if any, takes its
    /// place.
    #[inline]
    pub(super) fn advance_packet(&mut self, next: Option<Time>) {
        self.packets.advance(next);
    }

    /// The same for a ring of acknowledgments.
    #[inline]
    pub(super) fn advance_acknowledgment(&mut self, next: Option<Time>) {
        self.acknowledgments.advance(next);
    }

    /// Takes away the entry that [`Schedule::peek`] showed, a timer.
    #[inline]
    pub(super) fn advance_timer(&mut self) {
        self.timers.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
    fn entries_are_ordered_by_time_then_source(raw in proptest::collection::vec((0u64..50, 0u32..20), 0..200)) {
            let mut schedule = Schedule::default();
            for (i, &(time, source)) in raw.iter().enumerate() {
                match i % 3 {
                    0 => schedule.timer(Time::from_picos(time), source + 100),
                    1 => schedule.acknowledgment(Time::from_picos(time), source + 50),
                    _ => schedule.packet(Time::from_picos(time), source),
                }
            }
            let mut expected: Vec<(u64, u32)> =
                raw.iter().enumerate().map(|(i, &(t, s))| (t, s + [100, 50, 0][i % 3])).collect();
            expected.sort_unstable();
            let mut found = Vec::new();
            while schedule.peek().0 != Time::MAX {
                let (time, source) = schedule.peek();
                found.push((time.picos(), source));
                match source {
                    100.. => schedule.advance_timer(),
                    50.. => schedule.advance_acknowledgment(None),
                    _ => schedule.advance_packet(None),
                }
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn replacing_the_head_equals_taking_it_and_pushing(raw in proptest::collection::vec(0u64..50, 2..60), later in 0u64..60) {
            let mut replaced = Schedule::default();
            let mut pushed = Schedule::default();
            for (i, &time) in raw.iter().enumerate() {
                replaced.packet(Time::from_picos(time), i as u32);
                pushed.packet(Time::from_picos(time), i as u32);
            }
            let (top, source) = replaced.peek();
            let next = Time::from_picos(top.picos() + later);
            replaced.advance_packet(Some(next));
            pushed.advance_packet(None);
            pushed.packet(next, source);
            while pushed.peek().0 != Time::MAX {
                prop_assert_eq!(replaced.peek(), pushed.peek());
                replaced.advance_packet(None);
                pushed.advance_packet(None);
            }
        }
    }
}
