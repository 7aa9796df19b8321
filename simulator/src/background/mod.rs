//! Flows in the background: those of traffic that is made of TCP connections, and those that arrive.
//!
//! They follow the scenario's flows in [`Endpoints`] and behave like them. The packets of connections count as
//! traffic. A flow's place is reused when it is over.

mod arriving;
mod connections;
mod places;
mod users;

use crate::RunError;
use crate::agenda::{Agenda, EventSource};
use crate::endpoints::{Cards, Endpoints, FlowBuilder, NewFlow};
use crate::held::Held;
use crate::topology::Topology;
use crate::transit::Owner;
use arriving::Arriving;
use connections::Connections;
use experiment::traffic::TrafficError;
use experiment::traffic::chance::{Purpose, seed};
use harness::measure::{ArrivalsSeen, Recorder};
use packetscale_models::units::Time;
use users::Users;

/// All traffic of a run that is made of TCP connections.
pub(crate) struct Background<'e> {
    flows: BackgroundFlows<'e>,
    /// Connections that follow scripts.
    connections: Option<Box<Connections>>,
    /// Browsing users.
    users: Option<Box<Users>>,
    /// Flows that arrive.
    arriving: Option<Box<Arriving>>,
}

/// The content of a flow in the background.
#[derive(Clone, Copy, Debug)]
enum Carries {
    /// The messages of one end of a connection (see [`connections`]): the number of the connection, and of the end.
    Messages { slot: usize, end: usize },
    /// Files (see [`users`]).
    Files,
    /// All that it has to send (see [`arriving`]).
    Itself,
}

/// The flows, and the means to build them.
struct BackgroundFlows<'e> {
    builder: FlowBuilder<'e>,
    carries: Vec<Carries>,
    /// How often the place of each has been used again.
    reused: Vec<usize>,
}

/// Numbers of flows are below this.
const MOST_NUMBERS: usize = 1 << 32;

/// The parts of the network that background traffic acts on.
pub(crate) struct Stage<'n> {
    pub(crate) agenda: &'n mut Agenda,
    pub(crate) endpoints: &'n mut Endpoints,
    pub(crate) recorder: &'n mut Recorder,
    pub(crate) topology: &'n mut Topology,
}

impl<'e> Background<'e> {
    /// `builder`: knows the routes and return paths of the scenario's flows.
    pub(crate) fn open(mut builder: FlowBuilder<'e>, cards: &mut Cards) -> Result<Background<'e>, RunError> {
        let experiment = builder.experiment();
        let traffic_seed = |index: usize| seed(experiment.seed, Purpose::Traffic, index);
        let connections = Connections::open(&mut builder, traffic_seed)?;
        let users = Users::open(&mut builder, cards, traffic_seed);
        let arriving = Arriving::open(&mut builder);
        Ok(Background {
            flows: BackgroundFlows { builder, carries: Vec::new(), reused: Vec::new() },
            connections,
            users,
            arriving,
        })
    }

    /// A builder of further flows.
    pub(crate) fn builder(&mut self) -> &mut FlowBuilder<'e> {
        &mut self.flows.builder
    }

    /// The routes of all flows, those to come included.
    pub(crate) fn routes(&self) -> &[Vec<u32>] {
        self.flows.builder.routes()
    }

    /// How many rings of acknowledgments all flows need, those to come included.
    pub(crate) fn ack_lanes(&self) -> usize {
        self.flows.builder.ack_lanes()
    }

    /// Puts the first connections and the first pages on the agenda.
    pub(crate) fn first_events(&mut self, agenda: &mut Agenda) {
        for (source, start) in self.connections.iter().flat_map(|connections| connections.first()) {
            agenda.timer(start, EventSource::Connection(source as u32));
        }
        for (user, start) in self.users.iter_mut().flat_map(|users| users.first()) {
            agenda.timer(start, EventSource::User(user as u32));
        }
        if let Some(arriving) = &mut self.arriving {
            arriving.first_events(agenda);
        }
    }

    /// A connection of this traffic source begins.
    pub(crate) fn connect(&mut self, stage: &mut Stage<'_>, now: Time, source: usize) {
        if let Some(connections) = &mut self.connections {
            connections.begin(&mut self.flows, stage, now, source);
        }
    }

