//! The pacer `qlbp` in the simulator compared with its closed forms: steady delay, transients, step response, and how
//! much of the burstiness of Markov on-off traffic it leaves.
//!
//! The oracle is `models/src/theory`, which uses a fluid and the spectrum of the source; only its steady delay knows
//! packets. It shares no code with the discipline.

mod path;

use experiment::scenario::Scenario;
use packetscale_models::theory::qlbp::{OnOff, Pacer, Reading};
use packetscale_models::units::{Bytes, Packets, Rate, Span, Time};
use path::mean;
use rayon::prelude::*;
use simulator::{Mode, Served};
use std::path::Path;

/// A pacer on 10 Mbit/s, and traffic.
fn experiment(seconds: u64, queue: &str, traffic: &str) -> experiment::scenario::Experiment {
    let text = format!(
        "[run]\nduration = \"{seconds} s\"\nwarmup = \"1 s\"\n[path]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
         buffer = \"unlimited\"\nqueue = {{ kind = \"qlbp\", {queue} }}\n[[traffic]]\n{traffic}\n"
    );
    Scenario::parse(&text, Path::new("qlbp.toml"), &[]).unwrap_or_else(|error| panic!("{error}")).plan().remove(0)
}

fn mean_delay(experiment: &experiment::scenario::Experiment) -> f64 {
    simulator::run(experiment).unwrap_or_else(|error| panic!("{error}")).summary.queue_delay_mean_s.unwrap()
}

fn served(experiment: &experiment::scenario::Experiment) -> Vec<Served> {
    let log = simulator::log(experiment, Mode::Fused).unwrap_or_else(|error| panic!("{error}"));
    assert!(log.len() > 100, "only {} packets", log.len());
    log
}

/// The setting of Table II.
fn table_2(reading: Reading) -> Pacer {
    Pacer {
        mu_min: Rate::from_mbps(2),
        mu_max: Rate::from_mbps(10),
        q_max: Packets::new(10),
        packet: Bytes::new(1000),
        reading,
    }
}

#[test]
fn at_a_constant_rate_packets_wait_for_the_steady_delay() {
    for reading in [Reading::Waiting, Reading::WithInService] {
        let option = reading == Reading::WithInService;
        let queue = format!(
            "mu_min = \"2 Mbit/s\", mu_max = \"10 Mbit/s\", q_max = \"10 packets\", qmax_includes_in_service = {option}"
        );
        for mbps in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] {
            let traffic = format!("kind = \"cbr\"\nrate = \"{mbps} Mbit/s\"\npacket = \"1000 B\"");
            let found = mean_delay(&experiment(20, &queue, &traffic));
            let pacer = table_2(reading);
            let expected = pacer.steady_delay_of_packets_s(Rate::from_mbps(mbps));
            let packet_s = 8e-3 / mbps as f64;
            assert!((found - expected).abs() < 0.01 * packet_s, "{mbps} Mbit/s, {reading:?}: {found}, not {expected}");
            assert!(
                (found - pacer.steady_delay_s(Rate::from_mbps(mbps))).abs() <= packet_s * 1.01,
                "{mbps}: the fluid"
            );
            assert!(found <= pacer.bound_s(), "{mbps} Mbit/s: {found} above the bound of Theorem 1");
        }
    }
}

/// The published values: 0, 0, 4, 5.33, 6, 6.4 ms.
#[test]
fn counting_the_packet_in_service_gives_table_2() {
    let queue =
        "mu_min = \"2 Mbit/s\", mu_max = \"10 Mbit/s\", q_max = \"10 packets\", qmax_includes_in_service = true";
    for (mbps, published_ms) in [(1, 0.0), (2, 0.0), (4, 4.0), (6, 5.33), (8, 6.0), (10, 6.4)] {
        let traffic = format!("kind = \"cbr\"\nrate = \"{mbps} Mbit/s\"\npacket = \"1000 B\"");
        let found = mean_delay(&experiment(20, queue, &traffic)) * 1e3;
        assert!((found - published_ms).abs() < 0.01, "{mbps} Mbit/s: {found} ms, published {published_ms} ms");
    }
}

