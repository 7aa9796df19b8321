//! The estimator of RAPID and pathChirp: the highest rate of a stream that did not congest the path.
//!
//! Rates rise along the stream. A run of at least L packets whose receive gaps exceed their send gaps by more than
//! epsilon is congestion that the stream itself induced. Every packet since the previous run votes for the rate just
//! below the run; packets after the last run vote for the highest rate. The estimate is the mean of all votes.
//!
//! Source: Q. Yin, "TCP RAPID: from theory to practice", Algorithm 1; V. Ribeiro and others, "pathChirp", PAM 2003. The
//! algorithm itself is the law's integer C (`rapid/gaps.h`, reading 5: receive gaps against send gaps, not against
//! receive gaps as printed). Deviations here:
//!  1. epsilon is a fraction of the mean send gap: the printed 100 ns at 7.2 us, the gap of 9000 B at 10 Gbit/s.
//!  2. Where BASS found buffering events, epsilon is 250 ns, not 100: the error of an event's mean is up to a gap
//!     divided by its length, and an event across the turning point congests as a whole. With 100 ns the estimate is 5
//!     to 10 % low behind a receiver that coalesces interrupts; with 250 ns everywhere it is 5 % high behind one that
//!     does not.
//!  3. The rate just below a run is the last that fitted; the available bandwidth is between it and the rate of the
//!     run. With four levels over a range of 50 % the two are 14 % apart, so the printed algorithm is up to 14 % low in
//!     even traffic. `reading = between`, the default, takes the geometric mean of the two; `reading = below` is the
//!     printed algorithm. After a sliding window, which turns levels into a slope, they hardly differ.
//!  4. The interval runs from the reading with a quarter of epsilon to the next rate above the reading with four times
//!     epsilon. It starts at 0 if the stream congested from its first packet on, and is open above if it never did.
//!  5. A stream with packets of several sizes is refused: the search knows one size.

use crate::estimation::bass::for_the_law;
use crate::estimation::contract::{Abstain, Estimate, Estimator, Probing};
use crate::estimation::readable::one_size;
use crate::estimation::stream::{Gap, Stream};
use crate::rapid::gaps::Gaps;
use crate::settings::{OneOf, Parameter, Parameters, SettingError, Settings, above_zero};
use crate::units::{Bytes, Rate, Span};
use alloc::boxed::Box;
use alloc::vec::Vec;

const RUN: Parameter<u32> =
    Parameter::new("run", crate::rapid::gaps::RUN, 1..=128, "L: congested gaps in a row that mean congestion");
const EPSILON: Parameter<Span> = Parameter::new(
    "epsilon",
    Span::from_nanos(100),
    above_zero(),
    "least growth of a congested gap, at a mean send gap of 7.2 us",
);
const BATCHED_EPSILON: Parameter<Span> =
    Parameter::new("batched-epsilon", Span::from_nanos(250), above_zero(), "the same, if BASS found buffering events");
const READING: OneOf = OneOf::new(
    "reading",
    &["between", "below"],
    "mean of the last rate without and the first with congestion, or the former",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&RUN, &EPSILON, &BATCHED_EPSILON, &READING];

/// The largest packet that the law's search accepts.
const LARGEST: Bytes = Bytes::new(65_535);

/// The interval comes from the readings with an epsilon smaller and larger by this factor.
const SURER: u64 = 4;

/// The multi-rate estimator, Algorithm 1.
pub struct MultiRate {
    run: u32,
    epsilon: Span,
    batched_epsilon: Span,
    below: bool,
}

impl MultiRate {
    pub fn build(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        Ok(Box::new(MultiRate {
            run: RUN.read(settings)?,
            epsilon: EPSILON.read(settings)?,
            batched_epsilon: BATCHED_EPSILON.read(settings)?,
            below: READING.read(settings)? == "below",
        }))
    }
}

impl Estimator for MultiRate {
    fn probing(&self) -> Probing {
        Probing::Rising
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        let size = one_size(&stream.gaps)?;
        let too_few = || Abstain::TooFewGaps { found: stream.gaps.len(), needed: 2 * self.run as usize };
        let gaps = for_the_law(stream)?;
        let epsilon = if stream.batched { self.batched_epsilon } else { self.epsilon };
        let fitted = |epsilon| search(&gaps, size, epsilon, self.run).ok_or_else(too_few);
        let (low, middle, high) = (fitted(epsilon / SURER)?, fitted(epsilon)?, fitted(epsilon * SURER)?);
        let rates = rates(&stream.gaps);
        let rates = || rates.iter().copied();
        let (lowest, highest) = (rates().min().unwrap_or(middle), rates().max().unwrap_or(middle));
        let next = |fitted: Rate| rates().filter(|rate| apart(fitted, *rate)).min();
        let too_fast = |fitted, epsilon| !apart(lowest, fitted) && self.congested(stream, epsilon);
        let value = match next(middle) {
            Some(next) if !self.below && !too_fast(middle, epsilon) => between(middle, next),
            _ => middle.clamp(lowest, highest),
        };
        let low = if too_fast(low, epsilon / SURER) { Rate::ZERO } else { low.min(value) };
        Ok(Estimate { value, low, high: next(high.max(value)) })
    }
}

impl MultiRate {
    /// Whether the stream congests from its first packet on.
    fn congested(&self, stream: &Stream, epsilon: Span) -> bool {
        let mean = stream.send_time() / (stream.gaps.len() as u64).max(1);
        let epsilon = Span::from_picos((u128::from(mean.picos()) * u128::from(epsilon.nanos()) / 7200) as u64);
        stream.gaps.iter().take(self.run as usize).all(|gap| gap.receive > gap.send + epsilon)
    }
}

/// Returns the rate of each gap. Gaps of one level, or of one buffering event, are equal: their rate is computed once.
fn rates(gaps: &[Gap]) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::with_capacity(gaps.len());
    for (at, gap) in gaps.iter().enumerate() {
        let same = at.checked_sub(1).filter(|before| gaps[*before].send == gap.send && gaps[*before].size == gap.size);
        rates.push(same.map_or_else(|| gap.rate(), |before| rates[before]));
    }
    rates
}

/// Runs the law's search. Gaps of coarser streams carry several packets, more bytes than the law can hold.
fn search(gaps: &Gaps, size: Bytes, epsilon: Span, run: u32) -> Option<Rate> {
    let held = size.min(LARGEST);
    let rate = gaps.search_runs(held, epsilon, run)?;
    Some(Rate::from_bps((u128::from(rate.bps()) * u128::from(size.get()) / u128::from(held.get())) as u64))
}

/// Whether `above` exceeds `below` by more than a thousandth: the search computes in 1/1024 ns, and gaps of one level
/// differ by that much.
fn apart(below: Rate, above: Rate) -> bool {
    above.bps() > below.bps() + below.bps() / 1000
}

/// The geometric mean.
fn between(low: Rate, high: Rate) -> Rate {
    Rate::from_bps((u128::from(low.bps()) * u128::from(high.bps())).isqrt() as u64)
}
