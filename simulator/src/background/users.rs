//! Browsing users: each fetches a page, file by file over TCP, thinks, and fetches the next. The distributions are those
//! of [`experiment::traffic::surge`]; the transfer time of a file decides when the next is requested.
//!
//! ```text
//! a page    its first file; then the others, by `parallel` connections at a time, each after a pause to parse
//! a file    1 RTT to connect and half a one for the request, then the server's data, until the last byte has come;
//!           over a persistent connection (`persistent`), half an RTT and the data
//! ```
//!
//! A copy of the source is a pair of hosts: its servers' data leave through one network card, with a queue that delays
//! and never drops. Requests, and the segments that open and close a connection, take time and no bandwidth.
//!
//! Each user has its own generator, so that runs with one seed have users who request the same files in the same
//! order, however long each takes.

use super::connections::packets;
use super::places::{Places, rest};
use super::{BackgroundFlows, Carries, Opening, Stage};
use crate::agenda::EventSource;
use crate::endpoints::{Cards, FlowBuilder, NewFlow};
use experiment::scenario::{Experiment, FlowSpec, TrafficKind, TrafficSpec, Web};
use experiment::traffic::Draws;
use experiment::traffic::surge::Surge;
use harness::measure::Recorder;
use packetscale_models::units::{Bytes, Span, Time};
use std::collections::VecDeque;

/// Granularity of base round-trip times: acknowledgments of equal delay share a ring.
const RTT_STEP: Span = Span::from_micros(100);

/// All users of a run.
pub(super) struct Users {
    /// The number of the first flow in the background.
    first_flow: usize,
    /// One for each traffic source; `None`: of another kind.
    sites: Vec<Option<Site>>,
    users: Vec<User>,
    /// The file that each flow of users is fetching, by its place behind the scenario's flows.
    fetches: Vec<Fetch>,
    places: Places,
}

/// State shared by the users of one source.
struct Site {
    web: Web,
    flow: FlowSpec,
    law: Surge,
    /// Receive window in packets.
    window: u64,
    /// Card of the servers of the first copy; those of the others follow.
    card: Option<u32>,
    start: Time,
    stop: Time,
    rest: Span,
    /// Flows to use again, and from when.
    rested: VecDeque<(Time, usize)>,
}

struct User {
    draws: Draws,
    /// Its traffic source.
    source: u32,
    copy: u32,
    /// Files of the page that are not under way yet.
    left: u32,
    /// Files of the page that are under way, or wait for a pause to end. None: it thinks.
    busy: u32,
    /// No file of the page is complete yet.
    opening: bool,
    page_requested: Time,
    /// Persistent connections that are idle until the next file of the page.
    idle: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
struct Fetch {
    user: usize,
    requested: Time,
    size: Bytes,
    rtt: Span,
    /// The file is complete when this many packets of the flow have arrived.
    boundary: u64,
}

impl User {
    /// A file is complete. Returns how many others are requested now, each after a pause.
    fn received(&mut self, parallel: u32) -> u32 {
        let next = self.left.min(if self.opening { parallel } else { 1 });
        self.opening = false;
        self.left -= next;
        self.busy = self.busy - 1 + next;
        next
    }
}

impl Site {
    fn open(experiment: &Experiment, traffic: &TrafficSpec, web: &Web, cards: &mut Cards) -> Site {
        let flow = FlowSpec { route: traffic.route.clone(), ..web.flow.clone() };
        let copies = 0..traffic.copies;
        let card = web.access.and_then(|rate| copies.map(|_| cards.add(rate)).min());
        Site {
            law: Surge::new(web),
            window: packets(web.window, flow.packet),
            card,
            start: traffic.start,
            stop: traffic.stop,
            rest: rest(experiment, &traffic.route, web.rtt.1),
            rested: VecDeque::new(),
            web: web.clone(),
            flow,
        }
    }

