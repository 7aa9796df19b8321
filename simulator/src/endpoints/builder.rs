//! Flows, built from an experiment: at its start those of the scenario, later those in the background.

use super::card::Cards;
use super::coalescer::Coalescer;
use super::flow::{Flow, Processing};
use super::gaps::Gaps;
use super::lines::Line;
use super::return_path::ReturnPath;
use crate::held::Held;
use crate::{Mode, RunError};
use experiment::plugins::{MOST_STATES_BYTES, Object, OpenError};
use experiment::scenario::{Experiment, FlowSpec, GapModel, Size};
use experiment::traffic::Application;
use experiment::traffic::chance::{Purpose, seed};
use packetscale_models::congestion::{AnyController, Controller, Setup};
use packetscale_models::transport::{Receiver, ReceiverParams, Sender, SenderParams, Transfer};
use packetscale_models::units::{Span, Time};
use std::path::{Path, PathBuf};

/// State shared by all flows of an experiment: its settings, and the numbers of routes and return paths.
#[derive(Clone, Debug)]
pub(crate) struct FlowBuilder<'e> {
    experiment: Held<'e>,
    mode: Mode,
    /// No link reorders packets.
    in_order: bool,
    /// Rings for acknowledgments, found by the last link, the delay after it, and when they are known.
    ack_lanes: Vec<(usize, Span, Known)>,
    routes: Vec<Vec<u32>>,
    /// Files of controllers that users bring, opened.
    opened: Vec<(PathBuf, &'static Object)>,
}

/// When it is known that an acknowledgment reaches its sender. Those known ahead of time, when their packet enters its last
/// link, and those known when that happens would not be in order in one ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// When the packet enters the last link of its route.
    AtArrival,
    /// When the receiver sends it.
    AtReceiver,
    /// When it enters, or leaves, the last link of its way back.
    OnWayBack,
}

/// One flow to build.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewFlow<'s> {
    pub(crate) spec: &'s FlowSpec,
    /// Its number.
    pub(crate) index: usize,
    /// Seed of its random numbers, unique among flows. An index may be reused, this is not.
    pub(crate) draws: usize,
    pub(crate) start: Time,
    /// It runs in the background: every packet has an event at its receiver.
    pub(crate) background: bool,
    /// Messages are offered to it one by one, and its receiver has this window, in packets; `None`: it sends its size.
    pub(crate) message_window: Option<u64>,
}

/// The delays of a flow in addition to those of its links.
#[derive(Clone, Copy, Debug)]
struct Delays {
    /// From the sender to the first link.
    access: Span,
    /// From the receiver back to the sender, or from the last link of the way back.
    back: Span,
}

impl<'e> FlowBuilder<'e> {
    pub(crate) fn new(experiment: Held<'e>, mode: Mode) -> FlowBuilder<'e> {
        let in_order = experiment.links.iter().all(|link| !link.impairments.overtakes());
        FlowBuilder { experiment, mode, in_order, ack_lanes: Vec::new(), routes: Vec::new(), opened: Vec::new() }
    }

    pub(crate) fn experiment(&self) -> Held<'e> {
        self.experiment.clone()
    }

    /// The routes found so far, as links in order.
    pub(crate) fn routes(&self) -> &[Vec<u32>] {
        &self.routes
    }

    /// How many rings of acknowledgments were needed so far.
    pub(crate) fn ack_lanes(&self) -> usize {
        self.ack_lanes.len()
    }

    /// The number of a route.
    pub(crate) fn route(&mut self, links: &[usize]) -> u32 {
        let found =
            self.routes.iter().position(|known| known.iter().map(|link| *link as usize).eq(links.iter().copied()));
        found.unwrap_or_else(|| {
            self.routes.push(links.iter().map(|link| *link as u32).collect());
            self.routes.len() - 1
        }) as u32
    }

    /// The number of the route that a flow's acknowledgments cross, if they cross links.
    fn route_back(&mut self, spec: &FlowSpec) -> Option<u32> {
        (!spec.back.is_empty()).then(|| self.route(&spec.back))
    }

