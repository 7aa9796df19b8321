//! From what was recorded to what is reported.

use crate::network::{Network, Stream};
use crate::recorder::{Bins, Detail, FlowSamples, Recorder, Tally};
use crate::response::{available_steps, convergence, drain, step_response};
use crate::web::Completions;
use congestion::Controller;
use queueing::Readings;
use results::{FlowResult, Histogram, Run, Series, StreamGap, StreamRecord, Summary, TrafficResult};
use scenario::Experiment;
use traffic::Burstiness;
use transport::MarkCounts;
use units::{Rate, Span, Time};

pub(crate) fn summarise(experiment: &Experiment, network: Network, cpu_s: f64) -> Run {
    let colour = congestion::find(&experiment.controller).map_or("#000000", |entry| entry.colour);
    let mut run = Run {
        controller: experiment.controller.clone(),
        colour: colour.to_string(),
        seed: experiment.seed,
        replication: experiment.replication,
        params: experiment.params.clone(),
        summary: Summary::default(),
        flows: flows(experiment, &network),
        traffic: traffic(experiment, &network),
        windows: network.recorder.windows.as_ref().map_or(Vec::new(), |windows| windows.results()),
        series: Vec::new(),
        queue_delay: Histogram::default(),
        streams: Vec::new(),
    };
    run.summary = totals(experiment, &network, cpu_s);
    if let Some(windows) = &network.recorder.windows {
        windows.summarise(&run.windows, !network.flows.is_empty(), &mut run.summary);
    }
    fairness(&network.recorder, &network, &mut run.summary);
    if let Some(detail) = &network.recorder.detail {
        curves(experiment, &network, detail, &mut run);
        responses(experiment, &network, detail, &mut run.summary);
    }
    run
}

