//! Two periods of the queue; the recurrence is in the [module](super).

use super::Tally;
use crate::theory::Error;
use alloc::vec::Vec;

/// Fills the queue with one period of packets at sorted `phases`, then measures the next period. A packet that finds
/// more than `limit` unfinished work is lost.
pub(super) fn measure(phases: &[f64], period: f64, limit: f64, tally: &mut Tally) -> Result<(), Error> {
    let (Some(&first), Some(&last)) = (phases.first(), phases.last()) else { return Ok(()) };
    let across = period - last + first;
    let filled = pass(phases, first, 0.0, limit, |_, _| {});
    let (mut waiting, mut below_one, mut accepted) = (0.0, 0u64, 0u64);
    let histogram = &mut tally.histogram;
    let ended = pass(phases, first - across, filled, limit, |_, work| {
        waiting += work;
        below_one += u64::from(work < 1.0);
        accepted += 1;
        histogram.add(work);
    });
    tally.waiting += waiting;
    tally.below_one += below_one;
    tally.accepted += accepted;
    tally.offered += phases.len() as u64;
    repeats(filled, ended, phases.len())
}

/// Arrival times and queues of the accepted packets of the second period.
pub(super) fn trace(phases: &[f64], period: f64, limit: f64) -> Result<Vec<(f64, f64)>, Error> {
    let (Some(&first), Some(&last)) = (phases.first(), phases.last()) else { return Ok(Vec::new()) };
    let filled = pass(phases, first, 0.0, limit, |_, _| {});
    let mut found = Vec::with_capacity(phases.len());
    let ended = pass(phases, last - period, filled, limit, |now, work| found.push((now, work)));
    repeats(filled, ended, phases.len()).map(|()| found)
}

/// Checks that both periods end with the same work.
fn repeats(first: f64, second: f64, packets: usize) -> Result<(), Error> {
    // For rounding: a billionth of a packet per hundred packets.
    let tolerance = 1e-6 + 1e-11 * packets as f64;
    if (second - first).abs() > tolerance { Err(Error::NotPeriodic { first, second }) } else { Ok(()) }
}

/// Runs one period, from `work` at time `before`. Returns the unfinished work right after the last arrival.
#[inline(always)]
fn pass(phases: &[f64], mut before: f64, mut work: f64, limit: f64, mut accept: impl FnMut(f64, f64)) -> f64 {
    for &now in phases {
        work = (work - (now - before)).max(0.0);
        before = now;
        if work <= limit {
            accept(now, work);
            work += 1.0;
        }
    }
    work
}
