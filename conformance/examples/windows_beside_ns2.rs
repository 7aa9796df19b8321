//! Draws the windows of Linux's laws over time, here and in ns-2: 100 Mbit/s, 60 ms, a quarter of the bandwidth-delay
//! product as buffer, no random loss. Writes SVG to standard output.
//!
//!     cargo run --release --package conformance --example windows_beside_ns2 > docs/images/windows-beside-ns2.svg

mod panels;
#[path = "../tests/path/mod.rs"]
mod path;

use experiment::scenario::{Buffer, Experiment};
use packetscale_models::units::{Packets, Rate, Span};
use panels::{Axes, Curve, draw};
use path::{dumbbell, flow, link, run};
use std::process::Command;

const LAWS: [&str; 12] = [
    "newreno",
    "cubic",
    "bic",
    "highspeed",
    "scalable",
    "hybla",
    "vegas",
    "htcp",
    "illinois",
    "yeah",
    "westwood",
    "veno",
];
const SECONDS: u64 = 60;
/// Path and buffer together hold 625 packets.
const TOP: f64 = 900.0;

fn here(name: &str) -> Curve {
    let rtt = Span::from_millis(60);
    let wire = link(Rate::from_mbps(100), rtt / 2, Buffer::Packets(Packets::new(125)));
    let mut experiment =
        Experiment { flows: vec![flow(name, 1500, rtt).into()], ..dumbbell(wire, Span::from_secs(SECONDS)) };
    experiment.record.detail = true;
    experiment.record.step = Span::from_millis(200);
    let run = run(&experiment);
    let curve = run.series.iter().find(|series| series.metric == "window").expect("a curve of windows");
    let values = curve.values.iter().enumerate();
    values.filter_map(|(i, value)| Some((curve.start_s + curve.step_s * i as f64, f64::from((*value)?)))).collect()
}

fn in_ns2(name: &str) -> Curve {
    let variant = if name == "newreno" { "reno" } else { name };
    let mut command = Command::new("ns");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/ns2/flow.tcl"));
    let output = command.args([variant, "125", "0", "1", "1", &SECONDS.to_string(), "0", "1", "0.2"]).output();
    let text = String::from_utf8_lossy(&output.expect("ns-2 starts (Debian package ns2)").stdout).into_owned();
    let points = text.lines().filter_map(|line| {
        let (time, packets) = line.strip_prefix("window ")?.split_once(' ')?;
        Some((time.parse().ok()?, packets.parse().ok()?))
    });
    points.collect()
}

fn main() {
    draw(&LAWS, &Axes { seconds: SECONDS, top: TOP }, "ns-2", |law| (here(law), in_ns2(law)));
}
