//! The same flows with a loaded receiver: four threads compute beside it. The machine has one processor, so the sender, which would have
//! a separate one, is urgent.
//!
//! The bound, set before the first run: throughput within a tenth of that without them, losses within a hundredth.

use super::busy::{Busy, Thread};
use super::path::Path;
use super::{LOSS, SHAPE, THROUGHPUT, able, experiment, measured_by};

/// Seconds of a run, and of its warm-up: a machine that is never idle is slow to emulate.
const SHORTER: (u32, u32) = (4, 1);

fn compared(controller: &str) {
    let Some(()) = able() else { return };
    let _path = Path::new(SHAPE);
    let figures = || {
        let summary = measured_by(Thread::Urgent, &experiment(&[controller], SHORTER, ""));
        let of = |figure: Option<f64>| figure.expect("a figure");
        (of(summary.throughput_bps) * 1e-6, of(summary.loss_ratio), of(summary.queue_delay_mean_s))
    };
    let alone = figures();
    let busy = Busy::new();
    let loaded = figures();
    drop(busy);
    eprintln!("{controller}: Mbit/s, loss, mean delay in s: {alone:?}; with a loaded receiver {loaded:?}");
    assert!((loaded.0 / alone.0 - 1.0).abs() <= THROUGHPUT, "{controller}: throughput");
    assert!((loaded.1 - alone.1).abs() <= LOSS, "{controller}: losses");
}

#[test]
#[ignore = "long: make test-long"]
fn rapid_passes_to_a_loaded_receiver_what_it_passes_to_an_idle_one() {
    compared("rapid");
}

#[test]
#[ignore = "long: make test-long"]
fn cubic_passes_to_a_loaded_receiver_what_it_passes_to_an_idle_one() {
    compared("cubic");
}
