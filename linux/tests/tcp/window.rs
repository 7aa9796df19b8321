//! More packets in flight than a load provides for unless it is asked to.

use super::{Loaded, SECOND, alone, few, judge};
use linux::tcp::{self, Options};

/// The path: packets of 1500 B, of which 5000 in flight fill it.
const MBIT: u32 = 300;
const ROUND_TRIP_MS: u32 = 200;
const FILLING: u32 = 5000;

/// Mbit/s acknowledged over that path with such a window, once it is filled.
fn rate(window: u32) -> f64 {
    let options = Options { window, ..few("", 63) };
    let (rapid, path) = Loaded::with("wide", options, MBIT, 4_000_000);
    path.delay(ROUND_TRIP_MS);
    // What a host lends to a connection must not bound the rate.
    path.lend("4096 40000000 80000000");
    let mut flow = rapid.flow(&path);
    flow.bulk(3 * SECOND);
    let (rate, status) = (flow.mbps(SECOND), rapid.status());
    // 64 slots: records of 32 B, 256 streams of 192 B, less than 16 kB of state; told in whole MiB.
    let records = if window > 7168 { 16_384 } else { 4096 };
    let least = 64 * (records * 32 + 256 * 192);
    let found = format!("{window} packets: {rate:.1} Mbit/s of {MBIT}, {} B of memory", status.memory);
    judge((least..least + (2 << 20)).contains(&status.memory), found);
    rate
}

#[test]
#[ignore = "long: make test-long"]
fn a_wider_window_fills_a_longer_path() {
    let Some(_alone) = alone() else { return };
    let usual = rate(tcp::WINDOW_USUAL);
    // Arithmetic: the window, once per round trip.
    let most = f64::from(tcp::WINDOW_USUAL) * 1448.0 * 8.0 / f64::from(ROUND_TRIP_MS) / 1e3;
    assert!((0.9 * most..1.02 * most).contains(&usual), "{usual:.1} Mbit/s, where the window lets {most:.1} go");
    let wide = rate(14_336);
    assert!(14_336 > 2 * FILLING && wide > 0.85 * f64::from(MBIT), "{wide:.1} Mbit/s of {MBIT}");
}

#[test]
fn the_widest_window_loads() {
    let Some(_alone) = alone() else { return };
    let rapid = Loaded::new("widest", Options { window: tcp::WINDOW_MOST, ..few("", 2) });
    let status = rapid.status();
    assert_eq!(status.window, 57_344);
    assert!(status.memory > 3 * 65_536 * 32, "{} B", status.memory);
}
