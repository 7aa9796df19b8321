//! Measures the speed of the exact method on one core: `cargo run --release -p packetscale-models --example speed`.

use packetscale_models::theory::multiplexing::{Arrivals, Runner, Setting, Tally};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::time::Instant;

const KINDS: [(&str, Arrivals); 4] = [
    ("uniform", Arrivals::Uniform),
    ("exponential", Arrivals::Exponential),
    ("pareto:2.1", Arrivals::Pareto(2.1)),
    ("phases", Arrivals::Phases),
];

fn main() {
    for (name, arrivals) in KINDS {
        for buffer_packets in [None, Some(20)] {
            let setting = Setting { flows: 1000, utilisation: 1.0, arrivals, buffer_packets };
            // The fastest of many short batches: other work on the machine only adds time.
            let batches = (0..40).map(|_| seconds(setting, 100));
            let nanos = batches.fold(f64::INFINITY, f64::min) / (100.0 * 1000.0) * 1e9;
            println!("{name:<12} buffer {buffer_packets:?}: {nanos:.1} ns per flow and run at 1000 flows");
        }
    }
    for (name, arrivals) in KINDS {
        let setting = Setting { flows: 10_000_000, utilisation: 1.0, arrivals, buffer_packets: None };
        println!("{name:<12} {:.2} s for one run of 10 million flows", seconds(setting, 1));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("peak memory {}", peak.trim_start_matches("VmHWM:").trim());
    }
}

fn seconds(setting: Setting, runs: u32) -> f64 {
    let mut runner = Runner::new(setting).expect("a right setting");
    let mut source = Pcg64Mcg::seed_from_u64(1);
    let mut tally = Tally::default();
    let start = Instant::now();
    for _ in 0..runs {
        runner.run(&mut || source.next_u64(), &mut tally).expect("a periodic queue");
    }
    start.elapsed().as_secs_f64()
}
