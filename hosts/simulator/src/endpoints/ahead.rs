//! Senders with clocks of their own.
//!
//! Nothing but its acknowledgments and its timers changes what a paced sender does, and what it does is seen an access delay
//! later: when its packets reach their first link. So it has no events. Its acknowledgments wait; when a packet that they may
//! have released could reach the first link, all of them are heard, one after the other, with departures and timers between
//! them, each at its own time. That time may lie ahead of the agenda's: what is known is heard, and so a window of packets
//! has its turn at once, while all that belongs to the flow is at hand.
//!
//! A step of a sender is made no earlier than it is sure:
//! 1. Acknowledgments arrive in order, so one is heard as soon as it is the next.
//! 2. A departure or a timer comes before the next acknowledgment. If none is known, one that is not may arrive after the
//!    delay from the receiver, no earlier.
//! 3. Nobody may look at the sender before the horizon, and it is told to stop at a time that is known.
//!
//! At one instant an acknowledgment comes first, then a timer, then a departure: the order of events.

use super::{Endpoints, Flow};
use crate::agenda::Agenda;
use crate::transit::AckTransit;
use units::{Span, Time};

/// The least time.
const INSTANT: Span = Span::from_picos(1);

/// What a sender does next.
enum Step {
    /// It hears of its first acknowledgment that waits.
    Hear(Time),
    /// A timer expires, or a packet departs.
    Act(Time),
}

impl Flow {
    /// Until when its sender may go on, at the latest.
    fn ahead_until(&self, now: Time, horizon: Time) -> Time {
        let stop = if self.stop > now { self.stop } else { Time::MAX };
        now.max(horizon.min(stop).saturating_sub(INSTANT))
    }
}

impl Endpoints {
    /// An acknowledgment of a flow that runs ahead waits.
    #[inline(always)]
    pub(super) fn let_wait(&mut self, agenda: &mut Agenda, index: usize, record: AckTransit) {
        let flow = &mut self.flows[index];
        let first = flow.waiting.is_empty() && flow.access.is_empty();
        self.waiting.push(&mut flow.waiting, record);
        if first {
            let expected = self.sending(index).expected();
            self.flows[index].expect(agenda, expected, index);
        }
    }

    /// Lets the sender of a flow that runs ahead go on: with all until `now`, and as far as is sure.
    pub(super) fn go_on(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        let until = self.flows[index].ahead_until(now, self.horizon);
        self.go_on_until(agenda, now, until, index);
    }

    /// The same, no further than before `now`.
    pub(super) fn go_on_before(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        self.go_on_until(agenda, now, now.saturating_sub(INSTANT), index);
    }

    #[inline(never)]
    fn go_on_until(&mut self, agenda: &mut Agenda, now: Time, until: Time, index: usize) {
        let mut sure = now + self.flows[index].return_delay;
        while let Some(step) = self.next_step(index, now, until, sure) {
            match step {
                Step::Hear(at) => {
                    sure = sure.max(at);
                    let Some(record) = self.waiting.pop_at(&mut self.flows[index].waiting, at) else { return };
                    self.hear(at, &record);
                    self.sending(index).depart(agenda, at);
                    self.flows[index].note_completion(at);
                }
                Step::Act(at) => {
                    let sender = &mut self.flows[index].sender;
                    if sender.next_deadline() <= at {
                        sender.on_wakeup(at);
                    }
                    self.sending(index).depart(agenda, at);
                }
            }
        }
    }

    /// What a sender does next until `until`, if that is sure. No acknowledgment that is not known yet arrives before `sure`.
    #[inline(always)]
    fn next_step(&self, index: usize, now: Time, until: Time, sure: Time) -> Option<Step> {
        let flow = &self.flows[index];
        let own = flow.sender.next_wakeup();
        // Those in the ring come first, and have events.
        let (next, sure) = match flow.waiting.due() {
            _ if flow.in_lane > 0 => (Time::MAX, now),
            Time::MAX => (Time::MAX, sure),
            first => (first, first),
        };
        if next <= own {
            (next <= until).then_some(Step::Hear(next))
        } else {
            (own <= until && (own <= now || own < sure)).then_some(Step::Act(own))
        }
    }
}
