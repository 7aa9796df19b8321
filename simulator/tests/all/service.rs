//! Links that change, serve in bursts, shape and police: what leaves them, against arithmetic.

use super::*;

/// A link of 8 Mbit/s (1000 B per ms) for 2 s, under packets of this size at this constant rate.
fn loaded(mbps: u64, size: u64) -> Experiment {
    let mut experiment = dumbbell(Rate::from_mbps(8), Span::from_millis(1), Buffer::Unlimited, Span::from_secs(2));
    experiment.traffic = vec![traffic(TrafficKind::Cbr { rate: Rate::from_mbps(mbps) }, size, 1)];
    experiment
}

fn log(experiment: &Experiment) -> Vec<Served> {
    let log = support::log(experiment, Mode::Fused);
    assert!(log.len() > 100, "only {} services", log.len());
    log
}

fn left(log: &[Served]) -> impl Iterator<Item = Time> + Clone {
    log.iter().filter(|served| !was_dropped(served)).map(|served| served.departure)
}

/// The rate of 8 Mbit/s becomes this one.
fn step(at_ms: u64, mbps: u64, repeat: Option<Span>) -> Option<Variation> {
    Variation::steps(Rate::from_mbps(8), vec![(ms(at_ms), Rate::from_mbps(mbps))], repeat)
}

const PERIOD: Aggregation = Aggregation::Period(Span::from_millis(4));
const FRAMES: Aggregation = Aggregation::Frames { packets: 4, overhead: Span::from_millis(1) };

fn aggregated(aggregation: Aggregation, variation: Option<Variation>) -> Experiment {
    let mut experiment = loaded(16, 1000);
    experiment.links[0].service.aggregation = Some(aggregation);
    experiment.links[0].service.variation = variation;
    experiment
}

