//! Other programs of a machine: threads that compute all the time.

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
