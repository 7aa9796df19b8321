//! Users who browse: each fetches a page, file by file over TCP, thinks, and fetches the next. The laws are those of
//! [`traffic::surge`]; what the path does to a file decides when the next is asked for.
//!
//! ```text
//! a page    its first file; then the others, by `parallel` connections at a time, each after a pause to parse
//! a file    1 RTT to connect and half a one for the request, then the server's data, until the last byte has come;
//!           over a connection that is kept (`persistent`), half an RTT and the data
//! ```
//!
//! A copy of the source is a pair of hosts: its servers' data leave through one network card, with a queue that delays
//! and never drops. Requests, and the segments that open and close a connection, take time and no bandwidth.
//!
//! Each user has a generator of its own, so that runs with one seed have users who ask for the same files in the same
//! order, however long each takes.

use crate::background::Carries;
use crate::connections::packets;
use crate::flow::{Card, Flow};
use crate::network::{Lanes, Network, add_card, build_flow};
use crate::sources::Kind;
use crate::transit::{Owner, Transit};
use crate::{Mode, RunError};
use hdrhistogram::Histogram;
use scenario::{Buffer, Experiment, FlowSpec, TrafficKind, TrafficSpec, Web};
use std::collections::VecDeque;
use traffic::Draws;
use traffic::surge::Surge;
use traffic::{CrossPacket, TrafficError};
use units::{Bytes, Span, Time};

/// Granularity of base round-trip times: acknowledgments of equal delay share a ring.
const RTT_STEP: Span = Span::from_micros(100);

/// Most connections at a time, those that rest included.
const MOST: usize = 1 << 16;

/// How long a flow rests at least before another connection takes its place.
const REST: Span = Span::from_secs(1);

/// All users of a run.
pub(crate) struct Users {
    experiment: Experiment,
    mode: Mode,
    lanes: Lanes,
    /// One for each traffic source; `None`: of another kind.
    sites: Vec<Option<Site>>,
    users: Vec<User>,
    /// What each flow of users is fetching, by its place behind the scenario's flows.
    fetches: Vec<Fetch>,
    opened: usize,
    crowded: bool,
}

/// What the users of one source have in common.
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
    completions: Completions,
}

/// How long files and pages took, over those asked for after the warm-up.
#[derive(Debug)]
pub(crate) struct Completions {
    /// Files asked for.
    pub(crate) asked: u64,
    /// From asking for a file until it is there, nanoseconds.
    pub(crate) files_ns: Histogram<u64>,
    /// From asking for the first file of a page until the last is there.
    pub(crate) pages_ns: Histogram<u64>,
}

