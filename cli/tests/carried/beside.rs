//! Rapid over real sockets and Linux's own CUBIC and BBR (iperf3) over one kernel's path, each alone and two together, beside
//! the simulator. Needs root, and time: the long way only.
//!
//! The bound, set before the first run: what each gets is within a tenth of the path's rate of what it gets in the
//! simulator. Beside another flow Rapid missed it: one simulated run is no yardstick there, since the shares depend on what
//! differs by chance. Since then CUBIC's pair is judged beside the range of runs whose second flow starts later and later.
//! Rapid is the second one: it is started behind iperf3, and measures the path's round trip before it sends. In the runs that
//! this was first judged by it began first, and got less. BBR's pair has the same bound; for it the bound came after runs in
//! which Rapid got 3.1 to 3.3 Mbit/s, above all of the range. Loss, at the bucket, and waits are printed.

use super::path::{Path, RIGHT, run};
use super::{RATE_BPS, SHAPE, able, bucket, experiment, experiment_from, measured};
use harness::runner::Host;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Seconds before anything is measured, and seconds that are.
const WARMUP_S: u32 = 5;
const MEASURED_S: u32 = 15;
/// How far a throughput may be from the simulator's, of the path's rate.
const BOUND: f64 = 0.1;
/// Two flows take at least so much of the path.
const FILLED: f64 = 0.85;
/// Simulated runs of two flows, and by how much the second one's start moves on.
const STARTS: u32 = 20;
const LATER_MS: u32 = 50;
/// What TCP sends of a packet of 1500 bytes, beside 20 bytes of IP, 20 of TCP and 12 of time stamps.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// What was seen of a path.
#[derive(Debug)]
struct Seen {
    rapid_bps: Option<f64>,
    linux_bps: Option<f64>,
    lost: f64,
    /// By Rapid's one-way delays, else by the mean round trip of TCP.
    wait_s: f64,
}

/// Packets that the bucket has passed, and dropped.
fn counted() -> (f64, f64) {
    let shown: Value = serde_json::from_str(&run("tc -n router -s -j qdisc show dev to_right")).expect("JSON");
    let of = |name: &str| shown[0][name].as_f64().expect("a count");
    (of("packets"), of("drops"))
}

fn iperf3(controller: &str) -> Child {
    let (seconds, omitted) = (MEASURED_S.to_string(), WARMUP_S.to_string());
    let address = RIGHT.to_string();
    let words =
        ["netns", "exec", "left", "iperf3", "-c", &address, "-C", controller, "-t", &seconds, "-O", &omitted, "-J"];
    Command::new("ip").args(words).stdout(Stdio::piped()).spawn().expect("iperf3")
}

/// Over the kernel's path.
fn carried(rapid: bool, linux: Option<&str>) -> Seen {
    let _path = Path::new(SHAPE);
    // Each packet on its own, as the simulator sends them: 64 kB at once are no packet.
    run("ip netns exec left ethtool -K end_left tso off gso off");
    run("ip netns exec right iperf3 --server --daemon");
    std::thread::sleep(Duration::from_millis(500));
    let before = counted();
    let client = linux.map(iperf3);
    let rapid = rapid.then(|| measured(&experiment(&["rapid"], (WARMUP_S + MEASURED_S, WARMUP_S), "")));
    let said = client.map(|client| {
        let output = client.wait_with_output().expect("its end");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    });
    let (passed, dropped) = {
        let after = counted();
        (after.0 - before.0, after.1 - before.1)
    };
    let figure = |at: &str| said.as_ref().map(|said| said.pointer(at).and_then(Value::as_f64).expect("a figure"));
    let base_s = f64::from(SHAPE.rtt_ms) * 1e-3;
    let by_tcp = figure("/end/streams/0/sender/mean_rtt").map(|us| us * 1e-6 - base_s);
    Seen {
        rapid_bps: rapid.as_ref().and_then(|summary| summary.throughput_bps),
        linux_bps: figure("/end/sum_received/bits_per_second").map(|bps| bps / PAYLOAD),
        lost: dropped / (passed + dropped),
        wait_s: rapid.and_then(|summary| summary.queue_delay_mean_s).or(by_tcp).expect("a wait"),
    }
}

