//! A probe stream as its receiver saw it.

use alloc::vec::Vec;
use units::{Bytes, Rate, Span};

/// One packet of a stream and the gap before it: from the packet sent just before, to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Between the departures of the two.
    pub send: Span,
    /// Between their arrivals; for an acknowledgment that covers several packets, since the acknowledgment before.
    pub receive: Span,
    /// Of this packet, the later of the two.
    pub size: Bytes,
    /// The receiver answered this packet with a time of its own. Without, its receive gap is not known.
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
    /// One for each packet with a packet before it.
    pub gaps: Vec<Gap>,
    /// Packets that never arrived.
    pub lost: u64,
    /// A denoiser found buffering events: some gaps are means over them.
    pub batched: bool,
}

impl Stream {
    /// A stream of which every packet arrived and was answered.
    pub fn new(gaps: Vec<Gap>) -> Stream {
        Stream { gaps, lost: 0, batched: false }
    }

    /// From gaps in step, all packets of one size; what has no partner is left out.
    pub fn of(send: &[Span], receive: &[Span], size: Bytes) -> Stream {
        let gap = |(send, receive): (&Span, &Span)| Gap { send: *send, receive: *receive, size, acked: true };
        Stream::new(send.iter().zip(receive).map(gap).collect())
    }

    /// How long it took to send.
    pub fn send_time(&self) -> Span {
        self.gaps.iter().map(|gap| gap.send).sum()
    }

    /// How long it took to arrive.
    pub fn receive_time(&self) -> Span {
        self.gaps.iter().map(|gap| gap.receive).sum()
    }

    /// What its gaps carried.
    pub fn size(&self) -> Bytes {
        self.gaps.iter().map(|gap| gap.size).sum()
    }

    /// The mean rate at which it was sent.
    pub fn send_rate(&self) -> Rate {
        Rate::of(self.size(), self.send_time())
    }

    /// The mean rate at which it arrived.
    pub fn receive_rate(&self) -> Rate {
        Rate::of(self.size(), self.receive_time())
    }

    /// One-way delay of every packet beyond that of the first, in picoseconds: the sum of receive less send gaps so far.
    pub fn delays(&self) -> Vec<i64> {
        let mut delay = 0;
        let later = self.gaps.iter().map(|gap| {
            delay += gap.receive.picos() as i64 - gap.send.picos() as i64;
            delay
        });
        core::iter::once(0).chain(later).collect()
    }
}
