//! Links without events of their own make, packet by packet, the run that an event per hop makes.

mod support;

use packetscale_simulator as simulator;
use scenario::{Buffer, Coalescing, Experiment, GapModel, Reordering, Start, TrafficKind};
use simulator::{Mode, Served};
use support::{dumbbell, flow, link, traffic};
use units::{Bytes, Packets, Rate, Ratio, Span, Time};

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
        experiment.flows.push(flow(controller, 1500, Span::from_millis(10 + 7 * i as u64)));
    }
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate: Rate::from_mbps(20) }, 700, 2)];
    assert_same(&experiment, 10_000);
}

/// Equal flows with equal round trips that start together: every packet of one ties with one of another.
#[test]
fn when_everything_happens_at_the_same_instants() {
    let buffer = Buffer::Bytes(Bytes::new(30_000));
    let mut experiment = dumbbell(Rate::from_mbps(80), Span::from_millis(5), buffer, Span::from_secs(3));
    experiment.flows = vec![flow("newreno", 1000, Span::from_millis(10)); 4];
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
        experiment.flows.push(one);
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
        experiment.flows.push(one);
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
        experiment.flows.push(one);
    }
    assert_same(&experiment, 10_000);
}
