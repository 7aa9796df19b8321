//! Samples the kernel's figures of each connection during the run.

use crate::lab::sockets::Connection;
use crate::lab::tcp_info::{NO_THRESHOLD, TcpInfo};
use harness::measure::{FLOW_CURVES, FlowSample, Recorder, RoundTrips};
use packetscale_models::units::Span;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// All samples of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Samples {
    /// One per point of its curves, of each flow, while it is active; empty when there are more flows than are drawn.
    flows: Vec<Vec<Option<Sample>>>,
    /// Last sample of each flow.
    pub last: Vec<Option<TcpInfo>>,
    /// Round-trip statistics of each flow.
    rtts: Vec<RttMean>,
}

/// Samples of smoothed round-trip times: those after the warm-up, or all, if none came after it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct RttMean {
    sum_us: u64,
    count: u64,
    /// They came after the warm-up.
    warm: bool,
}

impl RttMean {
    fn add(&mut self, rtt_us: u32, warm: bool) {
        if warm && !self.warm {
            *self = RttMean { warm, ..RttMean::default() };
        }
        (self.sum_us, self.count) = (self.sum_us + u64::from(rtt_us), self.count + 1);
    }
}

/// A point of a flow's curves.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sample {
    smoothed_rtt_us: u32,
    window: u32,
    threshold: u32,
    retransmitted: u32,
}

impl Samples {
    /// Starts without samples.
    pub fn new(flows: usize) -> Samples {
        let curves = if flows <= FLOW_CURVES { flows } else { 0 };
        Samples { flows: vec![Vec::new(); curves], last: vec![None; flows], rtts: vec![RttMean::default(); flows] }
    }

    /// Takes one sample of every connection that has not ended; `warm`: after the warm-up.
    pub fn take(&mut self, connections: &[Arc<Connection>], warm: bool) {
        for (flow, connection) in connections.iter().enumerate() {
            let info = connection.info();
            let known = info.filter(|info| info.smoothed_rtt_us > 0 && connection.completed_ns().is_none());
            if let Some(info) = known {
                self.rtts[flow].add(info.smoothed_rtt_us, warm);
            }
            if let Some(samples) = self.flows.get_mut(flow) {
                let of = |info: TcpInfo| {
                    let TcpInfo { smoothed_rtt_us, window, threshold, retransmitted, .. } = info;
                    Sample { smoothed_rtt_us, window, threshold, retransmitted }
                };
                samples.push(known.map(of));
            }
        }
    }

    /// Samples every connection a last time.
    pub fn remember(&mut self, connections: &[Arc<Connection>]) {
        for (last, connection) in self.last.iter_mut().zip(connections) {
            *last = connection.info().or(*last);
        }
    }

    /// Reports all samples to the recorder.
    pub fn report(&self, recorder: &mut Recorder) {
        for (flow, samples) in self.flows.iter().enumerate() {
            for sample in samples {
                let rtt = sample.map(|sample| Span::from_micros(u64::from(sample.smoothed_rtt_us)));
                let window = sample.map(|sample| u64::from(sample.window));
                let threshold = sample.map(|sample| sample.threshold).filter(|size| *size < NO_THRESHOLD);
                let retransmissions = sample.map(|sample| u64::from(sample.retransmitted));
                let threshold = threshold.map(u64::from);
                recorder.samples.of_flow(flow, FlowSample { rate: None, rtt, window, threshold, retransmissions });
            }
        }
    }

    /// The smoothed round-trip times of a flow, sample by sample.
    pub fn round_trips(&self, flow: usize) -> RoundTrips {
        let RttMean { sum_us, count, .. } = self.rtts.get(flow).copied().unwrap_or_default();
        RoundTrips { sum: Span::from_micros(sum_us).into(), count }
    }

    /// The least round-trip time that the connection has seen.
    pub fn least_rtt(&self, flow: usize) -> Option<Span> {
        let least = (*self.last.get(flow)?)?.least_rtt_us;
        (least < u32::MAX).then(|| Span::from_micros(u64::from(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_samples_count_only_alone() {
        let rtts = |samples: &[(u32, bool)]| {
            let mut rtts = RttMean::default();
            samples.iter().for_each(|(rtt_us, warm)| rtts.add(*rtt_us, *warm));
            (rtts.sum_us, rtts.count)
        };
        assert_eq!(rtts(&[(900, false), (800, false)]), (1700, 2));
        assert_eq!(rtts(&[(900, false), (20, true), (30, true)]), (50, 2));
    }
}
