//! Links without events of their own make, packet by packet, the run that an event per hop makes.

use crate::support;

use experiment::scenario::{
    Aggregation, Buffer, Coalescing, Experiment, GapModel, RateFormat, RateSource, Reordering, Shaper, Start,
    TrafficKind, Variation,
};
use packetscale_models::units::{Bytes, Capacity, CapacityPoint, Packets, Rate, Ratio, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simulator::{Mode, Served};
use std::path::PathBuf;
use std::sync::Arc;
use support::{dumbbell, flow, link, traffic};

fn both(experiment: &Experiment) -> (Vec<Served>, Vec<Served>) {
    (simulator::log(experiment, Mode::Fused).unwrap(), simulator::log(experiment, Mode::Stepped).unwrap())
}

fn assert_same(experiment: &Experiment, at_least: usize) {
    let (fused, stepped) = both(experiment);
    assert!(fused.len() >= at_least, "only {} services: the test looks at nothing", fused.len());
    let differs = fused.iter().zip(&stepped).position(|(a, b)| a != b);
    if let Some(i) = differs {
        panic!("service {i}: fused {:?}, stepped {:?}", fused[i], stepped[i]);
    }
    assert_eq!(fused.len(), stepped.len());
}

#[test]
fn on_a_dumbbell_with_drops() {
    let buffer = Buffer::Packets(Packets::new(20));
    let mut experiment = dumbbell(Rate::from_mbps(100), Span::from_millis(5), buffer, Span::from_secs(3));
    for (i, controller) in ["newreno", "cubic", "rapid", "bbr"].into_iter().enumerate() {
        experiment.flows.push(flow(controller, 1500, Span::from_millis(10 + 7 * i as u64)).into());
    }
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate: Rate::from_mbps(20) }, 700, 2)];
    assert_same(&experiment, 10_000);
}

/// Equal flows with equal round trips that start together: every packet of one ties with one of another.
#[test]
fn when_everything_happens_at_the_same_instants() {
    let buffer = Buffer::Bytes(Bytes::new(30_000));
    let mut experiment = dumbbell(Rate::from_mbps(80), Span::from_millis(5), buffer, Span::from_secs(3));
    experiment.flows = vec![flow("newreno", 1000, Span::from_millis(10)).into(); 4];
    let cbr = TrafficKind::Cbr { rate: Rate::from_mbps(8) };
    experiment.traffic = vec![traffic(cbr.clone(), 1000, 1), traffic(cbr, 1000, 1)];
    assert_same(&experiment, 10_000);
}

#[test]
fn over_several_bottlenecks_and_a_parking_lot() {
    let mut experiment = dumbbell(Rate::from_mbps(50), Span::from_millis(2), Buffer::Unlimited, Span::from_secs(3));
    let mut second = link("second", Rate::from_mbps(40), Span::from_millis(3));
    second.buffer = Buffer::Packets(Packets::new(15));
    let mut third = link("third", Rate::from_mbps(45), Span::from_millis(1));
    third.buffer = Buffer::Bytes(Bytes::new(40_000));
    experiment.links[0].buffer = Buffer::Packets(Packets::new(25));
    experiment.links.extend([second, third]);
    for route in [vec![0, 1, 2], vec![0], vec![1], vec![2], vec![1, 2]] {
        let mut one = flow("cubic", 1500, Span::from_millis(20));
        one.route = route;
        one.access = Some(Rate::from_mbps(500));
        experiment.flows.push(one.into());
    }
    let mut crossing = traffic(TrafficKind::Poisson { rate: Rate::from_mbps(10) }, 500, 1);
    crossing.route = vec![0, 2];
    experiment.traffic = vec![crossing];
    assert_same(&experiment, 20_000);
}

#[test]
fn with_random_loss_delayed_acknowledgments_and_coalescence() {
    let buffer = Buffer::Packets(Packets::new(40));
    let mut experiment = dumbbell(Rate::from_mbps(100), Span::from_millis(5), buffer, Span::from_secs(3));
    experiment.links[0].loss = Ratio::of(1, 300);
    experiment.receiver.delayed_ack = 2;
    experiment.receiver.coalescing = Coalescing { time: Span::from_micros(300), frames: 8, ..Coalescing::NONE };
    experiment.gaps = GapModel::Noise(Span::from_micros(3));
    for controller in ["newreno", "cubic", "rapid"] {
        let mut one = flow(controller, 1500, Span::from_millis(12));
        one.start = Start::Uniform(Time::ZERO, Time::ZERO + Span::from_millis(500));
        one.handshake_waits = true;
        experiment.flows.push(one.into());
    }
    assert_same(&experiment, 10_000);
}