    /// Base round-trip time of a new connection.
    fn rtt(&self, draws: &mut Draws) -> Span {
        let (least, most) = self.web.rtt;
        stepped(least + draws.below(most - least))
    }

    /// Every base round-trip time that may be drawn.
    fn rtts(&self) -> impl Iterator<Item = Span> + use<> {
        let (least, most) = (stepped(self.web.rtt.0), stepped(self.web.rtt.1));
        (0..=(most - least) / RTT_STEP).map(move |step| least + RTT_STEP * step)
    }
}

/// To the nearest step, one at least.
fn stepped(rtt: Span) -> Span {
    RTT_STEP * ((rtt + RTT_STEP / 2) / RTT_STEP).max(1)
}

impl Users {
    /// `None` without traffic of responsive users.
    pub(super) fn open(
        builder: &mut FlowBuilder<'_>,
        cards: &mut Cards,
        seed: impl Fn(usize) -> u64,
    ) -> Option<Box<Users>> {
        let experiment = builder.experiment();
        let (mut sites, mut users) = (Vec::new(), Vec::new());
        for (index, traffic) in experiment.traffic.iter().enumerate() {
            let TrafficKind::Web(web) = &traffic.kind else {
                sites.push(None);
                continue;
            };
            if !web.responsive {
                sites.push(None);
                continue;
            }
            let site = Site::open(&experiment, traffic, web, cards);
            for rtt in site.rtts() {
                builder.prepare(&FlowSpec { rtt, ..site.flow.clone() });
            }
            sites.push(Some(site));
            users.extend((0..traffic.copies * web.users).map(|number| User {
                draws: Draws::new(seed(index), number),
                source: index as u32,
                copy: number / web.users,
                left: 0,
                busy: 0,
                opening: false,
                page_requested: Time::ZERO,
                idle: Vec::new(),
            }));
        }
        if users.is_empty() {
            return None;
        }
        let first_flow = experiment.flows.len();
        Some(Box::new(Users { first_flow, sites, users, fetches: Vec::new(), places: Places::default() }))
    }

    /// When each user requests its first page: it has been thinking for a while.
    pub(super) fn first(&mut self) -> impl Iterator<Item = (usize, Time)> {
        let sites = &self.sites;
        self.users.iter_mut().enumerate().filter_map(|(number, user)| {
            let site = sites[user.source as usize].as_ref()?;
            Some((number, site.start + site.law.thinking(&mut user.draws)))
        })
    }

    /// The next file of a user: an idle connection, if any, and the size. `None`: the user has stopped.
    fn next_file(&mut self, now: Time, number: usize) -> Option<(Option<usize>, Bytes)> {
        let user = &mut self.users[number];
        let site = self.sites[user.source as usize].as_mut()?;
        if user.busy == 0 {
            if now >= site.stop {
                return None;
            }
            (user.left, user.busy) = (site.law.objects(&mut user.draws) - 1, 1);
            (user.opening, user.page_requested) = (true, now);
        }
        Some((user.idle.pop(), site.law.size(&mut user.draws)))
    }

    /// A file has come over this flow.
    fn received(&mut self, now: Time, recorder: &mut Recorder, flow: usize, fetch: &Fetch, free: Time) -> Vec<Time> {
        let user = &mut self.users[fetch.user];
        let source = user.source as usize;
        let Some(site) = &mut self.sites[source] else { return Vec::new() };
        recorder.users.file_fetched(source, fetch.requested, now);
        let next = user.received(site.web.parallel);
        let from = now.max(free) + site.rest;
        match site.web.persistent {
            true => user.idle.push(flow),
            false => site.rested.push_back((from, flow)),
        }
        if user.busy > 0 {
            return (0..next).map(|_| now + site.law.parse(&mut user.draws)).collect();
        }
        site.rested.extend(user.idle.drain(..).map(|flow| (from, flow)));
        recorder.users.page_fetched(source, user.page_requested, now);
        vec![now + site.law.think(&mut user.draws)]
    }

    /// The most connections at a time, if more would have been needed.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.places.exceeded()
    }

