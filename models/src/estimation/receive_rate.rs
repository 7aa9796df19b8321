//! Compares receive rate and send rate: a stream that arrives more slowly than it was sent was sent too fast.
//!
//! ```text
//! r_in = bits / send time,  r_out = bits / receive time;  too high if r_in > r_out (1 + tolerance)
//! ```
//!
//! Source: Q. Yin, "TCP RAPID: from theory to practice", sections 5.1.2 and 5.3.2 (after BASS). Deviations:
//!  1. The printed test is strict, r_in > r_out. Well below the available bandwidth that is a coin toss: both are equal
//!     up to noise. A tolerance of 2 % decides; `tolerance = 0` is the printed test.
//!  2. For a stream that was too fast the estimate is its receive rate. That is above the available bandwidth if
//!     cross traffic shares a FIFO queue, and below the send rate. The interval runs from 0 to the send rate.

use crate::estimation::contract::{Abstain, Estimate, Estimator, Probing, Verdict};
use crate::estimation::stream::Stream;
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Rate, Ratio};
use alloc::boxed::Box;

const TOLERANCE: Parameter<Ratio> = Parameter::new(
    "tolerance",
    Ratio::of(2, 100),
    Ratio::ZERO..=Ratio::ONE,
    "share by which the send rate may exceed the receive rate",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&TOLERANCE];

/// The fewest gaps that give a rate.
const FEWEST: usize = 4;

/// The comparison of the two rates.
pub struct ReceiveRate {
    tolerance: Ratio,
}

impl ReceiveRate {
    pub fn build(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        let tolerance = TOLERANCE.read(settings)?;
        Ok(Box::new(ReceiveRate { tolerance }))
    }
}

/// Judges whether a stream was sent faster than it arrived. It compares times, since the amount is the same.
pub(crate) fn verdict(stream: &Stream, tolerance: Ratio) -> Verdict {
    let sent = stream.send_time();
    if stream.receive_time() > sent + sent.scale(tolerance) { Verdict::Above } else { Verdict::NotAbove }
}

impl Estimator for ReceiveRate {
    fn probing(&self) -> Probing {
        Probing::Constant
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        if stream.gaps.len() < FEWEST {
            return Err(Abstain::TooFewGaps { found: stream.gaps.len(), needed: FEWEST });
        }
        Ok(match verdict(stream, self.tolerance) {
            Verdict::Above => {
                Estimate { value: stream.receive_rate(), low: Rate::ZERO, high: Some(stream.send_rate()) }
            }
            _ => Estimate::at_least(stream.send_rate()),
        })
    }
}
