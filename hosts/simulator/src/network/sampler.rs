//! What the recorder asks of flows and the bottleneck at equal intervals: their curves, and traces of probe streams.

use crate::agenda::{Agenda, EventSource};
use crate::endpoints::{Endpoints, Flow};
use crate::recorder::{FlowSamples, Recorder};
use crate::topology::Topology;
use congestion::Controller;
use scenario::Experiment;
use units::{Rate, Span, Time};

/// The recorder's clock.
pub(super) struct Sampler {
    step: Span,
    /// When to trace probe streams, the latest first.
    trace_times: Vec<Time>,
}

impl Sampler {
    pub(super) fn new(experiment: &Experiment) -> Sampler {
        let (warm, end) = (Time::ZERO + experiment.warmup, Time::ZERO + experiment.duration);
        Sampler { step: experiment.record.step, trace_times: trace_times(warm, end, experiment.record.streams) }
    }

    pub(super) fn first_event(&self, agenda: &mut Agenda) {
        agenda.timer(Time::ZERO + self.step / 2, EventSource::Sampler);
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
        agenda.timer(now + self.step, EventSource::Sampler);
        let Some(detail) = &mut recorder.detail else { return };
        detail.readings.push(topology.readings());
        for (flow, samples) in endpoints.flows().iter().zip(&mut detail.samples) {
            sample_flow(now, flow, samples);
        }
        self.trace_streams(now, topology.capacity(), endpoints.flows_mut(), recorder);
    }

    /// Asks for a probe stream when it is time, and takes it when it is complete.
    fn trace_streams(&mut self, now: Time, capacity: Rate, flows: &mut [Flow], recorder: &mut Recorder) {
        for (index, flow) in flows.iter_mut().enumerate() {
            if let Some((trace, from)) = flow.take_trace() {
                let span = trace.gaps.iter().skip(1).map(|gap| gap.created).sum();
                recorder.traced(index, trace, from, from + span, capacity);
                return;
            }
        }
        let Some(&due) = self.trace_times.last() else { return };
        let index = (self.trace_times.len() - 1) % flows.len().max(1);
        let Some(flow) = flows.get_mut(index) else { return };
        // The next stream to complete was sent up to a few round trips ago: by then its traffic must have been seen.
        if now + flow.sender().rtt().0 * 3 >= due {
            recorder.watch();
        }
        if now >= due {
            self.trace_times.pop();
            flow.arm_trace();
        }
    }
}

fn sample_flow(now: Time, flow: &Flow, samples: &mut FlowSamples) {
    let active = flow.is_active(now);
    let controller = flow.sender().controller();
    let rate = controller.rate().filter(|_| active).map(|rate| rate.bps() as f32);
    samples.rate_bps.push(rate);
    samples.srtt_ns.push(if active { flow.sender().rtt().0.nanos() as f32 } else { f32::NAN });
    let window = u64::from(controller.decision().window).min(flow.receive_window());
    samples.window.push(if active { window as f32 } else { f32::NAN });
}

/// Equally spaced in the time after warm-up, the latest first.
fn trace_times(warm: Time, end: Time, count: u32) -> Vec<Time> {
    let length = end.saturating_since(warm);
    (0..u64::from(count))
        .rev()
        .map(|i| warm + Span::from_picos(length.picos() / (2 * u64::from(count)) * (2 * i + 1)))
        .collect()
}
