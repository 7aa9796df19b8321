//! Curves and distributions, from recorded detail.

use crate::measure::bins::Bins;
use crate::measure::capacity::LinkCapacity;
use crate::measure::detail::Detail;
use crate::measure::seen::FlowSample;
use experiment::results::figures::CURVES;
use experiment::results::{Histogram, Run, Series, StreamGap, StreamRecord};
use packetscale_models::queueing::Readings;
use packetscale_models::units::{Rate, Span};

/// Twenty bins for each factor of ten.
const DECADE_IN_20: f64 = 1.122_018_454_301_963_3;

/// Writes the curves, the distribution of the queueing delay with its quantiles, and the traced streams.
pub(crate) fn draw(detail: &Detail, capacity: &LinkCapacity, has_traffic: bool, run: &mut Run) {
    let throughput = |bytes: u64| Some((bytes as f64 * detail.per_second()) as f32);
    let out = &mut run.series;
    for (i, bins) in detail.flow_bytes.iter().enumerate() {
        out.push(detail.curve("throughput", Some(i), bins, throughput));
        out.push(detail.curve("losses", Some(i), &detail.losses[i], |packets| Some(packets as f32)));
        detail.sampled(i, out);
    }
    if detail.flow_bytes.is_empty() {
        out.push(detail.curve("throughput", None, &detail.total_bytes, throughput));
    }
    if has_traffic {
        out.push(detail.curve("traffic", None, &detail.traffic_bytes, throughput));
    }
    out.push(detail.offered());
    out.push(detail.available(capacity));
    out.push(mean_wait(&detail.wait_sum_ns, &detail.served));
    let longest = |ns: u64| Some((ns as f64 * 1e-9) as f32);
    out.push(detail.curve("queue_delay_max", None, &detail.wait_max_ns, longest));
    detail.measured(out);
    distribution(detail, run);
    run.streams = detail.traces.iter().map(stream_record).collect();
}

/// A curve of the table of figures.
fn series(step: Span, metric: &str, flow: Option<usize>, values: Vec<Option<f32>>) -> Series {
    let curve = CURVES.iter().find(|curve| curve.name == metric).expect("a curve of the table of figures");
    let (start_s, step_s) = (step.as_secs_f64() / 2.0, step.as_secs_f64());
    let (metric, unit) = (metric.to_string(), curve.unit.symbol().to_string());
    Series { metric, flow: flow.map(|flow| flow as u32), unit, start_s, step_s, values }
}

/// The mean waiting time of the packets that left in each interval; nothing where none left.
pub(crate) fn mean_wait(sum_ns: &Bins, packets: &Bins) -> Series {
    let intervals = sum_ns.amounts.iter().zip(&packets.amounts);
    let mean = |(sum, count): (&u64, &u64)| (*count > 0).then(|| (*sum as f64 * 1e-9 / *count as f64) as f32);
    series(sum_ns.step, "queue_delay", None, intervals.map(mean).collect())
}

impl Detail {
    /// From bytes in an interval to bits per second.
    fn per_second(&self) -> f64 {
        8.0 / self.step.as_secs_f64()
    }

    fn series(&self, metric: &str, flow: Option<usize>, values: Vec<Option<f32>>) -> Series {
        series(self.step, metric, flow, values)
    }

    fn curve(&self, metric: &str, flow: Option<usize>, bins: &Bins, value: impl Fn(u64) -> Option<f32>) -> Series {
        self.series(metric, flow, bins.amounts.iter().map(|amount| value(*amount)).collect())
    }

    /// A curve of samples, if it has a value.
    fn push_known(&self, metric: &str, flow: Option<usize>, values: Vec<Option<f32>>, out: &mut Vec<Series>) {
        if values.iter().any(Option::is_some) {
            out.push(self.series(metric, flow, values));
        }
    }

    fn sampled(&self, flow: usize, out: &mut Vec<Series>) {
        let samples = &self.samples[flow];
        let values = |of: fn(&FlowSample) -> Option<f32>| samples.iter().map(of).collect();
        self.push_known("rate", Some(flow), values(|sample| sample.rate.map(|rate| rate.bps() as f32)), out);
        self.push_known("rtt", Some(flow), values(|sample| sample.rtt.map(|rtt| rtt.nanos() as f32 * 1e-9)), out);
        self.push_known("window", Some(flow), values(|sample| sample.window.map(|window| window as f32)), out);
        self.push_known("threshold", Some(flow), values(|sample| sample.threshold.map(|size| size as f32)), out);
        let again = values(|sample| sample.retransmissions.map(|packets| packets as f32));
        self.push_known("retransmissions", Some(flow), again, out);
    }

