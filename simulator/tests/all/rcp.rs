//! RCP, routers and senders together.

use crate::support;

use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment, QueueSpec};
use packetscale_models::settings::Settings;
use packetscale_models::units::{Packets, Rate, Span};
use support::{dumbbell, flow};

const RTT: Span = Span::from_millis(40);

/// So many RCP flows over 100 Mbit/s with room for everything.
fn shared(flows: usize) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(100), RTT / 2, Buffer::Unlimited, Span::from_secs(20));
    experiment.links[0].queue = rcp();
    experiment.warmup = Span::from_secs(10);
    experiment.receiver.delayed_ack = 1;
    experiment.flows = vec![flow("rcp", 1000, RTT).into(); flows];
    experiment
}

fn rcp() -> QueueSpec {
    QueueSpec { kind: "rcp".to_string(), settings: Settings::new() }
}

fn run(experiment: &Experiment) -> Run {
    simulator::run(experiment).expect("a run")
}

#[test]
fn flows_share_a_link_equally_and_leave_its_queue_short() {
    let run = run(&shared(20));
    assert!(run.summary.utilisation.unwrap() > 0.98, "{}", run.summary.utilisation.unwrap());
    assert!(run.summary.fairness_jain.unwrap() > 0.999, "{}", run.summary.fairness_jain.unwrap());
    assert_eq!(run.summary.loss_ratio.unwrap(), 0.0);
    // A queue of beta q / d against alpha (C - y): far below a round trip.
    assert!(run.summary.queue_delay_p99_s.unwrap() < 0.005, "{}", run.summary.queue_delay_p99_s.unwrap());
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
    let target = packetscale_models::settings::Setting::Ratio(packetscale_models::units::Ratio::of(4, 5));
    experiment.links[0].queue.settings.insert("target".to_string(), target);
    let utilisation = run(&experiment).summary.utilisation.unwrap();
    assert!((utilisation - 0.8).abs() < 0.02, "{utilisation}");
}

#[test]
fn a_sender_without_rcp_routers_is_newreno_after_one_round_trip() {
    let with = |controller: &str| {
        let buffer = Buffer::Packets(Packets::new(200));
        let mut experiment = dumbbell(Rate::from_mbps(100), RTT / 2, buffer, Span::from_secs(40));
        experiment.warmup = Span::from_secs(10);
        experiment.flows = vec![flow(controller, 1000, RTT).into()];
        run(&experiment).summary
    };
    let (rcp, newreno) = (with("rcp"), with("newreno"));
    assert!(
        (rcp.throughput_bps.unwrap() / newreno.throughput_bps.unwrap() - 1.0).abs() < 0.02,
        "{rcp:?} against {newreno:?}"
    );
}
