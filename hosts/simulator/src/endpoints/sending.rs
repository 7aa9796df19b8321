//! What senders do when acknowledgments and timers reach them, and the packets' way to the first link.
//!
//! A sender that waits for nothing but a departure time has no event for it. What an acknowledgment finds it has not done
//! yet is caught up with. And it runs ahead: where it is known when the next acknowledgment arrives, what leaves before that
//! leaves at once, while all that belongs to the flow is at hand. Nothing else can change it until then but its timer, and
//! nobody may look at it before the horizon.

use super::lines::Lines;
use super::{Cards, Endpoints, Flow};
use crate::agenda::{Agenda, EventSource};
use crate::transit::Transit;
use congestion::{AnyController, Controller};
use packets::Event;
use queueing::RateHeader;
use transport::Ack;
use units::{Span, Time};

#[cold]
fn note(noted: &mut Vec<Event>, event: Event) {
    noted.push(event);
}

/// Its argument is large: no copy of it is made on the way of acknowledgments that nobody notes.
#[cold]
fn note_acknowledged(noted: &mut Vec<Event>, flow: usize, ack: &Ack) {
    noted.push(Event::Acknowledged { flow, ack: *ack });
}

impl Endpoints {
    /// An acknowledgment reaches its sender, which sends what may leave now.
    #[inline(always)]
    pub(crate) fn at_sender(&mut self, agenda: &mut Agenda, now: Time, lane: usize) {
        let source = EventSource::AckLane(lane as u32);
        let Some(record) = self.ack_lanes[lane].pop(agenda, source) else { return };
        let index = record.flow as usize;
        self.catch_up_before(agenda, now, index);
        let flow = &mut self.flows[index];
        let usual = flow.usual(now - flow.return_delay, self.stamp_clock);
        let ack = self.details.unpack(&record, usual);
        if let Some(noted) = &mut self.noted {
            note_acknowledged(noted, index, ack);
        }
        flow.sender.on_ack(now, ack);
        if !self.oracle.is_empty() {
            self.tell(now, index);
        }
        if self.flows[index].runs_ahead {
            self.transmit_ahead(agenda, now, index, record.alone_until().min(self.horizon));
        } else {
            self.transmit(agenda, now, index);
        }
    }

    /// Tells a controller what was available when the packet that was just acknowledged reached the bottleneck.
    fn tell(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let then = now.saturating_sub(flow.sender.counters().rtt_latest) + flow.access_delay;
        let known = self.oracle.iter().rev().find(|(from, _)| *from <= then);
        if let Some((_, available)) = known {
            flow.sender.controller_mut().on_available(now, *available);
        }
    }

    /// A flow's timer: its start, a departure, or a timeout.
    pub(crate) fn sender_timer(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        if self.flows[index].armed != now {
            return;
        }
        self.catch_up_before(agenda, now, index);
        let flow = &mut self.flows[index];
        (flow.armed, flow.due) = (Time::MAX, Time::MAX);
        flow.offer(now);
        flow.sender.on_wakeup(now);
        if flow.gaps.as_ref().is_some_and(|gaps| gaps.deadline() <= now) {
            self.sending(index).release(agenda, now);
        }
        self.transmit(agenda, now, index);
    }

    /// A flow has nothing new to send from now on.
    pub(crate) fn stop(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        self.catch_up_before(agenda, now, index);
        let flow = &mut self.flows[index];
        flow.application = None;
        flow.sender.close();
        self.transmit(agenda, now, index);
    }

    /// Lends the controller of a flow to `act`, and has its sender do what is then decided.
    pub(crate) fn with_controller<T>(
        &mut self,
        agenda: &mut Agenda,
        now: Time,
        index: usize,
        act: impl FnOnce(&mut AnyController) -> T,
    ) -> T {
        self.catch_up(agenda, now, index);
        let done = act(self.flows[index].sender.controller_mut());
        if self.flows[index].start <= now {
            self.transmit(agenda, now, index);
        }
        done
    }

    // ---- departures caught up with --------------------------------------------------------------------------

