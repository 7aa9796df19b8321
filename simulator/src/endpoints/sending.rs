//! Senders at acknowledgments and timers, and the packets' way to the first link.
//!
//! A paced sender has no events: [`super::ahead`] decides when it acts.

use super::lines::Lines;
use super::{Cards, Endpoints, Flow};
use crate::agenda::{Agenda, EventSource};
use crate::transit::{AckTransit, Transit};
use harness::packets::Event;
use packetscale_models::congestion::{AnyController, Extras};
use packetscale_models::queueing::RateHeader;
use packetscale_models::transport::Ack;
use packetscale_models::units::{Span, Time};

#[cold]
fn note(noted: &mut Vec<Event>, event: Event) {
    noted.push(event);
}

/// Its argument is large: unobserved runs copy none.
#[cold]
fn note_acknowledged(noted: &mut Vec<Event>, flow: usize, ack: &Ack) {
    noted.push(Event::Acknowledged { flow, ack: *ack });
}

/// Adds a rate header to a packet of a sender that takes rates from routers.
#[cold]
fn write_header(flow: &mut Flow, transmission: u64) {
    if let Some(headers) = &mut flow.headers {
        headers.push(transmission, RateHeader { rtt: flow.sender.rtt().0, offer: None });
    }
}

impl Endpoints {
    /// An acknowledgment reaches its sender, which sends what may leave now.
    #[inline(always)]
    pub(crate) fn at_sender(&mut self, agenda: &mut Agenda, now: Time, lane: usize) {
        let source = EventSource::AckLane(lane as u32);
        let Some(record) = self.ack_lanes[lane].pop(agenda, source) else { return };
        let index = record.flow as usize;
        // A flow in the background may have another's place, with acknowledgments still under way.
        self.flows[index].in_lane -= u32::from(self.flows[index].may_run_ahead);
        if self.flows[index].runs_ahead {
            self.go_on_before(agenda, now, index);
        }
        self.process_ack(now, &record);
        self.transmit(agenda, now, index);
    }

    /// A sender processes an acknowledgment.
    #[inline(always)]
    pub(super) fn process_ack(&mut self, now: Time, record: &AckTransit) {
        let index = record.flow as usize;
        let flow = &mut self.flows[index];
        let usual = flow.usual(now - flow.return_delay, self.stamp_clock);
        let ack = self.details.unpack(record, usual);
        if let Some(noted) = &mut self.noted {
            note_acknowledged(noted, index, ack);
        }
        flow.sender.on_ack(now, ack);
        if !self.oracle.is_empty() {
            self.report_available(now, index);
        }
    }

    /// Reports to a controller the capacity that was available when the packet just acknowledged reached the bottleneck.
    pub(super) fn report_available(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let then = now.saturating_sub(flow.sender.counters().rtt_latest) + flow.access_delay;
        let known = self.oracle.iter().rev().find(|(from, _)| *from <= then);
        if let Some((_, available)) = known {
            flow.sender.controller_mut().on_available(now, *available);
        }
    }

    /// A flow's timer: its start, a departure, or a timeout.
    pub(crate) fn sender_timer(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        if flow.armed != now {
            return;
        }
        (flow.armed, flow.due) = (Time::MAX, Time::MAX);
        if flow.runs_ahead {
            self.go_on(agenda, now, index);
            return self.sending(index).arm(agenda, now);
        }
        flow.offer(now);
        flow.sender.on_wakeup(now);
        if flow.gaps.as_ref().is_some_and(|gaps| gaps.deadline() <= now) {
            self.sending(index).release(agenda, now);
        }
        self.transmit(agenda, now, index);
    }

    /// A flow has nothing new to send from now on.
    pub(crate) fn stop(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        if self.flows[index].runs_ahead {
            self.go_on_before(agenda, now, index);
        }
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

    /// Brings a sender up to date at `now`, before its state is read.
    pub(crate) fn catch_up(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        let flow = &self.flows[index];
        if flow.runs_ahead && flow.next_ack().min(flow.sender.next_wakeup()) <= now {
            self.go_on(agenda, now, index);
            self.sending(index).arm(agenda, now);
        }
    }

    /// Forbids senders to run ahead, before any does: an observer needs every event at its time.
    pub(crate) fn let_none_run_ahead(&mut self) {
        self.flows.iter_mut().for_each(|flow| flow.may_run_ahead = false);
    }

    // ---- departures --------------------------------------------------------------------------------------------

    /// Sends what may leave now, and sets the flow's timer. One function, in which all that a packet needs is inlined.
    #[inline(never)]
    pub(crate) fn transmit(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        let mut sending = self.sending(index);
        sending.depart(agenda, now);
        sending.arm(agenda, now);
    }

    /// From now on nothing reads the flows before this instant, nor their events before it.
    pub(crate) fn set_horizon(&mut self, horizon: Time) {
        self.horizon = horizon;
    }

    /// A flow at its sending host.
    #[inline(always)]
    pub(super) fn sending(&mut self, index: usize) -> Sending<'_> {
        Sending {
            flow: &mut self.flows[index],
            index,
            cards: &mut self.cards,
            accesses: &mut self.accesses,
            noted: &mut self.noted,
            batching: self.batching,
        }
    }

