//! Properties of every discipline of the registry, for any arrivals.
//!
//! A link plays the host: it counts independently what it handed over, what came back, and which drops were reported.

use packetscale_models::queueing::{AnyQueue, Limit, Packet, Queue, Setup, Verdict, registry};
use packetscale_models::settings::Settings;
use packetscale_models::units::{Bytes, Ecn, Packets, Rate, Span, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;

const RATE: Rate = Rate::from_mbps(8);

/// A packet arrives some time after the one before it.
#[derive(Clone, Debug)]
struct Arrival {
    after_us: u64,
    flow: u32,
    size: u64,
    ecn: Ecn,
}

/// At 8 Mbit/s a byte takes a microsecond: bursts, overload and rests.
fn arrival() -> impl Strategy<Value = Arrival> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1)];
    let after_us = prop_oneof![4 => Just(0u64), 4 => 0u64..1_500, 1 => 0u64..400_000];
    (after_us, 0u32..6, 40u64..1501, ecn).prop_map(|(after_us, flow, size, ecn)| Arrival { after_us, flow, size, ecn })
}

struct Link {
    queue: AnyQueue<u64>,
    now: Time,
    limit: Limit,
    /// On the wire, until then.
    in_service: Option<(Time, Packet<u64>)>,
    /// Packets that the discipline holds: number and size.
    held: BTreeMap<u64, Bytes>,
    next: u64,
}

impl Link {
    fn new(name: &str, limit: Limit) -> Link {
        let setup = Setup { rate: RATE, limit, packet: Bytes::new(1500), seed: 11 };
        let queue = AnyQueue::build(name, &setup, &Settings::new()).expect("of the registry").expect("defaults");
        Link { queue, now: Time::ZERO, limit, in_service: None, held: BTreeMap::new(), next: 0 }
    }

    fn arrive(&mut self, arrival: &Arrival) {
        let at = self.now + Span::from_micros(arrival.after_us);
        self.serve_until(at);
        self.now = at;
        let size = Bytes::new(arrival.size);
        let packet = Packet { ecn: arrival.ecn, ..Packet::new(arrival.flow, size, self.next) };
        if self.queue.enqueue(at, packet) == Verdict::Queued {
            self.held.insert(self.next, size);
        }
        self.next += 1;
        self.take_dropped();
        self.check();
        self.begin();
    }

    /// A free wire takes the next packet, unless the discipline holds it back.
    fn begin(&mut self) {
        if self.in_service.is_none()
            && let Some(packet) = self.queue.dequeue(self.now)
        {
            assert!(packet.ecn.is_capable() || !packet.marks.congestion, "a packet was marked that may not be");
            self.in_service = Some((self.now + RATE.time_for(packet.size), packet));
        }
        self.take_dropped();
        self.check();
    }

    /// The next time at which something happens without an arrival.
    fn due(&self) -> Time {
        self.in_service.as_ref().map_or_else(|| self.queue.next_wakeup().max(self.now), |(departs, _)| *departs)
    }

    fn serve_until(&mut self, end: Time) {
        while !self.held.is_empty() && self.due() <= end {
            self.now = self.due();
            if let Some((_, packet)) = self.in_service.take() {
                self.queue.departed(self.now, packet.size);
                self.give_back(&packet);
            }
            self.begin();
        }
    }

    fn take_dropped(&mut self) {
        while let Some(packet) = self.queue.take_dropped() {
            self.give_back(&packet);
        }
    }

    fn give_back(&mut self, packet: &Packet<u64>) {
        assert_eq!(self.held.remove(&packet.note), Some(packet.size), "packet {} was not there", packet.note);
    }

    /// The discipline's length agrees with the link's count, and is within the limit.
    fn check(&self) {
        let bytes: u64 = self.held.values().map(|size| size.get()).sum();
        let packets = self.held.len() as u64;
        assert_eq!(self.queue.length(), (Packets::new(packets), Bytes::new(bytes)));
        match self.limit {
            Limit::Packets(limit) => assert!(packets <= limit.get(), "{packets} packets"),
            Limit::Bytes(limit) => assert!(bytes <= limit.get(), "{bytes} bytes"),
            Limit::Unlimited => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_packet_leaves_or_is_reported_as_dropped(
        arrivals in prop::collection::vec(arrival(), 1..300),
        limit in prop_oneof![
            (1u64..40).prop_map(|n| Limit::Packets(Packets::new(n))),
            (1500u64..40_000).prop_map(|n| Limit::Bytes(Bytes::new(n))),
        ],
    ) {
        for entry in registry() {
            let mut link = Link::new(entry.name, limit);
            arrivals.iter().for_each(|arrival| link.arrive(arrival));
            link.serve_until(link.now + Span::from_secs(60));
            prop_assert!(link.held.is_empty(), "{}: {} packets never left", entry.name, link.held.len());
            prop_assert_eq!(link.queue.length(), (Packets::ZERO, Bytes::ZERO), "{}", entry.name);
        }
    }
}
