//! Links without their own events give the same run, packet by packet, as links with an event per hop. Topologies,
//! flows and traffic are drawn at random. The simulator's own tests have the corner cases made by hand.

use super::path::{dumbbell, flow, link, traffic};
use experiment::scenario::{
    Buffer, Coalescing, Experiment, FlowSpec, GapModel, LinkSpec, Moderation, Start, TrafficKind, TrafficSpec,
};
use packetscale_models::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use proptest::prelude::*;
use simulator::Mode;

const LINKS: usize = 3;

fn any_buffer() -> impl Strategy<Value = Buffer> {
    prop_oneof![
        (2u64..60).prop_map(|packets| Buffer::Packets(Packets::new(packets))),
        (3_000u64..90_000).prop_map(|bytes| Buffer::Bytes(Bytes::new(bytes))),
        Just(Buffer::Unlimited),
    ]
}

fn any_link() -> impl Strategy<Value = LinkSpec> {
    // Rates of 8 Mbit/s and powers of ten make ties; the others make remainders.
    let rate = prop_oneof![Just(8_000_000), Just(10_000_000), Just(80_000_000), 3_000_000u64..100_000_000];
    (rate, 0u64..8_000, any_buffer(), prop_oneof![Just(0u64), 1u64..30]).prop_map(|(bps, delay_us, buffer, loss)| {
        let mut wire = link(Rate::from_bps(bps), Span::from_micros(delay_us), buffer);
        wire.loss = Ratio::of(loss, 1000);
        wire
    })
}

/// A random choice of links, in order.
fn any_route() -> impl Strategy<Value = Vec<usize>> {
    (1usize..1 << LINKS).prop_map(|set| (0..LINKS).filter(|link| set >> link & 1 == 1).collect())
}

fn any_flow() -> impl Strategy<Value = FlowSpec> {
    let names: Vec<&str> = packetscale_models::congestion::registry().iter().map(|entry| entry.name).collect();
    let packet = prop_oneof![Just(1000u64), Just(1500), 300u64..9000];
    let access = prop_oneof![Just(None), (50u64..500).prop_map(|mbps| Some(Rate::from_mbps(mbps)))];
    (prop::sample::select(names), packet, 20u64..80, any_route(), access, 0u64..300).prop_map(
        |(name, packet, rtt_ms, route, access, start_ms)| {
            let start = Start::At(Time::ZERO + Span::from_millis(start_ms));
            FlowSpec { route, access, start, ..flow(name, packet, Span::from_millis(rtt_ms)) }
        },
    )
}

fn any_traffic() -> impl Strategy<Value = TrafficSpec> {
    let kind = (0u32..3, 1u64..20).prop_map(|(kind, mbps)| {
        let rate = Rate::from_mbps(mbps);
        let (on, off) = (Span::from_millis(20), Span::from_millis(50));
        match kind {
            0 => TrafficKind::Cbr { rate },
            1 => TrafficKind::Poisson { rate },
            _ => TrafficKind::OnOff { on, off, rate },
        }
    });
    (kind, 40u64..1500, any_route(), 1u32..3).prop_map(|(kind, packet, route, copies)| TrafficSpec {
        route,
        copies,
        ..traffic(kind, packet)
    })
}

prop_compose! {
    fn any_experiment()(
        links in prop::collection::vec(any_link(), LINKS),
        flows in prop::collection::vec(any_flow(), 1..6),
        traffic in prop::collection::vec(any_traffic(), 0..3),
        (delayed_ack, coalescing_us, frames) in (1u32..4, prop_oneof![Just(0u64), 1u64..500], 0u32..20),
        kind in prop_oneof![Just(Moderation::Timer), Just(Moderation::Spacing), Just(Moderation::Adaptive)],
        noise_us in prop_oneof![Just(0u64), 1u64..20],
        seed in any::<u64>(),
    ) -> Experiment {
        let mut experiment = dumbbell(links[0].clone(), Span::from_secs(1));
        experiment.receiver.delayed_ack = delayed_ack;
        experiment.receiver.coalescing = Coalescing { kind, time: Span::from_micros(coalescing_us), frames, ..Coalescing::NONE };
        experiment.gaps = if noise_us == 0 { GapModel::Perfect } else { GapModel::Noise(Span::from_micros(noise_us)) };
        Experiment { links, flows: flows.into_iter().map(Into::into).collect(), traffic, seed, ..experiment }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fused_equals_stepped_in_random_networks(experiment in any_experiment()) {
        let fused = simulator::log(&experiment, Mode::Fused).unwrap();
        let stepped = simulator::log(&experiment, Mode::Stepped).unwrap();
        let differs = fused.iter().zip(&stepped).position(|(a, b)| a != b);
        if let Some(at) = differs {
            prop_assert!(false, "service {at} of {}: fused {:?}, stepped {:?}", fused.len(), fused[at], stepped[at]);
        }
        prop_assert_eq!(fused.len(), stepped.len());
    }
}
