//! The dumbbell on which packet simulators are compared: 1 Gbit/s, 20 ms round trip, 100-packet buffer, 1000 B packets.
//! Long-lived flows on 10 Gbit/s access links start within the first second. Every packet is acknowledged. A delivered
//! packet crosses six hops, its acknowledgment included.

use experiment::scenario::{
    Buffer, ControllerSpec, Experiment, FlowSpec, GapModel, Impairments, LinkSpec, QueueSpec, ReceiverSpec, Record,
    Service, Size, Start,
};
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use std::collections::BTreeMap;

/// The dumbbell with this number of flows, and without a recorder.
pub fn dumbbell(controller: &str, flows: usize, seconds: u64) -> Experiment {
    let rtt = Span::from_millis(20);
    let flow = FlowSpec {
        controller: ControllerSpec { kind: controller.to_string(), ..ControllerSpec::default() },
        packet: Bytes::new(1000),
        start: Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(1)),
        stop: None,
        size: Size::Unlimited,
        application: None,
        rtt,
        route: vec![0],
        back: Vec::new(),
        access: Some(Rate::from_gbps(10)),
        initial_window: 10,
        pacing_percent: 0,
        handshake_waits: false,
        min_rto: Span::from_millis(200),
        slow_start_after_idle: true,
        ecn: false,
    };
    Experiment {
        controller: controller.to_string(),
        params: BTreeMap::new(),
        replication: 0,
        seed: 1,
        duration: Span::from_secs(seconds),
        warmup: Span::ZERO,
        links: vec![LinkSpec {
            name: "bottleneck".to_string(),
            rate: Rate::from_gbps(1),
            delay: Span::from_millis(8),
            buffer: Buffer::Packets(Packets::new(100)),
            queue: QueueSpec::named("fifo"),
            loss: Ratio::ZERO,
            impairments: Impairments::default(),
            service: Service::default(),
        }],
        bottleneck: 0,
        receiver: ReceiverSpec { window: Packets::new(1 << 30), ..ReceiverSpec::PLAIN },
        gaps: GapModel::Perfect,
        flows: vec![flow.into(); flows],
        arrivals: Vec::new(),
        traffic: Vec::new(),
        probe: None,
        record: Record::PLAIN,
    }
}
