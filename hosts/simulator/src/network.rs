//! An experiment, built: links, flows, traffic, and the rings between them.

use crate::background::Carries;
use crate::connections::Connections;
use crate::flow::{Card, Coalescer, Flow, Processing};
use crate::gaps::Gaps;
use crate::lines::{Line, Lines};
use crate::link::{Fused, Server, Stepped};
use crate::recorder::Recorder;
use crate::response::available_steps;
use crate::schedule::Schedule;
use crate::sources::{Counts, Kind, Sources};
use crate::transit::{AckTransit, Details, Transit};
use crate::web::{self, Users};
use crate::windows::Windows;
use crate::wire::{Return, Wire};
use crate::{Mode, RunError};
use congestion::{Controller, Setup};
use queueing::AnyQueue;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use scenario::{Experiment, FlowSpec, GapModel, Size, TrafficSpec};
use std::collections::VecDeque;
use traffic::chance::{Purpose, seed};
use traffic::{AnySource, Application, CrossPacket, Meter, Source, Superposition};
use transport::{Receiver, ReceiverParams, Sender, SenderParams, Transfer};
use units::{Bytes, Rate, Serialiser, Span, Time};

/// Everything that exists in one run.
pub(crate) struct Network {
    pub(crate) schedule: Schedule,
    pub(crate) sources: Sources,
    /// The flows of the scenario, and after them those of connections, two each.
    pub(crate) flows: Vec<Flow>,
    /// How many are the scenario's.
    pub(crate) plain: usize,
    /// What those after them carry.
    pub(crate) background: Vec<Carries>,
    /// Traffic that is made of connections.
    pub(crate) connections: Option<Box<Connections>>,
    /// Traffic that is made of users who browse.
    pub(crate) users: Option<Box<Users>>,
    /// Network cards with a rate.
    pub(crate) cards: Vec<Card>,
    /// Packets on their way from senders to first links.
    pub(crate) accesses: Lines,
    pub(crate) links: Vec<Link>,
    pub(crate) traffic: Vec<Stream>,
    /// The routes in use: links in order.
    pub(crate) routes: Vec<Vec<u32>>,
    /// Packets from the last link of their route to their receivers, one ring per link.
    pub(crate) deliveries: Vec<VecDeque<Transit>>,
    /// Packets that others overtake, one ring per link.
    pub(crate) detours: Vec<VecDeque<Transit>>,
    /// Packets between links, one ring per pair in use.
    pub(crate) link_lanes: Vec<LinkLane>,
    /// Which ring joins link `from` to link `to`, at `from * links + to`.
    pub(crate) lane_between: Vec<u32>,
    /// Acknowledgments, one ring per last link and return delay, so that each is in order of time.
    pub(crate) ack_lanes: Vec<VecDeque<AckTransit>>,
    pub(crate) details: Details,
    pub(crate) recorder: Recorder,
    pub(crate) bottleneck: usize,
    pub(crate) batching: bool,
    /// Granularity of the receivers' clocks; zero: exact.
    pub(crate) stamp_granularity: Span,
    pub(crate) logging: bool,
    /// Packets that left the bottleneck, of each copy of users, while they are recorded.
    pub(crate) tap: Option<Vec<Vec<CrossPacket>>>,
    /// The available capacity from each time on, for controllers that ask to be told.
    pub(crate) oracle: Vec<(Time, Rate)>,
    pub(crate) sample_step: Span,
    /// When to trace probe streams, the latest first.
    pub(crate) trace_times: Vec<Time>,
    pub(crate) end: Time,
    pub(crate) events: u64,
}

/// One link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) server: Server,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    /// A draw of 32 bits below this loses the packet.
    pub(crate) loss_below: u64,
    pub(crate) random: Pcg64Mcg,
    /// What it does beside that; `None`: nothing.
    pub(crate) wire: Option<Box<Wire>>,
}

/// Packets between two links.
#[derive(Clone, Debug)]
pub(crate) struct LinkLane {
    pub(crate) to: usize,
    pub(crate) packets: VecDeque<Transit>,
}

/// One traffic source, with its next packet.
pub(crate) struct Stream {
    pub(crate) source: Superposition<AnySource>,
    pub(crate) next: Option<CrossPacket>,
    pub(crate) number: u64,
    /// As [`Flow::route`].
    pub(crate) route: u32,
    pub(crate) meter: Meter,
}