    /// The number of the ring that a flow's acknowledgments travel in.
    fn ack_lane(&mut self, spec: &FlowSpec, immediate: bool) -> u32 {
        let known = match (spec.back.is_empty(), immediate) {
            (true, true) => Known::AtArrival,
            (true, false) => Known::AtReceiver,
            (false, _) => Known::OnWayBack,
        };
        let last = spec.back.last().or(spec.route.last()).expect("a route has a link");
        let lane = (*last, self.delays(spec).back, known);
        let found = self.ack_lanes.iter().position(|known| *known == lane);
        found.unwrap_or_else(|| {
            self.ack_lanes.push(lane);
            self.ack_lanes.len() - 1
        }) as u32
    }

    fn delays(&self, spec: &FlowSpec) -> Delays {
        let sum = |route: &[usize]| -> Span { route.iter().map(|link| self.experiment.links[*link].delay).sum() };
        let (forward, links_back) = (sum(&spec.route), sum(&spec.back));
        let hosts = spec.rtt.saturating_sub(forward + links_back);
        let access = (spec.rtt / 2).saturating_sub(forward).min(hosts);
        Delays { access, back: hosts - access }
    }

    /// The least delay of a route's last link.
    fn least_delay(&self, spec: &FlowSpec) -> Span {
        let link = &self.experiment.links[*spec.route.last().expect("a route has a link")];
        let steps = link.impairments.delay_steps.iter().map(|(_, delay)| *delay);
        steps.fold(link.delay, Span::min)
    }

    /// Numbers all that a flow in the background will need, which is built later.
    pub(crate) fn prepare(&mut self, spec: &FlowSpec) {
        self.route(&spec.route);
        self.route_back(spec);
        self.ack_lane(spec, false);
    }

    /// The flows of the scenario, which begin at these times.
    pub(crate) fn of_scenario(&mut self, starts: &[Time], cards: &mut Cards) -> Result<Vec<Flow>, RunError> {
        self.states()?;
        let mut flows = Vec::with_capacity(starts.len());
        let experiment = self.experiment();
        for (index, (spec, start)) in experiment.flows.iter().zip(starts).enumerate() {
            let new = NewFlow { spec, index, draws: index, start: *start, background: false, message_window: None };
            let flow = self.build(new, Span::ZERO)?;
            flows.push(Flow { card: spec.access.map(|rate| cards.add(rate)), ..flow });
        }
        Ok(flows)
    }

    /// Builds a flow with a handshake that has waited in queues for this time.
    pub(crate) fn build(&mut self, new: NewFlow<'_>, waited: Span) -> Result<Flow, RunError> {
        let NewFlow { spec, index, start, background, message_window, .. } = new;
        let held = self.experiment();
        let experiment: &Experiment = &held;
        let receiver = &experiment.receiver;
        let seed = |purpose| seed(experiment.seed, purpose, new.draws);
        let receive_window = receiver.window.get().min(message_window.unwrap_or(u64::MAX));
        let handshake_rtt = spec.rtt + waited;
        let controller = self.controller(&new, handshake_rtt)?;
        let needs = controller.needs();
        let headers = needs.offers.then(Box::default);
        let stamps = receiver.stamps && needs.arrivals;
        let tick = match self.experiment.gaps {
            GapModel::Timer(period) => period,
            _ => Span::ZERO,
        };
        let params =
            SenderParams { handshake_rtt, ..sender_params(spec, receive_window, message_window.is_some(), tick) };
        let mut sender = Sender::new(params, controller, start);
        sender.restart_round_trips(Time::ZERO + experiment.warmup);
        let coalescer = Coalescer::new(receiver.coalescing, seed(Purpose::Card));
        let fused = self.mode == Mode::Fused && self.in_order;
        let immediate =
            coalescer.is_none() && receiver.delayed_ack <= 1 && fused && !background && spec.back.is_empty();
        let (delays, back) = (self.delays(spec), self.route_back(spec));
        let return_path = ReturnPath::new(receiver, self.experiment.seed, new.draws, back);
        let direct = immediate && return_path.is_none() && headers.is_none();
        let gaps = Gaps::new(self.experiment.gaps, seed(Purpose::Gaps));
        let application = Application::of_flow(experiment, spec, index, start)?.map(Box::new);
        Ok(Flow {
            sender,
            receiver: Receiver::new(self.receiver_params(receive_window, stamps)),
            access: Line::EMPTY,
            card: None,
            follows: Time::MAX,
            access_delay: delays.access,
            return_delay: delays.back,
            known_ahead: delays.back + if immediate { self.least_delay(spec) } else { Span::ZERO },
            receive_window,
            immediate,
            armed: start,
            due: start,
            may_run_ahead: gaps.is_none() && application.is_none(),
            expected: Time::MAX,
            waiting: Line::EMPTY,
            in_lane: 0,
            runs_ahead: false,
            gaps,
            coalescer,
            headers,
            processing: Processing::new(receiver.stamp_delay, seed(Purpose::Stamps)),
            application,
            return_path,
            direct,
            ack_armed: Time::MAX,
            start,
            stop: spec.stop.unwrap_or(Time::MAX),
            completed: Time::MAX,
            ack_lane: self.ack_lane(spec, immediate),
            route: self.route(&spec.route),
        })
    }

