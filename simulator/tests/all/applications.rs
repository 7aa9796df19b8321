//! Flows whose application does not always have data.

use crate::support;

use experiment::scenario::{Buffer, Experiment, FlowSpec, TrafficKind};
use packetscale_models::units::{Packets, Rate, Span, Time};
use simulator::Mode;
use support::{dumbbell, flow};

const RTT: Span = Span::from_millis(20);

fn with(application: TrafficKind) -> Experiment {
    let buffer = Buffer::Packets(Packets::new(50));
    let mut experiment = dumbbell(Rate::from_mbps(100), RTT / 2, buffer, Span::from_secs(20));
    experiment.flows = vec![FlowSpec { application: Some(application), ..flow("newreno", 1000, RTT) }.into()];
    experiment
}

#[test]
fn a_flow_carries_what_its_application_offers() {
    let rate = Rate::from_mbps(3);
    let run = simulator::run(&with(TrafficKind::Cbr { rate })).unwrap();
    // 3 Mbit/s are 375 packets of 1000 bytes each second, the first at time zero, none at the end.
    let sent = run.flows[0].sent_packets;
    assert_eq!(sent, 20 * 375);
    assert!((run.summary.throughput_bps.unwrap() / 3e6 - 1.0).abs() < 0.002, "{}", run.summary.throughput_bps.unwrap());
    assert_eq!(run.flows[0].completion_s, None);
}

/// Bursts of 20 packets within 1.6 ms, every 500 ms: each leaves in one window once the window has grown.
#[test]
fn bursts_leave_when_the_application_offers_them() {
    let (on, off) = (Span::from_micros(1_600), Span::from_micros(498_400));
    let experiment = with(TrafficKind::OnOff { on, off, rate: Rate::from_mbps(100) });
    let log = simulator::log(&experiment, Mode::Fused).unwrap();
    assert_eq!(log.len(), 40 * 20);
    for (number, served) in log.iter().enumerate().skip(400) {
        let burst = Time::ZERO + (on + off) * (number as u64 / 20);
        assert!(served.departure.since(burst) < Span::from_millis(2), "{number}: {served:?}");
    }
}

#[test]
fn a_run_with_applications_is_the_same_with_and_without_events_per_hop() {
    let (on, off) = (Span::from_millis(30), Span::from_millis(100));
    let mut experiment = with(TrafficKind::ExponentialOnOff { on, off, rate: Rate::from_mbps(200) });
    let more = experiment.flows[0].clone();
    experiment.flows.extend([more.clone(), more, flow("cubic", 1500, RTT).into()]);
    let fused = simulator::log(&experiment, Mode::Fused).unwrap();
    let stepped = simulator::log(&experiment, Mode::Stepped).unwrap();
    assert!(fused.len() > 10_000 && fused.iter().any(|served| served.departure == Time::MAX));
    assert_eq!(fused, stepped);
}
