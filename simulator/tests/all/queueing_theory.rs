//! Waiting times against exact queueing theory.

use super::*;

/// 100 Mbit/s, where packets of 1000 B take 80 us, under this traffic.
fn loaded(duration_ms: u64, warmup_ms: u64, kind: TrafficKind, copies: u32) -> Experiment {
    let (delay, duration) = (Span::from_millis(1), Span::from_millis(duration_ms));
    let mut experiment = dumbbell(Rate::from_mbps(100), delay, Buffer::Unlimited, duration);
    experiment.warmup = Span::from_millis(warmup_ms);
    experiment.record.detail = false;
    experiment.traffic = vec![traffic(kind, 1000, copies)];
    experiment
}

/// Asserts that the mean wait over independent seeds is this, within four standard errors, which are small.
fn waits(mut experiment: Experiment, seeds: u64, expected: f64) {
    let wait = |seed| {
        experiment.seed = seed;
        run(&experiment).summary.queue_delay_mean_s.unwrap()
    };
    let values: Vec<f64> = (1..=seeds).map(wait).collect();
    let n = values.len() as f64;
    let found = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - found) * (v - found)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!((found - expected).abs() < 4.0 * error, "{found} +- {error}, expected {expected}");
    assert!(error < 0.05 * expected, "the test has no power: {error}");
}

/// Waiting in M/D/1 with service time S and load u: u S / (2 (1 - u)) (Pollaczek-Khinchine).
#[test]
fn poisson_arrivals_wait_as_in_m_d_1() {
    for load in [0.5, 0.8] {
        let rate = Rate::from_bps((load * 100e6) as u64);
        let experiment = loaded(20_000, 1000, TrafficKind::Poisson { rate }, 1);
        waits(experiment, 10, load * 80e-6 / (2.0 * (1.0 - load)));
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

/// The mean wait in packet times: the integral of P(V > y), which is nothing from `sources` packet times on.
fn periodic_wait(sources: u64, period: f64) -> f64 {
    (0..100 * sources).map(|i| periodic_excess(sources, period, (i as f64 + 0.5) * 0.01) * 0.01).sum()
}

/// 50 sources of one packet each per 60 packet times: load 0.83. An arriving packet meets the workload of the 49 others
/// at a random instant of theirs.
#[test]
fn periodic_sources_wait_as_in_n_d_d_1() {
    let rate = Rate::from_bps(100_000_000 / 60);
    waits(loaded(100, 10, TrafficKind::Cbr { rate }, 50), 4000, periodic_wait(49, 60.0) * 80e-6);
}

/// Against the sum above, which shares no code with the one behind the figure.
#[test]
fn distance_from_the_bound_matches_n_d_d_1() {
    let mut experiment = dumbbell(Rate::from_mbps(100), Span::from_millis(20), Buffer::Unlimited, Span::from_secs(20));
    experiment.warmup = Span::from_secs(10);
    experiment.links[0].queue = queue("rcp", &[("target", Setting::Ratio(Ratio::of(4, 5)))]);
    experiment.flows = vec![flow("rcp", 1000, Span::from_millis(40)).into(); 20];
    for (index, flow) in experiment.flows.iter_mut().enumerate() {
        flow.start = Start::At(Time::from_nanos(137_911_000 * index as u64));
    }
    let summary = run(&experiment).summary;
    let found_packets = summary.queue_delay_mean_s.unwrap() / 80e-6;
    let period = 20.0 / summary.utilisation.unwrap();
    let least = periodic_wait(19, period);
    let ratio = summary.queue_over_bound.expect("twenty flows on one link");
    assert!((ratio / (found_packets / least) - 1.0).abs() < 0.01, "{ratio}: {found_packets} packets of {least}");
}

#[test]
fn the_bound_is_for_flows_alone_on_one_link() {
    let mut experiment = dumbbell(Rate::from_mbps(10), Span::from_millis(5), Buffer::Unlimited, Span::from_secs(2));
    experiment.flows = vec![flow("newreno", 1000, Span::from_millis(10)).into(); 2];
    let ratio = |experiment: &Experiment| run(experiment).summary.queue_over_bound;
    assert!(ratio(&experiment).is_some_and(|ratio| ratio > 1.0));
    let mut alone = experiment.clone();
    alone.flows.truncate(1);
    assert_eq!(ratio(&alone), None);
    let mut unequal = experiment.clone();
    unequal.flows[1].packet = Bytes::new(1500);
    assert_eq!(ratio(&unequal), None);
    experiment.traffic = vec![traffic(TrafficKind::Cbr { rate: Rate::from_mbps(1) }, 1000, 1)];
    assert_eq!(ratio(&experiment), None);
}
