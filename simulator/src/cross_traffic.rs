//! Cross traffic: sources that do not respond to the network.

use crate::RunError;
use crate::agenda::{Agenda, EventSource};
use crate::transit::Transit;
use experiment::traffic::{AnySource, CrossPacket, Source, Superposition};
use packetscale_models::units::Time;

/// All sources of a run, one per `[[traffic]]` table of the scenario. Packets of traffic made of
/// TCP connections come from [`crate::background`]; here they are only counted.
pub(crate) struct CrossTraffic {
    sources: Vec<CrossSource>,
    /// Nothing is sent after this.
    end: Time,
}

/// One source, its copies superposed.
pub(crate) struct CrossSource {
    packets: Superposition<AnySource>,
    next: Option<CrossPacket>,
    /// Packets sent so far.
    sent: u64,
    /// The number of its route.
    route: u32,
}

impl CrossTraffic {
    pub(crate) fn new(end: Time) -> CrossTraffic {
        CrossTraffic { sources: Vec::new(), end }
    }

    /// Adds the next source.
    pub(crate) fn add(&mut self, mut packets: Superposition<AnySource>, route: u32) {
        let next = packets.next().filter(|next| next.at <= self.end);
        self.sources.push(CrossSource { packets, next, sent: 0, route });
    }

    /// The number of a source's route.
    #[inline]
    pub(crate) fn route(&self, source: usize) -> u32 {
        self.sources[source].route
    }

    /// Puts the first packet of each source on the agenda.
    pub(crate) fn first_events(&self, agenda: &mut Agenda) {
        for (index, source) in self.sources.iter().enumerate() {
            if let Some(packet) = &source.next {
                agenda.packet(packet.at, EventSource::Cross(index as u32));
            }
        }
    }

    /// The packet that a source sends now.
    #[inline]
    pub(crate) fn send(&mut self, agenda: &mut Agenda, now: Time, index: usize) -> Option<Transit> {
        let end = self.end;
        let source = &mut self.sources[index];
        let packet = source.next.take()?;
        source.next = source.packets.next().filter(|next| next.at <= end);
        agenda.advance_packet(EventSource::Cross(index as u32), source.next.as_ref().map(|next| next.at));
        source.sent += 1;
        Some(Transit::of_traffic(index, source.sent, packet.size, now))
    }

    /// Errors: a source could not be read to the end of the run.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let sources = self.sources.iter().flat_map(|source| source.packets.sources());
        match sources.filter_map(AnySource::failure).next() {
            Some(error) => Err(RunError::Replay(error.to_string())),
            None => Ok(()),
        }
    }
}
