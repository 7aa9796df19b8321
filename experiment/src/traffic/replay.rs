//! Replay of packets that are in memory, once.

use super::{CrossPacket, Source};
use packetscale_models::units::Time;

/// One copy's packets.
#[derive(Debug)]
pub(super) struct Replay {
    packets: std::vec::IntoIter<CrossPacket>,
    /// Nothing is sent from this time on.
    end: Time,
}

impl Replay {
    /// `packets` are in order of time.
    pub(super) fn new(packets: Vec<CrossPacket>, end: Time) -> Replay {
        Replay { packets: packets.into_iter(), end }
    }
}

impl Source for Replay {
    fn next(&mut self) -> Option<CrossPacket> {
        self.packets.next().filter(|packet| packet.at < self.end)
    }
}
