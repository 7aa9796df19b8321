//! What happens next, and where: the schedule, with every place in the network numbered.

mod schedule;
mod sources;

pub(crate) use sources::{EventSource, SourceCounts};

use schedule::Schedule;
use sources::Numbering;
use units::Time;

/// The agenda of one run.
pub(crate) struct Agenda {
    schedule: Schedule,
    numbering: Numbering,
    events: u64,
}

impl Agenda {
    pub(crate) fn new(counts: SourceCounts) -> Agenda {
        Agenda { schedule: Schedule::default(), numbering: Numbering::new(counts), events: 0 }
    }

    /// The next event up to and including `end`, left in place until [`Agenda::advance_packet`] or
    /// [`Agenda::advance_timer`] takes it away.
    #[inline]
    pub(crate) fn next(&mut self, end: Time) -> Option<(Time, EventSource)> {
        let (now, source) = self.schedule.peek();
        if now > end {
            return None;
        }
        self.events += 1;
        Some((now, self.numbering.source(source)))
    }

    /// A ring of packets has a new head.
    #[inline(always)]
    pub(crate) fn packet(&mut self, at: Time, source: EventSource) {
        let id = self.numbering.id(source);
        match source {
            EventSource::AckLane(_) => self.schedule.acknowledgment(at, id),
            _ => self.schedule.packet(at, id),
        }
    }

    /// A timer was set.
    #[inline]
    pub(crate) fn timer(&mut self, at: Time, source: EventSource) {
        self.schedule.timer(at, self.numbering.id(source));
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
