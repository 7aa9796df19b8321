//! Senders, receivers and their hosts: all flows of a run, and everything between a flow and its path.

mod ahead;
mod builder;
mod card;
mod coalescer;
mod flow;
mod gaps;
mod headers;
mod lines;
mod receiving;
mod return_path;
mod sending;
mod way_back;

pub(crate) use builder::{FlowBuilder, NewFlow};
pub(crate) use card::Cards;
pub(crate) use coalescer::{Coalescer, Interrupt};
pub(crate) use flow::{Flow, StampClock};
pub(crate) use gaps::Gaps;
pub(crate) use receiving::Reception;

use crate::RunError;
use crate::agenda::{Agenda, EventSource};
use crate::ring::Ring;
use crate::transit::{AckTransit, Details, Owner, Transit};
use experiment::scenario::{Experiment, GapModel};
use harness::packets::Event;
use lines::Lines;
use packetscale_models::congestion::Controller;
use packetscale_models::queueing::RateHeader;
use packetscale_models::transport::Ack;
use packetscale_models::units::{Bytes, Rate, Time};
use way_back::WayBack;

/// All flows of a run.
pub(crate) struct Endpoints {
    /// The flows of the scenario, and after them those in the background.
    flows: Vec<Flow>,
    /// How many are the scenario's.
    of_scenario: usize,
    cards: Cards,
    /// Packets on their way from senders to first links.
    accesses: Lines<Transit>,
    /// Acknowledgments that wait for senders that run ahead ...
    waiting: Lines<AckTransit>,
    /// ... and packets at their receivers, where acknowledgments are only delayed.
    delivered: Lines<Transit>,
    /// Acknowledgments of such packets.
    answered: u64,
    /// Acknowledgments, one ring per last link and return delay, so that each is in order of time.
    ack_lanes: Vec<Ring<AckTransit>>,
    details: Details,
    /// Acknowledgments that are crossing links.
    way_back: WayBack,
    /// Where receivers write the current acknowledgment.
    answer: Ack,
    /// Hosts hold packets until a batch is full.
    batching: bool,
    stamp_clock: StampClock,
    /// The available capacity over time, for controllers that need it.
    oracle: Vec<(Time, Rate)>,
    /// Nothing reads the flows before this instant.
    horizon: Time,
    /// Events of the scenario's senders in the current event; `None`: not recorded.
    noted: Option<Vec<Event>>,
}

impl Endpoints {
    /// `flows`: those of the scenario. `ack_lanes`: how many rings of acknowledgments all flows need.
    pub(crate) fn new(
        experiment: &Experiment,
        flows: Vec<Flow>,
        cards: Cards,
        ack_lanes: usize,
    ) -> Result<Endpoints, RunError> {
        Ok(Endpoints {
            of_scenario: flows.len(),
            cards,
            accesses: Lines::new(),
            waiting: Lines::new(),
            delivered: Lines::new(),
            answered: 0,
            ack_lanes: vec![Ring::new(); ack_lanes],
            details: Details::default(),
            way_back: WayBack::default(),
            answer: Ack::plain(0, 0, 0),
            batching: matches!(experiment.gaps, GapModel::Batch(_)),
            stamp_clock: StampClock::new(&experiment.receiver),
            oracle: oracle(experiment, &flows)?,
            horizon: Time::ZERO,
            noted: None,
            flows,
        })
    }

    /// Puts the start of each flow of the scenario on the agenda.
    pub(crate) fn first_events(&self, agenda: &mut Agenda, experiment: &Experiment) {
        for (index, (flow, spec)) in self.flows.iter().zip(&experiment.flows).enumerate() {
            let start = if spec.handshake_waits { EventSource::Handshake } else { EventSource::Flow };
            agenda.timer(flow.start, start(index as u32));
            if flow.stop < Time::MAX {
                agenda.timer(flow.stop, EventSource::Message(index as u32));
            }
        }
    }

    /// The flows of the scenario.
    pub(crate) fn flows(&self) -> &[Flow] {
        &self.flows[..self.of_scenario]
    }

    /// The flows of the scenario.
    pub(crate) fn flows_mut(&mut self) -> &mut [Flow] {
        &mut self.flows[..self.of_scenario]
    }

    /// Whether a flow is the scenario's; else it is in the background.
    #[inline]
    pub(crate) fn is_of_scenario(&self, flow: usize) -> bool {
        flow < self.of_scenario
    }

