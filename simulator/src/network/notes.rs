//! Notes of single packets, on request: a log of services, a tap on the measured link, an observer.

use crate::services::Served;
use crate::transit::{Owner, Transit};
use experiment::traffic::CrossPacket;
use harness::packets::Event;
use packetscale_models::units::Time;

/// The notes of one run.
pub(super) struct Notes {
    /// Services are noted: one of these, or every link's account, is on.
    pub(super) services: bool,
    /// Every service of every link, for comparing runs packet by packet.
    log: Option<Vec<Served>>,
    tap: Option<Tap>,
    /// Events of links in the current event; `None` without an observer.
    events: Option<Vec<(Time, Event)>>,
}

impl Notes {
    /// `services`: every link has an account.
    pub(super) fn new(services: bool) -> Notes {
        Notes { services, log: None, tap: None, events: None }
    }

    /// Logs services from now on.
    pub(super) fn begin_log(&mut self) {
        (self.services, self.log) = (true, Some(Vec::new()));
    }

    /// Takes the log.
    pub(super) fn take_log(&mut self) -> Vec<Served> {
        self.log.take().unwrap_or_default()
    }

    /// Taps the measured link from now on, for this many copies of users.
    pub(super) fn set_tap(&mut self, copies: u32) {
        (self.services, self.tap) = (true, Some(Tap::new(copies)));
    }

    /// The tap, if any.
    pub(super) fn tap(&mut self) -> Option<&mut Tap> {
        self.tap.as_mut()
    }

    /// Takes what was tapped, copy by copy.
    pub(super) fn take_tap(&mut self) -> Vec<Vec<CrossPacket>> {
        self.tap.take().map(|tap| tap.copies).unwrap_or_default()
    }

    /// Notes events for an observer from now on.
    pub(super) fn begin_events(&mut self) {
        (self.services, self.events) = (true, Some(Vec::new()));
    }

    /// Takes the events since the last call.
    pub(super) fn take_events(&mut self) -> Vec<(Time, Event)> {
        self.events.as_mut().map_or_else(Vec::new, std::mem::take)
    }

    /// A link took a packet.
    pub(super) fn queued(&mut self, now: Time, link: usize) {
        if let Some(events) = &mut self.events {
            events.push((now, Event::Queued { link }));
        }
    }

    /// A link served a packet.
    pub(super) fn served(&mut self, link: usize, transit: &Transit, arrival: Time, departs: Time) {
        if let Some(events) = &mut self.events {
            events.push((arrival, Event::Served { link, size: transit.size(), arrival, departs }));
        }
        self.passed(link, transit, arrival, departs);
    }

    /// A link dropped a packet, which had been `queued` or not.
    pub(super) fn dropped(&mut self, now: Time, link: usize, transit: &Transit, queued: bool) {
        if let Some(events) = &mut self.events {
            events.push((now, Event::Dropped { link, arrival: transit.at, queued }));
        }
        self.passed(link, transit, transit.at, Time::MAX);
        self.lost(transit, now);
    }

    /// A packet of a flow will not arrive.
    #[cold]
    pub(super) fn lost(&mut self, transit: &Transit, at: Time) {
        if let (Some(events), Owner::Flow(flow)) = (&mut self.events, transit.owner()) {
            events.push((at, Event::Lost { flow, sequence: transit.sequence }));
        }
    }

    /// `departure` is [`Time::MAX`] where the link dropped it.
    fn passed(&mut self, link: usize, transit: &Transit, arrival: Time, departure: Time) {
        if let Some(log) = &mut self.log {
            let owner = match transit.owner() {
                Owner::Flow(flow) | Owner::Acknowledgment(flow) => flow as u32,
                Owner::Traffic(source) => u32::MAX - source as u32,
            };
            let acknowledgment = matches!(transit.owner(), Owner::Acknowledgment(_));
            log.push(Served { link, owner, acknowledgment, transmission: transit.transmission, arrival, departure });
        }
    }
}

/// Packets that left the bottleneck, by the copy of users they are for. Packets of no copy are with the first.
pub(super) struct Tap {
    copies: Vec<Vec<CrossPacket>>,
}

impl Tap {
    fn new(copies: u32) -> Tap {
        Tap { copies: vec![Vec::new(); copies.max(1) as usize] }
    }

    pub(super) fn record(&mut self, copy: Option<usize>, transit: &Transit, departure: Time) {
        let place = copy.unwrap_or(0).min(self.copies.len() - 1);
        self.copies[place].push(CrossPacket { at: departure, size: transit.size() });
    }
}
