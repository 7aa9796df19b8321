//! An experiment, built, and its run: take what happens next, let it happen, until the end.
//!
//! On a path of drop-tail links a delivered packet costs two events: its arrival at the bottleneck, where its
//! departure, its delivery and its acknowledgment are computed at once, and the acknowledgment's arrival at the
//! sender. Paced senders have [a clock of their own](crate::endpoints), and only the first. Receivers that wait (delayed
//! acknowledgments, interrupt coalescence) and stepped links add events of their own.

mod course;
mod departures;
mod finish;
mod notes;
mod observed;
mod sampler;

pub(crate) use departures::{alone, departures};
pub(crate) use finish::finish;
pub(crate) use observed::observe;

use crate::agenda::{Agenda, EventSource};
use crate::background::{Background, Stage};
use crate::cross_traffic::CrossTraffic;
use crate::endpoints::{Cards, Endpoints, FlowBuilder, NewFlow, Reception};
use crate::held::Held;
use crate::services::Served;
use crate::topology::{Admission, Fate, Hop, Leaving, Service, Topology};
use crate::transit::{Owner, Transit};
use crate::{Mode, RunError};
use course::Course;
use experiment::scenario::Experiment;
use harness::measure::Recorder;
use notes::Notes;
use packetscale_models::congestion::AnyController;
use packetscale_models::units::Time;
use sampler::Sampler;

/// Everything that exists in one run.
pub(crate) struct Network<'e> {
    agenda: Agenda,
    topology: Topology,
    endpoints: Endpoints,
    cross: CrossTraffic,
    background: Background<'e>,
    recorder: Recorder,
    sampler: Sampler,
    course: Course,
    /// Link crossings of all packets.
    hops: u64,
    notes: Notes,
}

impl<'e> Network<'e> {
    pub(crate) fn new(held: Held<'e>, mode: Mode) -> Result<Network<'e>, RunError> {
        let experiment: &Experiment = &held;
        let end = Time::ZERO + experiment.duration;
        let starts = experiment::traffic::starts(experiment);
        let mut builder = FlowBuilder::new(held.clone(), mode);
        let mut cross = CrossTraffic::new(end);
        for (index, spec) in experiment.traffic.iter().enumerate() {
            cross.add(experiment::traffic::packets(experiment, index, alone)?, builder.route(&spec.route));
        }
        let mut cards = Cards::default();
        let flows = builder.of_scenario(&starts, &mut cards)?;
        let background = Background::open(builder, &mut cards)?;
        let topology = Topology::new(experiment, mode, background.routes().to_vec())?;
        let endpoints = Endpoints::new(experiment, flows, cards, background.ack_lanes())?;
        let recorder = Recorder::new(
            experiment,
            &starts,
            harness::measure::longest(experiment, |flow| Some(experiment.flows[flow].rtt)),
        );
        let mut network = Network {
            agenda: Agenda::default(),
            topology,
            endpoints,
            cross,
            background,
            notes: Notes::new(recorder.links.enabled()),
            recorder,
            sampler: Sampler::new(experiment),
            course: Course::new(end),
            hops: 0,
        };
        network.first_events(experiment);
        Ok(network)
    }

    fn first_events(&mut self, experiment: &Experiment) {
        self.endpoints.first_events(&mut self.agenda, experiment);
        self.background.first_events(&mut self.agenda);
        self.cross.first_events(&mut self.agenda);
        if experiment.record.detail {
            self.sampler.first_event(&mut self.agenda);
        }
    }

    /// Makes the run and returns every service of every link up to its end, and every drop, as they happened.
    pub(crate) fn log(mut self) -> Vec<Served> {
        self.notes.begin_log();
        self.run(&|_| {});
        let (mut log, end) = (self.notes.take_log(), self.course.end);
        log.retain(|served| served.departure <= end || served.departure == Time::MAX);
        log
    }

    /// Errors: a source of traffic could not be read to the end of the run, or found no place for a connection; or a controller
    /// refused to begin.
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        self.course.check()?;
        self.cross.check()?;
        self.background.check()
    }

    /// Runs to the end. Reports progress at every interval of `record.step`.
    pub(crate) fn run(&mut self, watch: &dyn Fn(Time)) {
        self.until(self.course.end);
        while let Some((now, source)) = self.agenda.next(self.course.end) {
            self.happen(now, source);
            if source == EventSource::Sampler {
                watch(now);
            }
        }
    }

