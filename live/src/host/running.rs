//! Active flows of a scenario: their starts and stops, application data, and samples.

use super::grace;
use crate::controllers;
use crate::transfer::{Ends, Flows, Next, Outgoing};
use experiment::scenario::{Experiment, FlowSpec, Size};
use experiment::traffic::chance::{Purpose, seed};
use experiment::traffic::{Application, TrafficError};
use harness::measure::FlowSample;
use packetscale_models::congestion::{AnyController, Setup};
use packetscale_models::transport::{Segment, SenderParams, Transfer};
use packetscale_models::units::{Span, Time};

/// Offset between the fillings of consecutive packets: no two packets are alike.
const SHIFT: u64 = 61;

/// One flow.
pub(super) struct One<'e> {
    spec: &'e FlowSpec,
    pub start: Time,
    /// The session's number for it, and its receiver's capacity.
    number: u32,
    window: u64,
    application: Option<Application>,
    /// `None`: it has not begun.
    pub outgoing: Option<Outgoing>,
    pub completed: Option<Time>,
    stopped: bool,
}

/// All flows of a run.
pub(super) struct Running<'e> {
    experiment: &'e Experiment,
    pub flows: Vec<One<'e>>,
    rtt: Span,
    /// Header bytes of a packet.
    header_bytes: usize,
    filling: &'e [u8],
    /// Other programs compete for this machine's processors.
    busy: bool,
    /// One sample of each flow for each interval of the curves.
    pub samples: Vec<Vec<FlowSample>>,
    next_sample: Time,
    over: bool,
    watch: &'e (dyn Fn(Span) + Sync),
}

/// The controller of a flow, or why it is not available.
pub(super) fn controller(experiment: &Experiment, number: usize, rtt: Span) -> Result<AnyController, String> {
    built(experiment, number, Time::ZERO, rtt)
}

/// The controller of a flow that begins at `now`, after a handshake of duration `rtt`.
fn built(experiment: &Experiment, number: usize, now: Time, rtt: Span) -> Result<AnyController, String> {
    let flow = &experiment.flows[number];
    let seed = seed(experiment.seed, Purpose::Controller, number);
    let setup = &Setup { handshake_rtt: rtt, ..flow.setup(now, seed) };
    let spec = &flow.controller;
    if let Some(own) = &spec.own {
        return Ok(AnyController::External(own.make(setup)));
    }
    if let Some(file) = &spec.file {
        let object = experiment::plugins::open(file).map_err(|error| error.to_string())?;
        return object.build(setup, &spec.settings).map_err(|error| error.to_string());
    }
    let entry =
        packetscale_models::congestion::find(&spec.kind).ok_or_else(|| format!("no controller \"{}\"", spec.kind))?;
    controllers::for_a_real_path(entry, setup, &spec.settings).map_err(|error| error.to_string())
}

impl<'e> Running<'e> {
    /// Flows that have begun at the server, with their numbers and windows. `rtt`: round trip of the handshake; `header_bytes`:
    /// header bytes of a packet, taken from `filling`. `busy`: other programs compete for the processors.
    pub fn new(
        experiment: &'e Experiment,
        begun: Vec<(u32, u64)>,
        rtt: Span,
        (header_bytes, filling): (usize, &'e [u8]),
        busy: bool,
        watch: &'e (dyn Fn(Span) + Sync),
    ) -> Result<Running<'e>, TrafficError> {
        let starts = experiment::traffic::starts(experiment);
        let one = |(index, ((number, window), start)): (usize, ((u32, u64), Time))| {
            let spec: &FlowSpec = &experiment.flows[index];
            let application = Application::of_flow(experiment, spec, index, start)?;
            let (outgoing, completed, stopped) = (None, None, false);
            Ok(One { spec, start, number, window, application, outgoing, completed, stopped })
        };
        let flows: Result<Vec<One<'e>>, TrafficError> = begun.into_iter().zip(starts).enumerate().map(one).collect();
        let flows = flows?;
        Ok(Running {
            experiment,
            rtt,
            header_bytes,
            filling,
            busy,
            samples: vec![Vec::new(); flows.len()],
            next_sample: Time::ZERO + experiment.record.step / 2,
            over: false,
            watch,
            flows,
        })
    }

