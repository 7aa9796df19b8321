//! Getters of a sender, and the data that its application offers.

use super::Sender;
use crate::congestion::Extras;
use crate::transport::params::Counters;
use crate::units::{Bytes, Ecn, Span, Time};
use alloc::vec::Vec;

/// The last packets of messages where they are short, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct ShortPackets(Vec<(u64, Bytes)>);

impl ShortPackets {
    /// Adds one, and forgets those that are acknowledged.
    fn add(&mut self, acknowledged: u64, sequence: u64, size: Bytes) {
        self.0.retain(|(at, _)| *at >= acknowledged);
        self.0.push((sequence, size));
    }

    /// The size of this packet, if it is one of them.
    pub(super) fn size(&self, sequence: u64) -> Option<Bytes> {
        self.0.iter().find(|(at, _)| *at == sequence).map(|(_, size)| *size)
    }
}

impl<C: Extras> Sender<C> {
    /// Whether everything was delivered; never true while an application may offer more.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.board.first() == self.total && !self.offered
    }

    /// Returns when to call [`Sender::on_wakeup`]: the earlier of the next departure and the next timer;
    /// [`Time::MAX`] when only an acknowledgment can make the sender act. Any call may move it in either direction.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.departure().min(self.next_deadline())
    }

    /// When the next packet leaves, if only its departure time holds it back; [`Time::MAX`]: something else does.
    /// A host that catches up with it may call [`Sender::poll_transmit`] for this instant later, before any other call.
    #[inline]
    pub fn departure(&self) -> Time {
        self.gate
    }

    /// When the next timer expires; [`Time::MAX`]: none runs.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.rto_deadline.min(self.reordering_deadline)
    }

    /// The application offers more packets. Does nothing unless the transfer is [`Transfer::Offered`]. Call
    /// [`Sender::poll_transmit`] afterwards.
    pub fn offer(&mut self, packets: u64) {
        if self.offered {
            self.total = self.total.saturating_add(packets);
        }
    }

    /// The application offers a message: `packets` packets, the last of size `last`. Does nothing unless the
    /// transfer is [`Transfer::Offered`]. Returns the number of packets handed over so far: the message has arrived
    /// when that many packets have. Call [`Sender::poll_transmit`] afterwards.
    pub fn offer_message(&mut self, packets: u64, last: Bytes) -> u64 {
        self.offer(packets);
        if self.offered && last != self.packet {
            let acknowledged = self.board.first();
            self.short.get_or_insert_default().add(acknowledged, self.total.saturating_sub(1), last);
        }
        self.total
    }

    /// The application has nothing new to send: what has not been sent yet never will be. What was sent still arrives.
    /// Call [`Sender::poll_transmit`] afterwards.
    pub fn close(&mut self) {
        if self.board.next() < self.total {
            (self.total, self.last_packet) = (self.board.next(), self.packet);
        }
        self.offered = false;
    }

    /// Counts of what has happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets in flight (the pipe of RFC 6675).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// The smoothed round-trip time (RFC 6298), and the smallest round-trip time seen.
    pub fn rtt(&self) -> (Span, Span) {
        (self.rtt.srtt(), self.rtt.min())
    }

    /// Whether it repairs a loss, or recovers from a timeout.
    pub fn in_recovery(&self) -> bool {
        !self.recovery.is_open()
    }

    /// No packet that it sends is smaller, unless a message ends with it.
    pub fn least_packet(&self) -> Bytes {
        self.packet.min(self.last_packet)
    }

    /// Wire size of a full packet.
    pub fn packet(&self) -> Bytes {
        self.packet
    }

    /// ECN codepoint of its first transmissions.
    pub fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// The controller, for reading.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The controller, for the recorder's trace calls.
    pub fn controller_mut(&mut self) -> &mut C {
        &mut self.controller
    }
}