    /// Runs until `until`, what happens then included.
    pub(crate) fn advance(&mut self, until: Time) {
        self.until(until.min(self.course.end));
        while let Some((now, source)) = self.agenda.next(until.min(self.course.end)) {
            self.happen(now, source);
        }
    }

    /// The run continues until then; the recorder may read flows before.
    fn until(&mut self, until: Time) {
        self.course.pause = until;
        self.endpoints.set_horizon(until.min(self.sampler.next()));
    }

    /// Lends the controller of a flow to `act`, now that all has happened that happens until `now`.
    pub(crate) fn with_controller<T>(
        &mut self,
        now: Time,
        flow: usize,
        act: impl FnOnce(&mut AnyController) -> T,
    ) -> T {
        self.endpoints.with_controller(&mut self.agenda, now, flow, act)
    }

    /// Lets happen what happens now.
    #[inline(always)]
    fn happen(&mut self, now: Time, source: EventSource) {
        match source {
            EventSource::Access(flow) => self.at_first_link(now, flow as usize),
            EventSource::AckLane(lane) => self.endpoints.at_sender(&mut self.agenda, now, lane as usize),
            other => self.happens_elsewhere(now, other),
        }
    }

    /// Handles all events except the two of every packet: apart from them, so that these stay together in memory.
    #[inline(never)]
    fn happens_elsewhere(&mut self, now: Time, source: EventSource) {
        match source {
            EventSource::Cross(index) => self.cross_packet(now, index as usize),
            EventSource::LinkLane(lane) => self.at_next_link(now, lane as usize),
            EventSource::Delivery(link) => self.at_receiver(now, link as usize),
            EventSource::Detour(link) => self.off_detour(now, link as usize),
            timer => {
                self.agenda.advance_timer();
                self.timer(now, timer);
            }
        }
    }

    fn timer(&mut self, now: Time, timer: EventSource) {
        match timer {
            EventSource::Flow(flow) => self.endpoints.sender_timer(&mut self.agenda, now, flow as usize),
            EventSource::Handshake(flow) => self.handshake(now, flow as usize),
            EventSource::Link(link) => self.link_timer(now, link as usize),
            EventSource::Coalescer(flow) => self.interrupt(now, flow as usize),
            EventSource::DelayedAck(flow) => self.delayed_ack(now, flow as usize),
            EventSource::Connection(source) => {
                self.with_background(|all, stage| all.connect(stage, now, source as usize))
            }
            EventSource::Message(flow) if self.endpoints.is_of_scenario(flow as usize) => {
                self.endpoints.stop(&mut self.agenda, now, flow as usize)
            }
            EventSource::Message(flow) => self.with_background(|all, stage| all.send(stage, now, flow as usize)),
            EventSource::Arrival(entry) => self.arrival(now, entry as usize),
            EventSource::User(user) => self.with_background(|all, stage| all.browse(stage, now, user as usize)),
            EventSource::Sampler => self.sample(now),
            _ => unreachable!("rings of packets are not timers"),
        }
    }

    #[inline]
    fn with_background(&mut self, act: impl FnOnce(&mut Background<'e>, &mut Stage<'_>)) {
        let Network { background, agenda, endpoints, recorder, topology, .. } = self;
        act(background, &mut Stage { agenda, endpoints, recorder, topology });
    }

    /// A flow of the scenario starts, now that it is known how long its handshake waited: it was built for an idle path.
    fn handshake(&mut self, now: Time, index: usize) {
        let builder = self.background.builder();
        let experiment = builder.experiment();
        let spec = &experiment.flows[index];
        let new = NewFlow { spec, index, draws: index, start: now, background: false, message_window: None };
        let waited = self.topology.handshake_waits(now, spec);
        match builder.build(new, waited) {
            Ok(built) => self.endpoints.replace_sender(index, built),
            Err(error) => self.course.fail(now, error),
        }
        self.endpoints.sender_timer(&mut self.agenda, now, index);
    }

    /// Flows arrive. Where one finds no place the run is over: it has failed.
    fn arrival(&mut self, now: Time, entry: usize) {
        self.with_background(|all, stage| all.arrive(stage, now, entry));
        if self.background.check().is_err() {
            self.course.end = now;
        }
    }

    fn sample(&mut self, now: Time) {
        self.sampler.sample(&mut self.agenda, now, &self.topology, &mut self.endpoints, &mut self.recorder);
        self.until(self.course.pause);
    }

