//! Probe streams over the simulated bottleneck: exact cases, worked out by hand, and the link's own books.

use super::*;
use experiment::scenario::{ProbeSpec, Recorded};
use harness::probing::ProbeStream;
use packetscale_models::estimation::{Reading, Score};

/// 300 streams of 64 packets of 9000 B in four rates, mean rates from 6 to 8.5 Gbit/s, 10 Gbit/s, 3 Gbit/s at constant gaps.
fn even() -> Experiment {
    let mut experiment = dumbbell(Rate::from_gbps(10), Span::from_millis(1), Buffer::Unlimited, Span::from_secs(2));
    experiment.probe = Some(ProbeSpec {
        levels: 4,
        range: Ratio::of(1, 2),
        slowest: Rate::from_mbps(6000),
        fastest: Rate::from_mbps(8500),
        ..probing(300, 64)
    });
    experiment.traffic = vec![traffic(TrafficKind::Cbr { rate: Rate::from_gbps(3) }, 500, 1)];
    experiment
}

fn changed(change: impl Fn(&mut ProbeSpec)) -> Experiment {
    let mut experiment = even();
    change(experiment.probe.as_mut().expect("the scenario has probe streams"));
    experiment
}

fn probes(experiment: &Experiment) -> Vec<ProbeStream> {
    simulator::probe(experiment).unwrap_or_else(|error| panic!("{error}"))
}

fn score(probes: &[ProbeStream], method: &str) -> Score {
    let method: Method = method.parse().unwrap_or_else(|error| panic!("{method}: {error}"));
    let reading = |probe: &ProbeStream| Reading {
        truth: probe.truth.bps() as f64,
        range: (probe.lowest.bps() as f64, probe.highest.bps() as f64),
        estimate: method.estimate(probe.stream()).map(|estimate| estimate.value.bps() as f64),
    };
    Score::of(&probes.iter().map(reading).collect::<Vec<_>>())
}

#[test]
fn truth_of_constant_traffic_is_the_rest_of_the_link() {
    // At most one packet of 500 B more or less in 0.6 ms: 6.7 Mbit/s.
    for probe in probes(&even()) {
        assert!((probe.truth.bps() as f64 - 7e9).abs() < 7e6, "{:?}", probe.truth);
    }
}

#[test]
fn truth_counts_packets_that_arrive_during_a_stream() {
    let mut experiment = even();
    let rate = Rate::from_gbps(2);
    experiment.traffic = vec![traffic(TrafficKind::Poisson { rate }, 1500, 1)];
    let arrivals: Vec<_> = {
        use experiment::traffic::Source;
        let mut source = experiment::traffic::cross_traffic(&experiment, simulator::alone).unwrap().remove(0);
        std::iter::from_fn(move || source.next()).collect()
    };
    for probe in probes(&experiment) {
        let (from, to) = (probe.packets[0].left, probe.packets[63].left);
        let bits: u64 = arrivals.iter().filter(|p| from < p.at && p.at <= to).map(|p| p.size.get() * 8).sum();
        let left = 1e10 - bits as f64 / to.since(from).as_secs_f64();
        assert!((probe.truth.bps() as f64 - left).abs() < 10.0, "{:?} {left}", probe.truth);
    }
}

#[test]
fn rates_of_a_stream_rise_by_equal_ratios_about_its_mean() {
    for probe in probes(&even()) {
        assert!((probe.highest.bps() as f64 / probe.lowest.bps() as f64 - 1.5).abs() < 1e-4);
        assert!((probe.stream().send_rate().bps() as f64 / probe.mean_rate.bps() as f64 - 1.0).abs() < 1e-4);
        let gaps = probe.stream().gaps;
        assert_eq!(gaps.len(), 63);
        assert!((gaps[0].send.as_secs_f64() / gaps[16].send.as_secs_f64() - 1.5f64.cbrt()).abs() < 1e-4);
    }
}

#[test]
fn readings_are_exact_with_constant_traffic_and_exact_times() {
    let streams = probes(&even());
    let chirps = probes(&changed(|probe| probe.levels = 63));
    // The posterior expects bursts and finds none: up to 3 % off.
    let methods = [
        ("combined", 0.02),
        ("posterior", 0.03),
        ("window+multi-rate", 0.02),
        ("bass+window(part=0.375)+multi-rate", 0.02),
    ];
    for (method, most) in methods {
        for (kind, streams) in [("levels", &streams), ("chirps", &chirps)] {
            let score = score(streams, method);
            assert!(score.read == score.covering && score.read > 150, "{method}, {kind}: {}", score.read);
            let worst = score.errors[0].abs().max(score.errors[score.errors.len() - 1].abs());
            // Four levels are 14 % apart: a reading between two of them is off by up to 7 %.
            assert!(worst < 0.1, "{method}, {kind}: {worst}");
            assert!(score.quantile(0.5).abs() < most, "{method}, {kind}: {}", score.quantile(0.5));
        }
    }
}

