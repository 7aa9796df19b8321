//! Waiting times against exact queueing theory.

use crate::support;

use experiment::scenario::{Buffer, TrafficKind};
use packetscale_models::units::{Rate, Span};
use support::{dumbbell, traffic};

/// Mean and standard error over independent seeds.
fn over_seeds(seeds: u64, mut one: impl FnMut(u64) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (1..=seeds).map(&mut one).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Waiting in M/D/1 with service time S and load u: u S / (2 (1 - u)) (Pollaczek-Khinchine).
#[test]
fn poisson_arrivals_wait_as_long_as_in_m_d_1() {
    for load in [0.5, 0.8] {
        let mut experiment =
            dumbbell(Rate::from_mbps(100), Span::from_millis(1), Buffer::Unlimited, Span::from_secs(20));
        experiment.warmup = Span::from_secs(1);
        experiment.record.detail = false;
        let rate = Rate::from_bps((load * 100e6) as u64);
        experiment.traffic = vec![traffic(TrafficKind::Poisson { rate }, 1000, 1)];
        let (found, error) = over_seeds(10, |seed| {
            experiment.seed = seed;
            simulator::run(&experiment).unwrap().summary.queue_delay_mean_s.unwrap()
        });
        let expected = load * 80e-6 / (2.0 * (1.0 - load));
        assert!((found - expected).abs() < 4.0 * error, "load {load}: {found} +- {error}, expected {expected}");
        assert!(error < 0.05 * expected, "the test has no power: {error}");
    }
}

/// P(V > y) of the N*D/D/1 queue at an arrival of one of the other sources: N sources with period T (in packet
/// times) and independent uniform phases (Roberts, Mocci and Virtamo 1996, section 15.2).
fn periodic_excess(sources: u64, period: f64, y: f64) -> f64 {
    let mut total = 0.0;
    let mut n = y.floor() as u64 + 1;
    while n <= sources {
        let k = n as f64;
        let p = (k - y) / period;
        let choose: f64 = (0..n).map(|i| (sources - i) as f64 / (n - i) as f64).product();
        total += choose
            * p.powi(n as i32)
            * (1.0 - p).powi((sources - n) as i32)
            * ((period - sources as f64 + y) / (period - k + y));
        n += 1;
    }
    total
}

#[test]
fn periodic_sources_wait_as_long_as_in_n_d_d_1() {
    // 50 sources of one packet each per 60 packet times: load 0.83. An arriving packet meets the workload of the 49
    // others at a random instant of theirs, so its mean wait is the integral of P(V > y) with N = 49.
    let sources = 50;
    let packet_time = 80e-6;
    let expected =
        (0..4900).map(|i| periodic_excess(sources - 1, 60.0, (f64::from(i) + 0.5) * 0.01) * 0.01).sum::<f64>()
            * packet_time;
    let mut experiment =
        dumbbell(Rate::from_mbps(100), Span::from_millis(1), Buffer::Unlimited, Span::from_millis(100));
    experiment.warmup = Span::from_millis(10);
    experiment.record.detail = false;
    let each = Rate::from_bps(100_000_000 / 60);
    let kind = TrafficKind::Cbr { rate: each };
    experiment.traffic = vec![traffic(kind, 1000, sources as u32)];
    let (found, error) = over_seeds(4000, |seed| {
        experiment.seed = seed;
        simulator::run(&experiment).unwrap().summary.queue_delay_mean_s.unwrap()
    });
    assert!((found - expected).abs() < 4.0 * error, "{found} +- {error}, expected {expected}");
    assert!(error < 0.05 * expected, "the test has no power: {error}");
}

/// Against the sum above, which shares no code with the one behind the figure.
#[test]
fn the_distance_from_the_bound_is_that_from_n_d_d_1() {
    let mut experiment = dumbbell(Rate::from_mbps(100), Span::from_millis(20), Buffer::Unlimited, Span::from_secs(20));
    experiment.warmup = Span::from_secs(10);
    experiment.links[0].queue = experiment::scenario::QueueSpec::named("rcp");
    let target = packetscale_models::settings::Setting::Ratio(packetscale_models::units::Ratio::of(4, 5));
    experiment.links[0].queue.settings.insert("target".to_string(), target);
    experiment.flows = vec![support::flow("rcp", 1000, Span::from_millis(40)).into(); 20];
    for (index, flow) in experiment.flows.iter_mut().enumerate() {
        flow.start =
            experiment::scenario::Start::At(packetscale_models::units::Time::from_nanos(137_911_000 * index as u64));
    }
    let summary = simulator::run(&experiment).unwrap().summary;
    let found_packets = summary.queue_delay_mean_s.unwrap() / 80e-6;
    let period = 20.0 / summary.utilisation.unwrap();
    let least: f64 = (0..1900).map(|i| periodic_excess(19, period, (f64::from(i) + 0.5) * 0.01) * 0.01).sum();
    let ratio = summary.queue_over_bound.expect("twenty flows on one link");
    assert!((ratio / (found_packets / least) - 1.0).abs() < 0.01, "{ratio}: {found_packets} packets of {least}");
}

#[test]
fn the_bound_is_for_flows_alone_on_one_link() {
    let mut experiment = dumbbell(Rate::from_mbps(10), Span::from_millis(5), Buffer::Unlimited, Span::from_secs(2));
    experiment.flows = vec![support::flow("newreno", 1000, Span::from_millis(10)).into(); 2];
    let ratio =
        |experiment: &experiment::scenario::Experiment| simulator::run(experiment).unwrap().summary.queue_over_bound;
    assert!(ratio(&experiment).is_some_and(|ratio| ratio > 1.0));
    let mut alone = experiment.clone();
    alone.flows.truncate(1);
    assert_eq!(ratio(&alone), None);
    let mut unequal = experiment.clone();
    unequal.flows[1].packet = packetscale_models::units::Bytes::new(1500);
    assert_eq!(ratio(&unequal), None);
    experiment.traffic = vec![traffic(TrafficKind::Cbr { rate: Rate::from_mbps(1) }, 1000, 1)];
    assert_eq!(ratio(&experiment), None);
}
