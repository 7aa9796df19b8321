//! Curves over time, as the simulator's: a packet counts in the interval in which its last bit leaves.

use crate::books::{Fate, Owner};
use crate::summary::{FLOW_CURVES, Observed};
use results::Series;
use scenario::Experiment;

pub(crate) fn curves(experiment: &Experiment, observed: &Observed) -> Vec<Series> {
    let step_s = experiment.record.step.as_secs_f64();
    let bins = Bins::of(experiment, observed);
    let series = |metric: &str, flow: Option<usize>, unit: &str, values: Vec<Option<f32>>| Series {
        metric: metric.to_string(),
        flow: flow.map(|flow| flow as u32),
        unit: unit.to_string(),
        start_s: step_s / 2.0,
        step_s,
        values,
    };
    let rates = |bytes: &[u64]| bytes.iter().map(|bytes| Some((*bytes as f64 * 8.0 / step_s) as f32)).collect();
    let counts = |packets: &[u64]| packets.iter().map(|packets| Some(*packets as f32)).collect();
    let mut all = Vec::new();
    for (flow, (bytes, drops)) in bins.flow_bytes.iter().zip(&bins.flow_losses).enumerate() {
        all.push(series("throughput", Some(flow), "bps", rates(bytes)));
        all.push(series("losses", Some(flow), "packets", counts(drops)));
        if let Some(samples) = observed.samples.flows.get(flow) {
            all.push(series("rtt", Some(flow), "s", samples.rtt_s.clone()));
            all.push(series("window", Some(flow), "packets", samples.window.clone()));
        }
    }
    if bins.flow_bytes.is_empty() {
        all.push(series("throughput", None, "bps", rates(&bins.total_bytes)));
    }
    if !experiment.traffic.is_empty() {
        all.push(series("traffic", None, "bps", rates(&bins.traffic_bytes)));
    }
    let capacity = experiment.links[experiment.bottleneck].rate.bps() as f64;
    let available = |bytes: &u64| Some((capacity - *bytes as f64 * 8.0 / step_s).max(0.0) as f32);
    all.push(series("available", None, "bps", bins.traffic_bytes.iter().map(available).collect()));
    let means = bins.wait_sum_ns.iter().zip(&bins.served);
    let mean = |(sum, served): (&u64, &u64)| (*served > 0).then(|| (*sum as f64 * 1e-9 / *served as f64) as f32);
    all.push(series("queue_delay", None, "s", means.map(mean).collect()));
    let most = |ns: &u64| Some((*ns as f64 * 1e-9) as f32);
    all.push(series("queue_delay_max", None, "s", bins.wait_max_ns.iter().map(most).collect()));
    all
}

/// Amounts per interval.
struct Bins {
    flow_bytes: Vec<Vec<u64>>,
    flow_losses: Vec<Vec<u64>>,
    total_bytes: Vec<u64>,
    traffic_bytes: Vec<u64>,
    wait_sum_ns: Vec<u64>,
    wait_max_ns: Vec<u64>,
    served: Vec<u64>,
}

impl Bins {
    fn of(experiment: &Experiment, observed: &Observed) -> Bins {
        let step_ns = experiment.record.step.nanos().max(1);
        let count = experiment.duration.nanos().div_ceil(step_ns) as usize;
        let curves = if experiment.flows.len() <= FLOW_CURVES { experiment.flows.len() } else { 0 };
        let empty = || vec![0u64; count];
        let mut bins = Bins {
            flow_bytes: vec![empty(); curves],
            flow_losses: vec![empty(); curves],
            total_bytes: empty(),
            traffic_bytes: empty(),
            wait_sum_ns: empty(),
            wait_max_ns: empty(),
            served: empty(),
        };
        let slot = |at_ns: u64| Some((at_ns / step_ns) as usize).filter(|slot| *slot < count);
        for packet in &observed.books.packets {
            let bytes = u64::from(packet.size);
            if let (Owner::Traffic(_), Some(slot)) = (packet.owner, slot(packet.arrival_ns)) {
                bins.traffic_bytes[slot] += bytes;
            }
            if let (Owner::Flow(flow), Fate::Dropped, Some(slot)) = (packet.owner, packet.fate, slot(packet.arrival_ns))
                && let Some(drops) = bins.flow_losses.get_mut(flow)
            {
                drops[slot] += 1;
            }
            let Some((slot, wait)) = packet.departure_ns().and_then(slot).zip(observed.books.wait_ns(packet)) else {
                continue;
            };
            bins.wait_sum_ns[slot] += wait;
            bins.wait_max_ns[slot] = bins.wait_max_ns[slot].max(wait);
            bins.served[slot] += 1;
            if let Owner::Flow(flow) = packet.owner {
                bins.total_bytes[slot] += bytes;
                if let Some(bins) = bins.flow_bytes.get_mut(flow) {
                    bins[slot] += bytes;
                }
            }
        }
        for loss in &observed.losses {
            if let (Owner::Flow(flow), Some(slot)) = (loss.owner, slot(loss.at_ns))
                && let Some(drops) = bins.flow_losses.get_mut(flow)
            {
                drops[slot] += 1;
            }
        }
        bins
    }
}