/// A packet that finds the queue at `n` leaves within the sum of S / mu(j) over j = 1 ... n plus the time that the
/// packets beyond q_max take on the wire, its own included. Bursts of 25 packets enter a pacer for 20 and one for 40.
#[test]
fn burst_packets_wait_at_most_the_sum_of_all_gaps() {
    for q_max in [20u64, 40] {
        let queue = format!("mu_min = \"100 kbit/s\", mu_max = \"10 Mbit/s\", q_max = \"{q_max} packets\"");
        let traffic = "kind = \"on-off\"\nrate = \"200 Mbit/s\"\non = \"1 ms\"\noff = \"400 ms\"\npacket = \"1000 B\"";
        let log = served(&experiment(20, &queue, traffic));
        let longest = log.iter().map(|served| served.departure.since(served.arrival)).max().expect("packets");
        let pacer = Pacer { mu_min: Rate::from_bps(100_000), q_max: Packets::new(q_max), ..table_2(Reading::Waiting) };
        let (found, wire) = (longest.as_secs_f64(), 0.8e-3);
        let most = pacer.emptying_s() + wire * (1.0 + 25u64.saturating_sub(q_max) as f64);
        assert!(found <= most, "q_max {q_max}: {found} s, at most {most} s");
        assert!(
            found > 2.0 * pacer.bound_s(),
            "q_max {q_max}: {found} s: bursts that leave Theorem 1 in force show nothing"
        );
    }
}

/// From an empty queue the output follows mu(t). What has left by t is its integral, to a packet or two.
#[test]
fn after_an_input_step_the_output_follows_the_fluid() {
    let queue = "mu_min = \"1 Mbit/s\", mu_max = \"10 Mbit/s\", q_max = \"400 packets\"";
    let traffic = "kind = \"cbr\"\nrate = \"8 Mbit/s\"\npacket = \"250 B\"";
    let log = served(&experiment(3, queue, traffic));
    let pacer = Pacer {
        mu_min: Rate::from_mbps(1),
        q_max: Packets::new(400),
        packet: Bytes::new(250),
        ..table_2(Reading::Waiting)
    };
    let (mut fluid_packets, step) = (0.0, Span::from_micros(100));
    for i in 0..10_000u64 {
        let after = step * i;
        if i % 500 == 0 && i > 0 {
            let left = log.iter().filter(|served| served.departure <= Time::ZERO + after).count() as f64;
            assert!((left - fluid_packets).abs() < 3.0, "{after}: {left} packets, the fluid {fluid_packets}");
        }
        fluid_packets += pacer.step_response_bps(Rate::from_mbps(8), after + step / 2) * step.as_secs_f64() / 2000.0;
    }
    let unpaced = 8e6 / 2000.0;
    assert!(unpaced - fluid_packets > 200.0, "the step is over before it can be seen");
}

/// The Markov on-off source of the paper's section V-B.1.
const SOURCE: OnOff = OnOff { peak: Rate::from_mbps(2), idle: Span::from_millis(200), burst: Span::from_millis(100) };
const MARKOV: &str = "kind = \"exponential-on-off\"\nrate = \"2 Mbit/s\"\non = \"100 ms\"\noff = \"200 ms\"";