    /// Catches up with the departures before `now`.
    #[inline(always)]
    fn catch_up_before(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        if self.flows[index].sender.departure() < now {
            self.catch_up(agenda, now - Span::from_picos(1), index);
        }
    }

    /// Catches up with the departures up to and including `until`.
    #[inline(never)]
    fn catch_up(&mut self, agenda: &mut Agenda, until: Time, index: usize) {
        let mut sending = self.sending(index);
        if sending.flow.patience == Span::ZERO {
            return;
        }
        let mut departure = sending.flow.sender.departure();
        while departure <= until {
            sending.depart(agenda, departure);
            departure = sending.flow.sender.departure();
        }
    }

    /// Sets a flow's timer, away from the way of most packets. `expected`: its next event at the first link.
    #[inline(never)]
    fn rearm(&mut self, agenda: &mut Agenda, now: Time, index: usize, expected: Time) {
        self.sending(index).set_timer(agenda, now, expected);
    }

    /// Catches up with the departures of the first `flows` flows up to and including `until`: somebody looks at their senders.
    pub(crate) fn catch_up_first(&mut self, agenda: &mut Agenda, until: Time, flows: usize) {
        for index in 0..flows {
            if self.flows[index].sender.departure() <= until {
                self.catch_up(agenda, until, index);
                let expected = self.sending(index).expected();
                self.rearm(agenda, until, index, expected);
            }
        }
    }

    /// Makes no departure wait from now on: somebody wants to hear of each when it happens.
    pub(crate) fn let_none_wait(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.patience = Span::ZERO);
    }

    // ---- departures --------------------------------------------------------------------------------------------

    /// Sends what may leave now, and sets the flow's timer. One function, in which all that a packet needs is inlined.
    #[inline(never)]
    pub(crate) fn transmit(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        let mut sending = self.sending(index);
        sending.depart(agenda, now);
        sending.arm(agenda, now);
    }

    /// The same of a flow that runs ahead: sends what leaves before `alone`, too. Until then nothing but its timer can change
    /// what the flow does.
    #[inline(never)]
    fn transmit_ahead(&mut self, agenda: &mut Agenda, now: Time, index: usize, alone: Time) {
        let mut sending = self.sending(index);
        let mut departure = now;
        loop {
            sending.depart(agenda, departure);
            departure = sending.flow.sender.departure();
            if departure >= alone || !sending.flow.may_run_ahead(departure) {
                break;
            }
        }
        sending.arm(agenda, now);
    }

    /// From now on nobody looks at the flows before this instant, nor at what they did in it.
    pub(crate) fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
    }

    /// A flow at its sending host.
    #[inline(always)]
    fn sending(&mut self, index: usize) -> Sending<'_> {
        Sending {
            flow: &mut self.flows[index],
            index,
            cards: &mut self.cards,
            accesses: &mut self.accesses,
            noted: &mut self.noted,
            batching: self.batching,
        }
    }

    /// The packet of a flow that arrives now at the first link of its route. `None`: none does, the packet that was
    /// expected now left later, or leaves at another time.
    #[inline(always)]
    pub(crate) fn at_first_link(&mut self, agenda: &mut Agenda, now: Time, index: usize) -> Option<Transit> {
        let source = EventSource::Access(index as u32);
        let flow = &self.flows[index];
        if flow.expected != now {
            agenda.advance_packet(source, None);
            return None;
        }
        let departure = flow.sender.departure();
        let (paced, departs) = (departure < Time::MAX, departure <= now);
        if departs {
            self.catch_up(agenda, now, index);
        }
        let sending = self.sending(index);
        let transit = sending.accesses.pop_at(&mut sending.flow.access, now);
        let next = sending.expected();
        sending.flow.expected = next;
        agenda.advance_packet(source, (next < Time::MAX).then_some(next));
        if departs || (paced && sending.flow.patience > Span::ZERO && !sending.flow.may_wait(next)) {
            self.rearm(agenda, now, index, next);
        }
        transit
    }
}

/// One flow at its sending host, with what it shares there with others.
struct Sending<'a> {
    flow: &'a mut Flow,
    index: usize,
    cards: &'a mut Cards,
    accesses: &'a mut Lines,
    noted: &'a mut Option<Vec<Event>>,
    /// Hosts hold packets until a batch is full.
    batching: bool,
}

