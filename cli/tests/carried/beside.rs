//! Rapid over real sockets and Linux's own CUBIC and BBR (iperf3) over one kernel's path, each alone and two together, beside
//! the simulator. Needs root, and time: the long way only.
//!
//! The bound, set before the first run: what each gets is within a tenth of the path's rate of what it gets in the
//! simulator. Loss, at the bucket, and waits are printed.

use super::path::{Path, RIGHT, run};
use super::{RATE_BPS, SHAPE, able, bucket, experiment, measured};
use runner::Host;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Seconds before anything is measured, and seconds that are.
const WARMUP_S: u32 = 5;
const MEASURED_S: u32 = 15;
/// How far a throughput may be from the simulator's, of the path's rate.
const THROUGHPUT: f64 = 0.1;
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
    let told: Value = serde_json::from_str(&run("tc -n router -s -j qdisc show dev to_right")).expect("JSON");
    let of = |name: &str| told[0][name].as_f64().expect("a count");
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

/// In the simulator.
fn simulated(rapid: bool, linux: Option<&str>) -> Seen {
    let flows: Vec<&str> = rapid.then_some("rapid").into_iter().chain(linux).collect();
    let run =
        simulator::Simulator.run(&experiment(&flows, (WARMUP_S + MEASURED_S, WARMUP_S), &bucket())).expect("a run");
    let of = |number: usize| run.flows[number].throughput_bps;
    Seen {
        rapid_bps: rapid.then(|| of(0)).flatten(),
        linux_bps: linux.and_then(|_| of(flows.len() - 1)),
        lost: run.summary.loss_ratio.expect("a figure"),
        wait_s: run.summary.queue_delay_mean_s.expect("a figure"),
    }
}

fn compared(rapid: bool, linux: Option<&str>) {
    if !able(true) {
        return;
    }
    let (found, expected) = (carried(rapid, linux), simulated(rapid, linux));
    eprintln!("rapid {rapid}, Linux's {linux:?}: {found:?}; in the simulator {expected:?}");
    for (found, expected) in [(found.rapid_bps, expected.rapid_bps), (found.linux_bps, expected.linux_bps)] {
        assert_eq!(found.is_some(), expected.is_some());
        let off = found.zip(expected).map_or(0.0, |(found, expected)| (found - expected) / RATE_BPS);
        assert!(off.abs() <= THROUGHPUT, "off by {off:.3} of the path's rate");
    }
}

#[test]
fn linuxs_cubic_alone() {
    compared(false, Some("cubic"));
}

#[test]
fn linuxs_bbr_alone() {
    compared(false, Some("bbr"));
}

#[test]
fn rapid_alone() {
    compared(true, None);
}

#[test]
fn rapid_beside_linuxs_cubic() {
    compared(true, Some("cubic"));
}

#[test]
fn rapid_beside_linuxs_bbr() {
    compared(true, Some("bbr"));
}
