//! Flows over a real kernel's path, by real sockets, beside the simulator's figures of the same scenario. Needs root.
//!
//! The bound, set before the first run: throughput within a tenth, the mean delay above the least within a tenth of the buffer's
//! 50 ms, losses within a hundredth of what is sent.
//!
//! The simulated path is a token bucket, as the kernel's is. Beside a plain link of the same rate BBR missed the bound: what a
//! bucket passes at once makes it take the link for faster than it is.

#[path = "carried/beside.rs"]
mod beside;
#[path = "../../live/tests/probed/busy.rs"]
mod busy;
#[path = "carried/loaded.rs"]
mod loaded;
#[path = "../../live/tests/probed/others.rs"]
#[allow(dead_code)]
mod others;
#[path = "../../live/tests/probed/path.rs"]
#[allow(dead_code)]
mod path;

use busy::Thread;
use experiment::results::Summary;
use experiment::scenario::{Experiment, Scenario};
use harness::runner::Host;
use live::host::{Destination, Live};
use live::serve::{Limits, serve};
use live::wire::{Grant, Keys, PORT};
use others::Traffic;
use path::{Path, RIGHT, Shape, inside};
use std::net::SocketAddr;

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

fn able() -> Option<()> {
    if nix::unistd::geteuid().is_root() {
        return Some(());
    }
    eprintln!("skipped: network namespaces need root");
    None
}

/// Seconds of a run, and of its warm-up.
const SHORT: (u32, u32) = (8, 2);

/// What makes the path of the simulator that of the kernel.
fn bucket() -> String {
    format!(", shaper = {{ rate = \"{RATE_BPS:.0} bit/s\", bucket = \"{BUCKET_BYTES:.0} B\" }}")
}

/// Flows over a path. Over a real path a `shaper` decides nothing.
fn experiment(controllers: &[&str], seconds: (u32, u32), shaper: &str) -> Experiment {
    experiment_from(controllers, &vec!["0 s".to_string(); controllers.len()], seconds, shaper)
}

fn experiment_from(controllers: &[&str], starts: &[String], seconds: (u32, u32), shaper: &str) -> Experiment {
    let (duration, warmup) = seconds;
    let flow = |(name, start): (&&str, &String)| format!("{{ controller = \"{name}\", start = \"{start}\" }}");
    let flows: Vec<String> = controllers.iter().zip(starts).map(flow).collect();
    let text = format!(
        "run = {{ duration = \"{duration} s\", warmup = \"{warmup} s\" }}\n\
         path = {{ rate = \"1 Gbit/s\", delay = \"10 ms\", buffer = \"{BUFFER_BYTES:.0} B\"{shaper} }}\n\
         flow = [{}]\n",
        flows.join(", ")
    );
    let scenario = Scenario::parse(&text, std::path::Path::new("carried"), &[]).expect("a scenario");
    scenario.plan().remove(0)
}

/// The figures of a run from left to right.
fn measured(experiment: &Experiment) -> Summary {
    measured_by(Thread::Usual, experiment)
}

/// `sender`: how the thread that sends runs.
fn measured_by(sender: Thread, experiment: &Experiment) -> Summary {
    let server = SocketAddr::from((RIGHT, PORT));
    let limits = Limits { grant: Grant { bytes: 1 << 40, ..Limits::DEFAULT.grant }, ..Limits::DEFAULT };
    let serving = inside("right", move || serve(server, limits, Keys::default(), true, |_| {}));
    let serving = serving.join().expect("a thread").expect("a server");
    let (live, experiment) =
        (Live { to: Some(Destination { address: server, keys: Keys::default() }) }, experiment.clone());
    let run = move || {
        sender.begin();
        live.run(&experiment)
    };
    let run = inside("left", run).join().expect("a thread");
    serving.end();
    run.expect("a run").summary
}

/// Whether the figures are those of the simulator.
fn compared(controller: &str) {
    let Some(()) = able() else { return };
    let expected = simulator::Simulator.run(&experiment(&[controller], SHORT, &bucket())).expect("a run").summary;
    let _path = Path::new(SHAPE);
    let found = measured(&experiment(&[controller], SHORT, ""));
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
#[ignore = "long: make test-long"]
fn rapid_does_over_a_path_what_it_does_in_the_simulator() {
    compared("rapid");
}

#[test]
fn newreno_over_path_matches_simulator() {
    compared("newreno");
}

#[test]
#[ignore = "long: make test-long"]
fn cubic_does_over_a_path_what_it_does_in_the_simulator() {
    compared("cubic");
}

#[test]
#[ignore = "long: make test-long"]
fn bbr_does_over_a_path_what_it_does_in_the_simulator() {
    compared("bbr");
}
