//! Traffic made of TCP connections: each is two flows, one for the data of either end, and a script of messages.
//!
//! A connection takes a slot when it begins, two flows of the network's, and gives it back a while after its last
//! message has arrived. Its packets count as traffic: senders and receivers are those of every flow, but no table shows
//! them one by one.
//!
//! What is not simulated: the segments that open and close a connection (its first message leaves one round trip after
//! it begins), data and acknowledgments in one segment, and the round-trip times of a script below a millisecond: they
//! are rounded to whole ones, so that acknowledgments of equal delay share a line.

use crate::background::Carries;
use crate::flow::Flow;
use crate::network::{Lanes, Network, build_flow};
use crate::sources::Kind;
use crate::{Mode, RunError};
use scenario::{ConnectionSource, Connections as Spec, Experiment, FlowSpec, TrafficKind};
use std::collections::VecDeque;
use traffic::TrafficError;
use traffic::vectors::{After, End, Message, Vector, draw, read};
use units::{Bytes, Span, Time};

/// Bytes of a packet that carry no data: the headers of IP and TCP.
pub(crate) const HEADERS: Bytes = Bytes::new(40);

/// How long a slot rests: no packet of its last connection is under way any more.
const REST: Span = Span::from_secs(10);

/// Most connections at a time.
const MOST: usize = 1 << 14;

/// All connections of a run.
pub(crate) struct Connections {
    experiment: Experiment,
    mode: Mode,
    lanes: Lanes,
    /// One for each traffic source; those of other kinds are empty.
    sources: Vec<VecDeque<Vector>>,
    slots: Vec<Connection>,
    /// Slots to use again, and from when.
    rested: VecDeque<(Time, usize)>,
    /// More would have been needed.
    pub(crate) crowded: bool,
}

struct Connection {
    /// The first of its flows; the other end's is the next.
    flow: usize,
    source: usize,
    ends: [Script; 2],
    over: bool,
}

/// What one end has to say.
struct Script {
    messages: Vec<Message>,
    /// The next of them.
    next: usize,
    /// When it is handed over; [`Time::MAX`]: what it waits for has not happened.
    due: Time,
    /// Where the messages under way end: packets of the flow.
    under_way: VecDeque<u64>,
    /// Messages that have arrived.
    arrived: u32,
}

impl Script {
    fn new(messages: Vec<Message>) -> Script {
        Script { messages, next: 0, due: Time::MAX, under_way: VecDeque::new(), arrived: 0 }
    }

    /// When the next message leaves, now that the other end's have arrived so far, and perhaps one of its own was sent.
    fn after(&self, now: Time, received: u32, sent: bool) -> Option<Time> {
        let message = self.messages.get(self.next).filter(|_| self.due == Time::MAX)?;
        let ready = match message.after {
            After::Start => false,
            After::Sent => sent,
            After::Received(count) => received >= count,
        };
        ready.then(|| now + message.wait)
    }

    fn is_over(&self) -> bool {
        self.next == self.messages.len() && self.under_way.is_empty()
    }
}

impl Connections {
    /// `None` where no traffic is made of connections.
    pub(crate) fn open(
        experiment: &Experiment,
        mode: Mode,
        lanes: &mut Lanes,
        seed: impl Fn(usize) -> u64,
    ) -> Result<Option<Box<Connections>>, RunError> {
        let mut sources = Vec::new();
        for (index, traffic) in experiment.traffic.iter().enumerate() {
            let TrafficKind::Connections(spec) = &traffic.kind else {
                sources.push(VecDeque::new());
                continue;
            };
            let vectors = match &spec.source {
                ConnectionSource::Vectors(file) => read(file)?,
                ConnectionSource::Drawn(sessions) => draw(sessions, spec.flow.packet, seed(index), experiment.duration),
            };
            let vectors = vectors.into_iter().map(|vector| placed(vector, traffic.start.since(Time::ZERO)));
            let vectors: VecDeque<Vector> =
                vectors.filter(|vector| Time::ZERO.saturating_add(vector.start) < traffic.stop).collect();
            for (vector, end) in vectors.iter().flat_map(|vector| [(vector, End::Initiator), (vector, End::Acceptor)]) {
                lanes.of_flow(experiment, &flow_of(spec, &traffic.route, vector, end));
            }
            sources.push(vectors);
        }
        if sources.iter().all(VecDeque::is_empty) {
            return Ok(None);
        }
        let (experiment, lanes) = (experiment.clone(), lanes.clone());
        let (slots, rested) = (Vec::new(), VecDeque::new());
        Ok(Some(Box::new(Connections { experiment, mode, lanes, sources, slots, rested, crowded: false })))
    }

    /// Most flows that will be needed.
    pub(crate) fn most_flows(&self) -> usize {
        2 * self.sources.iter().map(VecDeque::len).sum::<usize>().min(MOST)
    }

    /// When each source's first connection begins.
    pub(crate) fn first(&self) -> impl Iterator<Item = (usize, Time)> {
        let first = |(source, vectors): (usize, &VecDeque<Vector>)| Some((source, Time::ZERO + vectors.front()?.start));
        self.sources.iter().enumerate().filter_map(first)
    }

    /// A slot for a connection that begins now; `None`: there is none left.
    fn slot(&mut self, now: Time) -> Option<usize> {
        if let Some((_, slot)) = self.rested.pop_front_if(|(from, _)| *from <= now) {
            return Some(slot);
        }
        (self.slots.len() < MOST).then_some(self.slots.len())
    }
}

