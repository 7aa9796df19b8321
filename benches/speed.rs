//! `make bench`: CPU time per delivered data packet, its acknowledgment included, compared with ns-2 if that is installed.
//!
//! Each cell is the difference between a short and a long run of the same dumbbell, per packet, so that building the
//! network does not count on either side. It is the median of three such pairs. Controllers and simulators take turns, and
//! a ratio is the median of those within a turn, because shared machines drift. Memory is the peak of a separate process.

mod dumbbell;
use dumbbell::dumbbell;
use experiment::scenario::Buffer;
use packetscale_models::units::{Packets, Rate, Span};
use std::process::{Command, Stdio};
use std::time::Duration;

const REPETITIONS: usize = 3;
const FLOWS: [usize; 3] = [10, 100, 1000];
const TARGET_NS: [f64; 3] = [100.0, 150.0, 250.0];
/// Target cost of a packet of a paced controller, in packets of NewReno.
const MOST_OF_NEWRENO: f64 = 2.0;
/// The flows of the largest run, on a bottleneck of 100 Gbit/s, and its length.
const MILLION: u32 = 1_000_000;
const MILLION_SECONDS: u64 = 2;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, controller, flows, seconds, pacing @ ..] = arguments.as_slice()
        && word == "--cell"
    {
        let (flows, seconds) = (flows.parse().expect("a number of flows"), seconds.parse().expect("seconds"));
        let percent = pacing.first().map_or(0, |percent| percent.parse().expect("a pacing rate in percent"));
        let cost = paced(controller, flows, seconds, percent);
        println!("{} {} {}", cost.cpu_s, cost.packets, cost.events);
        return;
    }
    if let [_, word, controller, flows, rtt_ms] = arguments.as_slice()
        && word == "--one"
    {
        one(controller, flows.parse().expect("a number of flows"), rtt_ms.parse().expect("milliseconds"));
        return;
    }
    let ns2 = Command::new("ns").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    println!("Dumbbell, 1 Gbit/s, 20 ms, 100-packet buffer, 1000 B packets, recorder off; one core.");
    println!("ns of CPU time per delivered packet with its acknowledgment (6 hops), median of {REPETITIONS}.\n");
    println!(
        "| controller | flows | packetscale | of newreno | target | events per packet | ns-2 | ns-2 / packetscale |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (flows, target) in FLOWS.into_iter().zip(TARGET_NS) {
        rows(flows, target, ns2);
    }
    if !ns2 {
        println!("\nns-2 is not installed: its column is empty (Debian package ns2).");
    }
    memory();
}

/// The cost of one run.
struct Cost {
    cpu_s: f64,
    packets: f64,
    events: f64,
}

fn ours(controller: &str, flows: usize, seconds: u64) -> Cost {
    paced(controller, flows, seconds, 0)
}

/// The same with its windows spread over round trips, at this share of a window per round trip; zero: not spread.
fn paced(controller: &str, flows: usize, seconds: u64, percent: u32) -> Cost {
    let mut experiment = dumbbell(controller, flows, seconds);
    let mut flow = (*experiment.flows[0]).clone();
    flow.pacing_percent = percent;
    experiment.flows = vec![flow.into(); flows];
    let run = simulator::run(&experiment).expect("the dumbbell runs");
    let events = run.summary.events.expect("the simulator counts events") as f64;
    Cost { cpu_s: run.summary.cpu_s.unwrap(), packets: run.summary.packets_delivered as f64, events }
}

/// Runs ns-2. Returns `None` if it ends without a count, as in some large runs.
fn ns2(variant: &str, flows: usize, seconds: u64) -> Option<Cost> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../benches/ns2/dumbbell.tcl");
    let before = children_cpu();
    let arguments = [script, &flows.to_string(), &seconds.to_string(), variant];
    let output = Command::new("ns").args(arguments).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let packets = text.lines().filter_map(|line| line.trim().parse().ok()).next_back()?;
    Some(Cost { cpu_s: (children_cpu() - before).as_secs_f64(), packets, events: 0.0 })
}

/// CPU time of finished child processes.
fn children_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has /proc");
    let after_name = stat.rsplit(')').next().expect("a name in parentheses");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    // Fields 16 and 17 of proc(5), cutime and cstime, in ticks of 10 ms; the list starts after the second, the name.
    let ticks: u64 = fields[13].parse::<u64>().unwrap_or(0) + fields[14].parse::<u64>().unwrap_or(0);
    Duration::from_millis(ticks * 10)
}

/// The controllers of a block, with their variants of ns-2. NewReno is first: the others are shown relative to it.
const CONTROLLERS: [(&str, Option<&str>); 4] =
    [("newreno", Some("sack")), ("cubic", Some("cubic")), ("rapid", None), ("bbr", None)];