impl Network {
    pub(crate) fn new(experiment: &Experiment, mode: Mode) -> Result<Network, RunError> {
        let end = Time::ZERO + experiment.duration;
        let starts = traffic::starts(experiment);
        let mut lanes = Lanes::default();
        let traffic = open_traffic(experiment, &mut lanes)?;
        let mut flows = Vec::with_capacity(experiment.flows.len());
        let mut cards = Vec::new();
        for (index, spec) in experiment.flows.iter().enumerate() {
            let flow = build_flow(experiment, spec, index, starts[index], &mut lanes, mode, None)?;
            let card = spec.access.map(|rate| add_card(&mut cards, rate));
            flows.push(Flow { card, ..flow });
        }
        let traffic_seed = |index: usize| seed(experiment.seed, Purpose::Traffic, index);
        let connections = Connections::open(experiment, mode, &mut lanes, traffic_seed)?;
        let users = Users::open(experiment, mode, &mut lanes, &mut cards, traffic_seed);
        let most_flows = connections.as_ref().map_or(0, |connections| connections.most_flows())
            + users.as_ref().map_or(0, |users| users.most_flows());
        let links: Result<_, RunError> =
            (0..experiment.links.len()).map(|index| build_link(experiment, index, mode)).collect();
        let links = links?;
        let (link_lanes, lane_between) = lanes_between(experiment);
        let sources = Sources::new(Counts {
            links: experiment.links.len(),
            flows: flows.len() + most_flows,
            ack_lanes: lanes.returns.len(),
            link_lanes: link_lanes.len(),
            traffic: traffic.len(),
            users: users.as_ref().map_or(0, |users| users.count()),
        });
        let base_rtt = experiment.flows.first().map_or(Span::from_millis(1), |flow| flow.rtt);
        let warm = Time::ZERO + experiment.warmup;
        let mut network = Network {
            schedule: Schedule::default(),
            sources,
            links,
            routes: lanes.routes,
            deliveries: vec![VecDeque::new(); experiment.links.len()],
            detours: vec![VecDeque::new(); experiment.links.len()],
            link_lanes,
            lane_between,
            ack_lanes: vec![VecDeque::new(); lanes.returns.len()],
            details: Details::default(),
            accesses: Lines::new(),
            recorder: Recorder::new(warm, end, &starts, traffic.len(), base_rtt),
            bottleneck: experiment.bottleneck,
            batching: matches!(experiment.gaps, GapModel::Batch(_)),
            stamp_granularity: experiment.receiver.stamp_granularity,
            logging: false,
            oracle: oracle(experiment, &flows)?,
            sample_step: experiment.record.step,
            trace_times: trace_times(warm, end, experiment.record.streams),
            plain: flows.len(),
            background: Vec::new(),
            connections,
            users,
            cards,
            tap: None,
            flows,
            traffic,
            end,
            events: 0,
        };
        network.recorder.windows = Windows::new(&experiment.record.windows, warm, end);
        if experiment.record.detail {
            network.recorder.keep_detail(experiment.record.step);
        }
        network.first_events(experiment.record.detail);
        Ok(network)
    }

    /// Whether every traffic source could be read to the end of the run.
    pub(crate) fn check_traffic(&self) -> Result<(), RunError> {
        let sources = self.traffic.iter().flat_map(|stream| stream.source.sources());
        match sources.filter_map(AnySource::failure).next() {
            Some(error) => Err(RunError::Replay(error.to_string())),
            None => Ok(()),
        }
    }

    fn first_events(&mut self, sampled: bool) {
        for (index, flow) in self.flows.iter().enumerate() {
            self.schedule.timer(flow.start, self.sources.id(Kind::Flow(index as u32)));
        }
        for (source, start) in self.connections.iter().flat_map(|connections| connections.first()) {
            self.schedule.timer(start, self.sources.id(Kind::Arrivals(source as u32)));
        }
        for (user, start) in self.users.iter_mut().flat_map(|users| users.first()) {
            self.schedule.timer(start, self.sources.id(Kind::User(user as u32)));
        }
        for (index, stream) in self.traffic.iter().enumerate() {
            if let Some(packet) = &stream.next {
                self.schedule.packet(packet.at, self.sources.id(Kind::Traffic(index as u32)));
            }
        }
        if sampled {
            let first = Time::ZERO + self.sample_step / 2;
            self.schedule.timer(first, self.sources.id(Kind::Sampler));
        }
    }
}

/// What ideal estimation needs to know, if any flow asks for it.
fn oracle(experiment: &Experiment, flows: &[Flow]) -> Result<Vec<(Time, Rate)>, RunError> {
    if !flows.iter().any(|flow| flow.sender.controller().needs().available) {
        return Ok(Vec::new());
    }
    available_steps(experiment).ok_or(RunError::NoOracle)
}

