//! Whether this machine keeps time well enough to be judged by: what a test that waits in real time needs to know before
//! its failure counts.
//!
//! Two things falsify real time. A hypervisor takes the processors away: `/proc/stat` counts that as stolen. Or other
//! programs have them: then a thread of ordinary priority wakes late.

use crate::lateness::Lateness;
use std::io;

/// Largest share of processor time that may be stolen.
pub const MOST_STOLEN: f64 = 0.01;

/// Latest that 99 of 100 sleeps of 1 ms may end.
pub const MOST_LATE_NS: u64 = 500_000;

/// Processor time of the machine since it started, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// All of it, idle time included.
    pub all_ticks: u64,
    /// What a hypervisor took away.
    pub stolen_ticks: u64,
}

impl ProcessorTime {
    /// Reads `/proc/stat`.
    ///
    /// # Errors
    /// It cannot be read, or has no line of processor times.
    pub fn now() -> io::Result<ProcessorTime> {
        let text = std::fs::read_to_string("/proc/stat")?;
        ProcessorTime::parse(&text).ok_or_else(|| io::Error::other("/proc/stat: found no line of processor times"))
    }

    /// user, nice, system, idle, waiting for a disk, interrupts, soft interrupts, stolen; guests are in user and nice.
    fn parse(stat: &str) -> Option<ProcessorTime> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().take(8).filter_map(|word| word.parse().ok()).collect();
        Some(ProcessorTime { all_ticks: ticks.iter().sum(), stolen_ticks: *ticks.get(7)? })
    }

    /// The share of the time from `self` until `later` that was stolen.
    pub fn stolen_until(&self, later: &ProcessorTime) -> f64 {
        let all = later.all_ticks.saturating_sub(self.all_ticks);
        let stolen = later.stolen_ticks.saturating_sub(self.stolen_ticks);
        if all == 0 { 0.0 } else { stolen as f64 / all as f64 }
    }
}

/// Judges the machine: the time stolen since `since`, and sleeps measured now. Returns what was found where it is steady,
/// and what is wrong where it is not.
///
/// # Errors
/// The machine cannot be measured.
pub fn judge(since: &ProcessorTime) -> io::Result<Result<String, String>> {
    let stolen = since.stolen_until(&ProcessorTime::now()?);
    let late_ns = Lateness::measure_at_ordinary_priority()?.percentile_ns(99);
    Ok(verdict(stolen, late_ns))
}

fn verdict(stolen: f64, late_ns: u64) -> Result<String, String> {
    let found = format!(
        "{:.1} % of the processors' time was stolen, one sleep of 1 ms in a hundred ends {} us late",
        stolen * 100.0,
        late_ns / 1_000
    );
    if stolen <= MOST_STOLEN && late_ns <= MOST_LATE_NS {
        return Ok(found);
    }
    Err(format!("{found}; a steady machine has at most {:.0} % and {} us", MOST_STOLEN * 100.0, MOST_LATE_NS / 1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_share_of_all_time() {
        // 100 ticks of two processors passed, 5 of them stolen; the guest's times at the end are not counted twice.
        let before = ProcessorTime::parse("cpu  100 0 100 800 0 0 0 0 50 0\ncpu0 1 2 3\n").unwrap();
        let after = ProcessorTime::parse("cpu  120 0 110 865 0 0 0 5 90 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!(before.all_ticks, 1000);
        assert!((before.stolen_until(&after) - 0.05).abs() < 1e-12);
        assert_eq!(before.stolen_until(&before), 0.0);
        assert_eq!(ProcessorTime::parse("intr 1\n"), None);
    }

    #[test]
    fn a_machine_that_is_late_or_robbed_is_not_steady() {
        assert!(verdict(MOST_STOLEN, MOST_LATE_NS).is_ok());
        assert!(verdict(MOST_STOLEN + 0.001, 0).is_err());
        assert!(verdict(0.0, MOST_LATE_NS + 1).is_err());
    }
}
