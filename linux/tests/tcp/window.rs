//! More packets in flight than the default load allows.

use super::flow::{Flow, Set};
use super::namespaces::Bottleneck;
use super::{Loaded, able, alone};
use linux::tcp::{self, Options};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// The path: packets of 1500 B, of which 5000 in flight fill it.
const MBIT: u32 = 300;
const ROUND_TRIP_MS: u32 = 200;
const FILLING: u32 = 5000;

/// Mbit/s acknowledged over that path with such a window, once it is filled.
fn rate(window: u32) -> f64 {
    let options = Options { flows: 63, window, ..Options::default() };
    let (rapid, path) = Loaded::with("wide", options, &Bottleneck { mbit: MBIT, limit: 4_000_000 });
    path.delay(ROUND_TRIP_MS);
    // Socket buffers must not limit the rate.
    for (host, memory) in [("a", "wmem"), ("b", "rmem")] {
        let file = format!("/proc/sys/net/ipv4/tcp_{memory}");
        path.inside(host, || std::fs::write(file, "4096 40000000 80000000").expect("a setting"));
    }
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    let begun = [flow.bulk(SECOND), flow.bulk(SECOND), flow.bulk(SECOND)].map(|rate| rate * 8.0 / 1e6);
    let rate = flow.bulk(SECOND) * 8.0 / 1e6;
    let (status, seen) = (tcp::status(&rapid.name).expect("loaded"), rapid.report());
    eprintln!(
        "{window} packets: {begun:.1?}, then {rate:.1} Mbit/s of {MBIT}, {} B of memory, {} ns held back",
        status.memory, seen.limited_ns[2]
    );
    // 64 slots: records of 32 B, 256 streams of 192 B, less than 16 kB of state; reported in whole MiB.
    let records = if window > 7168 { 16_384 } else { 4096 };
    let least = 64 * (records * 32 + 256 * 192);
    assert!((least..least + (2 << 20)).contains(&status.memory), "{} B", status.memory);
    rate
}

#[test]
#[ignore = "long: make test-long"]
fn wider_window_fills_longer_path() {
    if !able() {
        return;
    }
    let _alone = alone();
    let usual = rate(tcp::WINDOW_USUAL);
    // Arithmetic: the window, once per round trip.
    let most = f64::from(tcp::WINDOW_USUAL) * 1448.0 * 8.0 / f64::from(ROUND_TRIP_MS) / 1e3;
    assert!((0.9 * most..1.02 * most).contains(&usual), "{usual:.1} Mbit/s, where the window lets {most:.1} go");
    let wide = rate(14_336);
    assert!(14_336 > 2 * FILLING && wide > 0.85 * f64::from(MBIT), "{wide:.1} Mbit/s of {MBIT}");
}

#[test]
fn the_widest_window_loads() {
    if !able() {
        return;
    }
    let _alone = alone();
    let rapid = Loaded::new("widest", Options { flows: 2, window: tcp::WINDOW_MOST, ..Options::default() });
    let status = tcp::status(&rapid.name).expect("loaded");
    assert_eq!(status.window, 57_344);
    assert!(status.memory > 3 * 65_536 * 32, "{} B", status.memory);
}
