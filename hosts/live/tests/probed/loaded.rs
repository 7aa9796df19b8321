//! Runs with a loaded server, judged as those of [`super::judged`]: by the same bound.
//!
//! Four threads compute beside the server. The machine has one processor, so the client, which would have one of its own, is urgent:
//! it runs before all of them.
//!
//! Not yet seen to end: on a busy machine it took longer than it was given.

use super::busy::{Busy, Thread};
use super::judged::{holds, one};
use super::others::Traffic;
use super::path::Shape;
use super::{able, asked_by};

const RUNS: u64 = 4;

/// Each run has another rate and load.
fn shape(number: u64) -> Shape {
    let (mbit, taken) = ([20, 100][number as usize % 2], [0, 30][number as usize / 2 % 2]);
    Shape { mbit, rtt_ms: 10, taken, bytes: 1500, traffic: Traffic::Constant, seed: number + 1 }
}

/// With `PACKETSCALE_LONG` only: a machine that is never idle is slow to emulate.
#[test]
fn beside_programs_that_compute_a_server_answers_as_without() {
    if !able() || std::env::var_os("PACKETSCALE_LONG").is_none() {
        return;
    }
    let ask = || {
        let _busy = Busy::new();
        asked_by(Thread::Urgent, false)
    };
    holds(&(0..RUNS).map(|number| one(number, shape(number), ask)).collect::<Vec<_>>());
}
