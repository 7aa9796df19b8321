//! RCP, routers and senders together.

use super::*;

const RTT: Span = Span::from_millis(40);

/// RCP flows over 100 Mbit/s with an unlimited buffer.
fn shared(flows: usize) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(100), RTT / 2, Buffer::Unlimited, Span::from_secs(20));
    experiment.links[0].queue = QueueSpec::named("rcp");
    experiment.warmup = Span::from_secs(10);
    experiment.receiver.delayed_ack = 1;
    experiment.flows = vec![flow("rcp", 1000, RTT).into(); flows];
    experiment
}

#[test]
fn flows_share_a_link_equally_with_a_short_queue() {
    let found = run(&shared(20)).summary;
    assert!(found.utilisation > Some(0.98) && found.fairness_jain > Some(0.999), "{found:?}");
    assert_eq!(found.loss_ratio, Some(0.0));
    // A queue of beta q / d against alpha (C - y): far below a round trip.
    assert!(found.queue_delay_p99_s.is_some_and(|delay_s| delay_s < 0.005), "{found:?}");
}

/// Flow 0 crosses both links, flows 1 and 2 the first, flow 3 the second: a third of the first for three of them, and
/// what flow 0 leaves of the second for the last.
#[test]
fn the_lowest_offer_of_a_path_counts() {
    let mut experiment = shared(4);
    let mut second = experiment.links[0].clone();
    second.name = "second".to_string();
    experiment.links.push(second);
    experiment.flows.iter_mut().for_each(|flow| flow.rtt = RTT * 2);
    experiment.flows[0].route = vec![0, 1];
    experiment.flows[3].route = vec![1];
    let run = run(&experiment);
    // Over the whole run: the bottleneck's own count misses the flow that does not cross it.
    let rates = |index: usize| run.flows[index].sent_packets as f64 * 8e-3 / 20.0;
    for (index, expected) in [(0, 33.3), (1, 33.3), (2, 33.3), (3, 66.7)] {
        assert!((rates(index) - expected).abs() < 0.05 * expected, "flow {index}: {} Mbit/s", rates(index));
    }
}

#[test]
fn the_target_leaves_capacity_free() {
    let mut experiment = shared(10);
    experiment.links[0].queue = queue("rcp", &[("target", Setting::Ratio(Ratio::of(4, 5)))]);
    let utilisation = run(&experiment).summary.utilisation.unwrap();
    assert!((utilisation - 0.8).abs() < 0.02, "{utilisation}");
}

#[test]
fn a_sender_without_rcp_routers_becomes_newreno() {
    let with = |controller: &str| {
        let mut experiment = dumbbell(Rate::from_mbps(100), RTT / 2, packets(200), Span::from_secs(40));
        experiment.warmup = Span::from_secs(10);
        experiment.flows = vec![flow(controller, 1000, RTT).into()];
        run(&experiment).summary
    };
    let (rcp, newreno) = (with("rcp"), with("newreno"));
    let ratio = rcp.throughput_bps.unwrap() / newreno.throughput_bps.unwrap();
    assert!((ratio - 1.0).abs() < 0.02, "{rcp:?} against {newreno:?}");
}
