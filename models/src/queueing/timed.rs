//! What the disciplines that judge by waiting time have in common: a FIFO that remembers when each packet came, and the
//! account of what the buffer holds.

use crate::queueing::contract::{Limit, Packet};
use crate::units::{Bytes, Packets, Span, Time};
use alloc::collections::VecDeque;

/// A FIFO of waiting packets with their arrival times.
#[derive(Clone, Debug)]
pub(crate) struct Timed<P> {
    waiting: VecDeque<(Time, Packet<P>)>,
    bytes: Bytes,
}

impl<P> Timed<P> {
    pub fn new() -> Timed<P> {
        Timed { waiting: VecDeque::new(), bytes: Bytes::ZERO }
    }

    pub fn push(&mut self, now: Time, packet: Packet<P>) {
        self.bytes += packet.size;
        self.waiting.push_back((now, packet));
    }

    /// The packet at the head, and when it came.
    pub fn pop(&mut self) -> Option<(Time, Packet<P>)> {
        let (came, packet) = self.waiting.pop_front()?;
        self.bytes -= packet.size;
        Some((came, packet))
    }

    /// Waiting bytes, without the packet in service.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// How many packets wait.
    pub fn packets(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// How long the packet at the head has waited; zero when nothing waits.
    pub fn delay(&self, now: Time) -> Span {
        self.waiting.front().map_or(Span::ZERO, |(came, _)| now.saturating_since(*came))
    }
}

/// What a buffer holds: what waits and the packet in service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occupancy {
    limit: Limit,
    packets: Packets,
    bytes: Bytes,
}

impl Occupancy {
    pub fn new(limit: Limit) -> Occupancy {
        Occupancy { limit, packets: Packets::ZERO, bytes: Bytes::ZERO }
    }

    pub fn admits(&self, size: Bytes) -> bool {
        self.limit.admits(self.packets, self.bytes, size)
    }

    /// Whether it holds more than its limit.
    pub fn is_over(&self) -> bool {
        match self.limit {
            Limit::Packets(limit) => self.packets > limit,
            Limit::Bytes(limit) => self.bytes > limit,
            Limit::Unlimited => false,
        }
    }

    pub fn add(&mut self, size: Bytes) {
        self.packets += Packets::new(1);
        self.bytes += size;
    }

    pub fn remove(&mut self, size: Bytes) {
        self.packets -= Packets::new(1);
        self.bytes -= size;
    }

    pub fn length(&self) -> (Packets, Bytes) {
        (self.packets, self.bytes)
    }
}