/// One stream per entry of the experiment's traffic, its copies superposed.
fn open_traffic(experiment: &Experiment, lanes: &mut Lanes) -> Result<Vec<Stream>, RunError> {
    let end = Time::ZERO + experiment.duration;
    let warm = Time::ZERO + experiment.warmup;
    let open = |(index, spec): (usize, &TrafficSpec)| {
        let mut source = traffic::packets(experiment, index, web::alone)?;
        let next = source.next().filter(|next| next.at <= end);
        let route = lanes.route(&spec.route);
        Ok(Stream { source, next, number: 0, route, meter: Meter::new(warm, Span::from_millis(1)) })
    };
    experiment.traffic.iter().enumerate().map(open).collect()
}

/// What flows share: rings for acknowledgments, found by (last link, return delay), and routes.
#[derive(Clone, Default)]
pub(crate) struct Lanes {
    returns: Vec<(usize, Span)>,
    routes: Vec<Vec<u32>>,
}

impl Lanes {
    fn route(&mut self, links: &[usize]) -> u32 {
        let route: Vec<u32> = links.iter().map(|link| *link as u32).collect();
        let found = self.routes.iter().position(|known| *known == route);
        found.unwrap_or_else(|| {
            self.routes.push(route);
            self.routes.len() - 1
        }) as u32
    }

    /// Makes sure of all that a flow needs.
    pub(crate) fn of_flow(&mut self, experiment: &Experiment, flow: &FlowSpec) {
        self.route(&flow.route);
        let last_link = *flow.route.last().expect("a route has a link");
        self.of(last_link, delays(experiment, flow).1);
    }

    fn of(&mut self, last_link: usize, delay: Span) -> u32 {
        let found = self.returns.iter().position(|lane| *lane == (last_link, delay));
        found.unwrap_or_else(|| {
            self.returns.push((last_link, delay));
            self.returns.len() - 1
        }) as u32
    }
}

/// Delay from the sender to the first link, and from the receiver back to the sender.
fn delays(experiment: &Experiment, spec: &FlowSpec) -> (Span, Span) {
    let forward: Span = spec.route.iter().map(|link| experiment.links[*link].delay).sum();
    let access = (spec.rtt / 2).saturating_sub(forward);
    (access, spec.rtt.saturating_sub(forward + access))
}

/// `window`: the receive window of an end of a connection, whose messages are offered one by one.
pub(crate) fn build_flow(
    experiment: &Experiment,
    spec: &FlowSpec,
    index: usize,
    start: Time,
    lanes: &mut Lanes,
    mode: Mode,
    window: Option<u64>,
) -> Result<Flow, RunError> {
    let (access_delay, return_delay) = delays(experiment, spec);
    let receive_window = experiment.receiver.window.get().min(window.unwrap_or(u64::MAX));
    let setup = Setup {
        now: start,
        packet: spec.packet,
        handshake_rtt: spec.rtt,
        initial_window: spec.initial_window,
        seed: seed(experiment.seed, Purpose::Controller, index),
    };
    let entry = congestion::find(&spec.controller.kind)
        .ok_or_else(|| RunError::UnknownController(spec.controller.kind.clone()))?;
    let controller = (entry.build)(&setup, &spec.controller.settings)
        .map_err(|error| RunError::Controller { name: entry.name, error })?;
    let needs = controller.needs();
    let headers = needs.offers.then(Box::default);
    let stamps = experiment.receiver.stamps && needs.arrivals;
    let params = SenderParams {
        packet: spec.packet,
        transfer: match spec.size {
            _ if spec.application.is_some() || window.is_some() => Transfer::Offered,
            Size::Unlimited => Transfer::Unlimited,
            Size::Bytes(bytes) => Transfer::Sized(bytes),
        },
        initial_window: spec.initial_window,
        handshake_rtt: spec.rtt,
        handshake_window: receive_window,
        min_rto: spec.min_rto,
        pacing_percent: spec.pacing_percent,
        ecn: spec.ecn,
    };
    let coalescer = Coalescer::new(experiment.receiver.coalescing, seed(experiment.seed, Purpose::Card, index));
    let in_order = experiment.links.iter().all(|link| link.impairments.reorder.is_none());
    let immediate = coalescer.is_none() && experiment.receiver.delayed_ack <= 1 && mode == Mode::Fused && in_order;
    let last_link = *spec.route.last().expect("a route has a link");
    Ok(Flow {
        sender: Sender::new(params, controller, start),
        receiver: Receiver::new(ReceiverParams {
            delayed_ack: experiment.receiver.delayed_ack,
            delayed_ack_timeout: experiment.receiver.delayed_ack_timeout,
            window: receive_window,
            stamps,
        }),
        access: Line::EMPTY,
        card: None,
        access_delay,
        return_delay,
        ack_lane: lanes.of(last_link, return_delay),
        receive_window,
        route: lanes.route(&spec.route),
        immediate,
        armed: start,
        due: start,
        gaps: Gaps::new(experiment.gaps, seed(experiment.seed, Purpose::Gaps, index)),
        coalescer,
        headers,
        processing: Processing::new(experiment.receiver.stamp_delay, seed(experiment.seed, Purpose::Stamps, index)),
        application: Application::of_flow(experiment, spec, index, start)?.map(Box::new),
        back: Return::new(&experiment.receiver, experiment.seed, index),
        ack_armed: Time::MAX,
        start,
        completed: None,
    })
}

