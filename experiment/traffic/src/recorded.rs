//! Packets recorded in memory, sent once.

use super::{CrossPacket, Source};
use units::Time;

/// One copy's packets.
#[derive(Debug)]
pub(super) struct Recorded {
    packets: std::vec::IntoIter<CrossPacket>,
    /// Nothing is sent from this time on.
    end: Time,
}

impl Recorded {
    /// Returns a source of `packets`, which must be in order of time.
    pub(super) fn new(packets: Vec<CrossPacket>, end: Time) -> Recorded {
        Recorded { packets: packets.into_iter(), end }
    }
}

impl Source for Recorded {
    fn next(&mut self) -> Option<CrossPacket> {
        self.packets.next().filter(|packet| packet.at < self.end)
    }
}