/// In the simulator, where the second flow starts this many milliseconds later.
fn simulated(flows: &[&str], later_ms: u32) -> Seen {
    let seconds = (WARMUP_S + MEASURED_S, WARMUP_S);
    let starts: Vec<String> = (0..flows.len() as u32).map(|number| format!("{} ms", number * later_ms)).collect();
    let run = simulator::Simulator.run(&experiment_from(flows, &starts, seconds, &bucket())).expect("a run");
    let of = |is_rapid: bool| run.flows.iter().find(|flow| (flow.controller == "rapid") == is_rapid);
    Seen {
        rapid_bps: of(true).and_then(|flow| flow.throughput_bps),
        linux_bps: of(false).and_then(|flow| flow.throughput_bps),
        lost: run.summary.loss_ratio.expect("a figure"),
        wait_s: run.summary.queue_delay_mean_s.expect("a figure"),
    }
}

/// What a flow gets alone is within the bound. `ours`: the simulator's controller.
fn alone(linux: Option<&str>, ours: &str) {
    let Some(()) = able() else { return };
    let (found, expected) = (carried(linux.is_none(), linux), simulated(&[ours], 0));
    eprintln!("{ours} alone: {found:?}; in the simulator {expected:?}");
    let of = |seen: &Seen| seen.rapid_bps.or(seen.linux_bps).expect("a flow");
    let off = (of(&found) - of(&expected)) / RATE_BPS;
    assert!(off.abs() <= BOUND, "off by {off:.3} of the path's rate");
}

/// What two get is printed, beside the least, the median and the most of the simulated runs. Rapid gets what it gets in
/// them, give or take the bound.
fn together(linux: &str, ours: &str) {
    let Some(()) = able() else { return };
    let found = carried(true, Some(linux));
    let mut runs: Vec<Seen> = (0..STARTS).map(|number| simulated(&[ours, "rapid"], number * LATER_MS)).collect();
    let mut of = |figure: fn(&Seen) -> f64| {
        runs.sort_by(|a, b| figure(a).total_cmp(&figure(b)));
        [0, runs.len() / 2, runs.len() - 1].map(|at| figure(&runs[at]))
    };
    let rapid = of(|seen| seen.rapid_bps.expect("a figure"));
    let (linuxs, lost, wait) =
        (of(|seen| seen.linux_bps.expect("a figure")), of(|seen| seen.lost), of(|seen| seen.wait_s));
    eprintln!("rapid beside Linux's {linux}: {found:?}");
    eprintln!("in the simulator, least, median, most: {rapid:?}, {linuxs:?} bit/s, lost {lost:?}, {wait:?} s");
    let (both, got) = (found.linux_bps.zip(found.rapid_bps).map(|(a, b)| a + b), found.rapid_bps.expect("a figure"));
    assert!(both > Some(FILLED * RATE_BPS), "{found:?}");
    let ([least, _, most], bound) = (rapid, BOUND * RATE_BPS);
    assert!((least - bound..=most + bound).contains(&got), "{got}");
}

#[test]
#[ignore = "long: make test-long"]
fn linuxs_cubic_alone() {
    alone(Some("cubic"), "cubic");
}

/// Linux 6.1 has BBR's first version.
#[test]
#[ignore = "long: make test-long"]
fn linuxs_bbr_alone() {
    alone(Some("bbr"), "bbr1");
}

#[test]
#[ignore = "long: make test-long"]
fn rapid_alone() {
    alone(None, "rapid");
}

#[test]
#[ignore = "long: make test-long"]
fn rapid_beside_linuxs_cubic() {
    together("cubic", "cubic");
}

#[test]
#[ignore = "long: make test-long"]
fn rapid_beside_linuxs_bbr() {
    together("bbr", "bbr1");
}