#[test]
fn over_wires_that_reorder_go_away_and_change_their_delay() {
    let buffer = Buffer::Packets(Packets::new(40));
    let mut experiment = dumbbell(Rate::from_mbps(100), Span::from_millis(5), buffer, Span::from_secs(3));
    let mut second = link("second", Rate::from_mbps(80), Span::from_millis(2));
    second.buffer = Buffer::Packets(Packets::new(60));
    let at = |ms| Time::ZERO + Span::from_millis(ms);
    let wire = &mut experiment.links[0].impairments;
    wire.reorder = Some(Reordering { share: Ratio::of(1, 50), packets: 7 });
    wire.outages = vec![(at(1000), at(1200))];
    second.impairments.reorder = Some(Reordering { share: Ratio::of(1, 20), packets: 90 });
    second.impairments.delay_steps = vec![(at(500), Span::from_millis(20)), (at(2000), Span::from_millis(1))];
    experiment.links.push(second);
    (experiment.receiver.ack_loss, experiment.receiver.ack_bunching) = (Ratio::of(1, 10), Span::from_millis(1));
    for (route, controller) in [(vec![0, 1], "cubic"), (vec![0], "bbr"), (vec![1], "rapid")] {
        let mut one = flow(controller, 1500, Span::from_millis(20));
        one.route = route;
        experiment.flows.push(one.into());
    }
    assert_same(&experiment, 10_000);
}

/// Delivery opportunities at these milliseconds, again and again.
fn opportunities(at_ms: &[u64]) -> Variation {
    let point = |at: &u64| CapacityPoint { at: Span::from_millis(*at), burst: Bytes::new(1500), rate: Rate::ZERO };
    let period = at_ms.last().map(|last| Span::from_millis(*last));
    let capacity = Capacity::new(at_ms.iter().map(point).collect(), period).unwrap();
    let source = RateSource::Trace { file: PathBuf::new(), format: RateFormat::Mahimahi, repeat: true };
    Variation { source, capacity: Arc::new(capacity) }
}

fn steps(rate_mbps: u64, steps: &[(u64, u64)], repeat_ms: u64) -> Variation {
    let steps = steps.iter().map(|(ms, mbps)| (Time::ZERO + Span::from_millis(*ms), Rate::from_mbps(*mbps)));
    Variation::steps(Rate::from_mbps(rate_mbps), steps.collect(), Some(Span::from_millis(repeat_ms))).unwrap()
}

/// Two links behind each other, four controllers, and traffic of small packets.
fn changing(first: Option<Variation>, second: Option<Variation>) -> Experiment {
    let buffer = Buffer::Packets(Packets::new(30));
    let mut experiment = dumbbell(Rate::from_mbps(20), Span::from_millis(5), buffer, Span::from_secs(3));
    let mut behind = link("behind", Rate::from_mbps(20), Span::from_millis(2));
    behind.buffer = Buffer::Bytes(Bytes::new(60_000));
    behind.service.variation = second;
    experiment.links[0].service.variation = first;
    experiment.links.push(behind);
    for (i, controller) in ["newreno", "copa", "rapid", "bbr"].into_iter().enumerate() {
        let mut one = flow(controller, 1500, Span::from_millis(20 + 7 * i as u64));
        one.route = vec![0, 1];
        experiment.flows.push(one.into());
    }
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate: Rate::from_mbps(2) }, 300, 2)];
    experiment
}

#[test]
fn over_delivery_opportunities_behind_steps_of_the_rate() {
    let cell = opportunities(&[1, 1, 2, 4, 5, 5, 5, 9, 40, 41, 42]);
    let stairs = steps(20, &[(300, 5), (500, 0), (600, 30)], 900);
    assert_same(&changing(Some(stairs.clone()), Some(cell.clone())), 2_000);
    assert_same(&changing(Some(cell), Some(stairs)), 2_000);
}

#[test]
fn over_a_link_that_stands_for_good() {
    let mut experiment = changing(None, None);
    let gone = vec![(Time::ZERO + Span::from_secs(1), Rate::ZERO)];
    experiment.links[0].service.variation = Variation::steps(Rate::from_mbps(20), gone, None);
    assert_same(&experiment, 1_500);
}

#[test]
fn behind_token_buckets_and_grants() {
    let mut experiment = changing(None, None);
    let bucket = |mbps, bytes| Some(Shaper { rate: Rate::from_mbps(mbps), bucket: Bytes::new(bytes) });
    experiment.links[0].service.shaper = bucket(10, 20_000);
    experiment.links[1].service.policer = bucket(9, 15_000);
    assert_same(&experiment, 2_000);
    experiment.links[0].service.shaper = None;
    experiment.links[0].service.aggregation = Some(Aggregation::Period(Span::from_millis(2)));
    assert_same(&experiment, 2_000);
    experiment.links[0].service.variation = Some(steps(20, &[(300, 5), (500, 0), (601, 30)], 901));
    assert_same(&experiment, 2_000);
    experiment.links[1].service.shaper = bucket(8, 3_000);
    experiment.links[1].service.variation = Some(opportunities(&[1, 2, 2]));
    assert_same(&experiment, 2_000);
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
        assert_same(&experiment, 20);
    }
}
