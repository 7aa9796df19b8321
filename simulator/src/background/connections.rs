//! Traffic made of TCP connections: each is two flows, one for the data of either end, and a script of messages.
//!
//! A connection takes a slot when it begins, two flows of the network's, and gives it back a while after its last
//! message has arrived. Its packets count as traffic: senders and receivers are those of every flow, but no table shows
//! them one by one.
//!
//! Not simulated: the segments that open and close a connection (its first message leaves one round trip after
//! it begins), data and acknowledgments in one segment, and the round-trip times of a script below a millisecond: they
//! are rounded to whole ones, so that acknowledgments of equal delay share a line.

use super::{BackgroundFlows, Carries, Opening, Stage};
use crate::RunError;
use crate::agenda::EventSource;
use crate::endpoints::{FlowBuilder, NewFlow};
use experiment::scenario::{ConnectionSource, Connections as Spec, Experiment, FlowSpec, HEADERS, TrafficKind};
use experiment::traffic::vectors::{After, End, Message, Vector, draw, read};
use packetscale_models::units::{Bytes, Span, Time};
use std::collections::VecDeque;

/// How long a slot rests: no packet of its last connection is under way any more.
const REST: Span = Span::from_secs(10);

/// Most connections at a time.
const MOST: usize = 1 << 14;

/// All connections of a run.
pub(super) struct Connections {
    /// One for each traffic source; those of other kinds are empty.
    sources: Vec<VecDeque<Vector>>,
    slots: Vec<Connection>,
    /// Slots to use again, and from when.
    rested: VecDeque<(Time, usize)>,
    /// More would have been needed.
    exceeded: bool,
}

struct Connection {
    /// The first of its flows; the other end's is the next.
    flow: usize,
    source: usize,
    ends: [Script; 2],
    over: bool,
}

/// The messages of one end.
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

    /// When the next message leaves, given the messages received so far; `sent`: right after one was sent.
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
    pub(super) fn open(
        builder: &mut FlowBuilder<'_>,
        seed: impl Fn(usize) -> u64,
    ) -> Result<Option<Box<Connections>>, RunError> {
        let experiment = builder.experiment();
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
                builder.prepare(&flow_of(spec, &traffic.route, vector, end));
            }
            sources.push(vectors);
        }
        if sources.iter().all(VecDeque::is_empty) {
            return Ok(None);
        }
        let (slots, rested) = (Vec::new(), VecDeque::new());
        Ok(Some(Box::new(Connections { sources, slots, rested, exceeded: false })))
    }

    /// When each source's first connection begins.
    pub(super) fn first(&self) -> impl Iterator<Item = (usize, Time)> {
        let first = |(source, vectors): (usize, &VecDeque<Vector>)| Some((source, Time::ZERO + vectors.front()?.start));
        self.sources.iter().enumerate().filter_map(first)
    }

    /// A slot for a connection that begins now; `None` at the limit.
    fn slot(&mut self, now: Time) -> Option<usize> {
        if let Some((_, slot)) = self.rested.pop_front_if(|(from, _)| *from <= now) {
            return Some(slot);
        }
        (self.slots.len() < MOST).then_some(self.slots.len())
    }

    /// The most connections at a time, if more would have been needed.
    pub(super) fn exceeded(&self) -> Option<usize> {
        self.exceeded.then_some(MOST)
    }

    /// A connection of this traffic source begins.
    pub(super) fn begin(&mut self, flows: &mut BackgroundFlows<'_>, stage: &mut Stage<'_>, now: Time, source: usize) {
        let Some(vector) = self.sources[source].pop_front() else { return };
        if let Some(next) = self.sources[source].front() {
            stage.agenda.timer(Time::ZERO + next.start, EventSource::Connection(source as u32));
        }
        let Some(slot) = self.slot(now) else {
            self.exceeded = true;
            return;
        };
        let first = self.slots.get(slot).map_or(stage.endpoints.next_flow(), |connection| connection.flow);
        for end in [End::Initiator, End::Acceptor] {
            if open_end(flows, stage, &vector, Place { source, slot, flow: first + end as usize, end }, now).is_none() {
                return;
            }
        }
        let connection = Connection { flow: first, source, ends: vector.messages.map(Script::new), over: false };
        let established = now + vector.rtt;
        let starts = connection.ends.each_ref().map(|script| {
            let first = script.messages.first().filter(|message| message.after == After::Start);
            first.map(|message| established + message.wait)
        });
        match self.slots.get_mut(slot) {
            Some(last) => *last = connection,
            None => self.slots.push(connection),
        }
        for (end, at) in starts.into_iter().enumerate() {
            if let Some(at) = at {
                self.slots[slot].await_message(stage, end, at);
            }
        }
    }

    /// An end hands its next message to its sender.
    pub(super) fn send_message(
        &mut self,
        experiment: &Experiment,
        stage: &mut Stage<'_>,
        now: Time,
        slot: usize,
        end: usize,
    ) {
        let connection = &mut self.slots[slot];
        let TrafficKind::Connections(spec) = &experiment.traffic[connection.source].kind else { return };
        let index = connection.flow + end;
        let received = connection.ends[1 - end].arrived;
        let script = &mut connection.ends[end];
        if script.due != now {
            return;
        }
        script.due = Time::MAX;
        let size = script.messages[script.next].size;
        script.next += 1;
        script.under_way.push_back(stage.endpoints.offer_data(index, size, spec.flow.packet));
        let following = script.after(now, received, true);
        if let Some(at) = following {
            connection.await_message(stage, end, at);
        }
        stage.endpoints.transmit(stage.agenda, now, index);
    }

    /// A packet of a connection has arrived: perhaps a message is whole now.
    pub(super) fn on_delivered(&mut self, stage: &mut Stage<'_>, now: Time, slot: usize, end: usize) {
        let connection = &mut self.slots[slot];
        let expected = stage.endpoints.arrived(connection.flow + end);
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
            self.rested.push_back((now + REST, slot));
        }
        if let Some(at) = answer {
            connection.await_message(stage, 1 - end, at);
        }
    }
}

impl Connection {
    /// An end sends its next message at `at`.
    fn await_message(&mut self, stage: &mut Stage<'_>, end: usize, at: Time) {
        self.ends[end].due = at;
        stage.agenda.timer(at, EventSource::Message((self.flow + end) as u32));
    }
}

/// State of one end of a connection.
#[derive(Clone, Copy)]
struct Place {
    source: usize,
    slot: usize,
    flow: usize,
    end: End,
}

/// Opens the flow of one end. `None`: it cannot be built.
fn open_end(
    flows: &mut BackgroundFlows<'_>,
    stage: &mut Stage<'_>,
    vector: &Vector,
    place: Place,
    now: Time,
) -> Option<()> {
    let Place { source, slot, flow, end } = place;
    let traffic = &flows.experiment().traffic[source];
    let TrafficKind::Connections(spec) = &traffic.kind else { return None };
    let window = packets(vector.windows[end.other() as usize], spec.flow.packet);
    let new = NewFlow {
        spec: &flow_of(spec, &traffic.route, vector, end),
        index: flow,
        draws: flow,
        start: now,
        background: true,
        message_window: Some(window),
    };
    let carries = Carries::Messages { slot, end: end as usize };
    flows.open(stage, new, Opening { carries, card: None })?;
    stage.recorder.belongs(flow, source);
    Some(())
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

/// A receive window of bytes of data in packets; one at least.
pub(super) fn packets(window: Bytes, packet: Bytes) -> u64 {
    (window / (packet - HEADERS)).max(1)
}
