//! Flows of Rapid compared with their fluid ([`packetscale_models::theory::rapid`]): packets on one link, in the simulator.
//!
//! The bounds of the linear theory were fixed before any run: one flow settles within 4.2 round trips after start-up, and
//! flows use `n (1-m) / (m + n (1-m))`. Two more are not met: no swing of four flows, and one of 2 to 3
//! round trips of twelve. What they do instead is what the fluid with the law's thresholds does. Its bounds were fixed
//! with runs of another simulator (models/tests/rapid/bottleneck), and before the first run here.

use experiment::results::Run;
use experiment::scenario::Scenario;
use packetscale_models::theory::rapid::{Cycle, Flows};
use packetscale_models::units::{Bytes, Rate, Ratio, Span};
use std::path::Path;

const RTT_S: f64 = 0.03;
const RATE: f64 = 1e9;
/// Values of a curve per round trip.
const PER_ROUND: f64 = 10.0;

fn fluid(flows: u32) -> Flows {
    let (margin, packet) = (Ratio::of(3, 100), Bytes::new(1500));
    Flows { flows, margin, rate: Rate::from_gbps(1), rtt: Span::from_millis(30), packet }
}

/// Flows that enter 0.2 s apart on 1 Gbit/s with 30 ms; `seconds` are counted from the fifth on.
fn run(flows: u32, seconds: u32, more: &str) -> Run {
    let starts: Vec<String> = (0..flows).map(|i| format!("\"{} ms\"", 200 * i)).collect();
    let text = format!(
        r#"
[run]
duration = "{} s"
warmup = "5 s"

[path]
rate = "1 Gbit/s"
delay = "15 ms"
buffer = "unlimited"

[record]
step = "3 ms"

[[flow]]
controller = "rapid"
packet = "1500 B"
count = {flows}
start = [{}]

{more}
"#,
        5 + seconds,
        starts.join(", "),
    );
    let scenario = Scenario::parse(&text, Path::new("fluid.toml"), &[]).expect("a scenario");
    simulator::run(&scenario.plan()[0]).expect("a run")
}

/// A curve of the run, of all flows together: a value each 3 ms.
fn curve(run: &Run, metric: &str) -> Vec<f64> {
    let mut sums: Vec<f64> = Vec::new();
    for series in run.series.iter().filter(|series| series.metric == metric) {
        let first = (series.start_s / series.step_s) as usize;
        sums.resize(sums.len().max(first + series.values.len()), 0.0);
        series.values.iter().enumerate().for_each(|(i, value)| sums[first + i] += f64::from(value.unwrap_or(0.0)));
    }
    sums
}

fn packets(flows: u32) -> Cycle {
    let run = run(flows, 12, "");
    let from = (5.0 / RTT_S * PER_ROUND) as usize;
    let sums: Vec<f64> = curve(&run, "rate")[from..].iter().map(|rate| rate / RATE).collect();
    Cycle::read(&sums, run.summary.queue_delay_mean_s.expect("a queue") / RTT_S, PER_ROUND)
}

#[test]
fn one_flow_settles_within_4_2_rtts_after_start_up() {
    let rates = curve(&run(1, 1, ""), "rate");
    let left = rates.iter().position(|rate| *rate > 0.9 * RATE).expect("start-up ends");
    let rest = fluid(1).rest().utilisation * RATE;
    let settled = (rest - rates[left + 1]).abs() / 20.0;
    let by = (fluid(1).sum().settles().expect("it settles").min(4.2) * PER_ROUND) as usize;
    let worst = rates[left + by..].iter().map(|rate| (rate - rest).abs()).fold(0.0, f64::max);
    assert!(worst <= settled, "{worst} bit/s off, expected {settled}");
}

#[test]
fn one_and_two_flows_match_the_closed_form() {
    for flows in [1, 2] {
        let (found, expected) = (packets(flows).mean, fluid(flows).rest().utilisation);
        assert!((found - expected).abs() < 0.005, "{flows} flows: {found}, expected {expected}");
    }
}

#[test]
fn four_to_twelve_flows_cycle_as_the_fluid_with_thresholds() {
    for flows in [4, 8, 12] {
        let (found, expected) = (packets(flows), fluid(flows).cycle());
        let line = format!("{flows} flows: {found:?}, expected {expected:?}");
        println!("{line}");
        assert!((found.mean - expected.mean).abs() < 0.02, "{line}");
        assert!((found.deviation / expected.deviation - 1.0).abs() < 0.34, "{line}");
        let (turn, theirs) = (found.period.expect("a swing"), expected.period.expect("a swing"));
        assert!((turn / theirs - 1.0).abs() < 0.25, "{line}");
    }
}

/// A burst of others leaves a queue before the flows receive feedback of it. They answer the burst, too, and so are done before the drain
/// alone would be.
#[test]
fn a_bursts_queue_is_drained_within_the_drains_time() {
    for (flows, queue_ms) in [(1, 6), (1, 20), (2, 6), (2, 20)] {
        // Ten times the link's rate, of which a tenth and the flows' own leave.
        let stop = 3e6 + f64::from(queue_ms) * 1e3 / 9.0;
        let burst =
            format!("[[traffic]]\nkind = \"cbr\"\nrate = \"10 Gbit/s\"\nstart = \"3 s\"\nstop = \"{stop:.0} us\"\n");
        let queue = curve(&run(flows, 1, &burst), "queue_delay");
        let from = (3.0 / RTT_S * PER_ROUND) as usize;
        let peak = queue[from..].iter().fold(0.0, |most: f64, queue| most.max(*queue));
        let top = queue.iter().position(|queue| *queue == peak).expect("a peak");
        let took = queue[top..].iter().position(|queue| *queue < 5e-4).expect("an end") as f64 * RTT_S / PER_ROUND;
        let alone = fluid(flows).drained_s(Span::from_secs_f64(peak));
        let line = format!("{flows} flows, {peak} s: {took} s, {alone} s by the drain alone");
        println!("{line}");
        assert!((peak * 1e3 / f64::from(queue_ms) - 1.0).abs() < 0.15, "{line}");
        assert!(took < alone && took > 0.2 * alone, "{line}");
    }
}
