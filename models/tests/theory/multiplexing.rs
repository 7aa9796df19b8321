//! The exact method compared with packets counted from the first arrival on, with the laws, and with the paper's
//! figures.

use packetscale_models::theory::Error;
use packetscale_models::theory::multiplexing::bounds::{lower_constant, queue_packets, upper_constant};
use packetscale_models::theory::multiplexing::laws::Law;
use packetscale_models::theory::multiplexing::{
    Arrivals, Estimate, Runner, Setting, Tally, largest_utilisation, pooled, smallest_buffer,
};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

fn setting(flows: u32, utilisation: f64, arrivals: Arrivals) -> Setting {
    Setting { flows, utilisation, arrivals, buffer_packets: None }
}

fn run(setting: Setting, groups: u64, runs_per_group: u32) -> Vec<Tally> {
    let mut runner = Runner::new(setting).unwrap();
    let group = |seed| {
        let mut source = Pcg64Mcg::seed_from_u64(seed);
        let mut tally = Tally::default();
        (0..runs_per_group).for_each(|_| runner.run(&mut || source.next_u64(), &mut tally).unwrap());
        tally
    };
    (1..=groups).map(group).collect()
}

fn within(estimate: Estimate, expected: f64, errors: f64, beyond: f64) -> bool {
    (estimate.value - expected).abs() <= errors * estimate.standard_error.unwrap() + beyond
}

/// Counts packets without any modulo. Every flow sends from its own arrival on; the queue is read in the last of many
/// periods after the last arrival.
fn mean_queue_from_the_first_arrival_on(flows: usize, utilisation: f64, seed: u64) -> f64 {
    let mut source = Pcg64Mcg::seed_from_u64(seed);
    let period = flows as f64 / utilisation;
    let mut starts = vec![0.0f64];
    let _ = source.next_u64();
    for _ in 1..flows {
        let uniform = ((source.next_u64() >> 11) as f64 + 0.5) / 2f64.powi(53);
        starts.push(starts.last().unwrap() + 2.0 * uniform / utilisation);
    }
    let from = starts.last().unwrap() + 3.5 * period;
    let sends = |start: f64| (0..12).map(move |n| start + f64::from(n) * period);
    let mut packets: Vec<f64> = starts.iter().flat_map(|&start| sends(start)).collect();
    packets.sort_by(f64::total_cmp);
    let (mut free_at, mut sum, mut count) = (0.0f64, 0.0, 0);
    for arrival in packets {
        let begins = free_at.max(arrival);
        if arrival > from && arrival <= from + period {
            sum += begins - arrival;
            count += 1;
        }
        free_at = begins + 1.0;
    }
    assert_eq!(count, flows);
    sum / count as f64
}

#[test]
fn two_periods_equal_many_from_the_first_arrival_on() {
    for (seed, utilisation) in (1..20).zip([1.0, 0.97, 0.9, 0.6].into_iter().cycle()) {
        let mut source = Pcg64Mcg::seed_from_u64(seed);
        let mut tally = Tally::default();
        let mut runner = Runner::new(setting(60, utilisation, Arrivals::Uniform)).unwrap();
        runner.run(&mut || source.next_u64(), &mut tally).unwrap();
        let counted = mean_queue_from_the_first_arrival_on(60, utilisation, seed);
        assert!((tally.mean_packets() - counted).abs() < 1e-9, "{} {counted}", tally.mean_packets());
    }
}

/// Section V: the queue of the top 1 % with 1000 flows, as printed (rounded to packets), with 1000 runs as in the
/// paper.
#[test]
fn reproduces_printed_queues_of_the_top_1_percent() {
    let printed = [
        (0.95, Arrivals::Uniform, 25.0),
        (0.95, Arrivals::Exponential, 49.0),
        (0.95, Arrivals::Pareto(2.1), 75.0),
        (0.75, Arrivals::Uniform, 9.0),
        (0.75, Arrivals::Exponential, 20.0),
        (0.75, Arrivals::Pareto(2.1), 34.0),
        (0.5, Arrivals::Uniform, 2.0),
        (0.5, Arrivals::Exponential, 5.0),
        (0.5, Arrivals::Pareto(2.1), 5.0),
    ];
    for (utilisation, arrivals, packets) in printed {
        let groups = run(setting(1000, utilisation, arrivals), 20, 50);
        let top = pooled(&groups, |tally| tally.top_packets(0.01));
        println!("{arrivals:?} {utilisation}: {top:?}, printed {packets}");
        // Both are samples of 1000 runs, so their difference has sqrt(2) times the standard error.
        assert!(within(top, packets, 3.0 * 2f64.sqrt(), 0.5), "{arrivals:?} {utilisation}: {top:?}, printed {packets}");
    }
}

