//! Checks whether a stream can be read at all. The check uses the received gaps before smoothing: a stream
//! that arrived in one batch appears perfect once it is averaged.
//!
//! A receiver with interrupt coalescence delivers packets in batches: one long gap, then gaps near zero. Only the mean
//! of a batch carries information, and only from its own spike to the next. To see a rate change along a stream takes
//! two such complete events (the dissertation chooses N = 64 for that, section 5.4); to see a rate takes one.

use crate::estimation::contract::{Abstain, Estimator, Probing};
use crate::estimation::stream::{Gap, Stream};

/// A gap opens a batch if it is at least the mean send gap divided by this. Within a batch the gaps are the time to
/// process a packet.
pub(crate) const BATCH: u64 = 4;

/// Mean rates of the first and the last quarter differ by at least 1/50 where rates rise, and by at most 1/20 where they
/// are constant.
const RISING: u128 = 50;
const CONSTANT: u128 = 20;

/// The fewest gaps that can be divided into quarters.
const QUARTERS: usize = 4;

/// Checks that the estimator can read the stream.
///
/// # Errors
/// The reason why it cannot.
pub(crate) fn check(stream: &Stream, estimator: &dyn Estimator) -> Result<(), Abstain> {
    let gaps = &stream.gaps;
    if stream.lost > 0 {
        return Err(Abstain::Lost { packets: stream.lost });
    }
    if !estimator.reads_unacknowledged() && gaps.iter().any(|gap| !gap.acked) {
        return Err(Abstain::Unacknowledged);
    }
    if gaps.len() < QUARTERS {
        return Err(Abstain::TooFewGaps { found: gaps.len(), needed: QUARTERS });
    }
    if gaps.iter().any(|gap| gap.send.picos() == 0) {
        return Err(Abstain::NoSendGap);
    }
    batches(stream, estimator.least_events())?;
    shape(gaps, estimator.probing())
}

fn batches(stream: &Stream, needed: usize) -> Result<(), Abstain> {
    let gaps = &stream.gaps;
    let least = stream.send_time() / (BATCH * gaps.len() as u64);
    let opens = |gap: &&Gap| gap.receive >= least;
    if !gaps[1..].iter().any(|gap| opens(&gap)) {
        return Err(Abstain::OneBatch);
    }
    let found = gaps.iter().filter(opens).count() - 1;
    if found < needed { Err(Abstain::TooFewEvents { found, needed }) } else { Ok(()) }
}

/// Compares quarters, so that small errors of the sender in single gaps do not matter.
fn shape(gaps: &[Gap], probing: Probing) -> Result<(), Abstain> {
    let quarter = |number: usize| {
        let part = &gaps[number * gaps.len() / 4..(number + 1) * gaps.len() / 4];
        let (time, size) =
            part.iter().fold((0, 0), |(time, size), gap| (time + gap.send.picos(), size + gap.size.get()));
        (u128::from(time), u128::from(size))
    };
    // Rates as size over time, compared crosswise: a.1 / a.0 exceeds b.1 / b.0 by more than 1 / part.
    let exceeds = |a: (u128, u128), b: (u128, u128), part| a.1 * b.0 * part > b.1 * a.0 * (part + 1);
    match probing {
        Probing::Rising if !exceeds(quarter(3), quarter(0), RISING) => Err(Abstain::NotRising),
        Probing::Constant => {
            let quarters = [quarter(0), quarter(1), quarter(2), quarter(3)];
            let differ = |a| quarters.iter().any(|b| exceeds(a, *b, CONSTANT));
            if quarters.into_iter().any(differ) { Err(Abstain::NotConstant) } else { Ok(()) }
        }
        Probing::Rising => Ok(()),
    }
}

/// Returns the size of all packets, if they have the same.
pub(crate) fn one_size(gaps: &[Gap]) -> Result<crate::units::Bytes, Abstain> {
    let size = gaps.first().map_or(crate::units::Bytes::ZERO, |gap| gap.size);
    if gaps.iter().all(|gap| gap.size == size) { Ok(size) } else { Err(Abstain::MixedSizes) }
}
