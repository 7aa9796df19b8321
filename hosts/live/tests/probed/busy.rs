//! Other programs of a machine: threads that compute all the time, and how a thread runs beside them.

use realtime::priority::{Urgency, hurry};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::spawn;

/// So many. The emulated machine has one processor.
const LOOPS: usize = 4;

/// They compute until this is dropped.
pub struct Busy(Arc<AtomicBool>);

impl Busy {
    pub fn new() -> Busy {
        let is_over = Arc::new(AtomicBool::new(false));
        for _ in 0..LOOPS {
            let is_over = Arc::clone(&is_over);
            spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        Busy(is_over)
    }
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
    /// Before all of other programs, as if it had a processor of its own.
    Urgent,
}

impl Thread {
    /// The calling thread runs so from now on.
    pub fn begin(self) {
        if self == Thread::Urgent {
            hurry(Urgency::Application).expect("root may");
        }
    }
}