/// Section VI: "about 20, 40 and 50 packets" for a loss of 1 %.
#[test]
fn reproduces_printed_buffers_for_1_percent_loss() {
    for (arrivals, printed) in [(Arrivals::Uniform, 20.0), (Arrivals::Exponential, 40.0), (Arrivals::Pareto(2.1), 50.0)]
    {
        let loss = |buffer| {
            let limited = Setting { buffer_packets: Some(buffer), ..setting(1000, 1.0, arrivals) };
            Ok::<f64, Error>(pooled(&run(limited, 10, 20), Tally::loss_ratio).value)
        };
        let buffer = f64::from(smallest_buffer(1000, 0.01, loss).unwrap());
        println!("{arrivals:?}: {buffer}");
        // Read off Figure 12, which has a tick every 5 packets.
        assert!((buffer - printed).abs() <= 5.0, "{arrivals:?}: {buffer}");
    }
}

#[test]
fn the_exact_periodic_sum_agrees_with_independent_phases() {
    for (flows, utilisation) in [(10, 1.0), (100, 0.9), (300, 0.97)] {
        let setting = setting(flows, utilisation, Arrivals::Phases);
        let groups = run(setting, 20, 200_000 / flows / 20 * 10);
        let law = Law::of(&setting).unwrap();
        assert!(matches!(law, Law::Periodic { .. }));
        let mean = pooled(&groups, Tally::mean_packets);
        assert!(within(mean, law.mean_packets(), 4.0, 1e-3 * mean.value), "{mean:?} {}", law.mean_packets());
        let below_one = pooled(&groups, Tally::no_queue_fraction);
        assert!(within(below_one, 1.0 - law.exceeds(1.0), 4.0, 0.0), "{below_one:?} {}", law.exceeds(1.0));
        let top = pooled(&groups, |tally| tally.top_packets(0.05));
        assert!(within(top, law.top_packets(0.05), 4.0, 2e-3 * top.value), "{top:?} {}", law.top_packets(0.05));
    }
}

/// Two flows with independent phases at full load, T = 2: a packet finds work if the other's packet arrived less than
/// one packet time before, so P(V > y) = (1 - y) / 2.
#[test]
fn the_exact_periodic_sum_is_linear_for_two_flows() {
    let law = Law::Periodic { others: 1, period: 2.0 };
    for y in [0.0, 0.25, 0.5, 0.9] {
        assert!((law.exceeds(y) - 0.5 * (1.0 - y)).abs() < 1e-12, "{y}: {}", law.exceeds(y));
    }
}

#[test]
fn the_bridge_is_the_limit_of_the_periodic_sum() {
    let flows = 5_000;
    for utilisation in [1.0, 0.99] {
        let exact = Law::Periodic { others: flows - 1, period: f64::from(flows) / utilisation };
        let bridge = Law::Bridge { flows: f64::from(flows), slack: f64::from(flows) * (1.0 / utilisation - 1.0) };
        for y in [5.0, 20.0, 60.0] {
            let (a, b) = (exact.exceeds(y), bridge.exceeds(y));
            // The next term of the expansion is of order 1 / sqrt N.
            assert!((a - b).abs() < 2.0 / f64::from(flows).sqrt(), "{utilisation} {y}: {a} {b}");
        }
    }
}

#[test]
fn successive_arrivals_follow_brownian_motion_with_a_jump() {
    for (utilisation, arrivals) in
        [(1.0, Arrivals::Exponential), (1.0, Arrivals::Uniform), (0.995, Arrivals::Exponential)]
    {
        let setting = setting(10_000, utilisation, arrivals);
        let groups = run(setting, 20, 10);
        let law = Law::of(&setting).unwrap();
        let mean = pooled(&groups, Tally::mean_packets);
        // Packets are discrete: any law of this kind gives a queue of 50 to about one packet.
        assert!(within(mean, law.mean_packets(), 3.0, 1.0), "{mean:?} {}", law.mean_packets());
        let top = pooled(&groups, |tally| tally.top_packets(0.01));
        assert!(within(top, law.top_packets(0.01), 3.0, 1.0), "{top:?} {}", law.top_packets(0.01));
        let bridge = Law::of(&Setting { arrivals: Arrivals::Phases, ..setting }).unwrap();
        assert!(!within(mean, bridge.mean_packets(), 3.0, 1.0), "{mean:?} {}", bridge.mean_packets());
    }
}

