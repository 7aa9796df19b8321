//! Runs with a loaded server, judged by the bound of [`super::judged`]. And, set before the first run ended: of the two
//! otherwise idle paths at least one gets an estimate.
//!
//! Four threads compute on the server's machine. It has one processor, so the client, which would run elsewhere, is urgent:
//! it runs before all of them.

use super::busy::{Busy, Thread};
use super::judged::{holds, one};
use super::others::Traffic;
use super::path::Shape;
use super::{able, probe_as};

const RUNS: u64 = 4;
const IDLE_ANSWERED: usize = 1;

/// Each run has another rate and load.
fn shape(number: u64) -> Shape {
    let (mbit, taken) = ([20, 100][number as usize % 2], [0, 30][number as usize / 2 % 2]);
    Shape { mbit, rtt_ms: 10, taken, bytes: 1500, traffic: Traffic::Constant, seed: number + 1 }
}

/// A machine that is never idle is slow to emulate.
#[test]
#[ignore = "long: make test-long"]
fn estimates_with_loaded_server_stay_within_bound() {
    let Some(()) = able() else { return };
    let ask = || {
        let _busy = Busy::new();
        probe_as(Thread::Urgent, false)
    };
    let verdicts: Vec<_> = (0..RUNS).map(|number| (shape(number), one(number, shape(number), ask))).collect();
    let idle = verdicts.iter().filter(|(shape, _)| shape.taken == 0);
    assert!(idle.filter(|(_, verdict)| verdict.answered).count() >= IDLE_ANSWERED);
    holds(&verdicts.into_iter().map(|(_, verdict)| verdict).collect::<Vec<_>>());
}
