//! The next event and its place: the schedule, with every place in the network numbered.

mod schedule;
mod sources;

pub(crate) use sources::EventSource;

use packetscale_models::units::Time;
use schedule::Schedule;

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

    /// The current event was the head of the ring `source`; `next`: when the ring's next packet is due.
    #[inline(always)]
    pub(crate) fn advance_packet(&mut self, source: EventSource, next: Option<Time>) {
        match source {
            EventSource::AckLane(_) => self.schedule.advance_acknowledgment(next),
            _ => self.schedule.advance_packet(next),
        }
    }

    /// The same, when something may have been scheduled since: at this instant and before it, by links that take no time. The
    /// entry then stays. It is stale, unless the next packet is due at the same instant.
    #[inline(always)]
    pub(crate) fn advance_packet_late(&mut self, now: Time, source: EventSource, next: Option<Time>) {
        if self.schedule.peek_packet() == (now, source.id()) {
            self.schedule.advance_packet(next);
        } else if let Some(next) = next.filter(|next| *next != now) {
            self.schedule.packet(next, source.id());
        }
    }

    /// The current event was a timer.
    #[inline]
    pub(crate) fn advance_timer(&mut self) {
        self.schedule.advance_timer();
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }
}
