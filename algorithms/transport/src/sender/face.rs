//! What others ask of a sender, and what its application hands over.

use super::Sender;
use crate::params::Counters;
use congestion::Controller;
use units::{Bytes, Span};

impl<C: Controller> Sender<C> {
    /// Everything was delivered; never so while an application may offer more.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.board.first() == self.total && !self.offered
    }

    /// The application hands over more packets, if this is a transfer of that kind ([`Transfer::Offered`]). Call
    /// [`Sender::poll_transmit`] afterwards.
    pub fn offer(&mut self, packets: u64) {
        if self.offered {
            self.total = self.total.saturating_add(packets);
        }
    }

    /// The application hands over a message, if this is a transfer of that kind: so many packets, of which the last has
    /// this size. Answers the packets handed over so far: the message has arrived when they have. Call
    /// [`Sender::poll_transmit`] afterwards.
    pub fn offer_message(&mut self, packets: u64, last: Bytes) -> u64 {
        self.offer(packets);
        if self.offered && last != self.packet {
            let acknowledged = self.board.first();
            self.short.retain(|(at, _)| *at >= acknowledged);
            self.short.push((self.total.saturating_sub(1), last));
        }
        self.total
    }

    /// What has happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets in flight (RFC 6675 pipe).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// Smoothed round-trip time (RFC 6298), and the smallest seen.
    pub fn rtt(&self) -> (Span, Span) {
        (self.rtt.srtt(), self.rtt.min())
    }

    /// The controller, to look at.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// The controller, for the recorder's trace calls.
    pub fn controller_mut(&mut self) -> &mut C {
        &mut self.controller
    }
}
