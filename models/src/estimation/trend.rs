//! Pathload's trend tests: do one-way delays increase along a stream of one rate?
//!
//! ```text
//! S_PCT = #{k: D_k > D_(k-1)} / (N - 1)                  the part of steps that go up
//! S_PDT = (D_N - D_1) / sum |D_k - D_(k-1)|              the net change over the sum of all changes
//! ```
//!
//! If S_PCT is above 0.66 and S_PDT above 0.55, delays increase, and the rate is too high. If S_PCT is below 0.54 and
//! S_PDT below 0.45, they do not. Anything else is ambiguous.
//!
//! Source: M. Jain and C. Dovrolis, "Pathload", PAM 2002, as stated in Q. Yin, "TCP RAPID: from theory to practice",
//! section 2.2. Deviations:
//!  1. The print has delay_k in S_PDT's numerator, outside any sum; the last delay is meant.
//!  2. Delays that never change have S_PDT = 0: no trend.
//!  3. A step shorter than the resolution of the receiver's clock does not count. Undisturbed packets have equal
//!     delays, but a clock of 1 ns records them up to 1 ns apart, and with gaps of x.7 ns seven of ten such steps go
//!     up.

use crate::estimation::contract::Verdict;
use crate::units::{Ratio, Span};

/// The thresholds between increasing and ambiguous, and between ambiguous and not increasing.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Delays increase if PCT and PDT both exceed these.
    pub increasing: (Ratio, Ratio),
    /// Delays do not increase if PCT and PDT are both below these.
    pub steady: (Ratio, Ratio),
}

impl Thresholds {
    /// The published thresholds: 0.66 and 0.55, 0.54 and 0.45.
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
    /// Pairwise difference, -1 to 1; values below 0 are stored as 0, since every threshold is above 0.
    pub pdt: Ratio,
}

/// Returns the metrics of one-way delays in picoseconds, measured by a receiver with this clock resolution.
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
    /// Returns the joint verdict of the two tests.
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