    /// A user requests a file: the first of a page, or another.
    pub(crate) fn browse(&mut self, stage: &mut Stage<'_>, now: Time, user: usize) {
        if let Some(users) = &mut self.users {
            users.browse(&mut self.flows, stage, now, user);
        }
    }

    /// Flows of this entry of the experiment's arrivals begin.
    pub(crate) fn arrive(&mut self, stage: &mut Stage<'_>, now: Time, entry: usize) {
        if let Some(arriving) = &mut self.arriving {
            arriving.arrive(&mut self.flows, stage, now, entry);
        }
    }

    /// The outcomes of the flows that arrived, one entry for each of the experiment's tables.
    pub(crate) fn arrivals_seen(&self, endpoints: &Endpoints) -> Vec<ArrivalsSeen> {
        self.arriving.as_ref().map_or_else(Vec::new, |arriving| arriving.seen(endpoints))
    }

    /// The sending end of a flow offers the data that is due.
    pub(crate) fn send(&mut self, stage: &mut Stage<'_>, now: Time, flow: usize) {
        match (self.flows.carries(stage.endpoints, flow), &mut self.connections, &mut self.users) {
            (Carries::Messages { slot, end }, Some(connections), _) => {
                connections.send_message(&self.flows.experiment(), stage, now, slot, end);
            }
            (Carries::Files, _, Some(users)) => users.answer(stage, now, flow),
            _ => {}
        }
    }

    /// A packet of a flow has reached the receiver.
    #[inline]
    pub(crate) fn arrived(&mut self, stage: &mut Stage<'_>, now: Time, flow: usize) {
        match (self.flows.carries(stage.endpoints, flow), &mut self.connections, &mut self.users) {
            (Carries::Messages { slot, end }, Some(connections), _) => connections.on_delivered(stage, now, slot, end),
            (Carries::Files, _, Some(users)) => users.fetched(stage, now, flow),
            (Carries::Itself, ..) => {
                if let Some(arriving) = &mut self.arriving {
                    arriving.received(stage, now, flow);
                }
            }
            _ => {}
        }
    }

    /// The copy of its source that a packet belongs to.
    pub(crate) fn copy(&self, endpoints: &Endpoints, owner: Owner) -> Option<usize> {
        match owner {
            Owner::Flow(flow) if !endpoints.is_of_scenario(flow) => self.users.as_ref().map(|users| users.copy(flow)),
            _ => None,
        }
    }

    /// Errors: more concurrent connections than places.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let connections = self.connections.as_ref().and_then(|connections| connections.exceeded());
        let users = || self.users.as_ref().and_then(|users| users.exceeded());
        let exceeded = |key, what, most| Err(TrafficError::TooMany { key, what, most }.into());
        if let Some(most) = connections.or_else(users) {
            return exceeded("traffic".to_string(), "connections", most);
        }
        match self.arriving.as_ref().and_then(|arriving| arriving.exceeded()) {
            Some((entry, most)) => {
                let table = self.flows.experiment().arrivals[entry].table;
                exceeded(format!("flow.{table}.arrivals"), "flows", most)
            }
            None => Ok(()),
        }
    }
}

impl<'e> BackgroundFlows<'e> {
    fn experiment(&self) -> Held<'e> {
        self.builder.experiment()
    }

    #[inline]
    fn carries(&self, endpoints: &Endpoints, flow: usize) -> Carries {
        self.carries[endpoints.place_in_background(flow)]
    }

    /// Opens a flow. `None`: it cannot be built, which was tried when the scenario was read.
    fn open(&mut self, stage: &mut Stage<'_>, new: NewFlow<'_>, opening: Opening) -> Option<()> {
        let place = stage.endpoints.place_in_background(new.index);
        let reused = self.reused.get(place).map_or(0, |before| before + 1);
        let new = NewFlow { draws: new.index + reused * MOST_NUMBERS, ..new };
        let waited = stage.topology.handshake_waits(new.start, new.spec);
        let flow = self.builder.build(new, waited).ok()?.in_background(opening.card);
        if stage.endpoints.put(new.index, flow) {
            self.carries.push(opening.carries);
            self.reused.push(0);
        } else {
            self.reused[place] = reused;
        }
        Some(())
    }

    /// Their number, resting ones included.
    fn count(&self) -> usize {
        self.carries.len()
    }
}

/// Values of a flow in the background, in addition to those of every flow.
struct Opening {
    carries: Carries,
    card: Option<u32>,
}
