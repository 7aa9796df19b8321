//! A sender's parameters, and what a sender counts.

use crate::units::{Bytes, Span, SpanSum};

/// The amount of data to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// More than the path can carry while the experiment lasts.
    Unlimited,
    /// This number of bytes; the last packet may be short.
    Sized(Bytes),
    /// Data that an application offers, with no fixed end ([`Sender::offer`](crate::transport::Sender::offer)).
    Offered,
}

/// The parameters of a sender.
#[derive(Clone, Copy, Debug)]
pub struct SenderParams {
    /// Wire size of a full packet; not zero.
    pub packet: Bytes,
    /// The data to send.
    pub transfer: Transfer,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Round-trip time seen by the handshake.
    pub handshake_rtt: Span,
    /// Receive window that the handshake advertised, in packets; 0 counts as 1, `u64::MAX` means unknown.
    pub handshake_window: u64,
    /// Least retransmission timeout (RFC 6298: 1 s; Linux: 200 ms).
    pub min_rto: Span,
    /// Pacing rate of window-based controllers: windows per smoothed round trip, in percent; 0: ack-clocked.
    pub pacing_percent: u32,
    /// A tick of the timer that wakes the sender: what was due since the last tick leaves together. Zero: an exact timer.
    pub tick: Span,
    /// Restart the window after an idle time longer than the timeout (RFC 5681, section 4.1).
    pub slow_start_after_idle: bool,
    /// Send ECN-capable packets, which queues may mark, if the controller reads marks (RFC 3168). Controllers that send
    /// ECT(1) always do (RFC 9331, section 4.1).
    pub ecn: bool,
}

/// Counts so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Transmissions, retransmissions included.
    pub sent: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Packets delivered: acknowledged cumulatively or selectively.
    pub delivered: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Recovery episodes entered.
    pub recoveries: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Reductions undone because they proved needless.
    pub undone: u64,
    /// Congestion marks that the sender reacted to, at most one per window.
    pub marks_answered: u64,
    /// Acknowledgments that gave a round-trip time, since the [last reset](crate::transport::Sender::restart_round_trips).
    pub rtt_samples: u64,
    /// The sum of these round-trip times.
    pub rtt_sum: SpanSum,
    /// The latest of these round-trip times.
    pub rtt_latest: Span,
}

impl SenderParams {
    /// Returns the number of packets in the transfer, and the size of the last one.
    pub(crate) fn extent(&self) -> (u64, Bytes) {
        let packet = self.packet;
        match self.transfer {
            Transfer::Unlimited => (u64::MAX, packet),
            Transfer::Offered => (0, packet),
            Transfer::Sized(bytes) => {
                let total = bytes.packets_of(packet).get();
                (total, bytes - packet * total.saturating_sub(1))
            }
        }
    }
}
