//! Packets on the network: data segments one way, acknowledgments the other.

use crate::units::{Bytes, Ecn, Marks, Rate, Time};

/// Selective acknowledgment blocks in one acknowledgment (RFC 2018 with timestamps: three).
pub const MAX_SACK_BLOCKS: usize = 3;

/// Arrival stamps in one acknowledgment: as many as the option space holds in addition to timestamps.
pub const MAX_STAMPS: usize = 8;

/// A data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its place in the flow, in packets.
    pub sequence: u64,
    /// Number of this transmission in the flow, echoed by the receiver's stamp.
    pub transmission: u64,
    /// Size on the wire.
    pub size: Bytes,
    /// Whether it repeats data that was sent before.
    pub retransmission: bool,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// The marks that queues have set.
    pub marks: Marks,
}

/// Packets that arrived marked, one count for each bit. A packet with both bits counts in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkCounts {
    /// Packets with the congestion-experienced bit.
    pub congestion: u64,
    /// Packets with the burstiness bit.
    pub burstiness: u64,
}

impl MarkCounts {
    /// No marks yet.
    pub const ZERO: MarkCounts = MarkCounts { congestion: 0, burstiness: 0 };

    /// Counts one more packet.
    #[inline]
    pub fn count(&mut self, marks: Marks) {
        self.congestion += u64::from(marks.congestion);
        self.burstiness += u64::from(marks.burstiness);
    }
}

/// Packets `start..end` have arrived above a hole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First packet of the block.
    pub start: u64,
    /// First packet after it.
    pub end: u64,
}

/// When one transmission arrived, on the receiver's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The packet.
    pub sequence: u64,
    /// The number of that transmission.
    pub transmission: u64,
    /// When the receiver saw it.
    pub arrived: Time,
}

/// An acknowledgment. Only the first `blocks` and `stamps` entries of its arrays are valid.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The next packet the receiver expects: everything below has arrived.
    pub next_expected: u64,
    /// Transmission that caused this acknowledgment, as a timestamp echo identifies it (RFC 7323). With delayed
    /// acknowledgments it is the oldest transmission not yet acknowledged.
    pub echo: u64,
    /// Packets the receiver is willing to hold beyond `next_expected`.
    pub receive_window: u64,
    /// Number of valid blocks.
    pub blocks: u8,
    /// Number of valid stamps.
    pub stamps: u8,
    /// Whether the segment that caused it had arrived before (RFC 2883).
    pub duplicate: bool,
    /// Marked packets since the connection began. Totals, not differences: a lost acknowledgment loses no mark.
    pub marked: MarkCounts,
    /// The rate that routers offered to the packet that arrived last (RCP).
    pub offer: Option<Rate>,
    /// Selectively acknowledged blocks, the newest first.
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
    /// Arrival times of the packets that this acknowledgment is the first to cover, oldest first.
    pub arrivals: [Stamp; MAX_STAMPS],
}

impl Ack {
    /// An acknowledgment without blocks and stamps.
    pub const fn plain(next_expected: u64, echo: u64, receive_window: u64) -> Ack {
        Ack {
            next_expected,
            echo,
            receive_window,
            blocks: 0,
            stamps: 0,
            duplicate: false,
            marked: MarkCounts::ZERO,
            offer: None,
            sack: [SackBlock { start: 0, end: 0 }; MAX_SACK_BLOCKS],
            arrivals: [Stamp { sequence: 0, transmission: 0, arrived: Time::ZERO }; MAX_STAMPS],
        }
    }

    /// Makes it an acknowledgment without blocks and stamps. What its arrays held stays there, and is not valid.
    #[inline]
    pub fn clear(&mut self, next_expected: u64, echo: u64, receive_window: u64) {
        (self.next_expected, self.echo, self.receive_window) = (next_expected, echo, receive_window);
        (self.blocks, self.stamps, self.duplicate) = (0, 0, false);
        (self.marked, self.offer) = (MarkCounts::ZERO, None);
    }
}