    /// The place of a flow among those in the background.
    #[inline]
    pub(crate) fn place_in_background(&self, flow: usize) -> usize {
        flow - self.of_scenario
    }

    /// Gives a flow that has sent nothing yet the sender of this one, which knows how long the handshake took.
    pub(crate) fn replace_sender(&mut self, index: usize, built: Flow) {
        self.flows[index].sender = built.sender;
    }

    /// The number of a flow's route.
    #[inline]
    pub(crate) fn route(&self, flow: usize) -> u32 {
        self.flows[flow].route
    }

    /// The header of a packet of a flow, where it has one.
    #[inline]
    pub(crate) fn header(&mut self, transit: &Transit) -> Option<&mut RateHeader> {
        let Owner::Flow(index) = transit.owner() else { return None };
        self.flows[index].headers.as_mut()?.get_mut(transit.transmission)
    }

    // ---- events of senders, for observers ----------------------------------------------------------------------

    /// Notes from now on what senders of the scenario do.
    pub(crate) fn note(&mut self) {
        self.noted = Some(Vec::new());
        self.let_none_run_ahead();
    }

    /// Events of senders since the last call, in order.
    pub(crate) fn noted(&mut self) -> impl Iterator<Item = Event> {
        let of_scenario = self.of_scenario;
        let noted = self.noted.as_mut().map_or_else(Vec::new, std::mem::take).into_iter();
        noted.filter(move |event| event.flow().is_none_or(|flow| flow < of_scenario))
    }

    // ---- flows in the background -------------------------------------------------------------------------------

    /// The number of the next new flow.
    pub(crate) fn next_flow(&self) -> usize {
        self.flows.len()
    }

    /// Puts a flow at this number, new or used before. Returns whether it is new.
    pub(crate) fn put(&mut self, index: usize, flow: Flow) -> bool {
        match self.flows.get_mut(index) {
            Some(place) => {
                *place = flow;
                false
            }
            None => {
                self.flows.push(flow);
                true
            }
        }
    }

    /// Whether no packet of a flow is under way.
    pub(crate) fn is_quiet(&self, index: usize) -> bool {
        let flow = &self.flows[index];
        flow.sender.in_flight() == 0 && flow.access.is_empty()
    }

    /// One of all flows.
    pub(crate) fn flow(&self, index: usize) -> &Flow {
        &self.flows[index]
    }

    /// Whether all that a flow has to send is acknowledged, and its sender has nothing under way.
    pub(crate) fn is_over(&self, index: usize) -> bool {
        self.flows[index].sender.is_done() && self.is_quiet(index)
    }

    /// Whether a flow has sent no packet twice.
    pub(crate) fn sent_once(&self, index: usize) -> bool {
        self.flows[index].sender.counters().retransmitted == 0
    }

    /// The number of the network card of a flow's sender.
    pub(crate) fn card(&self, index: usize) -> Option<u32> {
        self.flows[index].card
    }

    /// Adds a network card of this rate and returns its number.
    pub(crate) fn add_card(&mut self, rate: Rate) -> u32 {
        self.cards.add(rate)
    }

    /// Hands a message of this much data to a sender, in packets of this size. Returns the packets handed over so far:
    /// the message has arrived when [`Endpoints::arrived`] of them have.
    pub(crate) fn offer_data(&mut self, index: usize, data: Bytes, packet: Bytes) -> u64 {
        self.flows[index].offer_data(data, packet)
    }

    /// How many packets of a flow have arrived in order.
    #[inline]
    pub(crate) fn arrived(&self, index: usize) -> u64 {
        self.flows[index].receiver.next_expected()
    }

    /// When the network card of a flow's sender has sent all it has.
    pub(crate) fn card_free(&self, index: usize) -> Option<Time> {
        self.flows[index].card.map(|card| self.cards.free(card))
    }
}

/// The available capacity for ideal estimation, if any flow uses it.
fn oracle(experiment: &Experiment, flows: &[Flow]) -> Result<Vec<(Time, Rate)>, RunError> {
    if !flows.iter().any(|flow| flow.sender.controller().needs().available) {
        return Ok(Vec::new());
    }
    experiment::traffic::available_steps(experiment).ok_or(RunError::NoOracle)
}