    fn controller(&mut self, new: &NewFlow<'_>, handshake_rtt: Span) -> Result<AnyController, RunError> {
        let spec = new.spec;
        let setup = spec.setup(new.start, seed(self.experiment.seed, Purpose::Controller, new.draws));
        let setup = Setup { handshake_rtt, ..setup };
        if let Some(own) = &spec.controller.own {
            return Ok(AnyController::External(own.make(&setup)));
        }
        if let Some(file) = &spec.controller.file {
            let object = self.opened(file)?;
            return object.build(&setup, &spec.controller.settings).map_err(|error| {
                let (name, at) = (object.name, new.start.as_secs_f64());
                let found = format!("that controller \"{name}\" refuses to begin a flow at {at} s");
                RunError::External(OpenError { file: file.clone(), found, expected: error.to_string() })
            });
        }
        let entry = packetscale_models::congestion::find(&spec.controller.kind)
            .ok_or_else(|| RunError::UnknownController(spec.controller.kind.clone()))?;
        (entry.build)(&setup, &spec.controller.settings)
            .map_err(|error| RunError::Controller { name: entry.name, error })
    }

    /// Refuses states of the scenario's flows that take more memory than is allowed.
    fn states(&mut self) -> Result<(), RunError> {
        let experiment = self.experiment();
        let mut bytes = 0;
        for file in experiment.flows.iter().filter_map(|spec| spec.controller.file.as_deref()) {
            bytes += self.opened(file)?.state_bytes();
            if bytes > MOST_STATES_BYTES {
                let found = format!("more than {MOST_STATES_BYTES} bytes of state in {} flows", experiment.flows.len());
                let expected = "fewer flows, or a smaller state_bytes".to_string();
                return Err(RunError::External(OpenError { file: file.to_path_buf(), found, expected }));
            }
        }
        Ok(())
    }

    /// A file is opened once in a run: flows that share it do the same from the first to the last.
    #[cold]
    fn opened(&mut self, file: &Path) -> Result<&'static Object, RunError> {
        if let Some((_, object)) = self.opened.iter().find(|(known, _)| *known == file) {
            return Ok(object);
        }
        let object = experiment::plugins::open(file).map_err(RunError::External)?;
        self.opened.push((file.to_path_buf(), object));
        Ok(object)
    }

    fn receiver_params(&self, window: u64, stamps: bool) -> ReceiverParams {
        let receiver = &self.experiment.receiver;
        ReceiverParams {
            delayed_ack: receiver.delayed_ack,
            delayed_ack_timeout: receiver.delayed_ack_timeout,
            window,
            stamps,
        }
    }
}

/// `messages`: messages are offered one by one.
fn sender_params(spec: &FlowSpec, receive_window: u64, messages: bool, tick: Span) -> SenderParams {
    let transfer = match spec.size {
        _ if spec.application.is_some() || messages => Transfer::Offered,
        Size::Unlimited => Transfer::Unlimited,
        Size::Bytes(bytes) => Transfer::Sized(bytes),
    };
    SenderParams {
        packet: spec.packet,
        transfer,
        initial_window: spec.initial_window,
        handshake_rtt: spec.rtt,
        handshake_window: receive_window,
        min_rto: spec.min_rto,
        pacing_percent: spec.pacing_percent,
        tick,
        slow_start_after_idle: spec.slow_start_after_idle,
        ecn: spec.ecn,
    }
}
