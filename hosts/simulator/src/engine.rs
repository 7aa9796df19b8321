//! The run: take what happens next, let it happen, until the end.
//!
//! On a path of drop-tail links a delivered packet costs two events: its arrival at the bottleneck, where its
//! departure, its delivery and its acknowledgment are computed at once, and the acknowledgment's arrival at the
//! sender. Receivers that wait (delayed acknowledgments, interrupt coalescence) and stepped links add events of their
//! own.

use crate::flow::{Flow, Interrupt, stamped};
use crate::link::{Leaving, Server};
use crate::network::Network;
use crate::recorder::Served;
use crate::sources::Kind;
use crate::transit::{Owner, Transit};
use crate::wire::Fate;
use congestion::Controller;
use queueing::RateHeader;
use rand::Rng;
use traffic::Source;
use transport::Ack;
use units::{Span, Time};

impl Network {
    /// Runs to the end.
    pub(crate) fn run(&mut self) {
        loop {
            let (now, source) = self.schedule.peek();
            if now > self.end {
                break;
            }
            self.events += 1;
            match self.sources.kind(source) {
                Kind::Access(flow) => self.at_first_link(now, flow as usize),
                Kind::AckLane(lane) => self.at_sender(now, lane as usize),
                Kind::Traffic(index) => self.traffic_packet(now, index as usize),
                Kind::LinkLane(lane) => self.at_next_link(now, lane as usize),
                Kind::Delivery(lane) => self.at_receiver(now, lane as usize),
                Kind::Detour(link) => self.off_detour(now, link as usize),
                timer => {
                    self.schedule.advance_timer();
                    self.timer(now, timer);
                }
            }
        }
    }

    fn timer(&mut self, now: Time, kind: Kind) {
        match kind {
            Kind::Flow(flow) => self.flow_timer(now, flow as usize),
            Kind::Link(link) => self.link_timer(now, link as usize),
            Kind::Coalescer(flow) => self.interrupt(now, flow as usize),
            Kind::DelayedAck(flow) => self.delayed_ack(now, flow as usize),
            Kind::Arrivals(source) => self.connection(now, source as usize),
            Kind::Message(flow) => self.message(now, flow as usize),
            Kind::User(user) => self.browse(now, user as usize),
            Kind::Sampler => self.sample(now),
            _ => unreachable!("rings of packets are not timers"),
        }
    }

    // ---- senders -----------------------------------------------------------------------------------------------

    fn at_sender(&mut self, now: Time, lane: usize) {
        let Some(record) = self.ack_lanes[lane].pop_front() else { return };
        self.schedule.advance_packet(self.ack_lanes[lane].front().map(|next| next.at));
        let index = record.flow as usize;
        let flow = &mut self.flows[index];
        let usual = flow.usual(now - flow.return_delay, self.stamp_granularity);
        let sender = &mut flow.sender;
        self.details.unpack(&record, usual, |ack| sender.on_ack(now, ack));
        if !self.oracle.is_empty() {
            self.tell(now, index);
        }
        self.transmit(now, index);
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

    fn flow_timer(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        if flow.armed != now {
            return;
        }
        (flow.armed, flow.due) = (Time::MAX, Time::MAX);
        flow.offer(now);
        flow.sender.on_wakeup(now);
        if flow.gaps.as_ref().is_some_and(|gaps| gaps.deadline() <= now) {
            self.release(now, index);
        }
        self.transmit(now, index);
    }

    /// Sends what may leave now, and sets the flow's timer.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, index: usize) {
        while let Some(segment) = self.flows[index].sender.poll_transmit(now) {
            let transit = Transit::of_flow(index, &segment, now);
            self.write_header(index, segment.transmission);
            if !self.batching {
                self.leave(now, index, transit);
            } else if self.flows[index].gaps.as_mut().is_some_and(|gaps| gaps.hold(transit)) {
                self.release(now, index);
            }
        }
        self.arm(now, index);
    }

    /// A packet of a sender that takes rates from routers carries room for one.
    #[inline]
    fn write_header(&mut self, index: usize, transmission: u64) {
        let flow = &mut self.flows[index];
        if let Some(headers) = &mut flow.headers {
            headers.push(transmission, RateHeader { rtt: flow.sender.rtt().0, offer: None });
        }
    }

    /// The header of a packet of a flow, where it has one.
    #[inline]
    fn header(&mut self, transit: &Transit) -> Option<&mut RateHeader> {
        let Owner::Flow(index) = transit.owner() else { return None };
        self.flows[index].headers.as_mut()?.get_mut(transit.transmission)
    }

