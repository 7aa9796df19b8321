//! Experiments for tests, built by hand.
#![allow(dead_code)]

use experiment::scenario::{
    Buffer, ControllerSpec, Experiment, FlowSpec, GapModel, Impairments, LinkSpec, ProbeSpec, QueueSpec, ReceiverSpec,
    Record, Recorded, Service, Size, Start, TrafficKind, TrafficSpec,
};
use packetscale_models::units::{Bytes, Rate, Ratio, Span, Time};
use std::collections::BTreeMap;

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

/// `streams` of so many packets of 9000 B, one after the other with 2 ms between, over 10 Gbit/s; rates, in one level, from 1 to
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