#[test]
fn each_opportunity_of_a_trace_delivers_1500_bytes() {
    // A trace of 200 ms: gaps of 0 to 6 ms from a fixed rule.
    let mut at_ms = vec![1u64];
    while *at_ms.last().unwrap() < 200 {
        at_ms.push((at_ms.last().unwrap() + at_ms.len() as u64 * 5 % 7).min(200));
    }
    for (size, whole) in [(1500, true), (500, true), (700, false)] {
        let mut experiment = loaded(40, size);
        experiment.links[0].service.variation = Some(opportunities(&at_ms));
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
fn a_policer_passes_its_bucket_then_its_rate() {
    // 16 Mbit/s of 1000 B, a packet every 0.5 ms from 0 on, through 4 Mbit/s and 10 kB: in 2 s 10 kB + 1 MB.
    let mut experiment = loaded(16, 1000);
    experiment.links[0].rate = Rate::from_mbps(100);
    experiment.links[0].service.policer = Some(Shaper { rate: Rate::from_mbps(4), bucket: Bytes::new(10_000) });
    let log = log(&experiment);
    let passed = left(&log).count() as u64;
    assert!((1009..=1010).contains(&passed), "{passed}");
    // No queue: nothing waits.
    let passing = log.iter().filter(|served| !was_dropped(served));
    assert_eq!(passing.map(|served| served.departure.since(served.arrival)).max(), Some(Span::from_micros(80)));
    // Tokens of t and the bucket: after n packets at 0.5 ms each, 10 + n / 4 have passed.
    let first_drop = log.iter().filter(|served| was_dropped(served)).map(|served| served.arrival).min();
    // 10 tokens at 0, a packet takes 1 and earns 1/4 before the next: the 14th finds 10 - 13 * 3/4 = 0.25.
    assert_eq!(first_drop, Some(Time::ZERO + Span::from_micros(500) * 13));
}

#[test]
fn a_shaper_delays_to_its_rate_and_drops_nothing() {
    let mut experiment = loaded(16, 1000);
    experiment.links[0].rate = Rate::from_mbps(80);
    experiment.links[0].service.shaper = Some(Shaper { rate: Rate::from_mbps(4), bucket: Bytes::new(10_000) });
    let log = log(&experiment);
    assert!(!log.iter().any(was_dropped));
    // The k-th packet from 1 on needs k kB of tokens: 10 are there at once, then one comes every 2 ms. Transmission takes
    // 0.1 ms; up to the 14th the arrival, every 0.5 ms from 0 on, is the later of the two.
    for (k, departure) in (1u64..).zip(left(&log)) {
        let tokens = Span::from_millis(2) * k.saturating_sub(10);
        let arrival = Span::from_micros(500) * (k - 1);
        assert_eq!(departure, Time::ZERO + tokens.max(arrival) + Span::from_micros(100), "packet {k}");
    }
}

/// 8 Mbit/s in periods of 4 ms: four packets of 1000 B at 4, 8, ... ms.
#[test]
fn grants_serve_at_the_end_of_each_period() {
    for (k, departure) in left(&log(&aggregated(PERIOD, None))).enumerate() {
        assert_eq!(departure, ms(4 * (k as u64 / 4 + 1)), "packet {k}");
    }
}

/// A packet of 1000 B arrives every 0.5 ms, and takes 1 ms on the wire.
#[test]
fn grants_and_frames_take_what_waits() {
    for (what, aggregation, variation, expected) in [
        // The second period ends with 2 ms of 1000 B/ms and 2 ms of 250 B/ms.
        ("grants, 2 Mbit/s from 6 ms on", PERIOD, step(6, 2, None), &[(4, 4), (8, 2), (12, 1), (16, 1), (20, 1)][..]),
        // At 0 one packet begins alone: until 2 ms. By then those of 0.5, 1 and 1.5 ms wait, and that of 2 ms comes after
        // the frame has begun: 3 + 1 ms, until 6. From then on 4 wait always: 5 ms each.
        ("frames of up to 4 and 1 ms overhead", FRAMES, None, &[(2, 1), (6, 3), (11, 4), (16, 4), (21, 4)]),
        // Of the third frame, which begins at 6 ms, two packets end by 8, two by 12, and the overhead by 13. The next
        // takes 4 * 2 + 1 ms.
        ("frames, 4 Mbit/s from 8 ms on", FRAMES, step(8, 4, None), &[(2, 1), (6, 3), (13, 4), (22, 4)]),
    ] {
        let expected: Vec<Time> = expected.iter().flat_map(|(at, packets)| vec![ms(*at); *packets]).collect();
        let log = log(&aggregated(aggregation, variation));
        assert_eq!(left(&log).take(expected.len()).collect::<Vec<_>>(), expected, "{what}");
    }
}

/// A link that stops for ever never finishes its current frame.
#[test]
fn a_frame_on_a_stopped_link_never_ends() {
    let log = support::log(&aggregated(FRAMES, step(3, 0, None)), Mode::Fused);
    assert_eq!(left(&log).collect::<Vec<_>>(), [ms(2)]);
}

#[test]
fn utilisation_is_of_the_mean_rate_after_the_warm_up() {
    // 8 Mbit/s for half a second and 4 Mbit/s for the other half, under 16 Mbit/s of Poisson traffic.
    let mut experiment = loaded(16, 1000);
    experiment.traffic[0].kind = TrafficKind::Poisson { rate: Rate::from_mbps(16) };
    experiment.warmup = Span::from_millis(1500);
    experiment.links[0].service.variation = step(500, 4, Some(Span::from_secs(1)));
    let run = run(&experiment);
    let utilisation = run.summary.utilisation.unwrap();
    // 250 kB can be carried after 1.5 s: to a packet.
    assert!((utilisation - 1.0).abs() < 1000.0 / 250_000.0, "{utilisation}");
    let available = &run.series.iter().find(|series| series.metric == "available").unwrap().values;
    assert_eq!(available.len(), 200);
}

#[test]
fn measures_every_link_with_record_links() {
    // 16 Mbit/s of 1000 B into 8 Mbit/s with a buffer of 10 packets, then over 80 Mbit/s: 0.1 ms of each ms.
    let mut experiment = loaded(16, 1000);
    experiment.links[0].buffer = packets(10);
    experiment.links.push(experiment.links[0].clone());
    experiment.links[1].rate = Rate::from_mbps(80);
    experiment.links[1].name = "second".to_string();
    experiment.links[1].loss = Ratio::of(1, 2);
    experiment.traffic[0].route = vec![0, 1];
    experiment.warmup = Span::from_secs(1);
    assert!(run(&experiment).links.is_empty());
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
