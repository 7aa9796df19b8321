//! Links that change, serve in bursts, shape and police: what leaves them, against arithmetic.

use crate::support;

use experiment::scenario::{Aggregation, Buffer, Experiment, RateFormat, RateSource, Shaper, TrafficKind, Variation};
use packetscale_models::units::{Bytes, Capacity, CapacityPoint, Packets, Rate, Span, Time};
use simulator::{Mode, Served};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use support::{dumbbell, flow, traffic};

/// A link of 8 Mbit/s (1000 B per ms) for 2 s, under packets of this size at this constant rate.
fn loaded(mbps: u64, size: u64) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(8), Span::from_millis(1), Buffer::Unlimited, Span::from_secs(2));
    experiment.traffic = vec![traffic(TrafficKind::Cbr { rate: Rate::from_mbps(mbps) }, size, 1)];
    experiment
}

fn log(experiment: &Experiment) -> Vec<Served> {
    let log = simulator::log(experiment, Mode::Fused).unwrap();
    assert!(log.len() > 100, "only {} services", log.len());
    log
}

fn left(log: &[Served]) -> impl Iterator<Item = Time> + Clone {
    log.iter().map(|served| served.departure).filter(|departure| *departure != Time::MAX)
}

fn ms(n: u64) -> Time {
    Time::ZERO + Span::from_millis(n)
}

#[test]
fn each_opportunity_of_a_trace_delivers_its_1500_bytes_and_nothing_else_is_delivered() {
    // A trace of 200 ms: gaps of 0 to 6 ms from a fixed rule.
    let mut at_ms = vec![1u64];
    while *at_ms.last().unwrap() < 200 {
        at_ms.push((at_ms.last().unwrap() + at_ms.len() as u64 * 5 % 7).min(200));
    }
    let point = |at: &u64| CapacityPoint { at: Span::from_millis(*at), burst: Bytes::new(1500), rate: Rate::ZERO };
    let capacity = Capacity::new(at_ms.iter().map(point).collect(), Some(Span::from_millis(200))).unwrap();
    let source = RateSource::Trace { file: PathBuf::new(), format: RateFormat::Mahimahi, repeat: true };
    for (size, whole) in [(1500, true), (500, true), (700, false)] {
        let mut experiment = loaded(40, size);
        experiment.links[0].service.variation =
            Some(Variation { source: source.clone(), capacity: Arc::new(capacity.clone()) });
        let mut delivered: BTreeMap<u64, u64> = BTreeMap::new();
        for departure in left(&log(&experiment)) {
            assert_eq!(departure.picos() % 1_000_000_000, 0, "between opportunities");
            *delivered.entry(departure.picos() / 1_000_000_000).or_default() += size;
        }
        let mut offered: BTreeMap<u64, u64> = BTreeMap::new();
        for cycle in 0..10 {
            at_ms.iter().for_each(|at| *offered.entry(cycle * 200 + at).or_default() += 1500);
        }
        if whole {
            assert_eq!(delivered, offered, "packets of {size} B");
        } else {
            // The last packet of an opportunity leaves with the next: in all, less than one packet is under way.
            let (mut carried, mut possible) = (0, 0);
            for (at, bytes) in offered {
                possible += bytes;
                carried += delivered.get(&at).copied().unwrap_or(0);
                assert!(carried <= possible && possible - carried < size, "{at} ms: {carried} of {possible} B");
            }
        }
    }
}

#[test]
fn a_policer_passes_its_bucket_and_then_its_rate() {
    // 16 Mbit/s of 1000 B, a packet every 0.5 ms from 0 on, through 4 Mbit/s and 10 kB: in 2 s 10 kB + 1 MB.
    let mut experiment = loaded(16, 1000);
    experiment.links[0].rate = Rate::from_mbps(100);
    experiment.links[0].service.policer = Some(Shaper { rate: Rate::from_mbps(4), bucket: Bytes::new(10_000) });
    let log = log(&experiment);
    let passed = left(&log).count() as u64;
    assert!((1009..=1010).contains(&passed), "{passed}");
    // No queue: nothing waits.
    let longest = log.iter().filter(|served| served.departure != Time::MAX);
    assert_eq!(longest.map(|served| served.departure.since(served.arrival)).max(), Some(Span::from_micros(80)));
    // Tokens of t and the bucket: after n packets at 0.5 ms each, 10 + n / 4 have passed.
    let first_drop = log.iter().filter(|served| served.departure == Time::MAX).map(|served| served.arrival).min();
    // 10 tokens at 0, a packet takes 1 and earns 1/4 before the next: the 14th finds 10 - 13 * 3/4 = 0.25.
    assert_eq!(first_drop, Some(Time::ZERO + Span::from_micros(500) * 13));
}