    /// The bottleneck's capacity minus the traffic that arrived.
    fn available(&self, capacity: &LinkCapacity) -> Series {
        let traffic = &self.traffic_bytes;
        let carried = capacity.amounts(traffic.origin, traffic.step, traffic.amounts.len());
        let left = carried.iter().zip(&traffic.amounts).map(|(carried, taken)| carried - *taken as f64);
        let values = left.map(|bytes| Some((bytes * self.per_second()).max(0.0) as f32)).collect();
        self.series("available", None, values)
    }

    /// Arrivals at the bottleneck. A packet of a flow that is served counts when it leaves.
    fn offered(&self) -> Series {
        let served = self.total_bytes.amounts.iter().zip(&self.traffic_bytes.amounts);
        let all = served.zip(&self.refused_bytes.amounts).map(|((flows, traffic), refused)| flows + traffic + refused);
        let values = all.map(|bytes| Some((bytes as f64 * self.per_second()) as f32)).collect();
        self.series("offered", None, values)
    }

    /// Measurements of the bottleneck's discipline, if it makes any.
    fn measured(&self, out: &mut Vec<Series>) {
        let values = |of: fn(&Readings) -> Option<f64>| -> Vec<Option<f32>> {
            self.readings.iter().map(|readings| of(readings).map(|x| x as f32)).collect()
        };
        self.push_known("queue_average", None, values(|readings| readings.average_packets), out);
        self.push_known("queue_rho", None, values(|readings| readings.utilisation), out);
        self.push_known("queue_eta", None, values(|readings| readings.burstiness), out);
    }

    /// The flows' total rate: the controllers' `own` where all have one and are sampled, else their throughput.
    pub(crate) fn total_rate(&self, own: bool) -> Vec<f64> {
        if own && !self.samples.is_empty() {
            let rate = |sample: &FlowSample| sample.rate.map_or(0.0, |rate| f64::from(rate.bps() as f32));
            let at = |i: usize| self.samples.iter().map(|samples| rate(&samples[i])).sum();
            (0..self.samples[0].len()).map(at).collect()
        } else {
            self.total_bytes.amounts.iter().map(|bytes| *bytes as f64 * self.per_second()).collect()
        }
    }
}

/// Counts over bins that grow by a factor, the first from zero to `first_ns`.
pub(crate) fn binned(durations_ns: &hdrhistogram::Histogram<u64>, first_ns: u64, factor: f64) -> Histogram {
    let mut bins = Histogram::default();
    for bar in durations_ns.iter_log(first_ns, factor) {
        bins.upper_s.push(bar.value_iterated_to() as f64 * 1e-9);
        bins.count.push(bar.count_since_last_iteration());
    }
    bins
}

/// Quantiles are those of a histogram with three significant digits.
fn distribution(detail: &Detail, run: &mut Run) {
    let waits = &detail.wait_ns;
    run.queue_delay = binned(waits, 100, DECADE_IN_20);
    let quantile = |q: f64| (!waits.is_empty()).then(|| waits.value_at_quantile(q) as f64 * 1e-9);
    run.summary.queue_delay_p50_s = quantile(0.50);
    run.summary.queue_delay_p95_s = quantile(0.95);
    run.summary.queue_delay_p99_s = quantile(0.99);
}

fn stream_record(
    (flow, trace, available): &(usize, packetscale_models::congestion::StreamTrace, Rate),
) -> StreamRecord {
    let gap = |gap: &packetscale_models::congestion::GapRecord| StreamGap {
        intended_s: gap.intended.as_secs_f64(),
        created_s: gap.created.as_secs_f64(),
        received_s: gap.received.map(Span::as_secs_f64),
        denoised_s: gap.denoised.map(Span::as_secs_f64),
        delay_s: gap.delay.map(Span::as_secs_f64),
        rate_bps: gap.rate.bps() as f64,
        size_bytes: gap.size.get() as u32,
    };
    StreamRecord {
        flow: *flow as u32,
        start_s: trace.start.as_secs_f64(),
        rate_bps: trace.rate.bps() as f64,
        estimate_bps: trace.estimate.map(|rate| rate.bps() as f64),
        available_bps: Some(available.bps() as f64),
        gaps: trace.gaps.iter().skip(1).map(gap).collect(),
    }
}
