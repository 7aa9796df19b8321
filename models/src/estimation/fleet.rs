//! Pathload's search: which rate to send next, given the verdicts on earlier rates.
//!
//! The next rate is the middle of the open range. A rate that was too high becomes R_max; one that was not becomes
//! R_min. Where a fleet cannot decide, the available bandwidth itself varies around that rate. This is the grey region,
//! which the search then encloses from both sides. It ends when R_min and R_max are within the resolution of each
//! other, or of the grey region.
//!
//! Source: M. Jain and C. Dovrolis, "Pathload", PAM 2002, section 3; Q. Yin, "TCP RAPID: from theory to practice", section
//! 2.2 (the binary search, without the grey region). Deviations:
//!  1. There is one resolution, also for the grey region.
//!  2. The streams of a fleet vote (`of_fleet`): a fraction of 0.7 of the readable streams must agree.

use crate::estimation::contract::{Abstain, Estimate, Verdict};
use crate::units::{Rate, Ratio};

/// The state of a search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    low: Rate,
    high: Rate,
    grey: Option<(Rate, Rate)>,
    resolution: Rate,
}

impl Search {
    /// Starts a search between two rates, down to a resolution.
    pub fn new(low: Rate, high: Rate, resolution: Rate) -> Search {
        Search { low, high: high.max(low), grey: None, resolution: resolution.max(Rate::from_bps(1)) }
    }

    /// Returns the rate of the next fleet; `None` when the search has ended.
    pub fn next_rate(&self) -> Option<Rate> {
        let (below, above) = self.grey.unwrap_or((self.high, self.high));
        let middle = |low: Rate, high: Rate| low + Rate::from_bps((high - low).bps() / 2);
        match self.grey {
            Some(_) if self.high - above > self.resolution => Some(middle(above, self.high)),
            _ if below - self.low > self.resolution => Some(middle(self.low, below)),
            _ => None,
        }
    }

    /// Takes the verdict of the fleet at `rate`. A rate outside the open range changes nothing.
    pub fn report(&mut self, rate: Rate, verdict: Verdict) {
        if rate < self.low || rate > self.high {
            return;
        }
        match verdict {
            Verdict::Above => self.high = rate,
            Verdict::NotAbove => self.low = rate,
            Verdict::Ambiguous => {
                let (below, above) = self.grey.unwrap_or((rate, rate));
                self.grey = Some((below.min(rate), above.max(rate)));
            }
        }
        // The grey region is inside the open range: a clear verdict cuts it off.
        self.grey = self.grey.map(|(below, above)| (below.max(self.low), above.min(self.high)));
        self.grey = self.grey.filter(|(below, above)| below <= above);
    }

    /// Returns the range of rates at which fleets could not decide.
    pub fn grey(&self) -> Option<(Rate, Rate)> {
        self.grey
    }

    /// Returns what is known so far: the middle of the open range, grey region included.
    pub fn estimate(&self) -> Estimate {
        let value = self.low + Rate::from_bps((self.high - self.low).bps() / 2);
        Estimate { value, low: self.low, high: Some(self.high) }
    }
}

/// Returns the joint verdict of the streams of a fleet, which all have one rate.
///
/// # Errors
/// No stream could be read; the reason is that of the last.
pub fn of_fleet(
    readings: impl IntoIterator<Item = Result<Verdict, Abstain>>,
    fraction: Ratio,
) -> Result<Verdict, Abstain> {
    let (mut above, mut not_above, mut all) = (0, 0, 0);
    let mut refusal = Abstain::TooFewGaps { found: 0, needed: 1 };
    for reading in readings {
        match reading {
            Ok(verdict) => {
                all += 1;
                above += u64::from(verdict == Verdict::Above);
                not_above += u64::from(verdict == Verdict::NotAbove);
            }
            Err(reason) => refusal = reason,
        }
    }
    match all {
        0 => Err(refusal),
        _ if Ratio::of(above, all) >= fraction => Ok(Verdict::Above),
        _ if Ratio::of(not_above, all) >= fraction => Ok(Verdict::NotAbove),
        _ => Ok(Verdict::Ambiguous),
    }
}