    /// A packet leaves its host, through the card if that has a rate.
    #[inline]
    fn leave(&mut self, now: Time, index: usize, mut transit: Transit) {
        let flow = &mut self.flows[index];
        let out = flow.card.map_or(now, |card| self.cards[card as usize].leaves(now, transit.size()));
        transit.at = out + flow.access_delay;
        if flow.access.is_empty() {
            self.schedule.packet(transit.at, self.sources.id(Kind::Access(index as u32)));
        }
        self.accesses.push(&mut flow.access, transit);
    }

    /// A batch leaves its host.
    fn release(&mut self, now: Time, index: usize) {
        let held = self.flows[index].gaps.as_mut().map(|gaps| std::mem::take(&mut gaps.held));
        for transit in held.into_iter().flatten() {
            self.leave(now, index, transit);
        }
    }

    #[inline]
    fn arm(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let mut due = flow.sender.next_wakeup();
        if due == Time::MAX && flow.completed.is_none() && flow.sender.is_done() {
            flow.completed = Some(now);
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
            self.schedule.timer(wake, self.sources.id(Kind::Flow(index as u32)));
        }
    }

    // ---- links -------------------------------------------------------------------------------------------------

    fn at_first_link(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let Some(transit) = self.accesses.pop(&mut flow.access) else { return };
        self.schedule.advance_packet(self.accesses.front(flow.access).map(|next| next.at));
        let link = self.routes[flow.route as usize][0] as usize;
        if index >= self.plain {
            self.entered(now, index, transit.size());
        }
        self.arrive(now, link, transit);
    }

    fn at_next_link(&mut self, now: Time, lane: usize) {
        let ring = &mut self.link_lanes[lane];
        let Some(transit) = ring.packets.pop_front() else { return };
        self.schedule.advance_packet(ring.packets.front().map(|next| next.at));
        let link = ring.to;
        self.arrive(now, link, transit);
    }