pub(crate) fn add_card(cards: &mut Vec<Card>, rate: Rate) -> u32 {
    cards.push(Card::new(rate));
    (cards.len() - 1) as u32
}

fn build_link(experiment: &Experiment, index: usize, mode: Mode) -> Result<Link, RunError> {
    let spec = &experiment.links[index];
    let wire = Serialiser::new(spec.rate);
    let server = if mode == Mode::Fused && spec.queue.kind == "fifo" {
        Server::Fused(Fused::new(wire, spec.buffer.limit()))
    } else {
        Server::Stepped(Box::new(Stepped::new(wire, build_queue(experiment, index)?)))
    };
    let random = Pcg64Mcg::seed_from_u64(seed(experiment.seed, Purpose::LinkLoss, index));
    let wire = Wire::new(experiment, index, largest(experiment, index));
    Ok(Link { server, rate: spec.rate, delay: spec.delay, loss_below: spec.loss.q32(), random, wire })
}

/// The largest packet that crosses a link.
fn largest(experiment: &Experiment, index: usize) -> Bytes {
    let flows = experiment.flows.iter().filter(|flow| flow.route.contains(&index)).map(|flow| flow.packet);
    let traffic = experiment.traffic.iter().filter(|source| source.crosses(index)).map(|source| source.packet);
    flows.chain(traffic).max().unwrap_or(Bytes::ZERO)
}

fn build_queue(experiment: &Experiment, index: usize) -> Result<AnyQueue<Transit>, RunError> {
    let spec = &experiment.links[index];
    let setup = queueing::Setup {
        rate: spec.rate,
        limit: spec.buffer.limit(),
        packet: largest(experiment, index),
        seed: seed(experiment.seed, Purpose::Queue, index),
    };
    let name = &spec.queue.kind;
    let built = AnyQueue::build(name, &setup, &spec.queue.settings);
    let built = built.ok_or_else(|| RunError::UnknownQueue(name.clone()))?;
    built.map_err(|error| RunError::Queue { name: name.clone(), error })
}

/// One ring for each pair of links that some route joins.
fn lanes_between(experiment: &Experiment) -> (Vec<LinkLane>, Vec<u32>) {
    let links = experiment.links.len();
    let mut between = vec![u32::MAX; links * links];
    let mut lanes = Vec::new();
    let routes = experiment.flows.iter().map(|f| &f.route).chain(experiment.traffic.iter().flat_map(|t| t.routes()));
    for pair in routes.flat_map(|route| route.windows(2)) {
        let place = &mut between[pair[0] * links + pair[1]];
        if *place == u32::MAX {
            *place = lanes.len() as u32;
            lanes.push((pair[0], pair[1]));
        }
    }
    // Numbered by upstream link, so that ties at a link are broken by where packets come from, not by who came first.
    let mut order: Vec<usize> = (0..lanes.len()).collect();
    order.sort_by_key(|lane| lanes[*lane]);
    for (number, lane) in order.iter().enumerate() {
        between[lanes[*lane].0 * links + lanes[*lane].1] = number as u32;
    }
    let rings = order.iter().map(|lane| LinkLane { to: lanes[*lane].1, packets: VecDeque::new() }).collect();
    (rings, between)
}

/// Equally spaced in the time after warm-up, the latest first.
fn trace_times(warm: Time, end: Time, count: u32) -> Vec<Time> {
    let length = end.saturating_since(warm);
    (0..u64::from(count))
        .rev()
        .map(|i| warm + Span::from_picos(length.picos() / (2 * u64::from(count)) * (2 * i + 1)))
        .collect()
}
