//! Processor time. Most of what a network costs the kernel happens in interrupts, charged to no thread and counted by
//! sampling at clock ticks: too coarse, and blind to what happens at ticks. Idle time is measured, in
//! microseconds. So the cost of a run is the time that the machine's processors were not idle, for any reason: to be
//! compared only between runs on a machine that does nothing else.

use crate::realtime::clock::monotonic_ns;
use std::io;

/// A moment, and how long the processors had been idle by then.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    at_ns: u64,
    idle_s: f64,
    processors: f64,
}

impl Meter {
    /// Starts to count.
    ///
    /// # Errors
    /// `/proc/stat` cannot be read, or has no line of processor times.
    pub fn start() -> io::Result<Meter> {
        let text = std::fs::read_to_string("/proc/stat")?;
        Meter::parse(&text, monotonic_ns()).ok_or_else(|| io::Error::other("found no line of processor times"))
    }

    fn parse(stat: &str, at_ns: u64) -> Option<Meter> {
        const TICKS_PER_SECOND: f64 = 100.0;
        let ticks: Vec<u64> = line(stat, "cpu ")?.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // user, nice, system, idle, waiting for a disk, interrupts, soft interrupts, taken by the hypervisor.
        let idle = ticks.get(3)? + ticks.get(4)? + ticks.get(7)?;
        let numbered = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
        let processors = stat.lines().filter(numbered).count() as f64;
        Some(Meter { at_ns, idle_s: idle as f64 / TICKS_PER_SECOND, processors })
    }

    /// Seconds of processor time used since the start.
    ///
    /// # Errors
    /// As [`Meter::start`].
    pub fn used_s(&self) -> io::Result<f64> {
        Ok(self.until(&Meter::start()?))
    }

    fn until(&self, later: &Meter) -> f64 {
        let elapsed_s = (later.at_ns - self.at_ns) as f64 * 1e-9;
        (elapsed_s * later.processors - (later.idle_s - self.idle_s)).max(0.0)
    }
}

fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_time_excludes_idle_and_stolen_time() {
        // Two processors, 10 s: 20 s in all, of which 1200 + 50 + 100 ticks were idle, waiting, or taken away.
        let before = "cpu  100 0 100 5000 10 0 0 200 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nintr 1\n";
        let after = "cpu  700 0 150 6200 60 0 0 300 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nintr 1\n";
        let (before, after) = (Meter::parse(before, 0).unwrap(), Meter::parse(after, 10_000_000_000).unwrap());
        assert!((before.until(&after) - 6.5).abs() < 1e-9);
    }
}
