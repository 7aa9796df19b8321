//! Runs with a loaded server, judged as those of [`super::judged`]: by the same bound.
//!
//! Four threads compute beside the server. The machine has one processor, so the client, which would have one of its own, is urgent:
//! it runs before all of them.

use super::busy::Busy;
use super::judged::{holds, one};
use super::others::Traffic;
use super::path::Shape;
use super::{Client, able, asked_by};

/// All runs, and how many of them are made if nothing is asked for.
const RUNS: u64 = 12;
const FEW: u64 = 1;

/// Each run has another rate, load and round trip.
fn shape(number: u64) -> Shape {
    let all = |of: u64, among: u64| (number / of % among) as usize;
    let (mbit, taken, rtt_ms) = ([20, 100][all(1, 2)], [0, 30][all(2, 2)], [1, 10, 50][all(4, 3)]);
    Shape { mbit, rtt_ms, taken, bytes: 1500, traffic: Traffic::Constant, seed: number + 1 }
}

/// One run; with `PACKETSCALE_LONG` all.
#[test]
fn beside_programs_that_compute_a_server_answers_as_without() {
    if !able() {
        return;
    }
    let runs = if std::env::var_os("PACKETSCALE_LONG").is_some() { RUNS } else { FEW };
    let ask = || {
        let _busy = Busy::new();
        asked_by(Client::Urgent, false)
    };
    holds(&(0..runs).map(|number| one(number, shape(number), ask)).collect::<Vec<_>>());
}