    /// The packet of a flow that arrives now at the first link of its route, and whether its sender is [to go on](Self::pass)
    /// once the link has it: where no other packet is on its way, and it is not known when one will be. Then all of the flow is at
    /// hand, and so it mostly has one event per packet. `None`: no packet does, the one that was expected now left later, or leaves
    /// at another time.
    #[inline(always)]
    pub(crate) fn at_first_link(&mut self, agenda: &mut Agenda, now: Time, index: usize) -> Option<(Transit, bool)> {
        if self.flows[index].expected != now {
            agenda.advance_packet(EventSource::Access(index as u32), None);
            return None;
        }
        if self.flows[index].access.due() != now && self.flows[index].runs_ahead {
            self.advance_sender(agenda, now, index);
        }
        let flow = &mut self.flows[index];
        let transit = self.accesses.pop_at(&mut flow.access, now);
        let goes_on = flow.runs_ahead && flow.access.is_empty() && flow.follows == Time::MAX && transit.is_some();
        if !goes_on {
            let next = self.expect_next(index);
            agenda.advance_packet(EventSource::Access(index as u32), next);
        }
        transit.map(|transit| (transit, goes_on))
    }

    /// The fate of a flow's arriving packet is decided, and its sender continues.
    pub(crate) fn pass(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        self.advance_sender(agenda, now, index);
        let next = self.expect_next(index);
        agenda.advance_packet_late(now, EventSource::Access(index as u32), next);
    }

    /// A sender with a separate clock continues.
    #[inline(never)]
    fn advance_sender(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        self.go_on(agenda, now, index);
        let mut sending = self.sending(index);
        sending.note_next();
        sending.set_timer(agenda, now);
    }

    /// The current event was the flow's at its first link: when the next is due.
    #[inline(always)]
    fn expect_next(&mut self, index: usize) -> Option<Time> {
        let next = self.sending(index).expected();
        self.flows[index].expected = next;
        (next < Time::MAX).then_some(next)
    }
}

/// One flow at its sending host, with what it shares there with others.
pub(super) struct Sending<'a> {
    flow: &'a mut Flow,
    index: usize,
    cards: &'a mut Cards,
    accesses: &'a mut Lines<Transit>,
    noted: &'a mut Option<Vec<Event>>,
    /// Hosts hold packets until a batch is full.
    batching: bool,
}

impl Sending<'_> {
    /// The next event of the flow at its first link, at the latest: of the packet that is on its way there or, if none is
    /// and the flow runs ahead, of one that may leave next. [`Time::MAX`]: none is known of.
    #[inline(always)]
    pub(super) fn expected(&self) -> Time {
        if !self.flow.access.is_empty() || !self.flow.runs_ahead {
            return self.flow.access.due();
        }
        if self.flow.follows < Time::MAX {
            return self.flow.follows;
        }
        self.reaches(self.flow.sender.departure().min(self.flow.next_ack()))
    }

    /// When a packet that leaves then reaches the first link, at the earliest.
    #[inline(always)]
    fn reaches(&self, departure: Time) -> Time {
        if departure == Time::MAX {
            return Time::MAX;
        }
        let least = self.flow.sender.least_packet();
        let out = self.flow.card.map_or(departure, |card| self.cards.earliest(card, departure, least));
        out + self.flow.access_delay
    }

    /// The flow has advanced: notes what follows.
    #[inline(always)]
    pub(super) fn note_next(&mut self) {
        let stands = self.flow.sender.controller().keeps_departure();
        self.flow.follows = if stands { self.reaches(self.flow.sender.departure()) } else { Time::MAX };
    }

    /// Sends what may leave now.
    #[inline(always)]
    pub(super) fn depart(&mut self, agenda: &mut Agenda, now: Time) {
        while let Some(segment) = self.flow.sender.poll_transmit(now) {
            let transit = Transit::of_flow(self.index, &segment, now);
            if let Some(noted) = self.noted {
                note(noted, Event::Sent { flow: self.index, segment });
            }
            if self.flow.headers.is_some() {
                write_header(self.flow, segment.transmission);
            }
            if !self.batching {
                self.leave(agenda, now, transit);
            } else if self.flow.gaps.as_mut().is_some_and(|gaps| gaps.hold(transit)) {
                self.again().release(agenda, now);
            }
        }
    }

    /// The same, for what is seldom done: so that the parts of this one need not lie in memory.
    #[inline(always)]
    fn again(&mut self) -> Sending<'_> {
        let Sending { index, batching, .. } = *self;
        Sending { flow: self.flow, index, cards: self.cards, accesses: self.accesses, noted: self.noted, batching }
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
    fn release(mut self, agenda: &mut Agenda, now: Time) {
        let held = self.flow.gaps.as_mut().map(|gaps| gaps.release());
        for transit in held.into_iter().flatten() {
            self.leave(agenda, now, transit);
        }
    }

    /// Schedules the flow's next turns: at its first link, and for its timer.
    #[inline(always)]
    pub(super) fn arm(&mut self, agenda: &mut Agenda, now: Time) {
        if !self.flow.runs_ahead && self.flow.may_run_ahead && self.flow.sender.departure() < Time::MAX {
            self.flow.runs_ahead = true;
        }
        if self.flow.runs_ahead {
            self.note_next();
            let expected = self.expected();
            self.flow.expect(agenda, expected, self.index);
        }
        self.set_timer(agenda, now);
    }

    /// Sets the flow's timer.
    #[inline(always)]
    fn set_timer(&mut self, agenda: &mut Agenda, now: Time) {
        let flow = &mut *self.flow;
        flow.note_completion(now);
        let mut due = if flow.runs_ahead { flow.sender.next_deadline() } else { flow.sender.next_wakeup() };
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