/// At full load the mean of the law is `c sqrt(2 / pi)`.
#[test]
fn the_law_with_a_jump_has_its_closed_mean_at_full_load() {
    let law = Law::Jump { scale: 100.0, slack: 0.0 };
    let closed = 100.0 * (2.0 / core::f64::consts::PI).sqrt();
    assert!((law.mean_packets() - closed).abs() < 1e-4 * closed, "{} {closed}", law.mean_packets());
}

#[test]
fn constants_of_the_bounds_are_unrounded_figure_3() {
    let round = |x: f64| (x * 100.0).round() / 100.0;
    let lower = |arrivals, fraction| round(queue_packets(1, arrivals, fraction).unwrap().0);
    assert_eq!(lower(Arrivals::Uniform, 0.01), 0.89);
    assert_eq!(lower(Arrivals::Uniform, 0.05), 0.49);
    assert_eq!(lower(Arrivals::Exponential, 0.01), 1.54);
    assert_eq!(lower(Arrivals::Exponential, 0.05), 0.85);
    assert!((lower_constant(0.01) - 1.1).abs() < 0.05 && (lower_constant(0.05) - 0.6).abs() < 0.05);
    // Quantiles of the normal law, divided by sqrt 2: 2.326 and 1.645.
    assert!((upper_constant(0.01) - 2.326_348 / 2f64.sqrt()).abs() < 1e-6);
    assert!((upper_constant(0.05) - 1.644_854 / 2f64.sqrt()).abs() < 1e-6);
    assert_eq!(queue_packets(100, Arrivals::Pareto(1.8), 0.01), None);
}

#[test]
fn the_standard_error_of_a_mean_is_the_classic_one() {
    let groups = run(setting(50, 1.0, Arrivals::Exponential), 30, 4);
    let means: Vec<f64> = groups.iter().map(Tally::mean_packets).collect();
    let mean = means.iter().sum::<f64>() / 30.0;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 29.0;
    let estimate = pooled(&groups, Tally::mean_packets);
    assert!((estimate.value - mean).abs() < 1e-9);
    assert!((estimate.standard_error.unwrap() - (variance / 30.0).sqrt()).abs() < 1e-9);
}

#[test]
fn one_packet_per_flow_never_overflows() {
    let alone = pooled(&run(setting(1, 1.0, Arrivals::Uniform), 1, 10), Tally::mean_packets);
    assert_eq!(alone, Estimate { value: 0.0, standard_error: None });
    let full = Setting { buffer_packets: Some(40), ..setting(40, 1.0, Arrivals::Pareto(1.2)) };
    assert_eq!(pooled(&run(full, 2, 500), Tally::loss_ratio).value, 0.0);
}

#[test]
fn a_loss_target_gives_the_highest_load_that_meets_it() {
    let loss = |utilisation| {
        let limited = Setting { buffer_packets: Some(10), ..setting(200, utilisation, Arrivals::Phases) };
        Ok::<f64, Error>(pooled(&run(limited, 1, 50), Tally::loss_ratio).value)
    };
    let utilisation = largest_utilisation(1.0, 0.001, loss).unwrap();
    assert!(utilisation > 0.5 && utilisation < 1.0, "{utilisation}");
    assert!(loss(utilisation).unwrap() <= 0.001 && loss(utilisation + 1e-4).unwrap() > 0.001);
}

#[test]
fn inputs_outside_the_domain_are_refused_by_name() {
    let good = setting(10, 1.0, Arrivals::Uniform);
    for (bad, key) in [
        (Setting { flows: 0, ..good }, "flows"),
        (Setting { utilisation: 1.01, ..good }, "utilisation"),
        (Setting { utilisation: f64::NAN, ..good }, "utilisation"),
        (Setting { buffer_packets: Some(0), ..good }, "buffer"),
        (Setting { arrivals: Arrivals::Pareto(0.9), ..good }, "arrivals"),
    ] {
        let message = Runner::new(bad).err().unwrap().to_string();
        assert!(message.starts_with(key), "{message}");
    }
}