impl Completions {
    fn new() -> Completions {
        let durations = || Histogram::new_with_bounds(1, 1_000_000_000_000, 3).expect("bounds are in range");
        Completions { asked: 0, files_ns: durations(), pages_ns: durations() }
    }
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
    /// No file of the page is there yet.
    opening: bool,
    page_asked: Time,
    /// Connections that are kept, and rest until the next file of the page.
    kept: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
struct Fetch {
    user: usize,
    asked: Time,
    size: Bytes,
    rtt: Span,
    /// The file is there when so many packets of the flow are.
    boundary: u64,
}

impl User {
    /// A file is there: how many others are asked for now, each after a pause.
    fn received(&mut self, parallel: u32) -> u32 {
        let next = self.left.min(if self.opening { parallel } else { 1 });
        self.opening = false;
        self.left -= next;
        self.busy = self.busy - 1 + next;
        next
    }
}

impl Site {
    fn open(experiment: &Experiment, traffic: &TrafficSpec, web: &Web, cards: &mut Vec<Card>) -> Site {
        let flow = FlowSpec { route: traffic.route.clone(), ..web.flow.clone() };
        let copies = 0..traffic.copies;
        let card = web.access.and_then(|rate| copies.map(|_| add_card(cards, rate)).min());
        Site {
            law: Surge::new(web),
            window: packets(web.window, flow.packet),
            card,
            start: traffic.start,
            stop: traffic.stop,
            rest: REST + web.rtt.1 * 2 + longest_queue(experiment, &traffic.route),
            rested: VecDeque::new(),
            completions: Completions::new(),
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

/// How long a packet may wait on a route.
fn longest_queue(experiment: &Experiment, route: &[usize]) -> Span {
    const ENDLESS: Span = Span::from_secs(10);
    let links = route.iter().map(|link| &experiment.links[*link]);
    links
        .map(|link| match link.buffer {
            Buffer::Bytes(bytes) => link.rate.time_for(bytes),
            Buffer::Packets(packets) => link.rate.time_for(Bytes::new(9_000)).saturating_mul(packets.get()),
            Buffer::Unlimited => ENDLESS,
        })
        .fold(Span::ZERO, |sum, wait| sum + wait.min(ENDLESS))
}

impl Users {
    /// `None` where no traffic is made of users who respond.
    pub(crate) fn open(
        experiment: &Experiment,
        mode: Mode,
        lanes: &mut Lanes,
        cards: &mut Vec<Card>,
        seed: impl Fn(usize) -> u64,
    ) -> Option<Box<Users>> {
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
            let site = Site::open(experiment, traffic, web, cards);
            for rtt in site.rtts() {
                lanes.of_flow(experiment, &FlowSpec { rtt, ..site.flow.clone() });
            }
            sites.push(Some(site));
            users.extend((0..traffic.copies * web.users).map(|number| User {
                draws: Draws::new(seed(index), number),
                source: index as u32,
                copy: number / web.users,
                left: 0,
                busy: 0,
                opening: false,
                page_asked: Time::ZERO,
                kept: Vec::new(),
            }));
        }
        if users.is_empty() {
            return None;
        }
        let (experiment, lanes, fetches) = (experiment.clone(), lanes.clone(), Vec::new());
        Some(Box::new(Users { experiment, mode, lanes, sites, users, fetches, opened: 0, crowded: false }))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.users.len()
    }

    /// Most flows that will be needed.
    pub(crate) fn most_flows(&self) -> usize {
        MOST
    }

    /// When each user asks for its first page: it has been thinking for a while.
    pub(crate) fn first(&mut self) -> impl Iterator<Item = (usize, Time)> {
        let sites = &self.sites;
        self.users.iter_mut().enumerate().filter_map(|(number, user)| {
            let site = sites[user.source as usize].as_ref()?;
            Some((number, site.start + site.law.thinking(&mut user.draws)))
        })
    }

    /// What became of the files of a source.
    pub(crate) fn completions(&self, source: usize) -> Option<&Completions> {
        self.sites[source].as_ref().map(|site| &site.completions)
    }

    /// The next file of a user: its connection, if one is kept, and its size. `None`: it has stopped.
    fn next_file(&mut self, now: Time, number: usize) -> Option<(Option<usize>, Bytes)> {
        let user = &mut self.users[number];
        let site = self.sites[user.source as usize].as_mut()?;
        if user.busy == 0 {
            if now >= site.stop {
                return None;
            }
            (user.left, user.busy) = (site.law.objects(&mut user.draws) - 1, 1);
            (user.opening, user.page_asked) = (true, now);
        }
        Some((user.kept.pop(), site.law.size(&mut user.draws)))
    }

    /// A file has come over this flow.
    fn received(&mut self, now: Time, warm: Time, flow: usize, fetch: &Fetch, free: Time) -> Vec<Time> {
        let user = &mut self.users[fetch.user];
        let Some(site) = &mut self.sites[user.source as usize] else { return Vec::new() };
        if fetch.asked > warm {
            site.completions.files_ns.saturating_record(now.since(fetch.asked).nanos());
        }
        let next = user.received(site.web.parallel);
        let from = now.max(free) + site.rest;
        match site.web.persistent {
            true => user.kept.push(flow),
            false => site.rested.push_back((from, flow)),
        }
        if user.busy > 0 {
            return (0..next).map(|_| now + site.law.parse(&mut user.draws)).collect();
        }
        site.rested.extend(user.kept.drain(..).map(|flow| (from, flow)));
        if user.page_asked > warm {
            site.completions.pages_ns.saturating_record(now.since(user.page_asked).nanos());
        }
        vec![now + site.law.think(&mut user.draws)]
    }
}

impl Network {
    /// A user asks for a file: the first of a page, or another.
    pub(crate) fn browse(&mut self, now: Time, number: usize) {
        let Some(users) = &mut self.users else { return };
        let Some((kept, size)) = users.next_file(now, number) else { return };
        let (flow, wait) = match kept {
            Some(flow) => (flow, users.fetches[flow - self.plain].rtt / 2),
            None => match self.connect(now, number) {
                Some((flow, rtt)) => (flow, rtt + rtt / 2),
                None => return,
            },
        };
        let Some(users) = &mut self.users else { return };
        let fetch = &mut users.fetches[flow - self.plain];
        *fetch = Fetch { user: number, asked: now, size, boundary: u64::MAX, ..*fetch };
        let source = users.users[number].source as usize;
        if let Some(site) = &mut users.sites[source] {
            site.completions.asked += u64::from(now > self.recorder.warm);
        }
        self.schedule.timer(now + wait, self.sources.id(Kind::Message(flow as u32)));
    }

    /// Opens a connection for a user: its flow, and its base round-trip time.
    fn connect(&mut self, now: Time, number: usize) -> Option<(usize, Span)> {
        let place = self.free_flow(now, number);
        let users = self.users.as_mut()?;
        let user = &mut users.users[number];
        let site = users.sites[user.source as usize].as_mut()?;
        let index = place.unwrap_or(self.flows.len());
        if place.is_none() {
            if users.opened == MOST {
                users.crowded = true;
                return None;
            }
            users.opened += 1;
        }
        let rtt = site.rtt(&mut user.draws);
        let spec = FlowSpec { rtt, ..site.flow.clone() };
        let built = build_flow(&users.experiment, &spec, index, now, &mut users.lanes, users.mode, Some(site.window));
        // What could be refused was tried when the scenario was read.
        let card = site.card.map(|first| first + user.copy);
        let flow = Flow { armed: Time::MAX, due: Time::MAX, immediate: false, card, ..built.ok()? };
        self.recorder.belongs(index, user.source as usize);
        if place.is_none() {
            self.flows.push(flow);
            self.background.push(Carries::Files);
            users.fetches.resize(self.background.len(), Fetch::default());
        } else {
            self.flows[index] = flow;
        }
        users.fetches[index - self.plain].rtt = rtt;
        Some((index, rtt))
    }

    /// A flow whose last connection is over, and all of whose packets have gone.
    fn free_flow(&mut self, now: Time, number: usize) -> Option<usize> {
        let users = self.users.as_mut()?;
        let site = users.sites[users.users[number].source as usize].as_mut()?;
        let (_, flow) = site.rested.pop_front_if(|(from, _)| *from <= now)?;
        let old = &self.flows[flow];
        if old.sender.in_flight() == 0 && old.access.is_empty() {
            return Some(flow);
        }
        site.rested.push_back((now + site.rest, flow));
        None
    }

    /// A request has reached the server.
    pub(crate) fn answer(&mut self, now: Time, index: usize) {
        let Some(users) = &mut self.users else { return };
        let fetch = &mut users.fetches[index - self.plain];
        let Some(site) = &users.sites[users.users[fetch.user].source as usize] else { return };
        fetch.boundary = self.flows[index].offer_data(fetch.size, site.flow.packet);
        self.transmit(now, index);
    }

    /// A packet of a file has arrived: perhaps the file is whole now.
    #[inline]
    pub(crate) fn fetched(&mut self, now: Time, index: usize) {
        let Some(users) = &mut self.users else { return };
        let fetch = &mut users.fetches[index - self.plain];
        if self.flows[index].receiver.next_expected() < fetch.boundary {
            return;
        }
        let whole = *fetch;
        fetch.boundary = u64::MAX;
        let free = self.flows[index].card.map_or(now, |card| self.cards[card as usize].free);
        for at in users.received(now, self.recorder.warm, index, &whole, free) {
            self.schedule.timer(at, self.sources.id(Kind::User(whole.user as u32)));
        }
    }

    /// Whether there was a flow for every file.
    pub(crate) fn check_users(&self) -> Result<(), RunError> {
        match &self.users {
            Some(users) if users.crowded => Err(TrafficError::Crowded { most: MOST }.into()),
            _ => Ok(()),
        }
    }

    /// Records a packet that left the bottleneck, by the copy of the source whose users it is for.
    pub(crate) fn tap(&mut self, transit: &Transit, departure: Time) {
        let Some(tap) = &mut self.tap else { return };
        let copy = match (&self.users, transit.owner()) {
            (Some(users), Owner::Flow(flow)) if flow >= self.plain => {
                users.users[users.fetches[flow - self.plain].user].copy as usize
            }
            _ => 0,
        };
        let place = copy.min(tap.len() - 1);
        tap[place].push(CrossPacket { at: departure, size: transit.size() });
    }
}

/// What users who do not react to the path send, copy by copy: what leaves the measured link when they have the path to
/// themselves.
pub(crate) fn alone(experiment: &Experiment, spec: &TrafficSpec) -> Result<Vec<Vec<CrossPacket>>, RunError> {
    let mut alone = TrafficSpec { shaper: None, ..spec.clone() };
    if let TrafficKind::Web(web) = &mut alone.kind {
        web.responsive = true;
    }
    let mut alone = Experiment { flows: Vec::new(), traffic: vec![alone], ..experiment.clone() };
    alone.record.detail = false;
    alone.record.windows.clear();
    departures(&alone, spec.copies)
}

/// What leaves the measured link, packet by packet, copy by copy of users; what is of no copy is with the first.
pub(crate) fn departures(experiment: &Experiment, copies: u32) -> Result<Vec<Vec<CrossPacket>>, RunError> {
    let mut network = Network::new(experiment, Mode::Fused)?;
    network.logging = true;
    network.tap = Some(vec![Vec::new(); copies.max(1) as usize]);
    network.run();
    network.check_traffic()?;
    network.check_connections()?;
    network.check_users()?;
    Ok(network.tap.take().unwrap_or_default())
}
