//! Runs with a loaded server, judged as those of [`super::judged`]: by the same bound. And, set before the first run that ended:
//! of the two paths that nobody else uses at least one gets an answer.
//!
//! Four threads compute beside the server. The machine has one processor, so the client, which would have one of its own, is urgent:
//! it runs before all of them.

use super::busy::{Busy, Thread};
use super::judged::{holds, one};
use super::others::Traffic;
use super::path::Shape;
use super::{able, asked_by};

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
fn beside_programs_that_compute_a_server_answers_as_without() {
    let Some(()) = able() else { return };
    let ask = || {
        let _busy = Busy::new();
        asked_by(Thread::Urgent, false)
    };
    let told: Vec<_> = (0..RUNS).map(|number| (shape(number), one(number, shape(number), ask))).collect();
    let idle = told.iter().filter(|(shape, _)| shape.taken == 0);
    assert!(idle.filter(|(_, told)| told.answered).count() >= IDLE_ANSWERED);
    holds(&told.into_iter().map(|(_, told)| told).collect::<Vec<_>>());
}
