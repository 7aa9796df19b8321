//! Samples flows and the bottleneck at equal intervals: curves, and traces of probe streams.

use crate::agenda::{Agenda, EventSource};
use crate::endpoints::Endpoints;
use crate::topology::Topology;
use experiment::scenario::Experiment;
use harness::measure::Recorder;
use packetscale_models::units::{Span, Time};
use std::collections::BTreeSet;

/// The recorder's clock.
pub(super) struct Sampler {
    step: Span,
    /// The next sample.
    next: Time,
    /// When to trace probe streams, the latest first.
    trace_times: Vec<Time>,
    /// The flows that were ever traced.
    asked: BTreeSet<usize>,
}

impl Sampler {
    pub(super) fn new(experiment: &Experiment) -> Sampler {
        let (warm, end) = (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration);
        Sampler {
            step: experiment.record.step,
            next: Time::MAX,
            trace_times: trace_times(warm, end, experiment.record.streams),
            asked: BTreeSet::new(),
        }
    }

    pub(super) fn first_event(&mut self, agenda: &mut Agenda) {
        self.set(agenda, Time::ZERO + self.step / 2);
    }

    fn set(&mut self, agenda: &mut Agenda, next: Time) {
        self.next = next;
        agenda.timer(next, EventSource::Sampler);
    }

    /// The next sample; [`Time::MAX`]: never.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Takes a sample and sets the clock for the next.
    pub(super) fn sample(
        &mut self,
        agenda: &mut Agenda,
        now: Time,
        topology: &Topology,
        endpoints: &mut Endpoints,
        recorder: &mut Recorder,
    ) {
        self.set(agenda, now + self.step);
        if !recorder.samples.enabled() {
            return;
        }
        recorder.samples.of_queue(topology.readings());
        let sampled = recorder.samples.flows();
        (0..sampled).for_each(|index| endpoints.catch_up(agenda, now, index));
        for (index, flow) in endpoints.flows().iter().enumerate().take(sampled) {
            recorder.samples.of_flow(index, flow.sample(now));
        }
        self.trace_streams(agenda, now, endpoints, recorder);
    }

    /// Requests a probe stream when it is time, and takes it when it is complete.
    fn trace_streams(&mut self, agenda: &mut Agenda, now: Time, endpoints: &mut Endpoints, recorder: &mut Recorder) {
        for &index in &self.asked {
            endpoints.catch_up(agenda, now, index);
            if let Some((trace, from)) = endpoints.flows_mut()[index].take_trace() {
                let span = trace.gaps.iter().skip(1).map(|gap| gap.created).sum();
                recorder.samples.traced(index, trace, from, from + span);
                return;
            }
        }
        let Some(&due) = self.trace_times.last() else { return };
        let index = (self.trace_times.len() - 1) % endpoints.flows().len().max(1);
        if index >= endpoints.flows().len() {
            return;
        }
        endpoints.catch_up(agenda, now, index);
        let flow = &mut endpoints.flows_mut()[index];
        // The next stream to complete was sent up to a few round trips ago: by then its traffic must have been seen.
        if now + flow.sender().rtt().0 * 3 >= due {
            recorder.samples.watch();
        }
        if now >= due {
            self.trace_times.pop();
            flow.arm_trace();
            self.asked.insert(index);
        }
    }
}

/// Equally spaced in the time after warm-up, the latest first.
fn trace_times(warm: Time, end: Time, count: u32) -> Vec<Time> {
    let length = end.saturating_since(warm);
    (0..u64::from(count))
        .rev()
        .map(|i| warm + Span::from_picos(length.picos() / (2 * u64::from(count)) * (2 * i + 1)))
        .collect()
}
