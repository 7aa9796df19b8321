//! Waits until an instant, so that a gap between two packets ends there. Two of the three methods of Q. Yin, "TCP RAPID: from
//! theory to practice", section 4.3:
//!
//! * *busy-waiting:* sleep until a margin before the instant, then spin. The margin is the wake-up latency, measured at start;
//!   a fixed one would be too short on some machines and waste time on others. The share of spinning falls when other programs
//!   compete for the processor ([`Spin`]);
//! * *timer:* sleep until the instant. Takes no processor time, and every packet is late.
//!
//! The third, dummy packets that fill a gap at the link's rate, needs root: without its own queue discipline it takes the
//! whole first hop.

use harness::realtime::clock::{monotonic_ns, sleep_until};
use harness::realtime::priority::take_short_turns;
use nix::sys::prctl;

/// Number and length of the measured sleeps.
const SLEEPS: usize = 100;
const SLEEP_NS: u64 = 500_000;
/// Percentage of sleeps that end within the margin. The latest few would make it useless.
const PERCENT: usize = 95;
/// The margin's range.
const LEAST_NS: u64 = 5_000;
const MOST_NS: u64 = 500_000;
/// Duration of the initial spin, which measures the load by other programs.
const SPIN_NS: u64 = 20_000_000;
/// A jump of the clock within a spin from which on another program is assumed to have had the processor.
const TAKEN_NS: u64 = 100_000;

/// How to make gaps.
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

/// Share of a wait that may be spun. The scheduler preempts a thread that spins longer than its share of a processor, for some
/// milliseconds; one that sleeps runs again soon after it wakes. So the share is halved while spins are interrupted, and grows
/// slowly while they are not.
#[derive(Clone, Copy, Debug)]
struct Spin {
    part: f64,
    waits: u32,
    spun_ns: u64,
    taken_ns: u64,
}

impl Spin {
    /// Waits per adjustment.
    const WAITS: u32 = 64;
    /// Spins are too long when more than this share was preempted.
    const MOST_TAKEN_PART: u64 = 10;
    const LEAST: f64 = 1.0 / 64.0;
    /// Below this share the processor counts as busy: half of what remains after a tenth is taken.
    const BUSY: f64 = 0.5;
    const MORE: f64 = 1.0 / 256.0;

    const WHOLE: Spin = Spin { part: 1.0, waits: 0, spun_ns: 0, taken_ns: 0 };

    /// Spins for some time, to measure the available share of a processor.
    fn measure() -> Spin {
        let begun = monotonic_ns();
        let (now, taken_ns) = spin(begun + SPIN_NS);
        Spin::first(now - begun, taken_ns)
    }

    /// Result of the initial spin, of which another program had the processor for this long: half of what remained, or all with little load.
    fn first(spun_ns: u64, taken_ns: u64) -> Spin {
        let left = 1.0 - taken_ns as f64 / spun_ns.max(1) as f64;
        let is_long = taken_ns * Spin::MOST_TAKEN_PART > spun_ns;
        Spin { part: if is_long { (left / 2.0).max(Spin::LEAST) } else { 1.0 }, ..Spin::WHOLE }
    }

    /// Maximum spinning time of a wait.
    fn most_ns(&self, wait_ns: u64) -> u64 {
        (wait_ns as f64 * self.part) as u64
    }

    /// After a wait: its spinning time, and for how long of that another program had the processor.
    fn note(&mut self, spun_ns: u64, taken_ns: u64) {
        self.waits += 1;
        self.spun_ns += spun_ns;
        self.taken_ns += taken_ns;
        if self.waits == Spin::WAITS {
            let is_long = self.taken_ns * Spin::MOST_TAKEN_PART > self.spun_ns;
            let part = if is_long { (self.part / 2.0).max(Spin::LEAST) } else { (self.part + Spin::MORE).min(1.0) };
            *self = Spin { part, ..Spin::WHOLE };
        }
    }
}

/// Waiting method of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    /// Maximum spinning time before an instant. 0: none.
    pub margin_ns: u64,
    /// How to make gaps.
    pub gaps: Gaps,
    spin: Spin,
}

impl Pacer {
    /// Measures the calling thread's wake-up latency for about 0.05 s, with precise timers and high priority requested.
    pub fn measure(gaps: Gaps) -> Pacer {
        // Timers of ordinary threads are 50 us late by default. If the kernel refuses a change, the margin only grows.
        let _ = prctl::set_timerslack(1);
        let _ = take_short_turns();
        let margin_ns = match gaps {
            Gaps::Busy => margin_ns(&wake_ups()),
            Gaps::Timer => 0,
        };
        let spin = if gaps == Gaps::Busy { Spin::measure() } else { Spin::WHOLE };
        Pacer { margin_ns, gaps, spin }
    }

