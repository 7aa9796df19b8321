//! Samples the kernel's figures of each connection during the run.

use crate::flows::Connection;
use crate::summary::FLOW_CURVES;
use crate::tcp_info::TcpInfo;
use std::sync::Arc;

/// Samples of one flow, one per point of its curves.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSamples {
    pub rtt_s: Vec<Option<f32>>,
    pub window: Vec<Option<f32>>,
}

/// All samples of a run.
pub(crate) struct Samples {
    /// Empty when there are more flows than the curves show.
    pub flows: Vec<FlowSamples>,
    /// The last sample of each.
    pub last: Vec<Option<TcpInfo>>,
    /// Sum and number of the smoothed round-trip times.
    rtt: Vec<(f64, u64)>,
}

impl Samples {
    /// Starts without samples.
    pub fn new(flows: usize) -> Samples {
        let curves = if flows <= FLOW_CURVES { flows } else { 0 };
        Samples { flows: vec![FlowSamples::default(); curves], last: vec![None; flows], rtt: vec![(0.0, 0); flows] }
    }

    /// Takes one sample of every connection that has not ended.
    pub fn take(&mut self, connections: &[Arc<Connection>]) {
        for (flow, connection) in connections.iter().enumerate() {
            let info = connection.info();
            let known = info.filter(|info| info.smoothed_rtt_us > 0 && connection.completed_ns().is_none());
            let rtt_s = known.map(|info| f64::from(info.smoothed_rtt_us) * 1e-6);
            if let Some(rtt_s) = rtt_s {
                self.rtt[flow].0 += rtt_s;
                self.rtt[flow].1 += 1;
            }
            if let Some(samples) = self.flows.get_mut(flow) {
                samples.rtt_s.push(rtt_s.map(|rtt| rtt as f32));
                samples.window.push(known.map(|info| info.window as f32));
            }
        }
    }

    /// Asks every connection for its last figures.
    pub fn remember(&mut self, connections: &[Arc<Connection>]) {
        for (last, connection) in self.last.iter_mut().zip(connections) {
            *last = connection.info().or(*last);
        }
    }

    /// Returns the mean of the sampled smoothed round-trip times.
    pub fn mean_rtt_s(&self, flow: usize) -> Option<f64> {
        let (sum, count) = *self.rtt.get(flow)?;
        (count > 0).then(|| sum / count as f64)
    }

    /// Returns the least round-trip time that the connection has measured.
    pub fn least_rtt_s(&self, flow: usize) -> Option<f64> {
        let least = (*self.last.get(flow)?)?.least_rtt_us;
        (least < u32::MAX).then(|| f64::from(least) * 1e-6)
    }
}
