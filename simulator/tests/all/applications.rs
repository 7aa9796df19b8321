//! Flows whose application does not always have data.

use super::*;

const RTT: Span = Span::from_millis(20);

fn with(application: TrafficKind) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(100), RTT / 2, packets(50), Span::from_secs(20));
    experiment.flows = vec![FlowSpec { application: Some(application), ..flow("newreno", 1000, RTT) }.into()];
    experiment
}

#[test]
fn a_flow_carries_what_its_application_offers() {
    let run = run(&with(TrafficKind::Cbr { rate: Rate::from_mbps(3) }));
    // 3 Mbit/s are 375 packets of 1000 bytes each second, the first at time zero, none at the end.
    assert_eq!(run.flows[0].sent_packets, 20 * 375);
    let throughput_bps = run.summary.throughput_bps.unwrap();
    assert!((throughput_bps / 3e6 - 1.0).abs() < 0.002, "{throughput_bps}");
    assert_eq!(run.flows[0].completion_s, None);
}

/// Bursts of 20 packets within 1.6 ms, every 500 ms: each leaves in one window once the window has grown, if windows last over
/// idle times.
#[test]
fn bursts_leave_when_the_application_offers_them() {
    let (on, off) = (Span::from_micros(1_600), Span::from_micros(498_400));
    let mut experiment = with(TrafficKind::OnOff { on, off, rate: Rate::from_mbps(100) });
    experiment.flows[0].slow_start_after_idle = false;
    let log = log(&experiment, Mode::Fused);
    assert_eq!(log.len(), 40 * 20);
    for (number, served) in log.iter().enumerate().skip(400) {
        let burst = Time::ZERO + (on + off) * (number as u64 / 20);
        assert!(served.departure.since(burst) < Span::from_millis(2), "{number}: {served:?}");
    }
}

#[test]
fn applications_are_the_same_fused_and_stepped() {
    let (on, off) = (Span::from_millis(30), Span::from_millis(100));
    let mut experiment = with(TrafficKind::ExponentialOnOff { on, off, rate: Rate::from_mbps(200) });
    let more = experiment.flows[0].clone();
    experiment.flows.extend([more.clone(), more, flow("cubic", 1500, RTT).into()]);
    assert!(same_in_both_modes(&experiment, 10_001).iter().any(was_dropped));
}
