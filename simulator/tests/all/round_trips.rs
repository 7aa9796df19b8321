//! The mean round-trip time of a flow leaves the warm-up out.

use super::*;

/// One packet of 1000 bytes at a time, over 10 Mbit/s and 40 ms. Other traffic keeps a queue of 50 packets full for 5 s.
fn experiment(warmup_s: u64, size: Size) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(10), Span::from_millis(20), packets(50), Span::from_secs(10));
    experiment.warmup = Span::from_secs(warmup_s);
    experiment.receiver = ReceiverSpec { window: Packets::new(1), ..ReceiverSpec::PLAIN };
    experiment.flows = vec![FlowSpec { size, ..flow("newreno", 1000, Span::from_millis(40)) }.into()];
    let filling = traffic(TrafficKind::Cbr { rate: Rate::from_mbps(20) }, 1000, 1);
    experiment.traffic = vec![TrafficSpec { stop: ms(5000), ..filling }];
    experiment
}

#[test]
fn rtts_leave_out_the_warm_up_unless_the_flow_ended_in_it() {
    let done = Size::Bytes(Bytes::new(1000));
    for (warmup_s, size, expected_ms) in [
        (0, Size::Unlimited, 45.0..f64::INFINITY),
        // 0.8 ms on the bottleneck; 0.008 at most on a link to it.
        (6, Size::Unlimited, 40.8..40.81),
        (8, done, 40.8..90.0),
    ] {
        let mean_ms = run(&experiment(warmup_s, size)).flows[0].rtt_mean_s.expect("measured") * 1e3;
        assert!(expected_ms.contains(&mean_ms), "{mean_ms} ms of {size:?} after {warmup_s} s");
    }
}
