//! Flows that arrive while the run lasts: each is opened at its start, and its place is used again after its end.
//!
//! A flow ends when its last byte reaches the receiver. Its place is free once its sender knows that. Where it has sent a
//! packet twice, one of the two may still be in a queue: then the place rests for as long as that can take.

use super::places::{Places, rest};
use super::{BackgroundFlows, Carries, Opening, Stage};
use crate::agenda::{Agenda, EventSource};
use crate::endpoints::{Endpoints, FlowBuilder, NewFlow};
use experiment::scenario::{FlowSpec, Size, Start};
use experiment::traffic::arrivals::{Arrival, Drawn};
use harness::measure::ArrivalsSeen;
use packetscale_models::units::{Bytes, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// All flows of a run that arrive.
pub(super) struct Arriving {
    /// The number of the first flow in the background.
    first_flow: usize,
    tables: Vec<Table>,
    /// The flow at each place behind the scenario's flows.
    lives: Vec<Life>,
    places: Places,
    /// The table of the first flow for which there was no place.
    turned_away: Option<usize>,
}

/// The flows of one table.
struct Table {
    flow: FlowSpec,
    drawn: Drawn,
    /// Flows to come: when, a number that keeps their order, how much.
    due: BinaryHeap<Reverse<(Time, u64, Bytes)>>,
    asked: u64,
    /// Places of ended flows, and from when they may be free.
    ended: VecDeque<(Time, usize)>,
    /// Resting places, and until when.
    resting: VecDeque<(Time, usize)>,
    rest: Span,
    /// Outcomes of the flows whose places were reused.
    seen: ArrivalsSeen,
}

#[derive(Clone, Copy, Default)]
struct Life {
    /// Its table; `None`: the flow at this place is not one that arrived.
    table: Option<usize>,
    start: Time,
    size: Bytes,
    /// It has ended when this many of its packets have arrived; [`u64::MAX`]: it has ended.
    boundary: u64,
}

impl Arriving {
    /// `None` where no flows arrive.
    pub(super) fn open(builder: &mut FlowBuilder<'_>) -> Option<Box<Arriving>> {
        let experiment = builder.experiment();
        if experiment.arrivals.is_empty() {
            return None;
        }
        let tables = experiment.arrivals.iter().enumerate().map(|(entry, arrivals)| {
            builder.prepare(&arrivals.flow);
            Table {
                flow: arrivals.flow.clone(),
                drawn: Drawn::new(&experiment, entry),
                due: BinaryHeap::new(),
                asked: 0,
                ended: VecDeque::new(),
                resting: VecDeque::new(),
                rest: rest(&experiment, &arrivals.flow.route, arrivals.flow.rtt),
                seen: ArrivalsSeen::default(),
            }
        });
        let (tables, first_flow) = (tables.collect(), experiment.flows.len());
        Some(Box::new(Arriving { first_flow, tables, lives: Vec::new(), places: Places::default(), turned_away: None }))
    }

    /// Puts the first flows on the agenda.
    pub(super) fn first_events(&mut self, agenda: &mut Agenda) {
        for (number, table) in self.tables.iter_mut().enumerate() {
            let first: Vec<Arrival> =
                table.drawn.next_arrival().into_iter().chain(table.drawn.first_requests()).collect();
            first.into_iter().for_each(|arrival| table.expect(agenda, number, arrival));
        }
    }

    /// The most flows at a time, if more would have been needed, and for which table.
    pub(super) fn exceeded(&self) -> Option<(usize, usize)> {
        self.turned_away.zip(self.places.exceeded())
    }

    /// Flows of this table arrive.
    pub(super) fn arrive(&mut self, flows: &mut BackgroundFlows<'_>, stage: &mut Stage<'_>, now: Time, number: usize) {
        while let Some((start, size)) = self.tables[number].take(now) {
            self.begin(flows, stage, start, number, size);
            if let Some(next) = self.tables[number].drawn.next_arrival() {
                self.tables[number].expect(stage.agenda, number, next);
            }
        }
    }

    fn begin(
        &mut self,
        flows: &mut BackgroundFlows<'_>,
        stage: &mut Stage<'_>,
        now: Time,
        number: usize,
        size: Bytes,
    ) -> Option<()> {
        let place = self.free_flow(stage, now, number);
        if place.is_none() && self.places.open().is_none() {
            self.turned_away.get_or_insert(number);
            return None;
        }
        let table = &mut self.tables[number];
        let index = place.unwrap_or(stage.endpoints.next_flow());
        let card = match place {
            Some(place) => stage.endpoints.card(place),
            None => table.flow.access.map(|rate| stage.endpoints.add_card(rate)),
        };
        if place.is_some() {
            table.seen.add(&stage.endpoints.flow(index).seen(table.flow.rtt));
        }
        let spec = FlowSpec { start: Start::At(now), size: Size::Bytes(size), ..table.flow.clone() };
        let new = NewFlow { spec: &spec, index, draws: index, start: now, background: true, message_window: None };
        flows.open(stage, new, Opening { carries: Carries::Itself, card })?;
        stage.recorder.arrived(index, number, now, size);
        self.lives.resize(flows.count(), Life::default());
        self.lives[index - self.first_flow] =
            Life { table: Some(number), start: now, size, boundary: size.packets_of(spec.packet).get() };
        stage.endpoints.transmit(stage.agenda, now, index);
        Some(())
    }

    /// A place with a finished flow and no packets under way.
    fn free_flow(&mut self, stage: &Stage<'_>, now: Time, number: usize) -> Option<usize> {
        let table = &mut self.tables[number];
        if let Some((_, place)) = table.resting.pop_front_if(|(until, _)| *until <= now) {
            if stage.endpoints.is_over(place) {
                return Some(place);
            }
            table.resting.push_back((now + table.rest, place));
        }
        while let Some((_, place)) = table.ended.pop_front_if(|(from, _)| *from <= now) {
            if stage.endpoints.is_over(place) && stage.endpoints.sent_once(place) {
                return Some(place);
            }
            table.resting.push_back((now + table.rest, place));
        }
        None
    }

    /// A packet of a flow has arrived, perhaps the last one.
    #[inline]
    pub(super) fn received(&mut self, stage: &mut Stage<'_>, now: Time, flow: usize) {
        let life = &mut self.lives[flow - self.first_flow];
        if stage.endpoints.arrived(flow) < life.boundary {
            return;
        }
        life.boundary = u64::MAX;
        let Life { table: Some(number), start, size, .. } = *life else { return };
        stage.recorder.arriving.ended(number, start, size, now);
        let table = &mut self.tables[number];
        table.ended.push_back((now + table.flow.rtt, flow));
        if let Some(next) = table.drawn.request(now) {
            table.expect(stage.agenda, number, next);
        }
    }

    /// The outcome of all flows of each table.
    pub(super) fn seen(&self, endpoints: &Endpoints) -> Vec<ArrivalsSeen> {
        let mut seen: Vec<ArrivalsSeen> = self.tables.iter().map(|table| table.seen).collect();
        for (place, life) in self.lives.iter().enumerate() {
            if let Some(number) = life.table {
                seen[number].add(&endpoints.flow(self.first_flow + place).seen(self.tables[number].flow.rtt));
            }
        }
        seen
    }
}

impl Table {
    /// A flow will arrive.
    fn expect(&mut self, agenda: &mut Agenda, number: usize, arrival: Arrival) {
        self.due.push(Reverse((arrival.at, self.asked, arrival.size)));
        self.asked += 1;
        agenda.timer(arrival.at, EventSource::Arrival(number as u32));
    }

    /// Takes a flow that arrives now.
    fn take(&mut self, now: Time) -> Option<(Time, Bytes)> {
        let Reverse((at, _, size)) = *self.due.peek()?;
        (at <= now).then(|| {
            self.due.pop();
            (at, size)
        })
    }
}
