//! What a scenario sets of a sender, and what a sender counts.

use units::{Bytes, Span};

/// How much there is to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// More than the run can carry.
    Unlimited,
    /// So many bytes, the last packet perhaps short.
    Sized(Bytes),
    /// What an application hands over, packet by packet, without end ([`Sender::offer`](crate::Sender::offer)).
    Offered,
}

/// What a scenario can set of a sender.
#[derive(Clone, Copy, Debug)]
pub struct SenderParams {
    /// Wire size of a full packet; not zero.
    pub packet: Bytes,
    /// What to send.
    pub transfer: Transfer,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Round-trip time seen by the handshake.
    pub handshake_rtt: Span,
    /// Receive window that the handshake advertised, in packets; 0 counts as 1, `u64::MAX` as not known.
    pub handshake_window: u64,
    /// Least retransmission timeout (RFC 6298: 1 s; Linux: 200 ms).
    pub min_rto: Span,
    /// Pace window-based controllers at this many windows per smoothed round trip, in percent; 0: ack-clocked.
    pub pacing_percent: u32,
    /// Send packets that queues may mark, if the controller reads marks (RFC 3168).
    pub ecn: bool,
}

/// What has happened so far.
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
    /// Congestion marks answered, once per window.
    pub marks_answered: u64,
    /// Acknowledgments that gave a round-trip time.
    pub rtt_samples: u64,
    /// The sum of these times.
    pub rtt_sum: Span,
    /// The latest of them.
    pub rtt_latest: Span,
}

impl SenderParams {
    /// Packets in the transfer, and the size of the last.
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
