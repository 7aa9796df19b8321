//! Waits until an instant, so that a gap between two packets ends there. Two of the three ways of Q. Yin, "TCP RAPID: from
//! theory to practice", section 4.3:
//!
//! * *busy-waiting:* sleeps until a margin before it, then spins. The margin is how late this machine wakes a thread,
//!   measured at start: a fixed one is too short here and a waste there;
//! * *timer:* sleeps until it. Costs no processor time, and every packet is late.
//!
//! The third, packets of a dummy that fill a gap at the link's rate, is not for an ordinary user: see
//! `docs/decisions/0090-no-dummy-packets-without-root.md`.

use harness::realtime::clock::{monotonic_ns, sleep_until};
use nix::sys::prctl;

/// How many sleeps are measured, and their length.
const SLEEPS: usize = 100;
const SLEEP_NS: u64 = 500_000;
/// Of these sleeps so many per cent end within the margin. The latest few would make it useless.
const PERCENT: usize = 95;
/// The margin's range.
const LEAST_NS: u64 = 5_000;
const MOST_NS: u64 = 500_000;

/// How gaps are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// By sleeping and spinning.
    #[default]
    Busy,
    /// By sleeping alone.
    Timer,
}

impl Gaps {
    /// All ways.
    pub const ALL: [Gaps; 2] = [Gaps::Busy, Gaps::Timer];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Gaps::Busy => "busy",
            Gaps::Timer => "timer",
        }
    }
}

/// How a thread waits.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    /// It spins for this long before an instant. 0: not at all.
    pub margin_ns: u64,
    /// How it makes gaps.
    pub gaps: Gaps,
}

impl Pacer {
    /// Measures for about 0.05 s how late the calling thread wakes up, having asked the kernel to be exact.
    pub fn measure(gaps: Gaps) -> Pacer {
        // An ordinary thread's timers are 50 us late by default. A kernel that refuses only makes the margin larger.
        let _ = prctl::set_timerslack(1);
        let margin_ns = match gaps {
            Gaps::Busy => wake_ups()[(SLEEPS * PERCENT / 100).min(SLEEPS - 1)].clamp(LEAST_NS, MOST_NS),
            Gaps::Timer => 0,
        };
        Pacer { margin_ns, gaps }
    }

    /// Waits until an instant of CLOCK_MONOTONIC, in nanoseconds; returns when it is now.
    pub fn wait(&self, due_ns: u64) -> u64 {
        let mut now = monotonic_ns();
        if now + self.margin_ns < due_ns {
            sleep_until(due_ns - self.margin_ns);
            now = monotonic_ns();
        }
        while now < due_ns {
            std::hint::spin_loop();
            now = monotonic_ns();
        }
        now
    }
}

/// How late the calling thread woke up from each of some sleeps, ascending, in nanoseconds.
pub fn wake_ups() -> Vec<u64> {
    let one = |_| {
        let due = monotonic_ns() + SLEEP_NS;
        sleep_until(due);
        monotonic_ns().saturating_sub(due)
    };
    let mut late: Vec<u64> = (0..SLEEPS).map(one).collect();
    late.sort_unstable();
    late
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_never_ends_early() {
        for (gaps, margins) in [(Gaps::Busy, LEAST_NS..=MOST_NS), (Gaps::Timer, 0..=0)] {
            let pacer = Pacer::measure(gaps);
            assert!(margins.contains(&pacer.margin_ns), "{pacer:?}");
            for after_ns in [0, 1_000, 700_000] {
                let due = monotonic_ns() + after_ns;
                assert!(pacer.wait(due) >= due);
            }
        }
    }
}
