//! What a denoiser and an estimator promise.

use crate::stream::Stream;
use core::fmt;
use units::Rate;

/// A stream in, a stream that is easier to read out.
pub trait Denoiser {
    /// # Errors
    /// Why this stream cannot be denoised.
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain>;

    /// It restores what the receiver did not say, and comes before the stream is judged readable.
    fn restores(&self) -> bool {
        false
    }
}

/// A stream in, an available bandwidth out.
pub trait Estimator {
    /// The streams it reads.
    fn probing(&self) -> Probing;

    /// Of a stream that arrives in batches, so many must lie between their own beginning and the next.
    fn least_events(&self) -> usize {
        if self.probing() == Probing::Rising { 2 } else { 1 }
    }

    /// It reads streams of which the receiver gave only some packets a time.
    fn reads_unacknowledged(&self) -> bool {
        false
    }

    /// # Errors
    /// Why this stream says nothing.
    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain>;
}

/// How the rates of a stream run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// They rise: in levels (multi-rate), or with every packet (a chirp).
    Rising,
    /// They stay.
    Constant,
}

/// What a stream of one rate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its rate is above the available bandwidth.
    Above,
    /// It is not.
    NotAbove,
    /// The tests disagree.
    Ambiguous,
}

/// An available bandwidth, and the interval in which the stream places it.
///
/// The interval is what the stream cannot tell apart, not a quantile: the rates at which it may have turned from not
/// congesting to congesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The estimate.
    pub value: Rate,
    /// Not below this.
    pub low: Rate,
    /// Not above this; `None` where no rate of the stream was too high.
    pub high: Option<Rate>,
}

impl Estimate {
    /// No rate up to this one was too high.
    pub fn at_least(rate: Rate) -> Estimate {
        Estimate { value: rate, low: rate, high: None }
    }

    /// This rate was too high.
    pub fn at_most(rate: Rate) -> Estimate {
        Estimate { value: rate, low: Rate::ZERO, high: Some(rate) }
    }

    /// What the verdict on a stream of `rate` says.
    pub(crate) fn of(verdict: Verdict, rate: Rate) -> Result<Estimate, Abstain> {
        match verdict {
            Verdict::Above => Ok(Estimate::at_most(rate)),
            Verdict::NotAbove => Ok(Estimate::at_least(rate)),
            Verdict::Ambiguous => Err(Abstain::Ambiguous),
        }
    }
}

/// Why a stream is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstain {
    /// Packets of it never arrived.
    Lost {
        /// So many.
        packets: u64,
    },
    /// It is too short for this method.
    TooFewGaps {
        /// Gaps it has, after denoising.
        found: usize,
        /// Gaps it takes.
        needed: usize,
    },
    /// It is longer than this method reads.
    TooLong {
        /// Gaps that are read at most.
        most: usize,
    },
    /// Some packets were not answered one by one.
    Unacknowledged,
    /// All of it arrived at one time.
    OneBatch,
    /// It arrived in batches, too few of them complete.
    TooFewEvents {
        /// Batches with their spike before and after.
        found: usize,
        /// It takes so many.
        needed: usize,
    },
    /// Two packets left at the same time, at no rate.
    NoSendGap,
    /// The method reads packets of one size.
    MixedSizes,
    /// The method reads rates that rise, and these do not.
    NotRising,
    /// The method reads one rate, and this stream has several.
    NotConstant,
    /// The trend tests disagree.
    Ambiguous,
    /// The estimate would be off by more than was asked for.
    Unsure {
        /// Its expected error, per cent of itself.
        percent: u32,
    },
}

impl fmt::Display for Abstain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abstain::Lost { packets } => write!(f, "packets lost: {packets}"),
            Abstain::TooFewGaps { found, needed } => write!(f, "too few gaps: {found} of {needed}"),
            Abstain::TooLong { most } => write!(f, "too long: more than {most} gaps"),
            Abstain::Unacknowledged => write!(f, "unacknowledged packets: normalise first"),
            Abstain::OneBatch => write!(f, "all in one batch"),
            Abstain::TooFewEvents { found, needed } => {
                write!(f, "too few complete buffering events: {found} of {needed}")
            }
            Abstain::NoSendGap => write!(f, "a send gap of zero"),
            Abstain::MixedSizes => write!(f, "packets of several sizes"),
            Abstain::NotRising => write!(f, "rates do not rise"),
            Abstain::NotConstant => write!(f, "rates are not constant"),
            Abstain::Ambiguous => write!(f, "ambiguous trend"),
            Abstain::Unsure { percent } => write!(f, "unsure: expected to be off by {percent} %"),
        }
    }
}

impl core::error::Error for Abstain {}
