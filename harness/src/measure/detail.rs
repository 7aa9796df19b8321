//! Records for curves and distributions (`record.detail`).

use crate::measure::bins::Bins;
use crate::measure::capacity::LinkCapacity;
use crate::measure::period::Period;
use crate::measure::seen::FlowSample;
use crate::measure::waits::histogram_ns;
use hdrhistogram::Histogram;
use packetscale_models::congestion::StreamTrace;
use packetscale_models::queueing::Readings;
use packetscale_models::units::{Bytes, Rate, Span, Time};

/// Most flows with curves of their own.
pub const FLOW_CURVES: usize = 32;

/// Curves and distributions.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    warm: Time,
    capacity: LinkCapacity,
    pub(crate) step: Span,
    /// Waiting time after the warm-up, nanoseconds.
    pub(crate) wait_ns: Histogram<u64>,
    pub(crate) flow_bytes: Vec<Bins>,
    pub(crate) total_bytes: Bins,
    pub(crate) traffic_bytes: Bins,
    pub(crate) wait_sum_ns: Bins,
    pub(crate) wait_max_ns: Bins,
    pub(crate) served: Bins,
    /// Samples of the bottleneck's discipline.
    pub(crate) readings: Vec<Readings>,
    pub(crate) losses: Vec<Bins>,
    /// Bytes of flows refused by the bottleneck.
    pub(crate) refused_bytes: Bins,
    /// Samples of each flow's state.
    pub(crate) samples: Vec<Vec<FlowSample>>,
    pub(crate) traces: Vec<(usize, StreamTrace, Rate)>,
    /// Traffic that arrived while a trace is awaited.
    watched: Vec<(Time, u64)>,
    /// Packets of flows that arrived meanwhile: time, bytes, flow.
    watched_flows: Vec<(Time, u64, usize)>,
    pub(crate) watching: bool,
}

impl Detail {
    /// For a run with this many flows and a link of this capacity, with a point every `step`.
    pub(crate) fn new(step: Span, period: Period, flows: usize, capacity: &LinkCapacity) -> Detail {
        let count = period.end.picos().div_ceil(step.picos()) as usize;
        let bins = || Bins::new(Time::ZERO, step, count);
        let curves = if flows <= FLOW_CURVES { flows } else { 0 };
        Detail {
            warm: period.warm,
            capacity: capacity.clone(),
            step,
            wait_ns: histogram_ns(),
            flow_bytes: vec![bins(); curves],
            total_bytes: bins(),
            traffic_bytes: bins(),
            wait_sum_ns: bins(),
            wait_max_ns: bins(),
            served: bins(),
            readings: Vec::new(),
            losses: vec![bins(); curves],
            refused_bytes: bins(),
            samples: vec![Vec::new(); curves],
            traces: Vec::new(),
            watched: Vec::new(),
            watched_flows: Vec::new(),
            watching: false,
        }
    }

    #[inline]
    pub(crate) fn arrives(&mut self, now: Time, bytes: u64) {
        self.traffic_bytes.add(now, bytes);
        if self.watching {
            self.watched.push((now, bytes));
        }
    }

    /// A packet of a flow arrived, perhaps during a probe stream that is being traced.
    #[inline]
    pub(crate) fn beside(&mut self, flow: usize, arrival: Time, bytes: u64) {
        if self.watching {
            self.watched_flows.push((arrival, bytes, flow));
        }
    }

    /// `of_flow`: it is a packet of a flow of the scenario.
    #[inline]
    pub(crate) fn served(&mut self, of_flow: bool, bytes: u64, wait: Span, departs: Time) {
        let wait_ns = wait.nanos();
        if departs > self.warm {
            self.wait_ns.saturating_record(wait_ns);
        }
        self.wait_sum_ns.add(departs, wait_ns);
        self.wait_max_ns.raise(departs, wait_ns);
        self.served.add(departs, 1);
        if of_flow {
            self.total_bytes.add(departs, bytes);
        }
    }

    /// A packet of a flow reaches its receiver.
    #[inline]
    pub(crate) fn delivered(&mut self, flow: usize, bytes: u64, at: Time) {
        if let Some(bins) = self.flow_bytes.get_mut(flow) {
            bins.add(at, bytes);
        }
    }

    /// Keeps a traced stream with what the traffic and the other flows left while its packets arrived.
    pub(crate) fn traced(&mut self, flow: usize, trace: StreamTrace, from: Time, to: Time) {
        let then = |at: Time| at >= from && at <= to;
        let traffic: u64 = self.watched.iter().filter(|(at, _)| then(*at)).map(|(_, bytes)| bytes).sum();
        let others = self.watched_flows.iter().filter(|(at, _, of)| then(*at) && *of != flow);
        let bytes = traffic + others.map(|(_, bytes, _)| bytes).sum::<u64>();
        let available = available(self.capacity.mean(from, to), Bytes::new(bytes), to.saturating_since(from));
        self.traces.push((flow, trace, available));
        self.watching = false;
        self.watched.clear();
        self.watched_flows.clear();
    }
}

/// The capacity left by traffic that arrives within a time.
pub fn available(capacity: Rate, traffic: Bytes, within: Span) -> Rate {
    capacity.saturating_sub(Rate::of(traffic, within))
}