#[test]
fn a_shaper_delays_to_its_rate_after_its_bucket_and_drops_nothing() {
    let mut experiment = loaded(16, 1000);
    experiment.links[0].rate = Rate::from_mbps(80);
    experiment.links[0].service.shaper = Some(Shaper { rate: Rate::from_mbps(4), bucket: Bytes::new(10_000) });
    let log = log(&experiment);
    assert!(log.iter().all(|served| served.departure != Time::MAX));
    // The k-th packet from 1 on needs k kB of tokens: 10 are there at once, then one comes every 2 ms. Transmission takes
    // 0.1 ms; up to the 14th the arrival, every 0.5 ms from 0 on, is the later of the two.
    for (k, departure) in (1u64..).zip(left(&log)) {
        let tokens = Span::from_millis(2) * k.saturating_sub(10);
        let arrival = Span::from_micros(500) * (k - 1);
        assert_eq!(departure, Time::ZERO + tokens.max(arrival) + Span::from_micros(100), "packet {k}");
    }
}

#[test]
fn grants_serve_at_the_end_of_each_period() {
    // 8 Mbit/s in periods of 4 ms: four packets of 1000 B at 4, 8, ... ms.
    let mut experiment = loaded(16, 1000);
    experiment.links[0].service.aggregation = Some(Aggregation::Period(Span::from_millis(4)));
    for (k, departure) in left(&log(&experiment)).enumerate() {
        assert_eq!(departure, ms(4 * (k as u64 / 4 + 1)), "packet {k}");
    }
}

/// The same until 6 ms, then 2 Mbit/s: four packets at 4 ms, 2.5 at 8, and one at each later end.
#[test]
fn grants_follow_a_rate_that_changes() {
    let mut experiment = loaded(16, 1000);
    experiment.links[0].service.aggregation = Some(Aggregation::Period(Span::from_millis(4)));
    experiment.links[0].service.variation =
        Variation::steps(Rate::from_mbps(8), vec![(ms(6), Rate::from_mbps(2))], None);
    let departures: Vec<Time> = left(&log(&experiment)).take(9).collect();
    assert_eq!(departures, [4, 4, 4, 4, 8, 8, 12, 16, 20].map(ms));
}

#[test]
fn a_frame_takes_what_waits_and_leaves_as_one() {
    // A packet of 1000 B every 0.5 ms, 1 ms each on the wire, frames of up to 4 and 1 ms overhead. At 0 one packet
    // begins alone: until 2 ms. By then those of 0.5, 1 and 1.5 ms wait, and that of 2 ms comes after the frame has
    // begun: 3 + 1 ms, until 6. From then on 4 wait always: 5 ms each.
    let mut experiment = loaded(16, 1000);
    experiment.links[0].service.aggregation = Some(Aggregation::Frames { packets: 4, overhead: Span::from_millis(1) });
    let departures: Vec<Time> = left(&log(&experiment)).take(16).collect();
    let expected: Vec<Time> =
        [(2, 1), (6, 3), (11, 4), (16, 4), (21, 4)].iter().flat_map(|(at, packets)| vec![ms(*at); *packets]).collect();
    assert_eq!(departures, expected);
}

/// The same, and from 8 ms on a packet takes 2 ms: of the third frame, which begins at 6 ms, two packets end by 8, two by 12,
/// and the overhead by 13. The next takes 4 * 2 + 1 ms.
#[test]
fn frames_follow_a_rate_that_changes() {
    let mut experiment = loaded(16, 1000);
    experiment.links[0].service.aggregation = Some(Aggregation::Frames { packets: 4, overhead: Span::from_millis(1) });
    experiment.links[0].service.variation =
        Variation::steps(Rate::from_mbps(8), vec![(ms(8), Rate::from_mbps(4))], None);
    let departures: Vec<Time> = left(&log(&experiment)).take(12).collect();
    let expected: Vec<Time> =
        [(2, 1), (6, 3), (13, 4), (22, 4)].iter().flat_map(|(at, packets)| vec![ms(*at); *packets]).collect();
    assert_eq!(departures, expected);
}

/// A link that stands still for ever keeps the frame that it had begun.
#[test]
fn a_frame_on_a_link_that_stands_still_never_ends() {
    let mut experiment = loaded(16, 1000);
    experiment.links[0].service.aggregation = Some(Aggregation::Frames { packets: 4, overhead: Span::from_millis(1) });
    experiment.links[0].service.variation = Variation::steps(Rate::from_mbps(8), vec![(ms(3), Rate::ZERO)], None);
    let log = simulator::log(&experiment, Mode::Fused).unwrap();
    assert_eq!(left(&log).collect::<Vec<_>>(), [ms(2)]);
}

