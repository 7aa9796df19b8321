//! How late this machine wakes a thread that sleeps.

use crate::realtime::clock::{monotonic_ns, sleep_until};
use crate::realtime::priority::{Urgency, set_priority};
use std::io;

/// Sleeps of one measurement, and their length.
const SLEEPS: usize = 200;
const SLEEP_NS: u64 = 1_000_000;

/// The lateness of sleeps of 1 ms.
#[derive(Clone, Debug)]
pub struct Lateness {
    ascending_ns: Vec<u64>,
}

impl Lateness {
    /// Measures for about 0.2 s, in a separate thread at the priority of [`Urgency::Path`].
    ///
    /// # Errors
    /// The thread cannot have its priority.
    pub fn measure() -> io::Result<Lateness> {
        Lateness::after(|| set_priority(Urgency::Path))
    }

    /// Measures for about 0.2 s, in a separate thread at ordinary priority.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn measure_at_ordinary_priority() -> io::Result<Lateness> {
        Lateness::after(|| Ok(()))
    }

    fn after(prepare: fn() -> io::Result<()>) -> io::Result<Lateness> {
        let sleeper = std::thread::spawn(move || {
            prepare()?;
            let mut ascending_ns: Vec<u64> = (0..SLEEPS).map(|_| one_sleep()).collect();
            ascending_ns.sort_unstable();
            Ok(Lateness { ascending_ns })
        });
        sleeper.join().unwrap_or_else(|_| Err(io::Error::other("the thread failed")))
    }

    /// At most this late in `percent` of the sleeps: the ceil(percent * n / 100)-th of n in order.
    pub fn percentile_ns(&self, percent: usize) -> u64 {
        let rank = (self.ascending_ns.len() * percent).div_ceil(100).max(1);
        self.ascending_ns[rank.min(self.ascending_ns.len()) - 1]
    }
}

fn one_sleep() -> u64 {
    let due = monotonic_ns() + SLEEP_NS;
    sleep_until(due);
    monotonic_ns().saturating_sub(due)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_is_a_measured_value() {
        let lateness = Lateness { ascending_ns: vec![10, 20, 30, 40] };
        assert_eq!([0, 25, 50, 51, 99, 100].map(|percent| lateness.percentile_ns(percent)), [10, 10, 20, 30, 40, 40]);
    }
}