impl Sending<'_> {
    /// The next event of the flow at its first link, at the latest: of the packet that is on its way there or, if none is,
    /// of the one that is next to leave. [`Time::MAX`]: none is known of.
    #[inline(always)]
    fn expected(&self) -> Time {
        if let Some(first) = self.accesses.front(self.flow.access) {
            return first.at;
        }
        let departure = self.flow.sender.departure();
        if departure == Time::MAX || self.flow.patience == Span::ZERO {
            return Time::MAX;
        }
        let least = self.flow.sender.least_packet();
        let out = self.flow.card.map_or(departure, |card| self.cards.earliest(card, departure, least));
        out + self.flow.access_delay
    }

    /// Sends what may leave now.
    #[inline(always)]
    fn depart(&mut self, agenda: &mut Agenda, now: Time) {
        while let Some(segment) = self.flow.sender.poll_transmit(now) {
            let transit = Transit::of_flow(self.index, &segment, now);
            if let Some(noted) = self.noted {
                note(noted, Event::Sent { flow: self.index, segment });
            }
            if self.flow.headers.is_some() {
                self.write_header(segment.transmission);
            }
            if !self.batching {
                self.leave(agenda, now, transit);
            } else if self.flow.gaps.as_mut().is_some_and(|gaps| gaps.hold(transit)) {
                self.release(agenda, now);
            }
        }
    }

    /// A packet of a sender that takes rates from routers carries room for one.
    #[cold]
    fn write_header(&mut self, transmission: u64) {
        if let Some(headers) = &mut self.flow.headers {
            headers.push(transmission, RateHeader { rtt: self.flow.sender.rtt().0, offer: None });
        }
    }

    /// A packet leaves its host, through the card if that has a rate.
    #[inline(always)]
    fn leave(&mut self, agenda: &mut Agenda, now: Time, mut transit: Transit) {
        let out = self.flow.card.map_or(now, |card| self.cards.leaves(card, now, transit.size()));
        transit.at = out + self.flow.access_delay;
        self.flow.expect(agenda, transit.at, self.index);
        self.accesses.push(&mut self.flow.access, transit);
    }

    /// A batch leaves its host.
    #[cold]
    fn release(&mut self, agenda: &mut Agenda, now: Time) {
        let held = self.flow.gaps.as_mut().map(|gaps| gaps.release());
        for transit in held.into_iter().flatten() {
            self.leave(agenda, now, transit);
        }
    }

    #[inline(always)]
    fn arm(&mut self, agenda: &mut Agenda, now: Time) {
        let paced = self.flow.sender.departure() < Time::MAX;
        let expected = if paced { self.expected() } else { Time::MAX };
        if paced && !self.flow.runs_ahead {
            self.flow.begin_to_run_ahead();
        }
        self.set_timer(agenda, now, expected);
    }

    /// Sets the flow's timer. `expected`: its next event at the first link, if it knows when its next packet departs.
    #[inline(always)]
    fn set_timer(&mut self, agenda: &mut Agenda, now: Time, expected: Time) {
        let flow = &mut *self.flow;
        let paced = flow.sender.departure() < Time::MAX;
        let mut due = flow.sender.next_wakeup();
        if due == Time::MAX && flow.completed == Time::MAX && flow.sender.is_done() {
            flow.completed = now;
        }
        if paced && flow.may_wait(expected) {
            flow.expect(agenda, expected, self.index);
            due = flow.sender.next_deadline();
        }
        if let Some(gaps) = &flow.gaps {
            due = due.min(gaps.deadline());
        }
        due = due.min(flow.next_offer());
        if due >= flow.due {
            return;
        }
        flow.due = due;
        let wake = flow.gaps.as_mut().map_or(due, |gaps| gaps.wake(due)).max(now + Span::from_picos(1));
        if wake < flow.armed {
            flow.armed = wake;
            agenda.timer(wake, EventSource::Flow(self.index as u32));
        }
    }
}
