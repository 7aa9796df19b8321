//! Paced senders that run ahead: in an observed run no sender does, and both must be the same run.

use super::*;
use experiment::results::Summary;
use experiment::scenario::{LinkSpec, Record};
use harness::packets::Observer;
use packetscale_models::congestion::registry;
use proptest::prelude::*;

/// A run without its cost, and its events.
fn plain(run: Run) -> (Run, u64) {
    let events = run.summary.events.expect("the simulator counts events");
    (Run { summary: Summary { events: None, cpu_s: None, ..run.summary }, ..run }, events)
}

fn both(experiment: &Experiment) -> ((Run, u64), (Run, u64)) {
    let mut nobody: Vec<Box<dyn Observer>> = Vec::new();
    let watched = simulator::observed(experiment, &mut nobody, &|_| {}).expect("it runs");
    (plain(run(experiment)), plain(watched))
}

/// 20 Mbit/s, 20 ms, 30 packets of buffer, with curves of a point every 7 ms.
fn path() -> Experiment {
    let experiment = dumbbell(Rate::from_mbps(20), Span::from_millis(6), packets(30), Span::from_secs(3));
    Experiment { record: Record { step: Span::from_millis(7), ..experiment.record }, ..experiment }
}

#[test]
fn running_ahead_equals_an_event_per_departure() {
    for entry in registry() {
        let one = flow(entry.name, 1000, Span::from_millis(20));
        let other = FlowSpec { start: Start::At(ms(300)), ..one.clone() };
        let experiment = Experiment { flows: vec![one.into(), other.into()], ..path() };
        let ((caught_up, _), (watched, _)) = both(&experiment);
        assert_eq!(caught_up, watched, "{}", entry.name);
    }
}

#[test]
fn paced_departures_need_no_events() {
    for controller in ["rapid", "bbr"] {
        let experiment = Experiment { flows: vec![flow(controller, 1000, Span::from_millis(20)).into()], ..path() };
        let ((caught_up, fewer), (_, events)) = both(&experiment);
        let packets = caught_up.summary.packets_delivered;
        assert!(events - fewer > packets / 2, "{controller}: {fewer} instead of {events} for {packets} packets");
    }
}

prop_compose! {
    /// Paced flows with cards from 2 Mbit/s on, on which a packet takes 4 ms, ends, sizes and least timeouts of every kind.
    fn any_flow()(
        controller in prop::sample::select(vec!["rapid", "rapid-thesis", "bbr", "bbr1", "copa", "prague", "rcp", "newreno"]),
        rtt_ms in 12u64..60,
        card_mbps in prop::option::of(prop::sample::select(vec![2u64, 7, 30, 1000])),
        start_ms in 0u64..500,
        stop_ms in prop::option::of(600u64..2500),
        size in prop::option::of(1_000u64..900_000),
        pacing_percent in prop::sample::select(vec![0u32, 120]),
        min_rto_ms in prop::sample::select(vec![0u64, 1, 10, 200]),
        initial_window in 1u32..40,
    ) -> FlowSpec {
        FlowSpec {
            access: card_mbps.map(Rate::from_mbps),
            start: Start::At(ms(start_ms)),
            stop: stop_ms.map(ms),
            size: size.map_or(Size::Unlimited, |bytes| Size::Bytes(Bytes::new(bytes))),
            pacing_percent,
            min_rto: Span::from_millis(min_rto_ms),
            initial_window,
            ..flow(controller, 1000, Span::from_millis(rtt_ms))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn running_ahead_equals_events_for_any_flows(
        flows in prop::collection::vec(any_flow(), 1..5),
        loss in 0u64..30,
        delayed_ack in 1u32..4,
        ack_loss in 0u64..100,
        bunching_us in prop::sample::select(vec![0u64, 0, 300, 5000]),
        coalescing_us in prop::sample::select(vec![0u64, 0, 120]),
        window in prop::sample::select(vec![3u64, 40, 1 << 30]),
        crosses_back in any::<bool>(),
        instant in any::<bool>(),
        streams in 0u32..3,
        seed in 1u64..1000,
    ) {
        let mut experiment = path();
        experiment.links[0].loss = Ratio::of(loss, 1000);
        experiment.receiver =
            ReceiverSpec {
                delayed_ack,
                ack_loss: Ratio::of(ack_loss, 1000),
                ack_bunching: Span::from_micros(bunching_us),
                coalescing: Coalescing { time: Span::from_micros(coalescing_us), ..Coalescing::NONE },
                window: Packets::new(window),
                ..experiment.receiver
            };
        experiment.record.streams = streams;
        if crosses_back {
            experiment.links.push(LinkSpec { name: "back".to_string(), ..experiment.links[0].clone() });
        }
        let back = if crosses_back { vec![1] } else { Vec::new() };
        let mut route = vec![0];
        if instant {
            // The first link takes no time, which is visible in picoseconds.
            route.insert(0, experiment.links.len());
            experiment.links.push(link("instant", Rate::from_mbps(30_000_000_000), Span::ZERO));
        }
        let spec = |flow| FlowSpec { back: back.clone(), route: route.clone(), ..flow };
        let flows = flows.into_iter().map(|flow| spec(flow).into()).collect();
        let ((caught_up, _), (watched, _)) = both(&Experiment { flows, seed, ..experiment });
        prop_assert_eq!(caught_up, watched);
    }
}
