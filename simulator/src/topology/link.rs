//! A link: a queue, a wire, a delay. Two forms that must behave alike, packet by packet.
//!
//! * [`Fused`]: a drop-tail FIFO needs no events. When a packet arrives, its departure is already known (by
//!   Lindley's recursion, see [`super::transmitter`]), and the queue's length is the number of pending departures that
//!   are in the future.
//! * [`Stepped`]: any discipline of the registry, with an event for each departure. It carries the disciplines that
//!   decide at dequeue and the links that serve frames of packets, and it is the judge of the fused form.
//!
//! At one instant departures come before arrivals, in both forms.

use super::transmitter::{AnyTransmitter, Constant, Service, Transmitter};
use crate::transit::Transit;
use packetscale_models::queueing::{AnyQueue, Limit, Packet, Queue, RateHeader, Readings, Verdict};
use packetscale_models::transport::MAX_RTO;
use packetscale_models::units::{Bytes, Capacity, Packets, Span, Time};
use std::collections::VecDeque;

/// Drop-tail FIFO without departure events.
#[derive(Clone, Debug)]
pub(crate) struct Fused<T> {
    wire: T,
    limit: Limit,
    /// Departures that may be in the future, with the packet's size. Of a buffer of B packets the last B are stored: one more
    /// fits once the first of them is over, and counting the rest would cost an unpredictable branch.
    pending: VecDeque<(Time, u32)>,
    bytes: Bytes,
}

/// A larger buffer keeps only departures that do lie ahead: it may never be full.
const MOST_STORED: u64 = 4096;

impl<T: Transmitter> Fused<T> {
    pub(crate) fn new(wire: T, limit: Limit) -> Fused<T> {
        Fused { wire, limit, pending: VecDeque::new(), bytes: Bytes::ZERO }
    }

    /// A packet arrives; `None`: it is dropped.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, size: Bytes) -> Option<Service> {
        match self.limit {
            Limit::Packets(limit) if limit.get() <= MOST_STORED => {
                if self.pending.len() as u64 >= limit.get() {
                    self.pending.pop_front_if(|(departs, _)| *departs <= now)?;
                }
            }
            _ => self.forget_departed(now, size)?,
        }
        self.wire.idle_until(now);
        let service = self.wire.send(size);
        self.pending.push_back((service.departs, size.get() as u32));
        Some(service)
    }

    /// Forgets the packets that have left. `None`: a packet of `size` does not fit.
    fn forget_departed(&mut self, now: Time, size: Bytes) -> Option<()> {
        while let Some(&(departs, bytes)) = self.pending.front()
            && departs <= now
        {
            self.pending.pop_front();
            self.bytes -= Bytes::new(u64::from(bytes));
        }
        if !self.limit.admits(Packets::new(self.pending.len() as u64), self.bytes, size) {
            return None;
        }
        self.bytes += size;
        Some(())
    }
}

/// A packet that takes the wire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) transit: Transit,
    pub(crate) service: Service,
    /// As the discipline left it.
    pub(crate) header: Option<RateHeader>,
}

/// Aggregation on the wire: packets per frame, and the frame's overhead in addition to transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    pub(super) packets: u32,
    pub(super) overhead: Span,
}

impl Frames {
    /// One by one.
    pub(super) const NONE: Frames = Frames { packets: 1, overhead: Span::ZERO };
}

/// Any discipline, with departure events.
#[derive(Clone, Debug)]
pub(super) struct Stepped {
    wire: AnyTransmitter,
    frames: Frames,
    queue: AnyQueue<Transit>,
    /// The packet on the wire, or all packets of the frame on it.
    in_service: VecDeque<Leaving>,
    /// While packets wait before a wire that is free: when the next may take it. `None`: nothing waited.
    begins: Option<Time>,
    /// Packets that the discipline has marked.
    marked: u64,
    /// The earliest of its wake-ups in the schedule.
    pub(super) armed: Time,
}

impl Stepped {
    pub(super) fn new(wire: AnyTransmitter, frames: Frames, queue: AnyQueue<Transit>) -> Stepped {
        Stepped { wire, frames, queue, in_service: VecDeque::new(), begins: None, marked: 0, armed: Time::MAX }
    }

    /// A packet arrives (its `at` is the arrival time), perhaps with a header; `false`: it is dropped.
    pub(crate) fn arrive(&mut self, now: Time, transit: Transit, header: Option<RateHeader>) -> bool {
        let (ecn, marks) = (transit.ecn(), transit.marks());
        let packet = Packet { flow: transit.owner_number(), size: transit.size(), ecn, marks, header, note: transit };
        !matches!(self.queue.enqueue(now, packet), Verdict::Dropped(_))
    }

