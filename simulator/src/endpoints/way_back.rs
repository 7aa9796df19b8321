//! Acknowledgments that cross links on their way back. Their content waits here; on the links is a packet with
//! the number of its place, as large as the headers.

use super::Endpoints;
use crate::agenda::Agenda;
use crate::transit::{AckTransit, Owner, Transit, Usual};
use experiment::scenario::HEADERS;
use packetscale_models::units::Time;

/// The content of acknowledgments that are crossing links.
#[derive(Clone, Debug, Default)]
pub(super) struct WayBack {
    slots: Vec<AckTransit>,
    free: Vec<u32>,
    sent: u64,
    /// The one that sets out now, and the number of its route.
    departing: Option<(u32, Transit)>,
}

impl WayBack {
    fn keep(&mut self, record: AckTransit) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = record;
                slot
            }
            None => {
                self.slots.push(record);
                (self.slots.len() - 1) as u32
            }
        }
    }

    fn take(&mut self, transit: &Transit) -> AckTransit {
        self.free.push(transit.sequence as u32);
        self.slots[transit.sequence as usize]
    }
}

impl Endpoints {
    /// The acknowledgment in `answer` sets out for the links of its way back.
    #[cold]
    pub(super) fn depart_back(&mut self, at: Time, index: usize, route: u32) {
        // The arrival time is unknown, so that no stamp is the usual one.
        let usual = Usual { window: self.flows[index].receive_window, stamp: Time::MAX };
        let record = self.details.pack(index, at, &self.answer, usual);
        let slot = self.way_back.keep(record);
        self.way_back.sent += 1;
        let transit = Transit::of_acknowledgment(index, slot, self.way_back.sent, HEADERS, at);
        self.way_back.departing = Some((route, transit));
    }

    /// The acknowledgment that has set out for a link just now, and its route; `None`: it is only delayed, or lost.
    #[inline]
    pub(crate) fn take_departing(&mut self) -> Option<(u32, Transit)> {
        self.way_back.departing.take()
    }

    /// The number of the route that a flow's acknowledgments cross.
    pub(crate) fn route_back(&self, index: usize) -> u32 {
        let path = self.flows[index].return_path.as_ref();
        path.and_then(|path| path.route()).expect("only acknowledgments with a route cross links")
    }

    /// An acknowledgment has left the last link of its way back.
    pub(crate) fn returned(&mut self, agenda: &mut Agenda, transit: &Transit) {
        let mut record = self.way_back.take(transit);
        let flow = &self.flows[record.flow as usize];
        let arrives = transit.at + flow.return_delay;
        record.at = flow.return_path.as_ref().map_or(arrives, |path| path.bunched(arrives));
        self.send_ack(agenda, record.flow as usize, record);
    }

    /// A packet was dropped or lost.
    pub(crate) fn forget(&mut self, transit: &Transit) {
        if let Owner::Acknowledgment(_) = transit.owner() {
            let record = self.way_back.take(transit);
            self.details.forget(&record);
        }
    }
}
