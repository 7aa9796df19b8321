//! What happens next, and where: the schedule, with every place in the network numbered.

mod schedule;
mod sources;

pub(crate) use sources::EventSource;

use schedule::Schedule;
use units::Time;

/// The agenda of one run.
#[derive(Default)]
pub(crate) struct Agenda {
    schedule: Schedule,
    events: u64,
}

impl Agenda {
    /// The next event up to and including `end`, left in place until [`Agenda::advance_packet`] or
    /// [`Agenda::advance_timer`] takes it away.
    #[inline]
    pub(crate) fn next(&mut self, end: Time) -> Option<(Time, EventSource)> {
        let (now, source) = self.schedule.peek();
        if now > end {
            return None;
        }
        self.events += 1;
        Some((now, EventSource::of(source)))
    }

    /// A ring of packets has a new head.
    #[inline(always)]
    pub(crate) fn packet(&mut self, at: Time, source: EventSource) {
        let id = source.id();
        match source {
            EventSource::AckLane(_) => self.schedule.acknowledgment(at, id),
            _ => self.schedule.packet(at, id),
        }
    }

    /// A timer was set.
    #[inline]
    pub(crate) fn timer(&mut self, at: Time, source: EventSource) {
        self.schedule.timer(at, source.id());
    }

    /// The event at hand was the head of the ring `source`; `next`: when the ring's next packet is due.
    #[inline(always)]
    pub(crate) fn advance_packet(&mut self, source: EventSource, next: Option<Time>) {
        match source {
            EventSource::AckLane(_) => self.schedule.advance_acknowledgment(next),
            _ => self.schedule.advance_packet(next),
        }
    }

    /// The event at hand was a timer.
    #[inline]
    pub(crate) fn advance_timer(&mut self) {
        self.schedule.advance_timer();
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }
}
