//! Flows that arrive and share a link equally, against the M/G/1 queue under processor sharing: the mean slowdown of each
//! size is `1 / (1 - load)` (L. Kleinrock, "Queueing Systems" II, 1976, section 4.4). With a receive window of two packets
//! and no delay or loss, flows take turns in a FIFO queue: processor sharing in whole packets.

use super::*;
use crate::support::plan;

const LOAD: f64 = 0.6;

fn runs(size: &str) -> Vec<Run> {
    let text = format!(
        r#"
        run = {{ duration = "1300 s", warmup = "100 s", replications = 8 }}
        path = {{ rate = "40 Mbit/s", delay = "0 s", buffer = "unlimited" }}
        receiver = {{ delayed_ack = 1, window = "2 packets" }}
        record = {{ detail = false, transfers = true }}
        [[flow]]
        controller = "newreno"
        packet = "1000 B"
        size = {size}
        arrivals = {{ kind = "poisson", load = {LOAD} }}
        "#
    );
    plan(&text).iter().map(run).collect()
}

/// The mean slowdown of the flows from one size in packets to below another, and its standard error over the runs.
fn slowdown(runs: &[Run], (from, to): (u64, u64)) -> (f64, f64) {
    let means: Vec<f64> = runs
        .iter()
        .map(|run| {
            let inside = run.transfers.iter().filter(|flow| (from..to).contains(&(flow.size_bytes / 1000)));
            let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), flow| (sum + flow.slowdown, count + 1.0));
            sum / count
        })
        .collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let squares: f64 = means.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// Chosen before the run: 4 % for turns of two packets (a flow of 50 packets can gain or lose one turn in 25), and three
/// standard errors of eight runs, which have to be below 3 %.
fn judge(size: &str, sizes: &[(u64, u64)]) {
    let runs = runs(size);
    assert!(runs.iter().all(|run| run.summary.loss_ratio == Some(0.0)));
    for packets in sizes {
        let expected = 1.0 / (1.0 - LOAD);
        let (found, error) = slowdown(&runs, *packets);
        println!("{size}, {packets:?} packets: {found:.3} +- {error:.3}, expected {expected:.3}");
        assert!(error < 0.03 * expected, "no power: {error}");
        let tolerance = 0.04 * expected + 3.0 * error;
        assert!((found - expected).abs() < tolerance, "{size}, {packets:?}: {found} +- {error} instead of {expected}");
    }
}

#[test]
fn equal_flows_slow_down_as_under_processor_sharing() {
    judge("\"200 kB\"", &[(200, 201)]);
}

#[test]
fn exponential_flows_slow_down_independently_of_size() {
    judge("{ kind = \"exponential\", mean = \"200 kB\" }", &[(50, 150), (150, 400), (400, 2000)]);
}

#[test]
fn pareto_flows_slow_down_independently_of_size() {
    let size = "{ kind = \"pareto\", least = \"50 kB\", most = \"5 MB\", shape = 1.5 }";
    judge(size, &[(50, 100), (100, 300), (300, 1000)]);
}