    fn traffic_packet(&mut self, now: Time, index: usize) {
        let stream = &mut self.traffic[index];
        let Some(packet) = stream.next.take() else { return };
        stream.next = stream.source.next().filter(|next| next.at <= self.end);
        self.schedule.advance_packet(stream.next.as_ref().map(|next| next.at));
        stream.number += 1;
        if now > self.recorder.warm {
            stream.meter.record(now, packet.size);
        }
        if let Some(windows) = &mut self.recorder.windows {
            windows.entered(now, packet.size.get());
        }
        let transit = Transit::of_traffic(index, stream.number, packet.size, now);
        let link = self.routes[stream.route as usize][0] as usize;
        self.arrive(now, link, transit);
    }

    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, index: usize, mut transit: Transit) {
        let measured = index == self.bottleneck;
        if measured && !self.recorder.is_of_a_flow(transit.owner()) {
            self.recorder.offered(now, transit.size().get());
        }
        transit.at = now;
        let header = match self.links[index].server {
            Server::Fused(_) => None,
            Server::Stepped(_) => self.header(&transit).copied(),
        };
        match &mut self.links[index].server {
            Server::Fused(link) => match link.arrive(now, transit.size()) {
                Some(service) => self.depart(index, transit, now, service.begins, service.departs),
                None => self.drop(now, index, transit),
            },
            Server::Stepped(link) => {
                if link.arrive(now, transit, header) {
                    self.serve(now, index);
                } else {
                    self.drop(now, index, transit);
                }
            }
        }
    }

    #[cold]
    fn drop(&mut self, now: Time, index: usize, transit: Transit) {
        self.recorder.dropped(transit.owner(), now);
        if index == self.bottleneck {
            self.recorder.refused(&transit, now);
        }
        self.note(index, &transit, now, Time::MAX);
    }

    /// If a stepped link is free, its next packet takes it.
    fn serve(&mut self, now: Time, index: usize) {
        let Server::Stepped(link) = &mut self.links[index].server else { return };
        link.begin(now);
        let wake = link.next_wakeup();
        if wake < link.armed {
            link.armed = wake;
            self.schedule.timer(wake, self.sources.id(Kind::Link(index as u32)));
        }
    }

    fn link_timer(&mut self, now: Time, index: usize) {
        let Server::Stepped(link) = &mut self.links[index].server else { return };
        if link.armed == now {
            link.armed = Time::MAX;
        }
        if let Some(Leaving { transit, service, header }) = link.finish(now) {
            if let Some(place) = self.header(&transit)
                && let Some(header) = header
            {
                *place = header;
            }
            self.depart(index, transit, transit.at, service.begins, service.departs);
        }
        self.serve(now, index);
    }

    /// A packet's time on a link is known: it goes on from there, unless the wire loses it.
    #[inline]
    fn depart(&mut self, index: usize, mut transit: Transit, arrival: Time, begins: Time, departs: Time) {
        self.recorder.hops += 1;
        if index == self.bottleneck {
            self.recorder.served(&transit, arrival, begins, departs);
        }
        if self.logging {
            self.note(index, &transit, arrival, departs);
        }
        let link = &mut self.links[index];
        if link.loss_below > 0 && link.random.next_u64() >> 32 < link.loss_below {
            self.recorder.lost(transit.owner(), departs);
            return;
        }
        transit.at = departs + link.delay;
        transit.hop += 1;
        if let Some(wire) = &mut link.wire {
            match wire.fate(departs) {
                Fate::Arrives(at) => transit.at = at,
                Fate::Lost => return self.recorder.lost(transit.owner(), departs),
                Fate::Late(at) => {
                    transit.at = at;
                    return self.detour(index, transit);
                }
            }
        }
        let hop = usize::from(transit.hop);
        let route = match transit.owner() {
            Owner::Flow(flow) => self.flows[flow].route,
            Owner::Traffic(source) => self.traffic[source].route,
        };
        match (self.routes[route as usize].get(hop), transit.owner()) {
            (Some(&next), _) => self.towards_link(index, next as usize, transit),
            (None, Owner::Flow(flow)) => self.towards_receiver(index, flow, transit),
            (None, Owner::Traffic(_)) => {}
        }
    }

    fn towards_link(&mut self, from: usize, to: usize, transit: Transit) {
        let lane = self.lane_between[from * self.links.len() + to];
        let ring = &mut self.link_lanes[lane as usize];
        if ring.packets.is_empty() {
            self.schedule.packet(transit.at, self.sources.id(Kind::LinkLane(lane)));
        }
        ring.packets.push_back(transit);
    }

    // ---- receivers ---------------------------------------------------------------------------------------------

    #[inline]
    fn towards_receiver(&mut self, link: usize, index: usize, transit: Transit) {
        if self.flows[index].immediate {
            self.receive(transit.at, index, &transit);
            return;
        }
        let ring = &mut self.deliveries[link];
        if ring.is_empty() {
            self.schedule.packet(transit.at, self.sources.id(Kind::Delivery(link as u32)));
        }
        ring.push_back(transit);
    }

    fn at_receiver(&mut self, now: Time, lane: usize) {
        let ring = &mut self.deliveries[lane];
        let Some(transit) = ring.pop_front() else { return };
        self.schedule.advance_packet(ring.front().map(|next| next.at));
        self.reaches_host(now, transit);
    }

    pub(crate) fn reaches_host(&mut self, now: Time, transit: Transit) {
        let Owner::Flow(index) = transit.owner() else { return };
        let Some(coalescer) = &mut self.flows[index].coalescer else {
            self.receive(now, index, &transit);
            self.arm_ack(now, index);
            return;
        };
        match coalescer.receive(now, transit) {
            Interrupt::Pending => {}
            Interrupt::Set => {
                let due = coalescer.due;
                self.schedule.timer(due, self.sources.id(Kind::Coalescer(index as u32)));
            }
            Interrupt::Now => self.hand_over(now, index),
        }
    }

    fn interrupt(&mut self, now: Time, index: usize) {
        if self.flows[index].coalescer.as_ref().is_some_and(|coalescer| coalescer.due == now) {
            self.hand_over(now, index);
        }
    }

    fn hand_over(&mut self, now: Time, index: usize) {
        let Some(coalescer) = &mut self.flows[index].coalescer else { return };
        let batch = coalescer.take();
        for transit in &batch {
            self.receive(now, index, transit);
        }
        if let Some(coalescer) = &mut self.flows[index].coalescer {
            coalescer.reuse(batch);
        }
        self.arm_ack(now, index);
    }

    #[inline]
    fn receive(&mut self, at: Time, index: usize, transit: &Transit) {
        if index < self.plain {
            self.recorder.delivered(at);
        }
        let flow = &mut self.flows[index];
        if let Some(headers) = &mut flow.headers {
            flow.receiver.on_offer(headers.take(transit.transmission).and_then(|header| header.offer));
        }
        if let Some(ack) = flow.receiver.on_segment(at, &transit.segment()) {
            self.acknowledge(at, index, ack);
        }
        if index >= self.plain {
            self.arrived(at, index);
        }
    }

    fn arm_ack(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let due = flow.receiver.next_wakeup();
        if due < flow.ack_armed {
            flow.ack_armed = due.max(now);
            self.schedule.timer(flow.ack_armed, self.sources.id(Kind::DelayedAck(index as u32)));
        }
    }

    fn delayed_ack(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        if flow.ack_armed != now {
            return;
        }
        flow.ack_armed = Time::MAX;
        if flow.receiver.next_wakeup() <= now
            && let Some(ack) = flow.receiver.on_wakeup(now)
        {
            self.acknowledge(now, index, ack);
        }
        self.arm_ack(now, index);
    }

    #[inline]
    fn acknowledge(&mut self, at: Time, index: usize, mut ack: Ack) {
        let flow: &mut Flow = &mut self.flows[index];
        for stamp in &mut ack.arrivals[..usize::from(ack.stamps)] {
            let made = flow.processing.as_mut().map_or(stamp.arrived, |processing| processing.stamp(stamp.arrived));
            stamp.arrived = stamped(made, self.stamp_granularity);
        }
        self.recorder.hops += 1;
        let mut arrives = at + flow.return_delay;
        if let Some(back) = &mut flow.back {
            let Some(carried) = back.carry(arrives) else { return };
            arrives = carried;
        }
        let usual = flow.usual(arrives - flow.return_delay, self.stamp_granularity);
        let record = self.details.pack(index, arrives, &ack, usual);
        let lane = &mut self.ack_lanes[flow.ack_lane as usize];
        if lane.is_empty() {
            self.schedule.packet(record.at, self.sources.id(Kind::AckLane(flow.ack_lane)));
        }
        lane.push_back(record);
    }

    // ---- recording ---------------------------------------------------------------------------------------------

    fn note(&mut self, link: usize, transit: &Transit, arrival: Time, departure: Time) {
        if link == self.bottleneck && departure <= self.end {
            self.tap(transit, departure);
        }
        if let Some(log) = &mut self.recorder.log {
            let owner = match transit.owner() {
                Owner::Flow(flow) => flow as u32,
                Owner::Traffic(source) => u32::MAX - source as u32,
            };
            log.push(Served { link, owner, transmission: transit.transmission, arrival, departure });
        }
    }

    fn sample(&mut self, now: Time) {
        let next = now + self.sample_step;
        self.schedule.timer(next, self.sources.id(Kind::Sampler));
        let Some(detail) = &mut self.recorder.detail else { return };
        detail.readings.push(self.links[self.bottleneck].server.readings());
        for (flow, samples) in self.flows.iter().zip(&mut detail.samples) {
            let active = flow.start <= now && flow.completed.is_none();
            let controller = flow.sender.controller();
            let rate = controller.rate().filter(|_| active).map(|rate| rate.bps() as f32);
            samples.rate_bps.push(rate);
            samples.srtt_ns.push(if active { flow.sender.rtt().0.nanos() as f32 } else { f32::NAN });
            let window = u64::from(controller.decision().window).min(flow.receive_window);
            samples.window.push(if active { window as f32 } else { f32::NAN });
        }
        self.trace_streams(now);
    }

    /// Asks for a probe stream when it is time, and takes it when it has come.
    fn trace_streams(&mut self, now: Time) {
        let capacity = self.links[self.bottleneck].rate;
        for (index, flow) in self.flows.iter_mut().enumerate().take(self.plain) {
            if let Some(trace) = flow.sender.controller_mut().probing_mut().and_then(|probing| probing.take_trace()) {
                let from = trace.start + flow.access_delay;
                let span = trace.gaps.iter().skip(1).map(|gap| gap.created).sum();
                self.recorder.traced(index, trace, from, from + span, capacity);
                return;
            }
        }
        let Some(&due) = self.trace_times.last() else { return };
        let index = (self.trace_times.len() - 1) % self.plain.max(1);
        let Some(flow) = self.flows.get_mut(index) else { return };
        // The next stream to complete was sent up to a few round trips ago: by then its traffic must have been seen.
        if now + flow.sender.rtt().0 * 3 >= due {
            self.recorder.watch();
        }
        if now >= due {
            self.trace_times.pop();
            if let Some(probing) = flow.sender.controller_mut().probing_mut() {
                probing.arm_trace();
            }
        }
    }
}
