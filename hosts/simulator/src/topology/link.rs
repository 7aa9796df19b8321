//! A link: a queue, a wire, a delay. Two forms that must behave alike, packet by packet.
//!
//! * [`Fused`]: a drop-tail FIFO needs no event of its own. When a packet arrives, its departure is already known by
//!   Lindley's recursion, `departure = max(arrival, free) + size / rate`, and the queue's length is the number of
//!   pending departures that lie ahead.
//! * [`Stepped`]: any discipline of the registry, with an event for each departure. It carries the disciplines that
//!   decide at dequeue, and it is the judge of the fused form.
//!
//! At one instant departures come before arrivals, in both forms.

use crate::transit::Transit;
use queueing::{AnyQueue, Limit, Packet, Queue, RateHeader, Readings, Verdict};
use std::collections::VecDeque;
use units::{Bytes, Packets, Serialiser, Time};

/// A packet that a link took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Service {
    /// When its transmission starts: waiting ends.
    pub(crate) begins: Time,
    /// When its last bit has left.
    pub(crate) departs: Time,
}

/// Drop-tail FIFO without departure events.
#[derive(Clone, Debug)]
pub(crate) struct Fused {
    wire: Serialiser,
    limit: Limit,
    free: Time,
    pending: VecDeque<(Time, u32)>,
    bytes: Bytes,
}

impl Fused {
    pub(crate) fn new(wire: Serialiser, limit: Limit) -> Fused {
        Fused { wire, limit, free: Time::ZERO, pending: VecDeque::new(), bytes: Bytes::ZERO }
    }

    /// A packet arrives; `None`: it is dropped.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, size: Bytes) -> Option<Service> {
        while let Some(&(departs, bytes)) = self.pending.front()
            && departs <= now
        {
            self.pending.pop_front();
            self.bytes -= Bytes::new(u64::from(bytes));
        }
        if !self.limit.admits(Packets::new(self.pending.len() as u64), self.bytes, size) {
            return None;
        }
        let begins = now.max(self.free);
        self.free = begins + self.wire.next(size);
        self.pending.push_back((self.free, size.get() as u32));
        self.bytes += size;
        Some(Service { begins, departs: self.free })
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

/// Any discipline, with departure events.
#[derive(Clone, Debug)]
pub(super) struct Stepped {
    wire: Serialiser,
    queue: AnyQueue<Transit>,
    in_service: Option<Leaving>,
    /// The earliest of its wake-ups in the schedule.
    pub(super) armed: Time,
}

impl Stepped {
    pub(crate) fn new(wire: Serialiser, queue: AnyQueue<Transit>) -> Stepped {
        Stepped { wire, queue, in_service: None, armed: Time::MAX }
    }

    /// A packet arrives (its `at` is the arrival time), perhaps with a header; `false`: it is dropped.
    pub(crate) fn arrive(&mut self, now: Time, transit: Transit, header: Option<RateHeader>) -> bool {
        let (ecn, marks) = (transit.ecn(), transit.marks());
        let packet = Packet { flow: transit.owner_number(), size: transit.size(), ecn, marks, header, note: transit };
        !matches!(self.queue.enqueue(now, packet), Verdict::Dropped(_))
    }

    /// If the wire is free, the next packet takes it, unless the discipline holds it back.
    pub(crate) fn begin(&mut self, now: Time) {
        if self.in_service.is_none()
            && let Some(packet) = self.queue.dequeue(now)
        {
            let departs = now + self.wire.next(packet.size);
            let mut transit = packet.note;
            transit.mark(packet.marks);
            let service = Service { begins: now, departs };
            self.in_service = Some(Leaving { transit, service, header: packet.header });
        }
    }

    /// A packet that the discipline dropped after it had taken it, once each.
    pub(crate) fn take_dropped(&mut self) -> Option<Transit> {
        self.queue.take_dropped().map(|packet| packet.note)
    }

    /// The packet in service has left, if this is its time.
    pub(crate) fn finish(&mut self, now: Time) -> Option<Leaving> {
        let leaving = self.in_service.take_if(|leaving| leaving.service.departs == now)?;
        self.queue.departed(now, leaving.transit.size());
        Some(leaving)
    }

    /// When to look again: at the departure, or, the wire being free, when the discipline asks for it.
    pub(crate) fn next_wakeup(&self) -> Time {
        self.in_service.as_ref().map_or_else(|| self.queue.next_wakeup(), |leaving| leaving.service.departs)
    }
}

/// One of the two.
#[derive(Clone, Debug)]
pub(super) enum Server {
    Fused(Fused),
    Stepped(Box<Stepped>),
}

impl Server {
    /// What the discipline measures; drop-tail measures nothing.
    pub(crate) fn readings(&self) -> Readings {
        match self {
            Server::Fused(_) => Readings::default(),
            Server::Stepped(link) => link.queue.readings(),
        }
    }
}