#[test]
fn single_rates_are_judged_right_on_both_sides() {
    for (mbps, above) in [(5000, false), (6500, false), (7500, true), (9000, true)] {
        let rate = Rate::from_mbps(mbps);
        let streams = probes(&changed(|probe| (probe.levels, probe.slowest, probe.fastest) = (1, rate, rate)));
        for method in ["receive-rate", "pathload", "imr-average"] {
            let method: Method = method.parse().expect("a method");
            let said = streams
                .iter()
                .filter(|probe| method.estimate(probe.stream()).is_ok_and(|estimate| estimate.high.is_some()) == above);
            assert_eq!(said.count(), streams.len(), "{mbps} Mbit/s");
        }
    }
}

#[test]
fn a_train_is_one_stretch_of_time() {
    let streams = probes(&changed(|probe| probe.train = 3));
    for train in streams.chunk_by(|a, b| a.train == b.train) {
        assert_eq!(train.len(), 3);
        let gap = |i: usize| train[i + 1].packets[0].sent.since(train[i].packets[63].sent);
        assert_eq!((0..2).map(|i| gap(i) == train[i].packets[63].asked).collect::<Vec<_>>(), [true, true]);
        let mean = train.iter().map(|probe| probe.truth.bps() as f64).sum::<f64>() / 3.0;
        // The two gaps between them are a part of the train.
        assert!((train[0].train_truth.bps() as f64 / mean - 1.0).abs() < 2e-3);
    }
}

#[test]
fn delayed_acknowledgments_time_every_other_packet() {
    let streams = probes(&changed(|probe| probe.acknowledge = 2));
    let stream = streams[0].stream();
    assert_eq!(stream.gaps.iter().filter(|gap| gap.acked).count(), 32);
    let acked: Span = stream.gaps.iter().filter(|gap| gap.acked).map(|gap| gap.receive).sum();
    assert_eq!(acked, streams[0].packets[63].seen.since(streams[0].packets[0].seen));
    let score = score(&streams, "normalise+posterior");
    assert!(score.errors.iter().all(|error| error.abs() < 0.1) && score.read > 150);
}

#[test]
fn coalescing_gives_a_batch_one_time() {
    let mut experiment = even();
    experiment.receiver.coalescing = Coalescing { time: Span::from_micros(120), ..Coalescing::NONE };
    for probe in probes(&experiment).iter().take(50) {
        let batches: Vec<_> = probe.packets.chunk_by(|a, b| a.seen == b.seen).collect();
        assert!((3..=8).contains(&batches.len()), "{}", batches.len());
        // The stream is alone on its way: each batch waits for 120 us from its first packet on.
        for batch in batches {
            let arrived = batch[0].passed + Span::from_millis(1);
            assert_eq!(batch[0].seen.since(arrived).nanos(), 120_000 - arrived.picos() % 1000 / 1000);
        }
    }
}

#[test]
fn hosts_err_by_model_and_records_hold_scheduled_gaps() {
    // At most 9.3 Gbit/s, so that the card is never busy.
    let mut experiment =
        changed(|probe| (probe.access, probe.fastest) = (Some(Rate::from_gbps(10)), Rate::from_mbps(7500)));
    experiment.gaps = GapModel::BusyWait(Span::from_micros(1));
    for probe in probes(&experiment) {
        assert!(probe.gap_errors_ns().all(|error| (-1000.0..=1.0).contains(&error)));
        let (sent, asked) = (probe.packets[5].sent.since(probe.packets[4].sent), probe.packets[5].asked);
        assert!(sent.picos() % 1_000_000 == 0 && sent < asked);
    }
    let probe = experiment.probe.expect("the scenario has probe streams");
    experiment.probe = Some(ProbeSpec { recorded: Recorded::Intended, ..probe });
    for probe in probes(&experiment) {
        assert_eq!(probe.packets[5].sent.since(probe.packets[4].sent), probe.packets[5].asked);
    }
}

#[test]
fn lost_packets_are_counted_and_left_out() {
    let mut experiment = even();
    experiment.links[0].loss = Ratio::of(1, 100);
    let streams = probes(&experiment);
    let lost: u32 = streams.iter().map(|probe| probe.lost).sum();
    // 19 200 packets at 1 %: 192, standard deviation 13.8.
    assert!((130..=254).contains(&lost), "{lost}");
    assert!(streams.iter().all(|probe| probe.packets.len() + probe.lost as usize == 64));
}

#[test]
fn the_same_seed_gives_the_same_streams() {
    let seen =
        |experiment: &Experiment| probes(experiment).iter().map(|probe| probe.packets[63].seen).collect::<Vec<_>>();
    assert_eq!(seen(&even()), seen(&even()));
    assert_ne!(seen(&even()), seen(&Experiment { seed: 2, ..even() }));
}
