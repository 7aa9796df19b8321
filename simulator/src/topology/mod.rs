//! Links, routes over them, and the packets between them.

mod build;
mod detour;
mod link;
mod policer;
mod transmitter;
mod wire;

pub(crate) use link::{Fused, Leaving};
pub(crate) use transmitter::{Constant, Service};
pub(crate) use wire::Fate;

use crate::agenda::{Agenda, EventSource};
use crate::ring::Ring;
use crate::transit::Transit;
use detour::Detour;
use experiment::scenario::FlowSpec;
use link::Server;
use packetscale_models::queueing::{RateHeader, Readings};
use packetscale_models::units::{Span, Time};
use policer::Policer;
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use wire::Wire;

/// All links of a run.
pub(crate) struct Topology {
    links: Vec<Link>,
    /// The measured link.
    bottleneck: usize,
    /// The routes in use: hops in order.
    routes: Vec<Vec<Hop>>,
    /// Packets between links, one ring per pair in use.
    link_lanes: Vec<LinkLane>,
    /// Packets from the last link of their route to their receivers, one ring per link.
    deliveries: Vec<Ring<Transit>>,
    /// Packets that others may overtake, per link.
    detours: Vec<Detour>,
}

/// One link.
#[derive(Clone, Debug)]
struct Link {
    server: Server,
    policer: Option<Box<Policer>>,
    delay: Span,
    /// A draw of 32 bits below this loses the packet.
    loss_below: u64,
    random: Pcg64Mcg,
    /// The wire's other impairments; `None`: none.
    wire: Option<Box<Wire>>,
}

/// A link of a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    link: u32,
    /// The ring of packets on their way to it; none leads to the first link of a route.
    lane: u32,
}

/// Packets between two links.
#[derive(Clone, Debug)]
struct LinkLane {
    to: usize,
    packets: Ring<Transit>,
}

/// The link's decision on a packet that arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Admission {
    /// Its time on the link is known already.
    Served(Service),
    /// It waits; a later event reports its fate.
    Queued,
    Dropped,
}

impl Hop {
    #[inline]
    pub(crate) fn link(self) -> usize {
        self.link as usize
    }
}

impl Topology {
    #[inline]
    pub(crate) fn is_bottleneck(&self, link: usize) -> bool {
        link == self.bottleneck
    }

    /// How long the handshake of a flow that starts now has waited, if it does: behind all that waits now, there and back.
    pub(crate) fn handshake_waits(&mut self, now: Time, spec: &FlowSpec) -> Span {
        let crossed = spec.route.iter().chain(&spec.back).filter(|_| spec.handshake_waits);
        crossed.map(|link| self.links[*link].server.waits(now)).sum()
    }

    /// Measurements of the bottleneck's discipline.
    pub(crate) fn readings(&self) -> Readings {
        self.links[self.bottleneck].server.readings()
    }

    /// How many packets each link has marked.
    pub(crate) fn marked(&self) -> Vec<u64> {
        self.links.iter().map(|link| link.server.marked()).collect()
    }

    /// The next link of a packet on this route after `behind` other links; `None`: its receiver is next.
    #[inline]
    pub(crate) fn hop_after(&self, route: u32, behind: u8) -> Option<Hop> {
        self.routes[route as usize].get(usize::from(behind)).copied()
    }

    #[inline]
    pub(crate) fn first_link(&self, route: u32) -> usize {
        self.routes[route as usize][0].link as usize
    }

    /// Whether a link has events. Only such links read and write rate headers.
    #[inline]
    pub(crate) fn is_stepped(&self, link: usize) -> bool {
        matches!(self.links[link].server, Server::Stepped(_))
    }