#[test]
fn utilisation_is_of_the_mean_rate_after_the_warm_up() {
    // 8 Mbit/s for half a second and 4 Mbit/s for the other half, under 16 Mbit/s of Poisson traffic.
    let mut experiment = loaded(16, 1000);
    experiment.traffic[0].kind = TrafficKind::Poisson { rate: Rate::from_mbps(16) };
    experiment.warmup = Span::from_millis(1500);
    experiment.links[0].service.variation =
        Variation::steps(Rate::from_mbps(8), vec![(ms(500), Rate::from_mbps(4))], Some(Span::from_secs(1)));
    let run = simulator::run(&experiment).unwrap();
    let utilisation = run.summary.utilisation.unwrap();
    // 250 kB can be carried after 1.5 s: to a packet.
    assert!((utilisation - 1.0).abs() < 1000.0 / 250_000.0, "{utilisation}");
    let available = &run.series.iter().find(|series| series.metric == "available").unwrap().values;
    assert_eq!(available.len(), 200);
}

#[test]
fn a_flow_is_measured_at_its_receiver_wherever_it_runs() {
    // Two equal flows, each alone on its own link of 8 Mbit/s; only the first link is measured.
    let buffer = Buffer::Packets(Packets::new(20));
    let mut experiment = dumbbell(Rate::from_mbps(8), Span::from_millis(5), buffer, Span::from_secs(20));
    experiment.warmup = Span::from_secs(5);
    experiment.links.push(experiment.links[0].clone());
    experiment.flows = vec![flow("newreno", 1000, Span::from_millis(10)).into(); 2];
    experiment.flows[1].route = vec![1];
    let run = simulator::run(&experiment).unwrap();
    let got: Vec<f64> = run.flows.iter().map(|flow| flow.throughput_bps.unwrap()).collect();
    assert!(got.iter().all(|bps| (bps / 8e6 - 1.0).abs() < 0.001), "{got:?}");
    assert_eq!(run.summary.fairness_jain, None, "one flow crosses the measured link");
    let measured = run.summary.throughput_bps.unwrap();
    assert!((measured / 8e6 - 1.0).abs() < 0.001, "of the measured link alone: {measured}");
}

#[test]
fn every_link_is_measured_where_the_scenario_asks() {
    // 16 Mbit/s of 1000 B into 8 Mbit/s with room for 10 packets, then over 80 Mbit/s: 0.1 ms of each ms.
    let mut experiment = loaded(16, 1000);
    experiment.links[0].buffer = Buffer::Packets(Packets::new(10));
    experiment.links.push(experiment.links[0].clone());
    experiment.links[1].rate = Rate::from_mbps(80);
    experiment.links[1].name = "second".to_string();
    experiment.links[1].loss = packetscale_models::units::Ratio::of(1, 2);
    experiment.traffic[0].route = vec![0, 1];
    experiment.warmup = Span::from_secs(1);
    assert!(simulator::run(&experiment).unwrap().links.is_empty());
    experiment.record.links = true;
    for mode in [Mode::Fused, Mode::Stepped] {
        let run = simulator::run_in(&experiment, mode).unwrap();
        let [first, second] = &run.links[..] else { panic!("{} links", run.links.len()) };
        // A packet's last bit leaves the second link 1.1 ms after the first: 1000 in a second, give or take one.
        let near = |found: Option<f64>, expected: f64, error: f64| (found.unwrap() - expected).abs() <= error;
        assert!(near(first.throughput_bps, 8e6, 8000.0) && near(second.throughput_bps, 8e6, 8000.0));
        assert!(near(first.utilisation, 1.0, 0.001) && near(second.utilisation, 0.1, 0.001));
        // The queue alternates between 9 and 10 packets, the one in service included: an arrival finds 9.
        assert!(near(first.queue_mean_packets, 9.5, 0.6), "{first:?}");
        assert!(near(first.queue_delay_mean_s, 0.0085, 0.0006), "{first:?}");
        assert_eq!((second.queue_delay_p99_s, second.dropped_packets), (Some(0.0), 0));
        // 4000 come in 2 s, 2000 leave, 9 or 10 wait at the end.
        assert!((1989..=1992).contains(&first.dropped_packets), "{first:?}");
        assert!((900..1100).contains(&second.lost_packets) && first.lost_packets == 0, "{second:?}");
        assert_eq!((first.marked_packets, second.name.as_str()), (Some(0), "second"));
    }
}