    /// The copy of its source that the user of this flow belongs to.
    pub(super) fn copy(&self, flow: usize) -> usize {
        let fetch = self.fetches.get(flow - self.first_flow);
        fetch.map_or(0, |fetch| self.users[fetch.user].copy as usize)
    }

    /// A user requests a file: the first of a page, or another.
    pub(super) fn browse(&mut self, flows: &mut BackgroundFlows<'_>, stage: &mut Stage<'_>, now: Time, number: usize) {
        let Some((idle, size)) = self.next_file(now, number) else { return };
        let (flow, wait) = match idle {
            Some(flow) => (flow, self.fetches[flow - self.first_flow].rtt / 2),
            None => match self.connect(flows, stage, now, number) {
                Some((flow, rtt)) => (flow, rtt + rtt / 2),
                None => return,
            },
        };
        let fetch = &mut self.fetches[flow - self.first_flow];
        *fetch = Fetch { user: number, requested: now, size, boundary: u64::MAX, ..*fetch };
        stage.recorder.users.file_requested(self.users[number].source as usize, now);
        stage.agenda.timer(now + wait, EventSource::Message(flow as u32));
    }

    /// Opens a connection for a user: its flow, and its base round-trip time.
    fn connect(
        &mut self,
        flows: &mut BackgroundFlows<'_>,
        stage: &mut Stage<'_>,
        now: Time,
        number: usize,
    ) -> Option<(usize, Span)> {
        let place = self.free_flow(stage, now, number);
        if place.is_none() {
            self.places.open()?;
        }
        let user = &mut self.users[number];
        let source = user.source as usize;
        let site = self.sites[source].as_ref()?;
        let index = place.unwrap_or(stage.endpoints.next_flow());
        let rtt = site.rtt(&mut user.draws);
        let spec = FlowSpec { rtt, ..site.flow.clone() };
        let card = site.card.map(|first| first + user.copy);
        let new = NewFlow {
            spec: &spec,
            index,
            draws: index,
            start: now,
            background: true,
            message_window: Some(site.window),
        };
        flows.open(stage, new, Opening { carries: Carries::Files, card })?;
        stage.recorder.belongs(index, source);
        self.fetches.resize(flows.count(), Fetch::default());
        self.fetches[index - self.first_flow].rtt = rtt;
        Some((index, rtt))
    }

    /// A flow with a finished last connection and no packets under way.
    fn free_flow(&mut self, stage: &Stage<'_>, now: Time, number: usize) -> Option<usize> {
        let site = self.sites[self.users[number].source as usize].as_mut()?;
        let (_, flow) = site.rested.pop_front_if(|(from, _)| *from <= now)?;
        if stage.endpoints.is_quiet(flow) {
            return Some(flow);
        }
        site.rested.push_back((now + site.rest, flow));
        None
    }

    /// A request has reached the server.
    pub(super) fn answer(&mut self, stage: &mut Stage<'_>, now: Time, flow: usize) {
        let fetch = &mut self.fetches[flow - self.first_flow];
        let Some(site) = &self.sites[self.users[fetch.user].source as usize] else { return };
        fetch.boundary = stage.endpoints.offer_data(flow, fetch.size, site.flow.packet);
        stage.endpoints.transmit(stage.agenda, now, flow);
    }

    /// A packet of a file has arrived: perhaps the file is whole now.
    #[inline]
    pub(super) fn fetched(&mut self, stage: &mut Stage<'_>, now: Time, flow: usize) {
        let fetch = &mut self.fetches[flow - self.first_flow];
        if stage.endpoints.arrived(flow) < fetch.boundary {
            return;
        }
        let whole = *fetch;
        fetch.boundary = u64::MAX;
        let free = stage.endpoints.card_free(flow).unwrap_or(now);
        for at in self.received(now, stage.recorder, flow, &whole, free) {
            stage.agenda.timer(at, EventSource::User(whole.user as u32));
        }
    }
}
