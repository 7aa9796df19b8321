//! The contracts of a denoiser and of an estimator.

use crate::estimation::stream::Stream;
use crate::units::Rate;
use core::fmt;

/// Turns a stream into one that is easier to read.
pub trait Denoiser {
    /// Returns the denoised stream.
    ///
    /// # Errors
    /// The reason why this stream cannot be denoised.
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain>;

    /// Whether it restores what the receiver did not report. If so, it runs before the stream is judged readable.
    fn restores(&self) -> bool {
        false
    }
}

/// Estimates the available bandwidth from a stream.
pub trait Estimator {
    /// Returns which streams it reads.
    fn probing(&self) -> Probing;

    /// Returns how many complete batches it needs, if a stream arrives in batches. A batch is complete when the next
    /// has begun.
    fn least_events(&self) -> usize {
        if self.probing() == Probing::Rising { 2 } else { 1 }
    }

    /// Whether it reads streams in which the receiver reported the time of only some packets.
    fn reads_unacknowledged(&self) -> bool {
        false
    }

    /// Returns the estimate.
    ///
    /// # Errors
    /// The reason why the estimator abstains.
    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain>;
}

/// How the rates change along a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probing {
    /// They rise: in levels (multi-rate), or with every packet (a chirp).
    Rising,
    /// They stay constant.
    Constant,
}

/// The verdict on a stream of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its rate is above the available bandwidth.
    Above,
    /// Its rate is not above the available bandwidth.
    NotAbove,
    /// The tests disagree.
    Ambiguous,
}

/// An available bandwidth, and the interval in which the stream places it.
///
/// The interval is not a quantile. It holds the rates at which the stream may have begun to congest the path, and
/// between which the stream cannot distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The estimate.
    pub value: Rate,
    /// The lower end of the interval.
    pub low: Rate,
    /// The upper end of the interval; `None` if no rate of the stream was too high.
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

    /// Returns the estimate that follows from the verdict on a stream of `rate`.
    pub(crate) fn of(verdict: Verdict, rate: Rate) -> Result<Estimate, Abstain> {
        match verdict {
            Verdict::Above => Ok(Estimate::at_most(rate)),
            Verdict::NotAbove => Ok(Estimate::at_least(rate)),
            Verdict::Ambiguous => Err(Abstain::Ambiguous),
        }
    }
}

/// The reason why a stream is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abstain {
    /// Some packets never arrived.
    Lost {
        /// The number of packets lost.
        packets: u64,
    },
    /// It is too short for this method.
    TooFewGaps {
        /// Gaps in the stream, after denoising.
        found: usize,
        /// Gaps that the method needs.
        needed: usize,
    },
    /// It is longer than this method reads.
    TooLong {
        /// The most gaps that the method reads.
        most: usize,
    },
    /// Some packets have no acknowledgment of their own.
    Unacknowledged,
    /// The whole stream arrived in one batch.
    OneBatch,
    /// The stream arrived in batches, and too few of them are complete.
    TooFewEvents {
        /// Batches with a spike before and after them.
        found: usize,
        /// Batches that the method needs.
        needed: usize,
    },
    /// Two packets left at the same time, so their rate is undefined.
    NoSendGap,
    /// The method reads packets of one size.
    MixedSizes,
    /// The method reads rates that rise, and these do not.
    NotRising,
    /// The method reads one rate, and this stream has several.
    NotConstant,
    /// The trend tests disagree.
    Ambiguous,
    /// The expected error of the estimate is larger than the setting allows.
    Unsure {
        /// The expected error, in per cent of the estimate.
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