    fn begin(&mut self, index: usize) -> Result<(), Ends> {
        let flow = &self.flows[index];
        let spec = flow.spec;
        let controller = built(self.experiment, index, flow.start, self.rtt).map_err(Ends::Refused)?;
        let params = SenderParams {
            packet: spec.packet,
            transfer: match spec.size {
                _ if spec.application.is_some() => Transfer::Offered,
                Size::Unlimited => Transfer::Unlimited,
                Size::Bytes(bytes) => Transfer::Sized(bytes),
            },
            initial_window: spec.initial_window,
            handshake_rtt: self.rtt,
            handshake_window: flow.window,
            min_rto: spec.min_rto,
            pacing_percent: spec.pacing_percent,
            tick: Span::ZERO,
            slow_start_after_idle: spec.slow_start_after_idle,
            ecn: spec.ecn,
        };
        let (start, stamps) = (flow.start, self.experiment.receiver.stamps);
        let mut outgoing = Outgoing::new(params, controller, start, stamps, true);
        // Do not replace a user's controller: only report what happened.
        if spec.controller.own.is_none() && spec.controller.file.is_none() {
            outgoing = outgoing.with_fall_back(self.busy);
        }
        outgoing.restart_round_trips(Time::ZERO + self.experiment.warmup);
        self.flows[index].outgoing = Some(outgoing);
        Ok(())
    }

    fn sample(&mut self, now: Time) {
        while self.next_sample <= now {
            for (flow, samples) in self.flows.iter().zip(&mut self.samples) {
                let active = flow.outgoing.as_ref().filter(|_| flow.completed.is_none());
                samples.push(active.map_or_else(FlowSample::default, Outgoing::sample));
            }
            self.next_sample += self.experiment.record.step;
        }
    }
}

impl One<'_> {
    /// Runs due timers and sends due packets. Returns the next due time.
    fn step(&mut self, now: Time) -> Time {
        let Some(outgoing) = &mut self.outgoing else { return Time::MAX };
        let sender = outgoing.sender_mut();
        let mut due = Time::MAX;
        if let Some(stop) = self.spec.stop.filter(|_| !self.stopped) {
            if stop <= now {
                self.application = None;
                sender.close();
                self.stopped = true;
            } else {
                due = stop;
            }
        }
        if let Some(application) = &mut self.application {
            sender.offer(application.take(now));
            due = due.min(application.next());
        }
        due
    }
}

impl Flows for Running<'_> {
    fn count(&self) -> usize {
        self.flows.len()
    }

    fn flow(&mut self, flow: usize) -> Option<(u32, &mut Outgoing)> {
        let one = self.flows.get_mut(flow)?;
        one.outgoing.as_mut().map(|outgoing| (one.number, outgoing))
    }

    fn fill(&mut self, _: usize, segment: &Segment, data: &mut [u8]) -> usize {
        let length = (segment.size.get() as usize).saturating_sub(self.header_bytes).max(1);
        let most = self.filling.len().saturating_sub(length).max(1) as u64;
        let from = (segment.transmission * SHIFT % most) as usize;
        match (data.get_mut(..length), self.filling.get(from..from + length)) {
            (Some(data), Some(filling)) => data.copy_from_slice(filling),
            (Some(data), None) => data.fill(0),
            (None, _) => return 1,
        }
        length
    }

    fn step(&mut self, now: Time) -> Result<Next, Ends> {
        let end = Time::ZERO + self.experiment.duration;
        if now >= end {
            if !self.over {
                self.over = true;
                self.flows.iter_mut().filter_map(|flow| flow.outgoing.as_mut()).for_each(Outgoing::stop);
            }
            let until = grace(self.rtt, self.experiment);
            return Ok(if now >= until { Next::Over } else { Next::At(until) });
        }
        self.sample(now);
        (self.watch)(now.since(Time::ZERO));
        let mut due = end.min(self.next_sample);
        for index in 0..self.flows.len() {
            if self.flows[index].outgoing.is_none() {
                if self.flows[index].start > now {
                    due = due.min(self.flows[index].start);
                    continue;
                }
                self.begin(index)?;
            }
            due = due.min(self.flows[index].step(now));
        }
        Ok(Next::At(due))
    }

    fn acknowledged(&mut self, flow: usize, now: Time) {
        let flow = &mut self.flows[flow];
        let done = flow.outgoing.as_ref().is_some_and(|outgoing| outgoing.sender().is_done());
        if done && flow.completed.is_none() {
            flow.completed = Some(now);
        }
    }
}