    /// If the wire is free, the next packets take it, unless the discipline holds them back.
    pub(crate) fn begin(&mut self, now: Time) {
        if !self.in_service.is_empty() {
            return;
        }
        if self.begins.is_none() {
            self.wire.idle_until(now);
        }
        let begins = self.begins.unwrap_or_else(|| self.wire.begins());
        if begins > now {
            self.begins = Some(begins).filter(|_| self.waiting());
            return;
        }
        for _ in 0..self.frames.packets {
            let Some(packet) = self.queue.dequeue(now) else { break };
            let service = self.wire.send(packet.size);
            let mut transit = packet.note;
            self.marked += u64::from(packet.marks != transit.marks());
            transit.mark(packet.marks);
            self.in_service.push_back(Leaving { transit, service, header: packet.header });
        }
        self.begins = None;
        if self.frames.overhead > Span::ZERO || self.in_service.len() > 1 {
            self.leave_together(now);
        }
    }

    /// A packet that the discipline dropped after it had taken it, once each.
    pub(crate) fn take_dropped(&mut self) -> Option<Transit> {
        self.queue.take_dropped().map(|packet| packet.note)
    }

    /// The packets of a frame leave at its end.
    fn leave_together(&mut self, now: Time) {
        let Some(last) = self.in_service.back() else { return };
        let end = (last.service.departs + self.frames.overhead).min(Capacity::NEVER);
        if end < Capacity::NEVER {
            self.wire.idle_until(end);
        }
        for leaving in &mut self.in_service {
            leaving.service = Service { begins: now, departs: end };
        }
    }

    /// How long a packet that arrived now would wait. With a queue per flow, a new flow's queue is empty.
    fn waits(&self, now: Time) -> Span {
        let served: Bytes = self.in_service.iter().map(|leaving| leaving.transit.size()).sum();
        let ahead = match &self.queue {
            AnyQueue::FqCodel(_) => Bytes::ZERO,
            queue => queue.length().1 - served,
        };
        let mut wire = self.wire.clone();
        if ahead > Bytes::ZERO {
            wire.send(ahead);
        }
        waits(&mut wire, now)
    }

    fn waiting(&self) -> bool {
        self.queue.length().0 > Packets::ZERO
    }

    /// The next packet that has left, if this is its time.
    pub(crate) fn finish(&mut self, now: Time) -> Option<Leaving> {
        let leaving = self.in_service.pop_front_if(|leaving| leaving.service.departs == now)?;
        self.queue.departed(now, leaving.transit.size());
        if self.in_service.is_empty() {
            self.begins = Some(self.wire.begins().max(now));
        }
        Some(leaving)
    }

    /// The next wake-up: a departure; the time when waiting packets may be transmitted; or the discipline's request.
    pub(crate) fn next_wakeup(&self) -> Time {
        match (self.in_service.front(), self.begins) {
            (Some(leaving), _) => leaving.service.departs,
            (None, Some(begins)) => begins,
            (None, None) => self.queue.next_wakeup(),
        }
    }
}

/// One of the two. Where the rate is constant, a fused link pays for nothing else.
#[derive(Clone, Debug)]
pub(super) enum Server {
    Fused(Fused<Constant>),
    Varying(Box<Fused<AnyTransmitter>>),
    Stepped(Box<Stepped>),
}

/// When the next packet would leave its queue, from `now` on; at most a retransmission timer's longest.
fn waits(wire: &mut impl Transmitter, now: Time) -> Span {
    wire.idle_until(now);
    wire.begins().saturating_since(now).min(MAX_RTO)
}

impl Server {
    /// How long a packet that arrived now would wait.
    pub(crate) fn waits(&mut self, now: Time) -> Span {
        match self {
            Server::Fused(link) => waits(&mut link.wire, now),
            Server::Varying(link) => waits(&mut link.wire, now),
            Server::Stepped(link) => link.waits(now),
        }
    }

    /// Measurements of the discipline; none for drop-tail.
    pub(crate) fn readings(&self) -> Readings {
        match self {
            Server::Fused(_) | Server::Varying(_) => Readings::default(),
            Server::Stepped(link) => link.queue.readings(),
        }
    }

    /// How many packets the discipline has marked.
    pub(crate) fn marked(&self) -> u64 {
        match self {
            Server::Fused(_) | Server::Varying(_) => 0,
            Server::Stepped(link) => link.marked,
        }
    }
}
