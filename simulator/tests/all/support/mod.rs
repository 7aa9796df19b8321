//! Experiments for tests, and their runs.

use experiment::results::Run;
use experiment::scenario::{
    Buffer, ControllerSpec, Experiment, FlowSpec, GapModel, Impairments, LinkSpec, ProbeSpec, QueueSpec, RateFormat,
    RateSource, ReceiverSpec, Record, Recorded, Scenario, Service, Size, Start, TrafficKind, TrafficSpec, Variation,
};
use packetscale_models::settings::Setting;
use packetscale_models::units::{Bytes, Capacity, CapacityPoint, Packets, Rate, Ratio, Span, Time};
use simulator::{Mode, Served};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The runs of a scenario.
pub fn plan(scenario: &str) -> Vec<Experiment> {
    Scenario::parse(scenario, Path::new("test.toml"), &[]).unwrap_or_else(|error| panic!("{error}")).plan()
}

/// The first of them.
pub fn planned(scenario: &str) -> Experiment {
    plan(scenario).remove(0)
}

pub fn run(experiment: &Experiment) -> Run {
    simulator::run(experiment).unwrap_or_else(|error| panic!("{error}"))
}

pub fn log(experiment: &Experiment, mode: Mode) -> Vec<Served> {
    simulator::log(experiment, mode).unwrap_or_else(|error| panic!("{error}"))
}

/// The log, which is the same with and without an event per hop, and has this many services at least.
#[track_caller]
pub fn same_in_both_modes(experiment: &Experiment, at_least: usize) -> Vec<Served> {
    let (fused, stepped) = (log(experiment, Mode::Fused), log(experiment, Mode::Stepped));
    assert!(fused.len() >= at_least, "only {} services: the test looks at nothing", fused.len());
    if let Some(i) = fused.iter().zip(&stepped).position(|(a, b)| a != b) {
        panic!("service {i}: fused {:?}, stepped {:?}", fused[i], stepped[i]);
    }
    assert_eq!(fused.len(), stepped.len());
    fused
}

pub fn was_dropped(served: &Served) -> bool {
    served.departure == Time::MAX
}

pub fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_millis(n)
}

/// A buffer of this many packets.
pub fn packets(n: u64) -> Buffer {
    Buffer::Packets(Packets::new(n))
}

pub fn queue(kind: &str, settings: &[(&str, Setting)]) -> QueueSpec {
    let settings = settings.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    QueueSpec { kind: kind.to_string(), settings }
}

/// A link with an unlimited buffer.
pub fn link(name: &str, rate: Rate, delay: Span) -> LinkSpec {
    LinkSpec {
        name: name.to_string(),
        rate,
        delay,
        buffer: Buffer::Unlimited,
        queue: QueueSpec::named("fifo"),
        loss: Ratio::ZERO,
        impairments: Impairments::default(),
        service: Service::default(),
    }
}

/// A dumbbell without flows and traffic.
pub fn dumbbell(rate: Rate, delay: Span, buffer: Buffer, duration: Span) -> Experiment {
    Experiment {
        controller: "newreno".to_string(),
        params: BTreeMap::new(),
        replication: 0,
        seed: 1,
        duration,
        warmup: Span::ZERO,
        links: vec![LinkSpec { buffer, ..link("bottleneck", rate, delay) }],
        bottleneck: 0,
        receiver: ReceiverSpec::PLAIN,
        gaps: GapModel::Perfect,
        flows: Vec::new(),
        arrivals: Vec::new(),
        traffic: Vec::new(),
        probe: None,
        record: Record { detail: true, ..Record::PLAIN },
    }
}

/// `streams` of this many packets of 9000 B, one after the other with 2 ms between, over 10 Gbit/s; rates, in one level, from 1 to
/// 10 Gbit/s.
pub fn probing(streams: u32, packets: u32) -> ProbeSpec {
    ProbeSpec {
        streams,
        packets,
        levels: 1,
        range: Ratio::ZERO,
        slowest: Rate::from_gbps(1),
        fastest: Rate::from_gbps(10),
        packet: Bytes::new(9000),
        access: None,
        train: 1,
        pause: Span::from_millis(2),
        acknowledge: 1,
        recorded: Recorded::Sent,
        search: None,
    }
}

/// An unlimited flow.
pub fn flow(controller: &str, packet: u64, rtt: Span) -> FlowSpec {
    FlowSpec {
        controller: ControllerSpec {
            kind: controller.to_string(),
            label: controller.to_string(),
            ..ControllerSpec::default()
        },
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

/// Traffic for the whole run over the first link.
pub fn traffic(kind: TrafficKind, packet: u64, copies: u32) -> TrafficSpec {
    TrafficSpec {
        kind,
        packet: Bytes::new(packet),
        start: Time::ZERO,
        stop: Time::MAX,
        route: vec![0],
        copies,
        shaper: None,
    }
}

/// Delivery opportunities at these milliseconds, again and again.
pub fn opportunities(at_ms: &[u64]) -> Variation {
    let point = |at: &u64| CapacityPoint { at: Span::from_millis(*at), burst: Bytes::new(1500), rate: Rate::ZERO };
    let period = at_ms.last().map(|last| Span::from_millis(*last));
    let capacity = Capacity::new(at_ms.iter().map(point).collect(), period).unwrap();
    let source = RateSource::Trace { file: PathBuf::new(), format: RateFormat::Mahimahi, repeat: true };
    Variation { source, capacity: Arc::new(capacity) }
}