    /// How long before an instant to end the sleep of a wait that starts now.
    pub fn early_ns(&self, now_ns: u64, due_ns: u64) -> u64 {
        self.margin_ns.min(self.spin.most_ns(due_ns.saturating_sub(now_ns)))
    }

    /// Whether other programs compete for the processor.
    pub fn is_busy(&self) -> bool {
        self.spin.part < Spin::BUSY
    }

    /// Waits until an instant of CLOCK_MONOTONIC, in nanoseconds; returns the current time.
    pub fn wait(&mut self, due_ns: u64) -> u64 {
        let now = monotonic_ns();
        let early_ns = self.early_ns(now, due_ns);
        if now + early_ns < due_ns {
            sleep_until(due_ns - early_ns);
        }
        self.spin_until(due_ns)
    }

    /// Spins until an instant; returns the current time.
    pub fn spin_until(&mut self, due_ns: u64) -> u64 {
        let begun = monotonic_ns();
        let (now, taken_ns) = spin(due_ns);
        self.spin.note(now.saturating_sub(begun), taken_ns);
        now
    }
}

/// Spins until an instant; returns the current time, and for how long another program had the processor.
fn spin(until_ns: u64) -> (u64, u64) {
    let (mut now, mut taken_ns) = (monotonic_ns(), 0);
    while now < until_ns {
        std::hint::spin_loop();
        let next = monotonic_ns();
        taken_ns += Some(next - now).filter(|lost| *lost >= TAKEN_NS).unwrap_or(0);
        now = next;
    }
    (now, taken_ns)
}

/// Maximum spinning time: the 95th percentile of these wake-up latencies, ascending, without those too long to spin, which are preemptions.
fn margin_ns(wake_ups: &[u64]) -> u64 {
    let covered = wake_ups.partition_point(|late| *late <= MOST_NS);
    let rank = (covered * PERCENT).div_ceil(100).max(1);
    wake_ups[..covered].get(rank - 1).copied().unwrap_or(0).max(LEAST_NS)
}

/// Wake-up latencies of the calling thread over some sleeps, ascending, in nanoseconds.
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
    fn margin_ignores_preemptions() {
        // Nine of ten wake-ups take 40 us, the others 3 ms, too long to spin.
        let wake_ups: Vec<u64> = [40_000; 90].into_iter().chain([3_000_000; 10]).collect();
        assert_eq!(margin_ns(&wake_ups), 40_000);
        // 10, 20, ... 1000 us: 50 are short enough, and ceil(0.95 * 50) = 48.
        let wake_ups: Vec<u64> = (1..=100).map(|number| number * 10_000).collect();
        assert_eq!(margin_ns(&wake_ups), 480_000);
        assert_eq!(margin_ns(&[3_000_000]), LEAST_NS);
    }

    #[test]
    fn quarter_of_processor_spins_eighth_of_wait() {
        assert_eq!(Spin::first(10_000_000, 7_500_000).most_ns(600_000), 75_000);
    }

    #[test]
    fn loss_of_tenth_still_spins_whole_wait() {
        assert_eq!(Spin::first(10_000_000, 1_000_000).most_ns(600_000), 600_000);
    }

    /// Spins of 60 us, interrupted `taken` times for 3 ms.
    fn after_waits(mut spin: Spin, taken: u32) -> Spin {
        (0..Spin::WAITS).for_each(|wait| match wait < taken {
            true => spin.note(3_060_000, 3_000_000),
            false => spin.note(60_000, 0),
        });
        spin
    }

    #[test]
    fn interrupted_spins_are_halved() {
        // 3 ms of 64 * 60 us and 3 ms are 44 %.
        assert_eq!(after_waits(Spin::WHOLE, 1).part, 0.5);
        let least = (0..20).fold(Spin::WHOLE, |spin, _| after_waits(spin, 1));
        assert_eq!(least.part, Spin::LEAST);
    }

    #[test]
    fn uninterrupted_spins_become_longer() {
        let half = Spin { part: 0.5, ..Spin::WHOLE };
        assert_eq!(after_waits(half, 0).part, 0.5 + Spin::MORE);
        assert_eq!(after_waits(Spin::WHOLE, 0).part, 1.0);
    }

    #[test]
    fn a_wait_never_ends_early() {
        for (gaps, margins) in [(Gaps::Busy, LEAST_NS..=MOST_NS), (Gaps::Timer, 0..=0)] {
            let mut pacer = Pacer::measure(gaps);
            assert!(margins.contains(&pacer.margin_ns), "{pacer:?}");
            for after_ns in [0, 1_000, 700_000] {
                let due = monotonic_ns() + after_ns;
                assert!(pacer.wait(due) >= due);
            }
        }
    }
}
