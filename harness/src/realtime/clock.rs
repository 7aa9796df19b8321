//! CLOCK_MONOTONIC: the clock of all records.

use nix::libc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local that outlives the call. The clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until an instant of CLOCK_MONOTONIC. Returns at once when it has passed.
pub fn sleep_until(ns: u64) {
    let time = libc::timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    // SAFETY: the pointer is to a local that outlives the call; an absolute sleep needs no remainder.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}

/// Longest sleep before a thread checks whether to stop.
const LONGEST_SLEEP_NS: u64 = 50_000_000;

/// Sleeps until an instant of CLOCK_MONOTONIC, or until soon after it is `over`. Returns whether it is not.
pub fn sleep_unless(over: &AtomicBool, ns: u64) -> bool {
    loop {
        if over.load(Ordering::Acquire) {
            return false;
        }
        let now = monotonic_ns();
        if now >= ns {
            return true;
        }
        sleep_until(ns.min(now + LONGEST_SLEEP_NS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_never_ends_early() {
        let due = monotonic_ns() + 1_000_000;
        sleep_until(due);
        assert!(monotonic_ns() >= due);
        sleep_until(0);
    }

    #[test]
    fn a_sleep_until_the_past_returns_at_once() {
        let due = monotonic_ns() + 1_000_000;
        assert!(sleep_unless(&AtomicBool::new(false), due) && monotonic_ns() >= due);
        assert!(!sleep_unless(&AtomicBool::new(true), u64::MAX));
    }
}
