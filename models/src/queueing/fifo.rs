//! First in, first out. A packet that does not fit is dropped at the tail.
//!
//! The buffer holds the packet in service too, as ns-2's limit does: a limit of one packet is a link without
//! waiting packets.

use crate::queueing::contract::{DropReason, Limit, Packet, Queue, Setup, Verdict};
use crate::settings::{Parameters, SettingError, Settings, check_names};
use crate::units::{Bytes, Packets, Time};
use alloc::collections::VecDeque;

/// What a scenario can set: nothing beyond the buffer of the link.
pub const PARAMETERS: Parameters = &[];

/// Drop-tail FIFO.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    limit: Limit,
    waiting: VecDeque<Packet<P>>,
    packets: Packets,
    bytes: Bytes,
}

impl<P> Fifo<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Fifo<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        Ok(Fifo::new(setup.limit))
    }

    /// An empty queue with this limit.
    pub fn new(limit: Limit) -> Fifo<P> {
        Fifo { limit, waiting: VecDeque::new(), packets: Packets::ZERO, bytes: Bytes::ZERO }
    }
}

impl<P> Queue<P> for Fifo<P> {
    fn enqueue(&mut self, _now: Time, packet: Packet<P>) -> Verdict {
        if !self.limit.admits(self.packets, self.bytes, packet.size) {
            return Verdict::Dropped(DropReason::Full);
        }
        self.packets += Packets::new(1);
        self.bytes += packet.size;
        self.waiting.push_back(packet);
        Verdict::Queued
    }

    fn dequeue(&mut self, _now: Time) -> Option<Packet<P>> {
        self.waiting.pop_front()
    }

    fn departed(&mut self, _now: Time, size: Bytes) {
        self.packets -= Packets::new(1);
        self.bytes -= size;
    }

    fn length(&self) -> (Packets, Bytes) {
        (self.packets, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(size: u64) -> Packet<u64> {
        Packet::new(0, Bytes::new(size), size)
    }

    #[test]
    fn packets_leave_in_order_of_arrival() {
        let mut queue = Fifo::new(Limit::Unlimited);
        for size in [300, 100, 200] {
            assert_eq!(queue.enqueue(Time::ZERO, packet(size)), Verdict::Queued);
        }
        let order: alloc::vec::Vec<u64> = core::iter::from_fn(|| queue.dequeue(Time::ZERO)).map(|p| p.note).collect();
        assert_eq!(order, [300, 100, 200]);
    }

    #[test]
    fn a_packet_limit_counts_the_packet_in_service() {
        let mut queue = Fifo::new(Limit::Packets(Packets::new(2)));
        queue.enqueue(Time::ZERO, packet(1500));
        queue.enqueue(Time::ZERO, packet(1500));
        queue.dequeue(Time::ZERO);
        assert_eq!(queue.enqueue(Time::ZERO, packet(40)), Verdict::Dropped(DropReason::Full));
        queue.departed(Time::ZERO, Bytes::new(1500));
        assert_eq!(queue.enqueue(Time::ZERO, packet(40)), Verdict::Queued);
    }

    #[test]
    fn a_byte_limit_admits_small_packets_only() {
        let mut queue = Fifo::new(Limit::Bytes(Bytes::new(2000)));
        queue.enqueue(Time::ZERO, packet(1500));
        assert_eq!(queue.enqueue(Time::ZERO, packet(1500)), Verdict::Dropped(DropReason::Full));
        assert_eq!(queue.enqueue(Time::ZERO, packet(500)), Verdict::Queued);
        assert_eq!(queue.length(), (Packets::new(2), Bytes::new(2000)));
    }
}
