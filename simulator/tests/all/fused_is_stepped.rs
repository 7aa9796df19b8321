//! Links without events of their own make, packet by packet, the run that an event per hop makes.

use super::*;
use experiment::scenario::{GilbertElliott, Jitter, JitterLaw, Reordering};
use proptest::prelude::*;

/// 100 Mbit/s and 5 ms for 3 s, and a buffer of this many packets.
fn fast(buffer: u64) -> Experiment {
    dumbbell(Rate::from_mbps(100), Span::from_millis(5), packets(buffer), Span::from_secs(3))
}

/// A flow with packets of 1500 B.
fn routed(controller: &str, rtt_ms: u64, route: &[usize]) -> FlowSpec {
    FlowSpec { route: route.to_vec(), ..flow(controller, 1500, Span::from_millis(rtt_ms)) }
}

#[test]
fn on_a_dumbbell_with_drops() {
    let mut experiment = fast(20);
    for (i, controller) in ["newreno", "cubic", "rapid", "bbr"].into_iter().enumerate() {
        experiment.flows.push(routed(controller, 10 + 7 * i as u64, &[0]).into());
    }
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate: Rate::from_mbps(20) }, 700, 2)];
    same_in_both_modes(&experiment, 10_000);
}

/// Equal flows with equal round trips that start together: every packet of one ties with one of another.
#[test]
fn when_everything_happens_at_the_same_instants() {
    let buffer = Buffer::Bytes(Bytes::new(30_000));
    let mut experiment = dumbbell(Rate::from_mbps(80), Span::from_millis(5), buffer, Span::from_secs(3));
    experiment.flows = vec![flow("newreno", 1000, Span::from_millis(10)).into(); 4];
    let cbr = TrafficKind::Cbr { rate: Rate::from_mbps(8) };
    experiment.traffic = vec![traffic(cbr.clone(), 1000, 1), traffic(cbr, 1000, 1)];
    same_in_both_modes(&experiment, 10_000);
}

#[test]
fn over_several_bottlenecks_and_a_parking_lot() {
    let mut experiment = dumbbell(Rate::from_mbps(50), Span::from_millis(2), Buffer::Unlimited, Span::from_secs(3));
    let mut second = link("second", Rate::from_mbps(40), Span::from_millis(3));
    second.buffer = packets(15);
    let mut third = link("third", Rate::from_mbps(45), Span::from_millis(1));
    third.buffer = Buffer::Bytes(Bytes::new(40_000));
    experiment.links[0].buffer = packets(25);
    experiment.links.extend([second, third]);
    for route in [&[0, 1, 2][..], &[0], &[1], &[2], &[1, 2]] {
        let access = Some(Rate::from_mbps(500));
        experiment.flows.push(FlowSpec { access, ..routed("cubic", 20, route) }.into());
    }
    let mut crossing = traffic(TrafficKind::Poisson { rate: Rate::from_mbps(10) }, 500, 1);
    crossing.route = vec![0, 2];
    experiment.traffic = vec![crossing];
    same_in_both_modes(&experiment, 20_000);
}

#[test]
fn with_random_loss_delayed_acknowledgments_and_coalescence() {
    let mut experiment = fast(40);
    experiment.links[0].loss = Ratio::of(1, 300);
    experiment.receiver.delayed_ack = 2;
    experiment.receiver.coalescing = Coalescing { time: Span::from_micros(300), frames: 8, ..Coalescing::NONE };
    experiment.gaps = GapModel::Noise(Span::from_micros(3));
    for controller in ["newreno", "cubic", "rapid"] {
        let start = Start::Uniform(Time::ZERO, ms(500));
        experiment.flows.push(FlowSpec { start, handshake_waits: true, ..routed(controller, 12, &[0]) }.into());
    }
    same_in_both_modes(&experiment, 10_000);
}

#[test]
fn over_wires_with_reordering_outages_and_delay_changes() {
    let mut experiment = fast(40);
    let mut second = link("second", Rate::from_mbps(80), Span::from_millis(2));
    second.buffer = packets(60);
    let wire = &mut experiment.links[0].impairments;
    wire.reorder = Some(Reordering { share: Ratio::of(1, 50), packets: 7 });
    wire.outages = vec![(ms(1000), ms(1200))];
    second.impairments.reorder = Some(Reordering { share: Ratio::of(1, 20), packets: 90 });
    second.impairments.delay_steps = vec![(ms(500), Span::from_millis(20)), (ms(2000), Span::from_millis(1))];
    experiment.links.push(second);
    (experiment.receiver.ack_loss, experiment.receiver.ack_bunching) = (Ratio::of(1, 10), Span::from_millis(1));
    for (route, controller) in [(&[0, 1][..], "cubic"), (&[0], "bbr"), (&[1], "rapid")] {
        experiment.flows.push(routed(controller, 20, route).into());
    }
    same_in_both_modes(&experiment, 10_000);
}