fn seconds_after(from: Time, end: Time) -> f64 {
    end.saturating_since(from).as_secs_f64()
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn totals(experiment: &Experiment, network: &Network, cpu_s: f64) -> Summary {
    let recorder = &network.recorder;
    let time = seconds_after(recorder.warm, recorder.end);
    let capacity = experiment.links[experiment.bottleneck].rate.bps() as f64;
    let bytes: u64 = recorder.flows.iter().map(|tally| tally.bytes).sum();
    let throughput = share(bytes as f64 * 8.0, time);
    let left = capacity - share(recorder.offered_bytes as f64 * 8.0, time);
    let sent: u64 = network.flows.iter().map(|flow| flow.sender.counters().sent).sum();
    let count = |of: fn(&Tally) -> u64| recorder.flows.iter().map(of).sum::<u64>() as f64;
    let base = experiment.flows.first().map(|flow| flow.rtt);
    let converged = base.and_then(|rtt| {
        convergence(&recorder.startup.0, &recorder.startup.1, experiment.links[experiment.bottleneck].rate, rtt)
    });
    let utilisation = share(recorder.all_bytes as f64 * 8.0, time * capacity);
    let waiting_s = share(recorder.wait_sum_ps as f64 * 1e-12, recorder.waited as f64);
    Summary {
        throughput_bps: throughput,
        utilisation,
        available_share: share(throughput, left),
        loss_ratio: share(count(|t| t.dropped + t.lost), sent as f64),
        drop_ratio: share(count(|t| t.dropped), sent as f64),
        steady_loss_ratio: share(count(|t| t.lost_warm), count(|t| t.lost_warm) + recorder.delivered_warm as f64),
        queue_delay_p50_s: f64::NAN,
        queue_delay_p95_s: f64::NAN,
        queue_delay_p99_s: f64::NAN,
        queue_mean_packets: share((recorder.wait_sum_ps + recorder.service_sum_ps) as f64 * 1e-12, time),
        mark_ratio: marked(network, sent, |counts| counts.congestion),
        burst_mark_ratio: marked(network, sent, |counts| counts.burstiness),
        burstiness_eta: network.links[network.bottleneck].server.readings().burstiness_mean.map(|(mean, _)| mean),
        queue_delay_mean_s: waiting_s,
        queue_over_bound: queue_over_bound(experiment, utilisation, waiting_s),
        rtt_mean_s: mean(network.flows.iter().filter_map(|flow| rtt_mean(flow.sender.counters()))),
        convergence_s: converged,
        convergence_rtts: converged.zip(base).map(|(s, rtt)| s / rtt.as_secs_f64()),
        packets_delivered: recorder.delivered,
        packet_hops: Some(recorder.hops),
        events: Some(network.events),
        cpu_s,
        ..Summary::default()
    }
}

/// Packets that arrived marked, divided by those sent.
fn marked(network: &Network, sent: u64, of: fn(MarkCounts) -> u64) -> f64 {
    share(network.flows.iter().map(|flow| of(flow.receiver.marked())).sum::<u64>() as f64, sent as f64)
}

/// The mean queue found, in packets, over the least possible; `None` where that is not known.
fn queue_over_bound(experiment: &Experiment, utilisation: f64, waiting_s: f64) -> Option<f64> {
    let [link] = experiment.links.as_slice() else { return None };
    let packet = experiment.flows.first()?.packet;
    let alike = experiment.flows.iter().all(|flow| flow.packet == packet);
    if experiment.flows.len() < 2 || !alike || !experiment.traffic.is_empty() {
        return None;
    }
    let flows = u32::try_from(experiment.flows.len()).ok()?;
    let least = theory::multiplexing::laws::least_mean_packets(flows, utilisation.min(1.0)).ok()?;
    let found = waiting_s / link.rate.time_for(packet).as_secs_f64();
    Some(found / least).filter(|ratio| ratio.is_finite())
}

fn rtt_mean(counters: &transport::Counters) -> Option<f64> {
    (counters.rtt_samples > 0).then(|| counters.rtt_sum.as_secs_f64() / counters.rtt_samples as f64)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    share(sum, f64::from(count))
}

/// Jain's index: (sum x)^2 / (n sum x^2).
fn jain(shares: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = shares.clone().count() as f64;
    let sum: f64 = shares.clone().sum();
    let squares: f64 = shares.map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

fn fairness(recorder: &Recorder, network: &Network, summary: &mut Summary) {
    summary.fairness_jain = jain(recorder.flows.iter().map(|tally| tally.shared_bytes as f64)).unwrap_or(1.0);
    summary.fairness_jain_after_entry = recorder
        .entries
        .iter()
        .filter_map(|window| {
            let active = network.flows.iter().zip(&window.bytes).filter(|(flow, _)| flow.start < window.from);
            jain(active.map(|(_, bytes)| *bytes as f64))
        })
        .reduce(f64::min);
}

fn flows(experiment: &Experiment, network: &Network) -> Vec<FlowResult> {
    let recorder = &network.recorder;
    let one = |(index, flow): (usize, &crate::flow::Flow)| {
        let counters = flow.sender.counters();
        let tally = &recorder.flows[index];
        let probe = flow.sender.controller().probing().map(|probing| probing.probe());
        let until = flow.completed.unwrap_or(recorder.end);
        FlowResult {
            flow: index as u32,
            controller: experiment.flows[index].controller.kind.clone(),
            start_s: flow.start.as_secs_f64(),
            completion_s: flow.completed.map(Time::as_secs_f64),
            throughput_bps: share(tally.bytes as f64 * 8.0, seconds_after(flow.start.max(recorder.warm), until)),
            base_rtt_s: experiment.flows[index].rtt.as_secs_f64(),
            rtt_mean_s: rtt_mean(counters).unwrap_or(0.0),
            sent_packets: counters.sent,
            retransmitted_packets: counters.retransmitted,
            dropped_packets: tally.dropped,
            lost_packets: tally.lost,
            timeouts: Some(counters.timeouts),
            recoveries: Some(counters.recoveries),
            undone: Some(counters.undone),
            streams: probe.map(|p| p.streams),
            unusable_streams: probe.map(|p| p.unusable),
        }
    };
    network.flows.iter().enumerate().map(one).collect()
}

fn traffic(experiment: &Experiment, network: &Network) -> Vec<TrafficResult> {
    let one = |(index, stream): (usize, &Stream)| {
        let burst = stream.meter.burstiness(network.recorder.end);
        let bps = |of: fn(&Burstiness) -> Rate| burst.as_ref().map_or(0.0, |burst| of(burst).bps() as f64);
        let tally = &network.recorder.traffic[index];
        TrafficResult {
            kind: experiment.traffic[index].kind.name().to_string(),
            mean_rate_bps: bps(|burst| burst.mean),
            rate_p05_bps: bps(|burst| burst.low),
            rate_p95_bps: bps(|burst| burst.high),
            burstiness_bps: bps(Burstiness::spread),
            packets: stream.number,
            dropped_packets: tally.dropped,
            ..network.users.as_ref().and_then(|users| users.completions(index)).map(fetched).unwrap_or_default()
        }
    };
    network.traffic.iter().enumerate().map(one).collect()
}

/// What became of files and pages.
fn fetched(completions: &Completions) -> TrafficResult {
    let (files, pages) = (&completions.files_ns, &completions.pages_ns);
    let at = |durations: &hdrhistogram::Histogram<u64>, percent: f64| {
        (!durations.is_empty()).then(|| durations.value_at_percentile(percent) as f64 * 1e-9)
    };
    TrafficResult {
        files_asked: Some(completions.asked),
        files_fetched: Some(files.len()),
        file_mean_s: (!files.is_empty()).then(|| files.mean() * 1e-9),
        file_p05_s: at(files, 5.0),
        file_p10_s: at(files, 10.0),
        file_p50_s: at(files, 50.0),
        file_p90_s: at(files, 90.0),
        file_p95_s: at(files, 95.0),
        file_p99_s: at(files, 99.0),
        file_duration: binned(files, 10_000, DECADE_IN_40),
        pages_fetched: Some(pages.len()),
        page_p50_s: at(pages, 50.0),
        page_p95_s: at(pages, 95.0),
        page_p99_s: at(pages, 99.0),
        ..TrafficResult::default()
    }
}

fn curves(experiment: &Experiment, network: &Network, detail: &Detail, run: &mut Run) {
    let capacity = experiment.links[experiment.bottleneck].rate.bps() as f64;
    let per_second = 8.0 / detail.step.as_secs_f64();
    let flow = |flow: usize| Some(flow as u32);
    let throughput = |bytes: u64| Some((bytes as f64 * per_second) as f32);
    for (i, bins) in detail.flow_bytes.iter().enumerate() {
        run.series.push(series("throughput", flow(i), "bps", bins, throughput));
        run.series.push(series("losses", flow(i), "packets", &detail.losses[i], |n| Some(n as f32)));
        sampled(&detail.samples[i], i as u32, detail.step, &mut run.series);
    }
    if detail.flow_bytes.is_empty() {
        run.series.push(series("throughput", None, "bps", &detail.total_bytes, throughput));
    }
    if !network.traffic.is_empty() {
        run.series.push(series("traffic", None, "bps", &detail.traffic_bytes, throughput));
    }
    run.series.push(offered(detail));
    let available = |bytes: u64| Some((capacity - bytes as f64 * per_second).max(0.0) as f32);
    run.series.push(series("available", None, "bps", &detail.traffic_bytes, available));
    let mut wait = series("queue_delay", None, "s", &detail.wait_sum_ns, |_| None);
    for (value, (sum, served)) in
        wait.values.iter_mut().zip(detail.wait_sum_ns.amounts.iter().zip(&detail.served.amounts))
    {
        *value = (*served > 0).then(|| (*sum as f64 * 1e-9 / *served as f64) as f32);
    }
    run.series.push(wait);
    run.series.push(series("queue_delay_max", None, "s", &detail.wait_max_ns, |ns| Some((ns as f64 * 1e-9) as f32)));
    readings(detail, &mut run.series);
    distribution(detail, run);
    run.streams = detail.traces.iter().map(stream_record).collect();
}

/// What arrived at the bottleneck. A packet of a flow that is served counts when it leaves.
fn offered(detail: &Detail) -> Series {
    let per_second = 8.0 / detail.step.as_secs_f64();
    let mut offered = series("offered", None, "bps", &detail.total_bytes, |_| None);
    let served = detail.total_bytes.amounts.iter().zip(&detail.traffic_bytes.amounts);
    let all = served.zip(&detail.dropped_bytes.amounts).map(|((flows, traffic), dropped)| flows + traffic + dropped);
    offered.values = all.map(|bytes| Some((bytes as f64 * per_second) as f32)).collect();
    offered
}

fn series(metric: &str, flow: Option<u32>, unit: &str, bins: &Bins, value: impl Fn(u64) -> Option<f32>) -> Series {
    Series {
        metric: metric.to_string(),
        flow,
        unit: unit.to_string(),
        start_s: bins.step.as_secs_f64() / 2.0,
        step_s: bins.step.as_secs_f64(),
        values: bins.amounts.iter().map(|amount| value(*amount)).collect(),
    }
}

fn sampled(samples: &FlowSamples, flow: u32, step: Span, out: &mut Vec<Series>) {
    let mut push = |metric: &str, unit: &str, values: Vec<Option<f32>>| {
        if values.iter().any(Option::is_some) {
            let (start_s, step_s) = (step.as_secs_f64() / 2.0, step.as_secs_f64());
            out.push(Series { metric: metric.into(), flow: Some(flow), unit: unit.into(), start_s, step_s, values });
        }
    };
    let known = |value: f32| (!value.is_nan()).then_some(value);
    push("rate", "bps", samples.rate_bps.clone());
    push("rtt", "s", samples.srtt_ns.iter().map(|ns| known(*ns * 1e-9)).collect());
    push("window", "packets", samples.window.iter().map(|window| known(*window)).collect());
}

/// What the bottleneck's discipline measures, where it measures something.
fn readings(detail: &Detail, out: &mut Vec<Series>) {
    type Measured = fn(&Readings) -> Option<f64>;
    let curves: [(&str, &str, Measured); 3] = [
        ("queue_average", "packets", |readings| readings.average_packets),
        ("queue_rho", "1", |readings| readings.utilisation),
        ("queue_eta", "1", |readings| readings.burstiness),
    ];
    for (metric, unit, measured) in curves {
        let values: Vec<Option<f32>> = detail.readings.iter().map(|r| measured(r).map(|x| x as f32)).collect();
        if values.iter().any(Option::is_some) {
            let (start_s, step_s) = (detail.step.as_secs_f64() / 2.0, detail.step.as_secs_f64());
            out.push(Series { metric: metric.into(), flow: None, unit: unit.into(), start_s, step_s, values });
        }
    }
}

/// Twenty and forty bins for each factor of ten.
const DECADE_IN_20: f64 = 1.122_018_454_301_963_3;
const DECADE_IN_40: f64 = 1.059_253_725_177_288_8;

/// Counts over bins that grow by a factor, the first from zero to `first_ns`.
fn binned(durations_ns: &hdrhistogram::Histogram<u64>, first_ns: u64, factor: f64) -> Histogram {
    let mut bins = Histogram::default();
    for bar in durations_ns.iter_log(first_ns, factor) {
        bins.upper_s.push(bar.value_iterated_to() as f64 * 1e-9);
        bins.count.push(bar.count_since_last_iteration());
    }
    bins
}

fn distribution(detail: &Detail, run: &mut Run) {
    let waits = &detail.wait_ns;
    run.queue_delay = binned(waits, 100, DECADE_IN_20);
    let quantile = |q: f64| if waits.is_empty() { 0.0 } else { waits.value_at_quantile(q) as f64 * 1e-9 };
    run.summary.queue_delay_p50_s = quantile(0.50);
    run.summary.queue_delay_p95_s = quantile(0.95);
    run.summary.queue_delay_p99_s = quantile(0.99);
}

fn stream_record((flow, trace, available): &(usize, congestion::StreamTrace, Rate)) -> StreamRecord {
    let gap = |gap: &congestion::GapRecord| StreamGap {
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

fn responses(experiment: &Experiment, network: &Network, detail: &Detail, summary: &mut Summary) {
    let Some(rtt) = experiment.flows.first().map(|flow| flow.rtt) else { return };
    let warm = network.recorder.warm;
    let Some(steps) = available_steps(experiment) else { return };
    if !experiment.traffic.is_empty() {
        summary.drain_rtts = drain(detail, warm, rtt);
    }
    let rate = total_rate(detail, network);
    let response = step_response(&rate, detail.step, &steps, warm, rtt);
    summary.rise_rtts = response.rise;
    summary.fall_rtts = response.fall;
    summary.settle_rtts = response.settle;
    summary.rise_hold_share = response.hold;
}

/// The flows' total rate: the controllers' own where all have one, else their throughput.
fn total_rate(detail: &Detail, network: &Network) -> Vec<f64> {
    let own = !network.flows.is_empty()
        && detail.samples.len() == network.flows.len()
        && network.flows.iter().all(|flow| flow.sender.controller().rate().is_some());
    if own {
        let length = detail.samples[0].rate_bps.len();
        let at = |i: usize| detail.samples.iter().map(|s| f64::from(s.rate_bps[i].unwrap_or(0.0))).sum();
        (0..length).map(at).collect()
    } else {
        let per_second = 8.0 / detail.step.as_secs_f64();
        detail.total_bytes.amounts.iter().map(|bytes| *bytes as f64 * per_second).collect()
    }
}