/// Paced controllers have their target in packets of NewReno.
const PACED: [&str; 2] = ["rapid", "bbr"];
const SHORT_S: u64 = 5;
const LONG_S: u64 = 30;

/// The cost of a delivered packet, between a short and a long run.
struct Cell {
    ns: f64,
    events: f64,
    peer_ns: Option<f64>,
}

fn cell(controller: &str, variant: Option<&str>, flows: usize) -> Cell {
    let (a, b) = (ours(controller, flows, SHORT_S), ours(controller, flows, LONG_S));
    let per_packet = |a: &Cost, b: &Cost| (b.cpu_s - a.cpu_s) / (b.packets - a.packets) * 1e9;
    let peer_ns = variant.and_then(|variant| {
        let (a, b) = (ns2(variant, flows, SHORT_S)?, ns2(variant, flows, LONG_S)?);
        Some(per_packet(&a, &b))
    });
    Cell { ns: per_packet(&a, &b), events: (b.events - a.events) / (b.packets - a.packets), peer_ns }
}

/// The rows of the table for this many flows. Their controllers take turns.
fn rows(flows: usize, target_ns: f64, with_ns2: bool) {
    let turn = |_| CONTROLLERS.map(|(name, variant)| cell(name, variant.filter(|_| with_ns2), flows));
    let turns: Vec<[Cell; CONTROLLERS.len()]> = (0..REPETITIONS).map(turn).collect();
    for (place, (controller, _)) in CONTROLLERS.into_iter().enumerate() {
        let over =
            |read: &dyn Fn(&[Cell; CONTROLLERS.len()]) -> f64| median(&mut turns.iter().map(read).collect::<Vec<_>>());
        let (found, events) = (over(&|turn| turn[place].ns), turns[0][place].events);
        let of_newreno = over(&|turn| turn[place].ns / turn[0].ns);
        let target = match PACED.contains(&controller) {
            true => format!("{MOST_OF_NEWRENO} of newreno"),
            false => format!("{target_ns:.0} ns"),
        };
        let peers: Option<Vec<f64>> = turns.iter().map(|turn| turn[place].peer_ns).collect();
        let (peer, ratio) = peers.map_or(("-".to_string(), "-".to_string()), |mut peers| {
            let peer = median(&mut peers);
            (format!("{peer:.0}"), format!("{:.1}", peer / found))
        });
        println!(
            "| {controller} | {flows} | {found:.0} | {of_newreno:.2} | {target} | {events:.2} | {peer} | {ratio} |"
        );
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Makes one run, in a process started for it, and prints its peak memory. With the controller `window` the receive window
/// keeps the path full and its queue empty.
fn one(controller: &str, flows: usize, rtt_ms: u64) {
    let mut experiment = dumbbell("newreno", flows, if controller == "million" { MILLION_SECONDS } else { 5 });
    let mut flow = experiment.flows[0].clone();
    flow.rtt = Span::from_millis(rtt_ms);
    experiment.flows = vec![flow; flows];
    if controller == "window" {
        // The receive window limits the packets in flight to what the path holds.
        experiment.links[0].buffer = Buffer::Unlimited;
        experiment.receiver.window = Packets::new(125 * rtt_ms / flows as u64);
    }
    if controller == "million" {
        experiment.links[0].rate = Rate::from_gbps(100);
        experiment.links[0].buffer = Buffer::Packets(Packets::new(10_000));
    }
    simulator::run(&experiment).expect("the dumbbell runs");
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has /proc");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    println!("{}", peak.trim().trim_end_matches(" kB"));
}

fn peak_bytes(controller: &str, flows: u32, rtt_ms: u32) -> f64 {
    let program = std::env::current_exe().expect("a path to this program");
    let arguments = ["--one", controller, &flows.to_string(), &rtt_ms.to_string()];
    let output = Command::new(program).args(arguments).output().expect("a process");
    let kb: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number");
    kb * 1024.0
}

fn memory() {
    let (few, many) = (1000, 5000);
    // All flows share one description, so that what describes them is not measured apart.
    let per_flow = (peak_bytes("newreno", many, 20) - peak_bytes("newreno", few, 20)) / f64::from(many - few);
    println!("\nPeak memory per flow, from {few} to {many} flows: {per_flow:.0} B, target 2000 B.");
    let million = peak_bytes("million", MILLION, 20);
    println!("Peak memory of {MILLION} flows in one run: {:.0} B each, target 2500 B.", million / f64::from(MILLION));
    // 1 Gbit/s carries 125 packets of 1000 B per millisecond.
    let (short, long) = (20, 220);
    let per_packet =
        (peak_bytes("window", 10, long) - peak_bytes("window", 10, short)) / f64::from(125 * (long - short));
    println!("Peak memory per packet in flight, from {short} to {long} ms: {per_packet:.0} B, target 64 B.");
}
