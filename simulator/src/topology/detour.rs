//! Packets that others may overtake. Each has an entry of its own on the agenda: any may become the next to arrive.

use crate::agenda::{Agenda, EventSource};
use crate::transit::Transit;
use packetscale_models::units::Time;
use std::collections::BTreeMap;

/// Packets by arrival time; those of one instant in the order in which they left.
#[derive(Clone, Debug, Default)]
pub(super) struct Detour {
    packets: BTreeMap<(Time, u64), Transit>,
    count: u64,
}

impl Detour {
    pub(super) fn push(&mut self, agenda: &mut Agenda, link: usize, packet: Transit) {
        agenda.packet(packet.at, EventSource::Detour(link as u32));
        self.packets.insert((packet.at, self.count), packet);
        self.count += 1;
    }

    /// Takes the packet that arrives in the current event.
    pub(super) fn pop(&mut self, agenda: &mut Agenda, link: usize) -> Option<Transit> {
        agenda.advance_packet(EventSource::Detour(link as u32), None);
        self.packets.pop_first().map(|(_, packet)| packet)
    }
}
