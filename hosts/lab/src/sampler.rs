//! Samples the kernel's figures of each connection during the run.

use crate::flows::Connection;
use crate::tcp_info::TcpInfo;
use measure::{FLOW_CURVES, FlowSample, Recorder, RoundTrips};
use std::sync::Arc;
use units::Span;

/// All samples of a run.
pub(crate) struct Samples {
    /// One per point of its curves, of each flow; empty when there are more flows than are drawn.
    flows: Vec<Vec<FlowSample>>,
    /// The last that was heard of each.
    pub last: Vec<Option<TcpInfo>>,
    /// Smoothed round-trip times.
    rtt: Vec<RoundTrips>,
}

impl Samples {
    /// Starts without samples.
    pub fn new(flows: usize) -> Samples {
        let curves = if flows <= FLOW_CURVES { flows } else { 0 };
        Samples { flows: vec![Vec::new(); curves], last: vec![None; flows], rtt: vec![RoundTrips::default(); flows] }
    }

    /// Takes one sample of every connection that has not ended.
    pub fn take(&mut self, connections: &[Arc<Connection>]) {
        for (flow, connection) in connections.iter().enumerate() {
            let info = connection.info();
            let known = info.filter(|info| info.smoothed_rtt_us > 0 && connection.completed_ns().is_none());
            let rtt = known.map(|info| Span::from_micros(u64::from(info.smoothed_rtt_us)));
            if let Some(rtt) = rtt {
                self.rtt[flow].sum += rtt;
                self.rtt[flow].count += 1;
            }
            if let Some(samples) = self.flows.get_mut(flow) {
                let window = known.map(|info| u64::from(info.window));
                samples.push(FlowSample { rate: None, rtt, window });
            }
        }
    }

    /// Asks every connection for its last figures.
    pub fn remember(&mut self, connections: &[Arc<Connection>]) {
        for (last, connection) in self.last.iter_mut().zip(connections) {
            *last = connection.info().or(*last);
        }
    }

    /// Tells the recorder all samples.
    pub fn tell(&self, recorder: &mut Recorder) {
        for (flow, samples) in self.flows.iter().enumerate() {
            samples.iter().for_each(|sample| recorder.sample_flow(flow, *sample));
        }
    }

    /// The smoothed round-trip times of a flow, sample by sample.
    pub fn round_trips(&self, flow: usize) -> RoundTrips {
        self.rtt.get(flow).copied().unwrap_or_default()
    }

    /// The least round-trip time that the connection has seen.
    pub fn least_rtt(&self, flow: usize) -> Option<Span> {
        let least = (*self.last.get(flow)?)?.least_rtt_us;
        (least < u32::MAX).then(|| Span::from_micros(u64::from(least)))
    }
}