    // ---- links -------------------------------------------------------------------------------------------------

    #[inline(always)]
    fn at_first_link(&mut self, now: Time, index: usize) {
        let Some((mut transit, goes_on)) = self.endpoints.at_first_link(&mut self.agenda, now, index) else { return };
        let link = self.topology.first_link(self.endpoints.route(index));
        if !self.endpoints.is_of_scenario(index) {
            self.recorder.entered(transit.owner().into(), now, transit.size());
        }
        self.arrive(now, link, &mut transit);
        if goes_on {
            self.endpoints.pass(&mut self.agenda, now, index);
        }
    }

    fn at_next_link(&mut self, now: Time, lane: usize) {
        let Some((link, mut transit)) = self.topology.between_links(&mut self.agenda, lane) else { return };
        self.arrive(now, link, &mut transit);
    }

    fn cross_packet(&mut self, now: Time, index: usize) {
        let Some(mut transit) = self.cross.send(&mut self.agenda, now, index) else { return };
        self.recorder.entered(transit.owner().into(), now, transit.size());
        let link = self.topology.first_link(self.cross.route(index));
        self.arrive(now, link, &mut transit);
    }

    #[inline]
    fn arrive(&mut self, now: Time, link: usize, transit: &mut Transit) {
        if self.topology.is_bottleneck(link) {
            self.recorder.arrives(transit.owner().into(), now, transit.size());
        }
        transit.at = now;
        let header = if self.topology.is_stepped(link) { self.endpoints.header(transit).copied() } else { None };
        match self.topology.admit(&mut self.agenda, now, link, transit, header) {
            Admission::Served(service) => self.depart(link, transit, now, service),
            Admission::Queued => self.queue(now, link),
            Admission::Dropped => self.drop(now, link, *transit, false),
        }
    }

    /// A stepped link took a packet.
    fn queue(&mut self, now: Time, link: usize) {
        self.recorder.queued(link, now);
        self.notes.queued(now, link);
        self.drop_later(now, link);
    }

    /// The packets that a stepped link took and has dropped since.
    fn drop_later(&mut self, now: Time, link: usize) {
        while let Some(transit) = self.topology.take_dropped(link) {
            self.recorder.unqueued(link, transit.at);
            self.recorder.stayed(link, transit.at, now);
            self.drop(now, link, transit, true);
        }
    }

    #[cold]
    fn drop(&mut self, now: Time, link: usize, transit: Transit, queued: bool) {
        self.recorder.dropped(transit.owner().into(), now);
        self.recorder.links.dropped(link);
        if self.topology.is_bottleneck(link) {
            self.recorder.refused(transit.owner().into(), now, transit.size());
        }
        self.notes.dropped(now, link, &transit, queued);
        self.endpoints.forget(&transit);
    }

    fn link_timer(&mut self, now: Time, link: usize) {
        if let Some(Leaving { mut transit, service, header }) = self.topology.finish(now, link) {
            if let Some(place) = self.endpoints.header(&transit)
                && let Some(header) = header
            {
                *place = header;
            }
            let arrival = transit.at;
            self.recorder.unqueued(link, arrival);
            self.depart(link, &mut transit, arrival, service);
        }
        self.topology.serve(&mut self.agenda, now, link);
        self.drop_later(now, link);
    }

    /// A packet's time on a link is known: it continues from there, unless the wire loses it.
    #[inline]
    fn depart(&mut self, link: usize, transit: &mut Transit, arrival: Time, service: Service) {
        let Service { begins, departs } = service;
        self.hops += 1;
        if self.topology.is_bottleneck(link) {
            self.recorder.served(transit.owner().into(), transit.size(), arrival, begins, departs);
        }
        if self.notes.services {
            self.note(link, transit, arrival, service);
        }
        transit.hop += 1;
        match self.topology.propagate(link, departs) {
            Fate::Lost => {
                self.recorder.lost(transit.owner().into(), departs);
                self.recorder.links.lost(link, departs);
                self.notes.lost(transit, departs);
                self.endpoints.forget(transit);
            }
            Fate::Arrives(at) => {
                transit.at = at;
                self.forward(link, transit);
            }
            Fate::Late(at) => {
                transit.at = at;
                self.topology.detour(&mut self.agenda, link, *transit);
            }
        }
    }

