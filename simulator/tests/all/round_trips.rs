//! The mean round-trip time of a flow leaves the warm-up out.

use crate::support;

use experiment::scenario::{Buffer, Experiment, FlowSpec, ReceiverSpec, Size, TrafficKind, TrafficSpec};
use packetscale_models::units::{Bytes, Packets, Rate, Span, Time};
use simulator::run;
use support::{dumbbell, flow, traffic};

/// One packet of 1000 bytes at a time, over 10 Mbit/s and 40 ms. Other traffic keeps a queue of 50 packets full for 5 s.
fn experiment(warmup_s: u64, size: Size) -> Experiment {
    let buffer = Buffer::Packets(Packets::new(50));
    let mut experiment = dumbbell(Rate::from_mbps(10), Span::from_millis(20), buffer, Span::from_secs(10));
    experiment.warmup = Span::from_secs(warmup_s);
    experiment.receiver = ReceiverSpec { window: Packets::new(1), ..ReceiverSpec::PLAIN };
    experiment.flows = vec![FlowSpec { size, ..flow("newreno", 1000, Span::from_millis(40)) }.into()];
    let filling = traffic(TrafficKind::Cbr { rate: Rate::from_mbps(20) }, 1000, 1);
    experiment.traffic = vec![TrafficSpec { stop: Time::ZERO + Span::from_secs(5), ..filling }];
    experiment
}

fn mean_ms(experiment: &Experiment) -> f64 {
    run(experiment).expect("a run").flows[0].rtt_mean_s.expect("measured") * 1e3
}

#[test]
fn what_the_path_was_within_the_warm_up_is_left_out() {
    assert!(mean_ms(&experiment(0, Size::Unlimited)) > 45.0);
    // 0.8 ms on the bottleneck; 0.008 at most on a link to it.
    let after = mean_ms(&experiment(6, Size::Unlimited));
    assert!((40.8..40.81).contains(&after), "{after}");
}

#[test]
fn a_flow_that_was_done_within_the_warm_up_has_its_own() {
    let size = Size::Bytes(Bytes::new(1000));
    assert!((40.8..90.0).contains(&mean_ms(&experiment(8, size))));
}
