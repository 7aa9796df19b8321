//! The clock of the kernel's times, and its steps.

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_REALTIME.
pub fn realtime_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, ns)
}

pub(super) fn ns(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Detects steps of CLOCK_REALTIME against CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    offset_ns: i128,
    at_ns: u64,
    /// Number of steps.
    pub count: u16,
}

/// Largest jump that is no step: the time between the two readings; slewing adds at most one part in a thousand.
const READING_NS: u128 = 200_000;
const SLEW: u128 = 1000;

impl Steps {
    /// Starts to watch.
    pub fn watch() -> Steps {
        let (offset_ns, at_ns) = offset();
        Steps { offset_ns, at_ns, count: 0 }
    }

    /// Checks the clocks again; returns the count.
    pub fn update(&mut self) -> u16 {
        let (offset_ns, at_ns) = offset();
        let allowed = READING_NS + u128::from(at_ns.saturating_sub(self.at_ns)) / SLEW;
        if offset_ns.abs_diff(self.offset_ns) > allowed {
            self.count = self.count.wrapping_add(1);
        }
        (self.offset_ns, self.at_ns) = (offset_ns, at_ns);
        self.count
    }
}

/// CLOCK_REALTIME minus CLOCK_MONOTONIC: of three readings, the fastest one.
fn offset() -> (i128, u64) {
    let read = |_| {
        let before = harness::realtime::clock::monotonic_ns();
        let real = realtime_ns();
        let after = harness::realtime::clock::monotonic_ns();
        (after - before, i128::from(real) - i128::from(before), before)
    };
    (0..3).map(read).min().map_or((0, 0), |(_, offset, at)| (offset, at))
}
