//! Groups of packets, where timers cannot end each gap; and the processor time of a gigabyte.

use super::flow::{Flow, Set};
use super::namespaces::{Bottleneck, MANY_SEGMENTS, Path, printed, run};
use super::{Loaded, able, alone, long};
use linux::tcp::{self, Options};
use std::time::Duration;

/// The device's maximum of segments, and the load's group size.
fn loaded(together: u16, mbit: u32, limit: u32) -> (Loaded, Path) {
    let options = Options { flows: 4, together, ..Options::default() };
    let (rapid, path) = Loaded::with("group", options, &Bottleneck { mbit, limit });
    path.segments(u32::from(together));
    (rapid, path)
}

/// Packets passed to the sender's device: a group counts as one.
fn given(path: &Path) -> u64 {
    let shown = printed(&format!("ip -n {} -s -j link show dev out", path.host("a")));
    let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    shown[0]["stats64"]["tx"]["packets"].as_u64().expect("a count")
}

/// Seconds that the processors were busy since the start.
fn busy() -> f64 {
    let text = std::fs::read_to_string("/proc/uptime").expect("/proc/uptime");
    let mut words = text.split_whitespace().map(|word| word.parse::<f64>().expect("seconds"));
    let (up, idle) = (words.next().expect("up"), words.next().expect("idle"));
    up * std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64) - idle
}

/// Measurements of a second of a connection, after its start.
#[derive(Debug)]
struct Second {
    mbit: f64,
    /// Mean group size at the device.
    per_group: f64,
    cpu_s_per_gb: f64,
}

impl std::fmt::Display for Second {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Second { mbit, per_group, cpu_s_per_gb } = self;
        write!(out, "{mbit:.1} Mbit/s, {per_group:.2} packets at a time, {cpu_s_per_gb:.1} s per gigabyte")
    }
}

fn second(path: &Path, control: &str) -> Second {
    of(path, &mut Flow::open(path, control, Set::BeforeConnect))
}

fn of(path: &Path, flow: &mut Flow) -> Second {
    flow.bulk(Duration::from_millis(600));
    let (given_before, busy_before) = (given(path), busy());
    let bytes = flow.bulk(Duration::from_secs(1));
    let (groups, cpu_s) = ((given(path) - given_before) as f64, busy() - busy_before);
    Second { mbit: bytes * 8.0 / 1e6, per_group: bytes / 1448.0 / groups, cpu_s_per_gb: cpu_s / bytes * 1e9 }
}

#[test]
#[ignore = "long: make test-long"]
fn groups_fill_fast_path() {
    if !able() {
        return;
    }
    let _alone = alone();
    // 28 us per packet: below what timers of many machines can do. The buffer holds 4 ms.
    let (rapid, path) = loaded(4, 420, 210_000);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    let seen = of(&path, &mut flow);
    let status = tcp::status(&rapid.name).expect("loaded");
    eprintln!("groups of 4 over 420 Mbit/s: {seen}, fallen {:?}", status.fallen);
    assert_eq!(status.connections.len(), 1, "CUBIC has it: {:?}", status.fallen);
    assert!(seen.mbit > 0.9 * 420.0 * 1448.0 / 1514.0, "{seen:?}");
    assert!(seen.per_group > 3.0 && seen.per_group < 4.05, "{seen:?}");
    // The queue that full groups make by themselves: three packets of 28 us. CUBIC's is the buffer.
    let queue_ns = status.connections[0].queue_ns;
    assert!(queue_ns < 1_000_000, "{queue_ns} ns of 4 ms");
}

#[test]
fn slow_path_sends_no_groups() {
    if !able() {
        return;
    }
    let _alone = alone();
    // TCP makes super-packets of a millisecond's data: here half a packet, one where it probes or catches up.
    let (rapid, path) = loaded(4, 5, 50_000);
    path.delay(40);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(Duration::from_secs(1));
    let before = given(&path);
    let bytes = flow.bulk(Duration::from_secs(2)) * 2.0;
    let per_group = bytes / 1448.0 / (given(&path) - before) as f64;
    eprintln!("5 Mbit/s and 40 ms: {:.1} Mbit/s, {per_group:.2} packets at a time", bytes * 4.0 / 1e6);
    assert!(bytes * 4.0 / 1e6 > 0.9 * 5.0 && per_group < 1.1, "{bytes} B, {per_group:.2} at a time");
}

/// The same with a pacing limit, in Mbit/s.
fn paced(path: &Path, control: &str, mbit: u64) -> Second {
    let mut flow = Flow::open(path, control, Set::BeforeConnect);
    flow.limit(mbit * 125_000);
    of(path, &mut flow)
}

/// Printed, not judged: processor time of all three hosts on one emulated processor.
#[test]
fn prints_processor_time_per_gigabyte() {
    if !able() || !long() {
        return;
    }
    let _alone = alone();
    // At 1 Gbit/s the emulated processor is the bottleneck.
    let (mbit, limit) = (200, 200_000);
    for together in [1, 4, 7] {
        let (rapid, path) = loaded(together, mbit, limit);
        eprintln!("{mbit} Mbit/s, rapid, groups of {together}: {}", second(&path, &rapid.name));
        if together > 1 {
            continue;
        }
        for segments in [1, 4, MANY_SEGMENTS] {
            path.segments(segments);
            for control in ["cubic", "bbr"] {
                eprintln!("{mbit} Mbit/s, {control}, gso_max_segs {segments}: {}", second(&path, control));
            }
        }
        path.segments(1);
        // A tenth below the path: only pacing keeps packets back.
        let most = u64::from(mbit) * 9 / 10;
        eprintln!("{mbit} Mbit/s, cubic, paced by TCP: {}", paced(&path, "cubic", most));
        run(&format!("tc -n {} qdisc replace dev out root fq", path.host("a")));
        eprintln!("{mbit} Mbit/s, cubic, paced by fq: {}", paced(&path, "cubic", most));
        eprintln!("{mbit} Mbit/s, rapid over fq: {}", second(&path, &rapid.name));
    }
}
