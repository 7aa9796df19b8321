//! Flows over a real kernel's path, by real sockets, beside the simulator's figures of the same scenario. Needs root.
//!
//! The bound, set before the first run: throughput within a tenth, the mean delay above the least within a tenth of the buffer's
//! 50 ms, losses within a hundredth of what is sent.
//!
//! The simulated path is a token bucket, as the kernel's is. Beside a plain link of the same rate BBR missed the bound: what a
//! bucket passes at once makes it take the link for faster than it is (docs/live.md).

#[path = "../../hosts/live/tests/probed/others.rs"]
#[allow(dead_code)]
mod others;
#[path = "../../hosts/live/tests/probed/path.rs"]
#[allow(dead_code)]
mod path;

use live::host::{Destination, Live};
use live::serve::{Limits, serve};
use live::wire::{Grant, Keys, PORT};
use others::Traffic;
use path::{Path, RIGHT, Shape, inside};
use results::Summary;
use runner::Host;
use scenario::{Experiment, Scenario};
use std::net::SocketAddr;
use std::process::Command;

const SHAPE: Shape = Shape { mbit: 10, rtt_ms: 20, taken: 0, bytes: 1500, traffic: Traffic::Constant, seed: 1 };
/// What the bucket counts of a packet of 1500 bytes is 14 bytes more: Ethernet's.
const COUNTED: f64 = 1500.0 / 1514.0;
const RATE_BPS: f64 = 10e6 * COUNTED;
/// Its queue of 50 ms, and what it lets pass at once.
const BUFFER_BYTES: f64 = 10e6 / 8.0 * 0.05 * COUNTED;
const BUCKET_BYTES: f64 = 4000.0 * COUNTED;
/// How far a figure may be from the simulator's.
const THROUGHPUT: f64 = 0.1;
const DELAY_S: f64 = 0.005;
const LOSS: f64 = 0.01;

fn able(long: bool) -> bool {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: network namespaces need root");
        return false;
    }
    !long || std::env::var_os("PACKETSCALE_LONG").is_some()
}

/// A flow over a path. `shaper`: what makes the path of the simulator that of the kernel; over a real path it decides nothing.
fn experiment(controller: &str, shaper: &str) -> Experiment {
    let text = format!(
        "run = {{ duration = \"8 s\", warmup = \"2 s\" }}\n\
         path = {{ rate = \"1 Gbit/s\", delay = \"10 ms\", buffer = \"{BUFFER_BYTES:.0} B\"{shaper} }}\n\
         flow = [{{ controller = \"{controller}\" }}]\n"
    );
    let scenario = Scenario::parse(&text, std::path::Path::new("carried"), &[]).expect("a scenario");
    scenario.plan().remove(0)
}

/// The figures of a run from left to right.
fn measured(experiment: &Experiment) -> Summary {
    let server = SocketAddr::from((RIGHT, PORT));
    let limits = Limits { grant: Grant { bytes: 1 << 40, ..Limits::DEFAULT.grant }, ..Limits::DEFAULT };
    let serving = inside("right", move || serve(server, limits, Keys::default(), true, |_| {}));
    let serving = serving.join().expect("a thread").expect("a server");
    let (live, experiment) =
        (Live { to: Some(Destination { address: server, keys: Keys::default() }) }, experiment.clone());
    let run = inside("left", move || live.run(&experiment)).join().expect("a thread");
    serving.end();
    run.expect("a run").summary
}

/// Whether the figures are those of the simulator.
fn compared(controller: &str, long: bool) {
    if !able(long) {
        return;
    }
    let bucket = format!(", shaper = {{ rate = \"{RATE_BPS:.0} bit/s\", bucket = \"{BUCKET_BYTES:.0} B\" }}");
    let expected = simulator::Simulator.run(&experiment(controller, &bucket)).expect("a run").summary;
    let _path = Path::new(SHAPE);
    let found = measured(&experiment(controller, ""));
    let row = |summary: &Summary| {
        let of = |figure: Option<f64>| figure.expect("a figure");
        (of(summary.throughput_bps) * 1e-6, of(summary.loss_ratio), of(summary.queue_delay_mean_s))
    };
    let (found, expected) = (row(&found), row(&expected));
    eprintln!("{controller}: Mbit/s, loss, mean delay in s: {found:?}; in the simulator {expected:?}");
    assert!((found.0 / expected.0 - 1.0).abs() <= THROUGHPUT, "{controller}: throughput");
    assert!((found.1 - expected.1).abs() <= LOSS, "{controller}: losses");
    assert!((found.2 - expected.2).abs() <= DELAY_S, "{controller}: delay");
}

#[test]
fn rapid_does_over_a_path_what_it_does_in_the_simulator() {
    compared("rapid", false);
}

#[test]
fn newreno_does_over_a_path_what_it_does_in_the_simulator() {
    compared("newreno", false);
}

#[test]
fn cubic_does_over_a_path_what_it_does_in_the_simulator() {
    compared("cubic", true);
}

#[test]
fn bbr_does_over_a_path_what_it_does_in_the_simulator() {
    compared("bbr", true);
}

/// What each gets is told; that together they fill the path is judged.
#[test]
fn rapid_beside_linuxs_own_cubic_fills_the_path_with_it() {
    if !able(true) {
        return;
    }
    let path = Path::new(SHAPE);
    let server = Command::new("ip").args(["netns", "exec", "right", "iperf3", "-s", "-1", "-p", "5201"]).spawn();
    let mut server = server.expect("iperf3");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let address = RIGHT.to_string();
    let words = ["netns", "exec", "left", "iperf3", "-c", &address, "-C", "cubic", "-t", "9", "-O", "3", "-J"];
    let client = Command::new("ip").args(words).stdout(std::process::Stdio::piped()).spawn().expect("iperf3");
    let rapid = measured(&experiment("rapid", "")).throughput_bps.expect("a figure");
    let output = client.wait_with_output().expect("its end");
    server.wait().expect("its end");
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let cubic = said["end"]["sum_received"]["bits_per_second"].as_f64().expect("a figure");
    eprintln!("rapid {:.2} Mbit/s of IP packets, Linux's cubic {:.2} Mbit/s of data", rapid * 1e-6, cubic * 1e-6);
    assert!(rapid + cubic > 0.85 * path.capacity_bps, "{rapid} {cubic}");
}
