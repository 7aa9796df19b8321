//! Pathload's trend tests: do one-way delays increase along a stream of one rate?
//!
//! ```text
//! S_PCT = #{k: D_k > D_(k-1)} / (N - 1)                  the part of steps that go up
//! S_PDT = (D_N - D_1) / sum |D_k - D_(k-1)|              the way made good, over the way gone
//! ```
//!
//! Above 0.66 and 0.55 both: increasing, the rate is too high. Below 0.54 and 0.45 both: not increasing. Anything else is
//! ambiguous.
//!
//! Source: M. Jain and C. Dovrolis, "Pathload", PAM 2002, as stated in Q. Yin, "TCP RAPID: from theory to practice",
//! section 2.2. Deviations:
//!  1. The print has delay_k in S_PDT's numerator, outside of any sum; the sense is the last delay.
//!  2. Delays that never change have S_PDT = 0: no trend.
//!  3. A step shorter than the receiver's clock can tell is none. Packets that no one disturbs have equal delays, but a
//!     clock of 1 ns writes them down up to 1 ns apart, and where gaps are x.7 ns long, seven of ten such steps go up.

use crate::contract::Verdict;
use units::{Ratio, Span};

/// What separates increasing from ambiguous, and ambiguous from not.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Both above: PCT, PDT.
    pub increasing: (Ratio, Ratio),
    /// Both below: PCT, PDT.
    pub steady: (Ratio, Ratio),
}

impl Thresholds {
    /// 0.66 and 0.55, 0.54 and 0.45.
    pub const PUBLISHED: Thresholds = Thresholds {
        increasing: (Ratio::of(66, 100), Ratio::of(55, 100)),
        steady: (Ratio::of(54, 100), Ratio::of(45, 100)),
    };
}

/// The two metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trend {
    /// Pairwise comparison, 0 to 1.
    pub pct: Ratio,
    /// Pairwise difference, -1 to 1; what is below 0 is 0 here, since every threshold is above.
    pub pdt: Ratio,
}

/// The metrics of one-way delays, in picoseconds, by a receiver with this clock.
pub fn trend(delays: &[i64], clock: Span) -> Trend {
    let steps = delays.windows(2).map(|pair| i128::from(pair[1]) - i128::from(pair[0]));
    let (mut ups, mut gone, mut good) = (0, 0, 0);
    for step in steps.filter(|step| step.unsigned_abs() >= u128::from(clock.picos())) {
        ups += u64::from(step > 0);
        gone += step.unsigned_abs();
        good += step;
    }
    let pdt = (good.max(0).unsigned_abs() << 32).checked_div(gone).unwrap_or(0);
    Trend { pct: Ratio::of(ups, delays.len().saturating_sub(1) as u64), pdt: Ratio::from_q32(pdt as u64) }
}

impl Trend {
    /// What the tests say together.
    pub fn verdict(&self, thresholds: &Thresholds) -> Verdict {
        let (increasing, steady) = (thresholds.increasing, thresholds.steady);
        if self.pct > increasing.0 && self.pdt > increasing.1 {
            Verdict::Above
        } else if self.pct < steady.0 && self.pdt < steady.1 {
            Verdict::NotAbove
        } else {
            Verdict::Ambiguous
        }
    }
}