    /// Notes a service, for logs, taps and observers.
    fn note(&mut self, link: usize, transit: &Transit, arrival: Time, Service { begins, departs }: Service) {
        if let Some(tap) = self.notes.tap()
            && self.topology.is_bottleneck(link)
            && departs <= self.course.end
        {
            tap.record(self.background.copy(&self.endpoints, transit.owner()), transit, departs);
        }
        self.notes.served(link, transit, arrival, departs);
        self.recorder.links.served(link, transit.size(), arrival, begins, departs);
    }

    /// The next link of a packet; `None`: its receiver is next.
    #[inline(always)]
    fn next_hop(&self, transit: &Transit) -> Option<Hop> {
        let route = match transit.owner() {
            Owner::Flow(flow) => self.endpoints.route(flow),
            Owner::Traffic(source) => self.cross.route(source),
            Owner::Acknowledgment(flow) => self.endpoints.route_back(flow),
        };
        self.topology.hop_after(route, transit.hop)
    }

    /// A packet sets out from one link to the next, or to its receiver. Cross traffic has none.
    #[inline]
    fn forward(&mut self, link: usize, transit: &Transit) {
        match (self.next_hop(transit), transit.owner()) {
            (Some(next), _) => self.topology.towards_link(&mut self.agenda, next, *transit),
            (None, Owner::Flow(flow)) if self.endpoints.is_immediate(flow) => self.receive(transit.at, flow, transit),
            (None, Owner::Flow(_)) => self.topology.deliver(&mut self.agenda, link, *transit),
            (None, Owner::Traffic(_)) => {}
            (None, Owner::Acknowledgment(_)) => self.endpoints.returned(&mut self.agenda, transit),
        }
    }

    /// The first packet of a detour arrives.
    fn off_detour(&mut self, now: Time, link: usize) {
        let Some(mut transit) = self.topology.off_detour(&mut self.agenda, link) else { return };
        match self.next_hop(&transit) {
            Some(next) => self.arrive(now, next.link(), &mut transit),
            None => self.at_host(now, transit),
        }
    }

    // ---- receivers ---------------------------------------------------------------------------------------------

    fn at_receiver(&mut self, now: Time, link: usize) {
        let Some(transit) = self.topology.delivered(&mut self.agenda, link) else { return };
        self.at_host(now, transit);
    }

    fn at_host(&mut self, now: Time, transit: Transit) {
        let Owner::Flow(index) = transit.owner() else { return };
        match self.endpoints.at_host(&mut self.agenda, now, index, transit) {
            Reception::Packet => {
                self.receive(now, index, &transit);
                self.endpoints.arm_ack(&mut self.agenda, now, index);
            }
            Reception::Waits => {}
            Reception::Batch => self.hand_over(now, index),
        }
    }

    fn interrupt(&mut self, now: Time, index: usize) {
        if self.endpoints.interrupts(now, index) {
            self.hand_over(now, index);
        }
    }

    fn hand_over(&mut self, now: Time, index: usize) {
        let batch = self.endpoints.take_batch(index);
        for transit in &batch {
            self.receive(now, index, transit);
        }
        self.endpoints.reuse_batch(index, batch);
        self.endpoints.arm_ack(&mut self.agenda, now, index);
    }

    /// The receiver of a flow processes a packet. One function for all callers, so that its callees are inlined once.
    #[inline(never)]
    fn receive(&mut self, at: Time, index: usize, transit: &Transit) {
        let of_scenario = self.endpoints.is_of_scenario(index);
        self.recorder.delivered(index, transit.size(), at);
        let acknowledged = self.endpoints.receive(&mut self.agenda, at, index, transit);
        if acknowledged {
            self.acknowledged(at);
        }
        if !of_scenario {
            self.with_background(|all, stage| all.arrived(stage, at, index));
        }
    }

    fn delayed_ack(&mut self, now: Time, index: usize) {
        if self.endpoints.delayed_ack(&mut self.agenda, now, index) {
            self.acknowledged(now);
        }
    }

    /// An acknowledgment has set out: on its delay, or to the first link of its way back.
    #[inline]
    fn acknowledged(&mut self, now: Time) {
        match self.endpoints.take_departing() {
            None => self.hops += 1,
            Some((route, transit)) => self.onto_way_back(now, route, transit),
        }
    }

    #[cold]
    #[inline(never)]
    fn onto_way_back(&mut self, now: Time, route: u32, mut transit: Transit) {
        let link = self.topology.first_link(route);
        self.arrive(now, link, &mut transit);
    }
}
