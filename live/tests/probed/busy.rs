//! Load on a machine: threads that compute all the time, and the priority of a thread relative to them.

use harness::realtime::priority::{Urgency, set_priority};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::spawn;

/// Number of them. The emulated machine has one processor.
const LOOPS: usize = 4;

/// They compute until this is dropped.
pub struct Busy(Arc<AtomicBool>);

impl Busy {
    pub fn new() -> Busy {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..LOOPS {
            let is_over = Arc::clone(&is_over);
            spawn(move || {
                let mut number = 1;
                while !is_over.load(Ordering::Relaxed) {
                    number = computed(black_box(number));
                }
            });
        }
        Busy(is_over)
    }
}

/// Some microseconds of work: random numbers (xorshift). It does not pause, as a spinning thread would: the emulator leaves the
/// guest's code at each pause. With its start, 0.03 s of pauses took it 8.3 s of processor time, 0.3 s of these numbers 1.7 s.
fn computed(mut number: u64) -> u64 {
    for _ in 0..1000 {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
    }
    number
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How a thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    Usual,
    /// Ahead of all other programs, as if it had its own processor.
    Urgent,
}

impl Thread {
    /// The calling thread runs so from now on.
    pub fn begin(self) {
        if self == Thread::Urgent {
            set_priority(Urgency::Application).expect("root may");
        }
    }
}
