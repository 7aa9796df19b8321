//! Samples of flows and of the bottleneck's queue, and traces of probe streams: recorded with the curves.

use crate::measure::detail::Detail;
use crate::measure::seen::FlowSample;
use packetscale_models::congestion::StreamTrace;
use packetscale_models::queueing::Readings;
use packetscale_models::units::Time;

/// Samples by a host, in the middle of each interval of `record.step`.
#[derive(Clone, Debug)]
pub struct Samples {
    pub(crate) detail: Option<Box<Detail>>,
}

impl Samples {
    /// Whether samples and traces are recorded.
    pub fn enabled(&self) -> bool {
        self.detail.is_some()
    }

    /// How many flows are sampled, the first ones: all or none.
    pub fn flows(&self) -> usize {
        self.detail.as_ref().map_or(0, |detail| detail.samples.len())
    }

    /// Adds a measurement of the bottleneck's queue discipline.
    pub fn of_queue(&mut self, readings: Readings) {
        if let Some(detail) = &mut self.detail {
            detail.readings.push(readings);
        }
    }

    /// Adds a sample of a flow's state.
    pub fn of_flow(&mut self, flow: usize, sample: FlowSample) {
        if let Some(detail) = &mut self.detail
            && let Some(samples) = detail.samples.get_mut(flow)
        {
            samples.push(sample);
        }
    }

    /// Remembers traffic and flows from now on, for a trace that will be requested. Extra calls are harmless.
    pub fn watch(&mut self) {
        if let Some(detail) = &mut self.detail {
            detail.watching = true;
        }
    }

    /// A traced stream is complete. Its packets reached the bottleneck between `from` and `to`: what the traffic and the
    /// other flows left then is what it should have found.
    pub fn traced(&mut self, flow: usize, trace: StreamTrace, from: Time, to: Time) {
        if let Some(detail) = &mut self.detail {
            detail.traced(flow, trace, from, to);
        }
    }
}