    /// A packet arrives at a link, perhaps with a header.
    #[inline]
    pub(crate) fn admit(
        &mut self,
        agenda: &mut Agenda,
        now: Time,
        index: usize,
        transit: &Transit,
        header: Option<RateHeader>,
    ) -> Admission {
        let link = &mut self.links[index];
        if let Some(policer) = &mut link.policer
            && !policer.passes(now, transit.size())
        {
            return Admission::Dropped;
        }
        match &mut link.server {
            Server::Fused(link) => link.arrive(now, transit.size()).map_or(Admission::Dropped, Admission::Served),
            Server::Varying(link) => link.arrive(now, transit.size()).map_or(Admission::Dropped, Admission::Served),
            Server::Stepped(link) => {
                if !link.arrive(now, *transit, header) {
                    return Admission::Dropped;
                }
                self.serve(agenda, now, index);
                Admission::Queued
            }
        }
    }

    /// If a stepped link is free, its next packet takes it.
    pub(crate) fn serve(&mut self, agenda: &mut Agenda, now: Time, index: usize) {
        let Server::Stepped(link) = &mut self.links[index].server else { return };
        link.begin(now);
        let wake = link.next_wakeup();
        if wake < link.armed {
            link.armed = wake;
            agenda.timer(wake, EventSource::Link(index as u32));
        }
    }

    /// A packet that a stepped link dropped after it had taken it; call after [`Topology::admit`] and
    /// [`Topology::serve`] until there is none.
    pub(crate) fn take_dropped(&mut self, index: usize) -> Option<Transit> {
        match &mut self.links[index].server {
            Server::Fused(_) | Server::Varying(_) => None,
            Server::Stepped(link) => link.take_dropped(),
        }
    }

    /// A stepped link's timer: the packet that has left, if one has.
    pub(crate) fn finish(&mut self, now: Time, index: usize) -> Option<Leaving> {
        let Server::Stepped(link) = &mut self.links[index].server else { return None };
        if link.armed == now {
            link.armed = Time::MAX;
        }
        link.finish(now)
    }

    /// The fate of a packet on the wire behind a link that it leaves at `departs`.
    #[inline]
    pub(crate) fn propagate(&mut self, index: usize, departs: Time) -> Fate {
        let link = &mut self.links[index];
        if link.loss_below > 0 && link.random.next_u64() >> 32 < link.loss_below {
            return Fate::Lost;
        }
        match &mut link.wire {
            Some(wire) => wire.fate(departs),
            None => Fate::Arrives(departs + link.delay),
        }
    }

    pub(crate) fn towards_link(&mut self, agenda: &mut Agenda, next: Hop, transit: Transit) {
        let lane = next.lane;
        self.link_lanes[lane as usize].packets.push(agenda, EventSource::LinkLane(lane), transit);
    }

    /// The packet that arrives now from another link, and the link it arrives at.
    pub(crate) fn between_links(&mut self, agenda: &mut Agenda, lane: usize) -> Option<(usize, Transit)> {
        let source = EventSource::LinkLane(lane as u32);
        let lane = &mut self.link_lanes[lane];
        Some((lane.to, lane.packets.pop(agenda, source)?))
    }

    /// From the last link to the receiver.
    #[inline]
    pub(crate) fn deliver(&mut self, agenda: &mut Agenda, link: usize, transit: Transit) {
        self.deliveries[link].push(agenda, EventSource::Delivery(link as u32), transit);
    }

    /// The packet that arrives now at its receiver.
    pub(crate) fn delivered(&mut self, agenda: &mut Agenda, link: usize) -> Option<Transit> {
        self.deliveries[link].pop(agenda, EventSource::Delivery(link as u32))
    }

    /// A packet that others overtake.
    pub(crate) fn detour(&mut self, agenda: &mut Agenda, link: usize, transit: Transit) {
        self.detours[link].push(agenda, link, transit);
    }

    /// The packet that arrives now from a detour.
    pub(crate) fn off_detour(&mut self, agenda: &mut Agenda, link: usize) -> Option<Transit> {
        self.detours[link].pop(agenda, link)
    }
}
