//! Packets at receiving hosts, and the acknowledgments they send back.

use super::coalescer::Interrupt;
use super::{Endpoints, Flow};
use crate::agenda::{Agenda, EventSource};
use crate::transit::{AckTransit, Transit};
use packetscale_models::units::Time;

/// The fate of a packet that reaches a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// The receiver sees it at once.
    Packet,
    /// It waits in the card.
    Waits,
    /// The card delivers its batch, this packet the last.
    Batch,
}

impl Endpoints {
    /// Whether each packet of a flow is acknowledged the instant it arrives.
    #[inline]
    pub(crate) fn is_immediate(&self, index: usize) -> bool {
        self.flows[index].immediate
    }

    /// A packet reaches the card of its receiver's host.
    pub(crate) fn at_host(&mut self, agenda: &mut Agenda, now: Time, index: usize, transit: Transit) -> Reception {
        let Some(coalescer) = &mut self.flows[index].coalescer else { return Reception::Packet };
        match coalescer.receive(now, transit) {
            Interrupt::Pending => Reception::Waits,
            Interrupt::Set => {
                agenda.timer(coalescer.due(), EventSource::Coalescer(index as u32));
                Reception::Waits
            }
            Interrupt::Now => Reception::Batch,
        }
    }

    /// Whether the card of a flow's receiver interrupts at `now`.
    pub(crate) fn interrupts(&self, now: Time, index: usize) -> bool {
        self.flows[index].coalescer.as_ref().is_some_and(|coalescer| coalescer.due() == now)
    }

    /// Takes the batch that waits in the card.
    pub(crate) fn take_batch(&mut self, index: usize) -> Vec<Transit> {
        self.flows[index].coalescer.as_mut().map_or_else(Vec::new, |coalescer| coalescer.take())
    }

    /// Gives the memory of a batch back to the card, after all its packets were received.
    pub(crate) fn reuse_batch(&mut self, index: usize, batch: Vec<Transit>) {
        if let Some(coalescer) = &mut self.flows[index].coalescer {
            coalescer.reuse(batch);
        }
    }

    /// The receiver sees a packet. Returns whether it sends an acknowledgment.
    #[inline(always)]
    pub(crate) fn receive(&mut self, agenda: &mut Agenda, at: Time, index: usize, transit: &Transit) -> bool {
        let flow = &mut self.flows[index];
        if flow.direct && flow.runs_ahead {
            self.let_wait(agenda, index, |endpoints, line| endpoints.delivered.push(line, *transit));
            return false;
        }
        if let Some(headers) = &mut flow.headers {
            flow.receiver.on_offer(headers.take(transit.transmission).and_then(|header| header.offer));
        }
        let answers = flow.receiver.answer(at, &transit.segment(), &mut self.answer);
        if answers {
            self.acknowledge(agenda, at, index);
        }
        answers
    }

    /// Sets the timer of a delayed acknowledgment, where the receiver has one.
    pub(crate) fn arm_ack(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let due = flow.receiver.next_wakeup();
        if due < flow.ack_armed {
            flow.ack_armed = due.max(now);
            agenda.timer(flow.ack_armed, EventSource::DelayedAck(index as u32));
        }
    }

    /// The timer of a delayed acknowledgment. Returns whether the receiver sends one.
    pub(crate) fn delayed_ack(&mut self, agenda: &mut Agenda, now: Time, index: usize) -> bool {
        let flow = &mut self.flows[index];
        if flow.ack_armed != now {
            return false;
        }
        flow.ack_armed = Time::MAX;
        let ack = if flow.receiver.next_wakeup() <= now { flow.receiver.on_wakeup(now) } else { None };
        let acknowledges = ack.is_some();
        if let Some(ack) = ack {
            self.answer = ack;
            self.acknowledge(agenda, now, index);
        }
        self.arm_ack(agenda, now, index);
        acknowledges
    }

    /// The acknowledgment in `answer` sets out on the return path.
    #[inline(always)]
    fn acknowledge(&mut self, agenda: &mut Agenda, at: Time, index: usize) {
        let ack = &mut self.answer;
        let flow: &mut Flow = &mut self.flows[index];
        flow.stamp(ack, self.stamp_clock);
        let mut arrives = at + flow.return_delay;
        if let Some(path) = &mut flow.return_path {
            if path.loses() {
                return;
            }
            if let Some(route) = path.route() {
                return self.depart_back(at, index, route);
            }
            arrives = path.bunched(arrives);
        }
        let usual = flow.usual(arrives - flow.return_delay, self.stamp_clock);
        let record = self.details.pack(index, arrives, ack, usual);
        self.send_ack(agenda, index, record);
    }

    /// An acknowledgment sets out for its sender, on nothing but a delay.
    #[inline(always)]
    pub(super) fn send_ack(&mut self, agenda: &mut Agenda, index: usize, record: AckTransit) {
        let flow = &mut self.flows[index];
        if flow.runs_ahead {
            return self.let_wait(agenda, index, |endpoints, line| endpoints.waiting.push(line, record));
        }
        flow.in_lane += u32::from(flow.may_run_ahead);
        self.ack_lanes[flow.ack_lane as usize].push(agenda, EventSource::AckLane(flow.ack_lane), record);
    }
}
