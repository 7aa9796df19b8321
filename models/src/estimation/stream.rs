//! A probe stream as its receiver saw it.

use crate::units::{Bytes, Rate, Span};
use alloc::vec::Vec;

/// One packet of a stream and the gap before it: from the packet sent just before to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The time between the departures of the two packets.
    pub send: Span,
    /// The time between their arrivals; if an acknowledgment covers several packets, the time since the previous one.
    pub receive: Span,
    /// The size of this packet, the later of the two.
    pub size: Bytes,
    /// Whether the receiver reported an arrival time for this packet. If not, its receive gap is unknown.
    pub acked: bool,
}

impl Gap {
    /// The rate at which this packet probes: its size over the gap before it (dissertation, section 2.2).
    pub fn rate(&self) -> Rate {
        Rate::of(self.size, self.send)
    }
}

/// The gaps of one stream, in the order in which packets were sent. Its times sum to less than 2^62 ps, 53 days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// One gap for each packet but the first.
    pub gaps: Vec<Gap>,
    /// Packets that never arrived.
    pub lost: u64,
    /// Whether a denoiser found buffering events, so that some gaps are means over them.
    pub batched: bool,
}

impl Stream {
    /// A stream in which every packet arrived and was acknowledged.
    pub fn new(gaps: Vec<Gap>) -> Stream {
        Stream { gaps, lost: 0, batched: false }
    }

    /// Pairs send and receive gaps of packets of one size; gaps without a partner are left out.
    pub fn of(send: &[Span], receive: &[Span], size: Bytes) -> Stream {
        let gap = |(send, receive): (&Span, &Span)| Gap { send: *send, receive: *receive, size, acked: true };
        Stream::new(send.iter().zip(receive).map(gap).collect())
    }

    /// Returns how long the stream took to send.
    pub fn send_time(&self) -> Span {
        self.gaps.iter().map(|gap| gap.send).sum()
    }

    /// Returns how long the stream took to arrive.
    pub fn receive_time(&self) -> Span {
        self.gaps.iter().map(|gap| gap.receive).sum()
    }

    /// Returns how much data its gaps carried.
    pub fn size(&self) -> Bytes {
        self.gaps.iter().map(|gap| gap.size).sum()
    }

    /// Returns the mean rate at which it was sent.
    pub fn send_rate(&self) -> Rate {
        Rate::of(self.size(), self.send_time())
    }

    /// Returns the mean rate at which it arrived.
    pub fn receive_rate(&self) -> Rate {
        Rate::of(self.size(), self.receive_time())
    }

    /// Returns the one-way delay of every packet beyond that of the first, in picoseconds: the sum of receive gaps so
    /// far less the sum of send gaps.
    pub fn delays(&self) -> Vec<i64> {
        let mut delay = 0;
        let later = self.gaps.iter().map(|gap| {
            delay += gap.receive.picos() as i64 - gap.send.picos() as i64;
            delay
        });
        core::iter::once(0).chain(later).collect()
    }
}
