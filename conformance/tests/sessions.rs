//! The traffic `sessions` compared with the exact second-order law of M/G/infinity, and its Hurst parameter.
//!
//! Let answers start as a Poisson process and be sent at the rate `peak`, with lengths of distribution F. The
//! covariance of their total rate, `R(t)`, is then proportional to the integral of `1 - F` above `t` (D. R. Cox, V.
//! Isham, "Point processes", 1980, section 5.6). Counts in windows `w` have the variance `V(w) = 2 int_0^w (w - s) R(s)
//! ds`, and their Allan variance is `2 V(w) - V(2 w) / 2`. The simulator knows none of this: it sends packets of TCP
//! connections.

mod path;

use experiment::results::Run;
use experiment::scenario::{Experiment, Scenario};
use path::mean;
use rayon::prelude::*;
use std::path::Path;

const SHAPE: f64 = 1.1;
const SHORTEST_S: f64 = 0.05;
const LONGEST_S: f64 = 3600.0;

fn runs(windows: &str) -> Vec<Run> {
    let text = format!(
        r#"
        run = {{ duration = "900 s", warmup = "50 s", replications = 8 }}
        link = [
          {{ name = "answers", rate = "1 Gbit/s", delay = "1 ms", buffer = "unlimited" }},
          {{ name = "requests", rate = "1 Gbit/s", delay = "1 ms", buffer = "unlimited" }},
        ]
        record = {{ detail = false, link = "answers", windows = [{windows}] }}
        [[traffic]]
        kind = "sessions"
        rate = "16 Mbit/s"
        shape = {SHAPE}
        shortest = "50 ms"
        longest = "1 h"
        route = ["requests"]
        back = ["answers"]
        "#
    );
    let plan = Scenario::parse(&text, Path::new("sessions.toml"), &[]).unwrap_or_else(|e| panic!("{e}")).plan();
    let run = |one: &Experiment| simulator::run(one).unwrap_or_else(|error| panic!("{error}"));
    plan.par_iter().map(run).collect()
}

/// The integral of 1 - F above t, where F is the bounded Pareto law.
fn covariance(t: f64) -> f64 {
    let least = LONGEST_S.powf(-SHAPE);
    let scale = SHORTEST_S.powf(-SHAPE) - least;
    let primitive = |x: f64| (x.powf(1.0 - SHAPE) / (1.0 - SHAPE) - least * x) / scale;
    (SHORTEST_S - t).max(0.0) + primitive(LONGEST_S) - primitive(t.max(SHORTEST_S))
}

/// V(w), by the midpoint rule over the logarithm.
fn variance(window: f64) -> f64 {
    const POINTS: usize = 4000;
    let (low, high) = ((1e-6 * window).ln(), window.ln());
    let step = (high - low) / POINTS as f64;
    let ordinate = |i: usize| {
        let s = (low + (i as f64 + 0.5) * step).exp();
        2.0 * (window - s) * covariance(s) * s
    };
    (0..POINTS).map(ordinate).sum::<f64>() * step
}

fn allan_variance(window: f64) -> f64 {
    2.0 * variance(window) - variance(2.0 * window) / 2.0
}

#[test]
fn aggregated_connections_have_a_hurst_parameter_near_0_95() {
    let lengths = [0.64, 1.28, 2.56, 5.12, 10.24, 20.48];
    let runs = runs(r#""640 ms", "1280 ms", "2560 ms", "5120 ms", "10240 ms", "20480 ms""#);
    let hurst: Vec<f64> = runs.iter().filter_map(|run| run.summary.hurst).collect();
    let (found, error) = mean(&hurst);
    assert!(error < 0.012, "no power: {error}");
    assert!((found - 0.95).abs() < 0.04, "{found} +- {error}");
    let rates: Vec<f64> = runs.iter().map(|run| run.traffic[0].mean_rate_bps.unwrap()).collect();
    let (rate, error) = mean(&rates);
    assert!(error < 0.07 * 16e6, "no power: {error}");
    assert!((rate - 16e6).abs() < 4.0 * error, "{rate} +- {error} bit/s");
    // From a window to the next the Allan variance grows as that of M/G/infinity, which is steeper near the shortest
    // answer than far above it. Round trips and packets are below the shortest window.
    let mean_of =
        |i: usize| mean(&runs.iter().map(|run| run.windows[i].allan_variance_bytes2.unwrap()).collect::<Vec<_>>()).0;
    for i in 1..4 {
        let found = (mean_of(i) / mean_of(i - 1)).log2() / 2.0;
        let expected = (allan_variance(lengths[i]) / allan_variance(lengths[i - 1])).log2() / 2.0;
        // Eight runs hold 660 pairs of the fourth length: a ratio scatters by sqrt(2 (1 + 1/2) / 660) = 7 %, its logarithm
        // to base 2 by 0.1, and half of that by 0.05.
        assert!((found - expected).abs() < 0.15, "to {} s: H {found}, M/G/infinity {expected}", lengths[i]);
    }
}