/// Theorem 2, with alpha above r = 15/s and near it. The rate is taken in windows of 5 ms around its known mean. That
/// changes the result by at most (window)^2 r^2 / 12, which is 0.05 %. Packets of 100 B make the fluid a good
/// assumption.
#[test]
fn the_outputs_autocovariance_is_that_of_theorem_2() {
    let window = Span::from_millis(5);
    for q_max in [250u64, 833] {
        let pacer = Pacer {
            mu_min: Rate::ZERO,
            q_max: Packets::new(q_max),
            packet: Bytes::new(100),
            ..table_2(Reading::Waiting)
        };
        let queue = format!("mu_min = \"0 bit/s\", mu_max = \"10 Mbit/s\", q_max = \"{q_max} packets\"");
        let run = experiment(301, &queue, &format!("{MARKOV}\npacket = \"100 B\""));
        let lags = [4usize, 10, 20, 40];
        let covariances = |seed: u64| -> Vec<f64> {
            let log = served(&experiment::scenario::Experiment { seed, ..run.clone() });
            let mut rate = vec![-SOURCE.mean_bps(); 60_000];
            for served in &log {
                let slot = served.departure.since(Time::ZERO).saturating_sub(Span::from_secs(1)) / window;
                if served.departure > Time::ZERO + Span::from_secs(1) && (slot as usize) < rate.len() {
                    rate[slot as usize] += 800.0 / window.as_secs_f64();
                }
            }
            let at = |lag: usize| {
                let products = rate.iter().zip(&rate[lag..]).map(|(a, b)| a * b);
                products.sum::<f64>() / (rate.len() - lag) as f64
            };
            lags.iter().map(|lag| at(*lag)).collect()
        };
        let found: Vec<Vec<f64>> = (1..=16u64).into_par_iter().map(covariances).collect();
        let mut apart = false;
        for (i, lag) in lags.iter().enumerate() {
            let (value, error) = mean(&found.iter().map(|one| one[i]).collect::<Vec<_>>());
            let alpha = pacer.response_per_s();
            let expected = SOURCE.paced_autocovariance(alpha, window * *lag as u64);
            assert!(
                (value - expected).abs() < 3.5 * error,
                "q_max {q_max}, lag {lag}: {value:e} +- {error:e}, {expected:e}"
            );
            let whole = SOURCE.paced_autocovariance(alpha, Span::ZERO);
            assert!(error < 0.03 * whole, "q_max {q_max}, lag {lag}: no power: {error:e} of {whole:e}");
            let input = SOURCE.autocovariance(window * *lag as u64);
            apart |= (expected - input).abs() > 5.0 * error;
        }
        assert!(apart, "q_max {q_max}: a pacer that does nothing would pass");
    }
}

/// The coefficient of variation in windows of 50 ms after one, two and three pacers, as in Figure 7, but with packets
/// of 100 B and mu_min near zero, as the fluid assumes.
#[test]
fn pacers_in_tandem_leave_the_fluids_variation() {
    let link = |name: &str| {
        format!(
            "[[link]]\nname = \"{name}\"\nrate = \"10 Mbit/s\"\ndelay = \"2 ms\"\nbuffer = \"unlimited\"\n\
             queue = {{ kind = \"qlbp\", mu_min = \"1 kbit/s\", mu_max = \"10 Mbit/s\", q_max = \"400 packets\" }}\n"
        )
    };
    let pacer = Pacer {
        mu_min: Rate::from_bps(1000),
        q_max: Packets::new(400),
        packet: Bytes::new(100),
        ..table_2(Reading::Waiting)
    };
    for pacers in 1..=3u32 {
        let links: String = (0..pacers).map(|n| link(&format!("p{n}"))).collect();
        let text = format!(
            "[run]\nduration = \"301 s\"\nwarmup = \"1 s\"\nreplications = 12\n{links}[[traffic]]\n{MARKOV}\npacket = \"100 B\"\n\
             [record]\ndetail = false\nwindows = [\"50 ms\"]\nlink = \"p{}\"\n",
            pacers - 1
        );
        let plan = Scenario::parse(&text, Path::new("tandem.toml"), &[]).unwrap_or_else(|e| panic!("{e}")).plan();
        let left = |run: &experiment::scenario::Experiment| {
            simulator::run(run).ok().and_then(|run| run.summary.variation_left)
        };
        let (found, error) = mean(&plan.par_iter().filter_map(left).collect::<Vec<_>>());
        let window = Span::from_millis(50);
        let of = |passed| SOURCE.variation(pacer.response_per_s(), passed, window);
        let expected = of(pacers) / of(0);
        assert!((found - expected).abs() < 4.0 * error, "{pacers} pacers: {found} +- {error}, the fluid {expected}");
        assert!(error < 0.01 * expected, "{pacers} pacers: no power: {error}");
    }
}