fn placed(vector: Vector, start: Span) -> Vector {
    const MS: Span = Span::from_millis(1);
    let rtt = MS * ((vector.rtt + MS / 2) / MS).max(1);
    Vector { start: Span::from_picos(vector.start.picos().saturating_add(start.picos())), rtt, ..vector }
}

fn flow_of(spec: &Spec, route: &[usize], vector: &Vector, end: End) -> FlowSpec {
    let route = if end == End::Initiator { route } else { &spec.back };
    FlowSpec { rtt: vector.rtt, route: route.to_vec(), ..spec.flow.clone() }
}

impl Network {
    /// A connection of this traffic source begins.
    pub(crate) fn connection(&mut self, now: Time, source: usize) {
        let Some(connections) = &mut self.connections else { return };
        let Some(vector) = connections.sources[source].pop_front() else { return };
        if let Some(next) = connections.sources[source].front() {
            self.schedule.timer(Time::ZERO + next.start, self.sources.id(Kind::Arrivals(source as u32)));
        }
        let Some(slot) = connections.slot(now) else {
            connections.crowded = true;
            return;
        };
        let TrafficKind::Connections(spec) = &connections.experiment.traffic[source].kind else { return };
        let route = &connections.experiment.traffic[source].route;
        let first = connections.slots.get(slot).map_or(self.flows.len(), |connection| connection.flow);
        for end in [End::Initiator, End::Acceptor] {
            let index = first + end as usize;
            let window = packets(vector.windows[end.other() as usize], spec.flow.packet);
            let flow = flow_of(spec, route, &vector, end);
            let lanes = &mut connections.lanes;
            let built = build_flow(&connections.experiment, &flow, index, now, lanes, connections.mode, Some(window));
            // What could be refused was tried when the scenario was read.
            let Ok(flow) = built else { return };
            let flow = Flow { armed: Time::MAX, due: Time::MAX, immediate: false, ..flow };
            if index < self.flows.len() {
                self.flows[index] = flow;
            } else {
                self.flows.push(flow);
                self.background.push(Carries::Messages { slot, end: end as usize });
            }
            self.recorder.belongs(index, source);
        }
        let connection = Connection { flow: first, source, ends: vector.messages.map(Script::new), over: false };
        let established = now + vector.rtt;
        let starts = connection.ends.each_ref().map(|script| {
            let first = script.messages.first().filter(|message| message.after == After::Start);
            first.map(|message| established + message.wait)
        });
        match connections.slots.get_mut(slot) {
            Some(last) => *last = connection,
            None => connections.slots.push(connection),
        }
        for (end, at) in starts.into_iter().enumerate() {
            if let Some(at) = at {
                self.await_message(slot, end, at);
            }
        }
    }

    fn await_message(&mut self, slot: usize, end: usize, at: Time) {
        if let Some(connections) = &mut self.connections {
            let connection = &mut connections.slots[slot];
            connection.ends[end].due = at;
            let flow = connection.flow + end;
            self.schedule.timer(at, self.sources.id(Kind::Message(flow as u32)));
        }
    }

    /// An end hands its next message to its sender.
    pub(crate) fn say(&mut self, now: Time, slot: usize, end: usize) {
        let Some(connections) = &mut self.connections else { return };
        let connection = &mut connections.slots[slot];
        let TrafficKind::Connections(spec) = &connections.experiment.traffic[connection.source].kind else { return };
        let index = connection.flow + end;
        let received = connection.ends[1 - end].arrived;
        let script = &mut connection.ends[end];
        if script.due != now {
            return;
        }
        script.due = Time::MAX;
        let size = script.messages[script.next].size;
        script.next += 1;
        script.under_way.push_back(self.flows[index].offer_data(size, spec.flow.packet));
        let following = script.after(now, received, true);
        if let Some(at) = following {
            self.await_message(slot, end, at);
        }
        self.transmit(now, index);
    }

    /// A packet of a connection has arrived: perhaps a message is whole now.
    pub(crate) fn heard(&mut self, now: Time, slot: usize, end: usize) {
        let Some(connections) = &mut self.connections else { return };
        let connection = &mut connections.slots[slot];
        let expected = self.flows[connection.flow + end].receiver.next_expected();
        let script = &mut connection.ends[end];
        let mut whole = false;
        while script.under_way.pop_front_if(|boundary| *boundary <= expected).is_some() {
            script.arrived += 1;
            whole = true;
        }
        if !whole {
            return;
        }
        let received = script.arrived;
        let answer = connection.ends[1 - end].after(now, received, false);
        if connection.ends.iter().all(Script::is_over) && !connection.over {
            connection.over = true;
            connections.rested.push_back((now + REST, slot));
        }
        if let Some(at) = answer {
            self.await_message(slot, 1 - end, at);
        }
    }

    /// Whether there was a slot for every connection.
    pub(crate) fn check_connections(&self) -> Result<(), RunError> {
        match &self.connections {
            Some(connections) if connections.crowded => Err(TrafficError::Crowded { most: MOST }.into()),
            _ => Ok(()),
        }
    }
}

/// A receive window of bytes of data in packets; one at least.
pub(crate) fn packets(window: Bytes, packet: Bytes) -> u64 {
    (window / (packet - HEADERS)).max(1)
}