#[test]
fn over_wires_with_jitter_and_losses_in_bursts() {
    let mut experiment = fast(40);
    let mut second = link("second", Rate::from_mbps(80), Span::from_millis(2));
    second.buffer = packets(60);
    let uniform = |most, reorder| Some(Jitter { law: JitterLaw::Uniform(Span::from_micros(most)), reorder });
    let (p, r) = (Ratio::of(1, 500), Ratio::of(1, 3));
    experiment.links[0].impairments.jitter = uniform(3000, false);
    experiment.links[0].impairments.bursts =
        Some(GilbertElliott { p, r, good_loss: Ratio::ZERO, bad_loss: Ratio::ONE });
    second.impairments.jitter = uniform(1000, true);
    experiment.links.push(second);
    for (route, controller) in [(&[0, 1][..], "cubic"), (&[0], "bbr"), (&[1], "rapid")] {
        experiment.flows.push(routed(controller, 20, route).into());
    }
    same_in_both_modes(&experiment, 10_000);
}

fn steps(rate_mbps: u64, steps: &[(u64, u64)], repeat_ms: u64) -> Variation {
    let steps = steps.iter().map(|(at, mbps)| (ms(*at), Rate::from_mbps(*mbps)));
    Variation::steps(Rate::from_mbps(rate_mbps), steps.collect(), Some(Span::from_millis(repeat_ms))).unwrap()
}

/// Two links behind each other, four controllers, and traffic of small packets.
fn changing(first: Option<Variation>, second: Option<Variation>) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(20), Span::from_millis(5), packets(30), Span::from_secs(3));
    let mut behind = link("behind", Rate::from_mbps(20), Span::from_millis(2));
    behind.buffer = Buffer::Bytes(Bytes::new(60_000));
    behind.service.variation = second;
    experiment.links[0].service.variation = first;
    experiment.links.push(behind);
    for (i, controller) in ["newreno", "copa", "rapid", "bbr"].into_iter().enumerate() {
        experiment.flows.push(routed(controller, 20 + 7 * i as u64, &[0, 1]).into());
    }
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate: Rate::from_mbps(2) }, 300, 2)];
    experiment
}

#[test]
fn over_delivery_opportunities_behind_steps_of_the_rate() {
    let cell = opportunities(&[1, 1, 2, 4, 5, 5, 5, 9, 40, 41, 42]);
    let stairs = steps(20, &[(300, 5), (500, 0), (600, 30)], 900);
    same_in_both_modes(&changing(Some(stairs.clone()), Some(cell.clone())), 2_000);
    same_in_both_modes(&changing(Some(cell), Some(stairs)), 2_000);
}

#[test]
fn over_a_link_that_stops_for_ever() {
    let mut experiment = changing(None, None);
    let gone = vec![(ms(1000), Rate::ZERO)];
    experiment.links[0].service.variation = Variation::steps(Rate::from_mbps(20), gone, None);
    same_in_both_modes(&experiment, 1_500);
}

#[test]
fn behind_token_buckets_and_grants() {
    let mut experiment = changing(None, None);
    let bucket = |mbps, bytes| Some(Shaper { rate: Rate::from_mbps(mbps), bucket: Bytes::new(bytes) });
    experiment.links[0].service.shaper = bucket(10, 20_000);
    experiment.links[1].service.policer = bucket(9, 15_000);
    same_in_both_modes(&experiment, 2_000);
    experiment.links[0].service.shaper = None;
    experiment.links[0].service.aggregation = Some(Aggregation::Period(Span::from_millis(2)));
    same_in_both_modes(&experiment, 2_000);
    experiment.links[0].service.variation = Some(steps(20, &[(300, 5), (500, 0), (601, 30)], 901));
    same_in_both_modes(&experiment, 2_000);
    experiment.links[1].service.shaper = bucket(8, 3_000);
    experiment.links[1].service.variation = Some(opportunities(&[1, 2, 2]));
    same_in_both_modes(&experiment, 2_000);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Default::default() })]

    #[test]
    fn over_any_trace(
        gaps in prop::collection::vec(0u64..12, 1..60),
        rates in prop::collection::vec((1u64..400, 0u64..40), 1..8),
        seed in any::<u32>(),
    ) {
        let mut at = 0;
        let mut times: Vec<u64> = gaps.iter().map(|gap| { at += gap; at }).collect();
        *times.last_mut().unwrap() += 1;
        let mut at = 0;
        let rates: Vec<(u64, u64)> = rates.iter().map(|(gap, mbps)| { at += gap; (at, *mbps) }).collect();
        let mut experiment = changing(Some(opportunities(&times)), Some(steps(10, &rates, at + 50)));
        experiment.seed = u64::from(seed);
        experiment.duration = Span::from_millis(500);
        same_in_both_modes(&experiment, 20);
    }
}
