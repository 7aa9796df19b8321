//! Senders with separate clocks.
//!
//! Only acknowledgments and timers change the behaviour of a paced sender, and its packets are visible an access delay
//! later, when they reach their first link. So it needs no events. Its acknowledgments wait; when a packet that they may
//! have released could reach the first link, all of them are processed, one after the other, with departures and timers between
//! them, each at its own time. That time may be ahead of the agenda's: all known acknowledgments are processed, so that a
//! window of packets is handled at once, while the flow's state is in the cache.
//!
//! Where each packet is acknowledged on arrival and its acknowledgment is only delayed, packets wait instead, at
//! their receiver, which processes each just before the sender receives the acknowledgment: nothing else reads the
//! receiver, and acknowledgments need not be packed.
//!
//! A step of a sender is made only once it is certain:
//! 1. Acknowledgments arrive in order, so the next one can be processed as soon as it is known.
//! 2. A departure or a timer comes before the next acknowledgment. If none is known, an unknown one may arrive after the
//!    delay from the receiver, no earlier; where packets are acknowledged on arrival, after that of the last link, too.
//! 3. Nothing reads the sender before the horizon, and the sender stops at a known time.
//! 4. It is no more than [`MOST_AHEAD`] ahead.
//!
//! It continues when one of its packets could reach the first link and none is on its way. If the time of the next departure
//! is known, and no news brings it forward, it waits until then, and processes more at once; else it continues as soon as the last packet has
//! reached the link.
//!
//! At one instant an acknowledgment comes first, then a timer, then a departure: the order of events.

use super::lines::Line;
use super::{Endpoints, Flow};
use crate::agenda::Agenda;
use packetscale_models::units::{Span, Time};

/// The least time.
const INSTANT: Span = Span::from_picos(1);

/// No sender is further ahead of the agenda: behind a deep queue acknowledgments are known seconds ahead, and the packets that
/// they release would leave the cache before they are used. A window of most paths is processed in a few turns.
const MOST_AHEAD: Span = Span::from_millis(20);

impl Flow {
    /// When the first acknowledgment that waits arrives; [`Time::MAX`]: none is known.
    #[inline]
    pub(super) fn next_ack(&self) -> Time {
        let due = self.waiting.due();
        if self.direct { due.saturating_add(self.return_delay) } else { due }
    }

    /// Until when its sender may go on, at the latest.
    fn ahead_until(&self, now: Time, horizon: Time) -> Time {
        let stop = if self.stop > now { self.stop } else { Time::MAX };
        now.max(horizon.min(stop).saturating_sub(INSTANT).min(now.saturating_add(MOST_AHEAD)))
    }
}

impl Endpoints {
    /// An acknowledgment of a flow that runs ahead waits, or its packet does: `push` puts it into the flow's line.
    #[inline(always)]
    pub(super) fn let_wait(&mut self, agenda: &mut Agenda, index: usize, push: impl FnOnce(&mut Endpoints, &mut Line)) {
        let flow = &mut self.flows[index];
        let first = flow.waiting.is_empty() && flow.access.is_empty();
        let mut line = flow.waiting;
        push(self, &mut line);
        self.flows[index].waiting = line;
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
        let flow = &self.flows[index];
        // Acknowledgments in the ring come first, and have events.
        let waits = flow.in_lane > 0;
        // No acknowledgment that is not known yet arrives until then.
        let mut quiet = if waits { now } else { now.max((now + flow.known_ahead).saturating_sub(INSTANT)) };
        loop {
            let flow = &mut self.flows[index];
            let next = if waits { Time::MAX } else { flow.next_ack() };
            let own = flow.sender.next_wakeup();
            let (at, sure) = (next.min(own), if next < Time::MAX { until } else { until.min(quiet) });
            if at > sure {
                break;
            }
            if next <= own {
                quiet = quiet.max(at.saturating_sub(INSTANT));
                self.process_first_ack(at, index);
            } else if flow.sender.next_deadline() <= at {
                flow.sender.on_wakeup(at);
            }
            self.sending(index).depart(agenda, at);
            self.flows[index].note_completion(at);
        }
    }

    /// A sender that runs ahead processes its first acknowledgment, which arrives at `now`.
    #[inline(always)]
    fn process_first_ack(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        if !flow.direct {
            if let Some(record) = self.waiting.pop_at(&mut flow.waiting, now) {
                self.process_ack(now, &record);
            }
            return;
        }
        if self.answer_first(index) {
            self.flows[index].sender.on_ack(now, &self.answer);
            if !self.oracle.is_empty() {
                self.report_available(now, index);
            }
        }
    }

    /// A receiver sees the first packet that waits. Returns whether it sends an acknowledgment: `answer` has it.
    #[inline(always)]
    fn answer_first(&mut self, index: usize) -> bool {
        let flow = &mut self.flows[index];
        let at = flow.waiting.due();
        let Some(packet) = self.delivered.pop_at(&mut flow.waiting, at) else { return false };
        let answers = flow.receiver.answer(at, &packet.segment(), &mut self.answer);
        if answers {
            self.answered += 1;
            flow.stamp(&mut self.answer, self.stamp_clock);
        }
        answers
    }

    /// The run is over: lets senders do what they have not done yet until `end`, and receivers see all that was delivered. Returns
    /// how many acknowledgments no event has counted.
    pub(crate) fn finish(&mut self, agenda: &mut Agenda, end: Time) -> u64 {
        for index in 0..self.of_scenario {
            self.catch_up(agenda, end, index);
            while self.flows[index].direct && !self.flows[index].waiting.is_empty() {
                self.answer_first(index);
            }
        }
        self.answered
    }
}
