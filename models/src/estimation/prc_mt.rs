//! PRC-MT: probing over a multiple timescale, with streams long enough that noise does not matter.
//!
//! A stream's rate is too high if it exceeds its receive rate. The length of a stream is found first. Streams of length
//! N are sent twice at the asymptotic dispersion rate ADR (the [`Stream::receive_rate`] of a stream that fills the
//! path; it is above the available bandwidth), and their r_out / ADR are compared. If the two agree within sigma, N is
//! long enough.
//!
//! Source: PRC-MT as in Q. Yin, "TCP RAPID: from theory to practice", section 5.1.2 and Algorithm 4. Deviations:
//!  1. Algorithm 4's jump to "1" continues into "2", which would undo it. Here each is a separate branch.
//!  2. In Algorithm 4, N moves half way to N_min or N_max, which do not move: if the right length is in between, N
//!     alternates for ever (from 3000 to 243 and back to 1621). Here the end that was tried moves too, which is the
//!     binary search that the text describes.
//!  3. The text gives no sigma and eta: here they are 2 % and 8 packets.
//!  4. As an estimator of one recorded stream it is the strict comparison, without tolerance, and refuses streams shorter
//!     than N_min = 60 packets.

use crate::estimation::contract::{Abstain, Estimate, Estimator, Probing};
use crate::estimation::receive_rate::verdict;
use crate::estimation::stream::Stream;
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Rate, Ratio};
use alloc::boxed::Box;
use core::fmt;

const SHORTEST: Parameter<u32> = Parameter::new("shortest", 60, 2..=65_536, "N_min, in packets");

/// The settings.
pub const PARAMETERS: Parameters = &[&SHORTEST];

/// The strict comparison of send rate and receive rate.
pub struct PrcMt {
    shortest: usize,
}

impl PrcMt {
    pub fn build(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        let shortest = SHORTEST.read(settings)?;
        Ok(Box::new(PrcMt { shortest: shortest as usize }))
    }
}

impl Estimator for PrcMt {
    fn probing(&self) -> Probing {
        Probing::Constant
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        let needed = self.shortest - 1;
        if stream.gaps.len() < needed {
            return Err(Abstain::TooFewGaps { found: stream.gaps.len(), needed });
        }
        Estimate::of(verdict(stream, Ratio::ZERO), stream.send_rate())
    }
}

/// Parameters of the search for a length.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// N_min, packets.
    pub shortest: u32,
    /// N_max, packets.
    pub longest: u32,
    /// sigma: the largest difference of two ratios r_out / ADR that agree.
    pub agreement: Ratio,
    /// eta: the search ends when N changes by less, packets.
    pub resolution: u32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning { shortest: 60, longest: 3000, agreement: Ratio::of(2, 100), resolution: 8 }
    }
}

/// The reason why no length was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthError {
    /// Even the longest streams disagree.
    TooNoisy,
    /// ADR is zero, or N_min is not below N_max.
    Invalid,
}

impl fmt::Display for LengthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LengthError::TooNoisy => write!(f, "even streams of the greatest length disagree"),
            LengthError::Invalid => write!(f, "the search needs a rate above zero, and N_min below N_max"),
        }
    }
}

impl core::error::Error for LengthError {}

/// Algorithm 4. Returns the length of the shortest stream with a repeatable receive rate. `receive_rate` sends a
/// stream with a number of packets and a rate, and returns the rate at which it arrived.
///
/// # Errors
/// See [`LengthError`].
pub fn tune_length(
    adr: Rate,
    tuning: &Tuning,
    mut receive_rate: impl FnMut(u32, Rate) -> Rate,
) -> Result<u32, LengthError> {
    let Tuning { shortest, longest, agreement, resolution } = *tuning;
    if adr == Rate::ZERO || shortest >= longest {
        return Err(LengthError::Invalid);
    }
    let mut repeats = |packets| {
        let first = receive_rate(packets, adr).ratio_to(adr).q32();
        let second = receive_rate(packets, adr).ratio_to(adr).q32();
        first.abs_diff(second) < agreement.q32()
    };
    if !repeats(longest) {
        return Err(LengthError::TooNoisy);
    }
    let (mut too_short, mut enough) = (shortest, longest);
    while enough - too_short >= resolution.max(2) {
        let middle = too_short + (enough - too_short) / 2;
        *(if repeats(middle) { &mut enough } else { &mut too_short }) = middle;
    }
    Ok(enough)
}
