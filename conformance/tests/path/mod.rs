//! Paths and flows for tests: a dumbbell, built by hand.
#![allow(dead_code)]

use experiment::results::Run;
use experiment::scenario::{
    Buffer, ControllerSpec, Experiment, FlowSpec, GapModel, Impairments, LinkSpec, QueueSpec, ReceiverSpec, Record,
    Service, Size, Start, TrafficKind, TrafficSpec,
};
use packetscale_models::settings::{Setting, Settings};
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A drop-tail link.
pub fn link(rate: Rate, delay: Span, buffer: Buffer) -> LinkSpec {
    let queue = QueueSpec::named("fifo");
    LinkSpec {
        name: "bottleneck".to_string(),
        rate,
        delay,
        buffer,
        queue,
        loss: Ratio::ZERO,
        impairments: Impairments::default(),
        service: Service::default(),
    }
}

/// One link without flows and traffic; every packet is acknowledged at once.
pub fn dumbbell(link: LinkSpec, duration: Span) -> Experiment {
    Experiment {
        controller: "newreno".to_string(),
        params: BTreeMap::new(),
        replication: 0,
        seed: 1,
        duration,
        warmup: Span::ZERO,
        links: vec![link],
        bottleneck: 0,
        receiver: ReceiverSpec::PLAIN,
        gaps: GapModel::Perfect,
        flows: Vec::new(),
        arrivals: Vec::new(),
        traffic: Vec::new(),
        probe: None,
        record: Record::PLAIN,
    }
}

/// An unlimited flow.
pub fn flow(controller: &str, packet: u64, rtt: Span) -> FlowSpec {
    FlowSpec {
        controller: ControllerSpec { kind: controller.to_string(), ..ControllerSpec::default() },
        packet: Bytes::new(packet),
        start: Start::At(Time::ZERO),
        stop: None,
        size: Size::Unlimited,
        application: None,
        rtt,
        route: vec![0],
        back: Vec::new(),
        access: None,
        initial_window: 10,
        pacing_percent: 0,
        handshake_waits: false,
        min_rto: Span::from_millis(200),
        slow_start_after_idle: true,
        ecn: false,
    }
}

/// The same flow with some switches of its controller turned off.
pub fn without(mut flow: FlowSpec, switches: &[&str]) -> FlowSpec {
    let off: Settings = switches.iter().map(|name| (name.to_string(), Setting::Switch(false))).collect();
    flow.controller.settings.extend(off);
    flow
}

/// Traffic over the first link.
pub fn traffic(kind: TrafficKind, packet: u64) -> TrafficSpec {
    TrafficSpec {
        kind,
        packet: Bytes::new(packet),
        start: Time::ZERO,
        stop: Time::MAX,
        route: vec![0],
        copies: 1,
        shaper: None,
    }
}

pub fn run(experiment: &Experiment) -> Run {
    simulator::run(experiment).unwrap_or_else(|error| panic!("{error}"))
}

/// Makes one run per seed, in parallel.
pub fn replicate(experiment: &Experiment, seeds: u64) -> Vec<Run> {
    let seeds: Vec<u64> = (1..=seeds).collect();
    seeds.into_par_iter().map(|seed| run(&Experiment { seed, ..experiment.clone() })).collect()
}

/// Returns the mean and its standard error (0 for a single value).
pub fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}

/// The path of the comparisons with other simulators: 100 Mbit/s, base round trip 60 ms, a quarter of the bandwidth-delay
/// product as buffer, random losses of one in `one_in` packets (0: none), and one flow of packets of 1500 B.
pub fn single(flow: FlowSpec, one_in: u64, warmup_s: u64, seconds: u64) -> Experiment {
    let mut wire = link(Rate::from_mbps(100), flow.rtt / 2, Buffer::Packets(Packets::new(125)));
    wire.loss = if one_in > 0 { Ratio::of(1, one_in) } else { Ratio::ZERO };
    let path = dumbbell(wire, Span::from_secs(seconds));
    Experiment { warmup: Span::from_secs(warmup_s), flows: vec![flow.into()], ..path }
}

/// Whether two means with their standard errors differ by more than 10 % plus twice the error of their difference.
pub fn apart((here, here_error): (f64, f64), (there, there_error): (f64, f64)) -> bool {
    (here - there).abs() > 0.1 * there + 2.0 * here_error.hypot(there_error)
}

/// Prints the rows of a comparison. Each comes with whether its two sides differ by more than is allowed: none may.
#[track_caller]
pub fn assert_none_apart(rows: Vec<(String, bool)>) {
    rows.iter().for_each(|(line, _)| println!("{line}"));
    let far: Vec<&str> = rows.iter().filter(|(_, far)| *far).map(|(line, _)| line.as_str()).collect();
    assert!(far.is_empty(), "\n{}", far.join("\n"));
}
