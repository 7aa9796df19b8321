//! Draws the windows of Linux's laws over time, here and in ns-2: 100 Mbit/s, 60 ms, a quarter of the bandwidth-delay
//! product as buffer, no random loss. Writes SVG to standard output.
//!
//!     cargo run --release --package packetscale-conformance --example windows_beside_ns2 > docs/images/windows-beside-ns2.svg

#[path = "../tests/path/mod.rs"]
mod path;

use path::{dumbbell, flow, link, run};
use scenario::{Buffer, Experiment};
use std::process::Command;
use units::{Packets, Rate, Span};

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
/// Top of every panel: path and buffer together hold 625 packets.
const TOP: f64 = 900.0;
const COLUMNS: usize = 3;
const PANEL: (f64, f64) = (300.0, 120.0);
const HERE: &str = "#D55E00";
const THERE: &str = "#0072B2";

/// Points of a curve: seconds and packets.
type Curve = Vec<(f64, f64)>;

fn here(name: &str) -> Curve {
    let rtt = Span::from_millis(60);
    let wire = link(Rate::from_mbps(100), rtt / 2, Buffer::Packets(Packets::new(125)));
    let mut experiment = Experiment { flows: vec![flow(name, 1500, rtt)], ..dumbbell(wire, Span::from_secs(SECONDS)) };
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

fn line(curve: &Curve, (left, top): (f64, f64), colour: &str) -> String {
    let points: Vec<String> = (curve.iter())
        .map(|(s, packets)| {
            let (x, y) = (s / SECONDS as f64 * PANEL.0, PANEL.1 * (1.0 - packets.min(TOP) / TOP));
            format!("{:.1},{:.1}", left + x, top + y)
        })
        .collect();
    format!("<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.2\"/>\n", points.join(" "))
}

fn main() {
    let rows = LAWS.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS as f64 * (PANEL.0 + 40.0) + 20.0, rows as f64 * (PANEL.1 + 40.0) + 40.0);
    println!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"12\" fill=\"#808080\">"
    );
    println!(
        "<text x=\"40\" y=\"16\"><tspan fill=\"{HERE}\">here</tspan>, <tspan fill=\"{THERE}\">ns-2</tspan>: window in packets over {SECONDS} s</text>"
    );
    for (i, name) in LAWS.iter().enumerate() {
        let left = 40.0 + (i % COLUMNS) as f64 * (PANEL.0 + 40.0);
        let top = 45.0 + (i / COLUMNS) as f64 * (PANEL.1 + 40.0);
        println!("<text x=\"{left}\" y=\"{}\">{name}</text>", top - 6.0);
        for level in [0.0, 300.0, 600.0, 900.0] {
            let y = top + PANEL.1 * (1.0 - level / TOP);
            println!(
                "<line x1=\"{left}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#808080\" stroke-opacity=\".3\"/>",
                left + PANEL.0
            );
            println!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"10\">{level}</text>",
                left - 4.0,
                y + 3.0
            );
        }
        print!("{}{}", line(&in_ns2(name), (left, top), THERE), line(&here(name), (left, top), HERE));
    }
    println!("</svg>");
}
