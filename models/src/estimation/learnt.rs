//! The learnt estimator: boosted trees that were trained on some hundred thousand streams with known truth.
//!
//! One model reads all lengths, rates and receivers, because its features have no units. It interprets interrupts
//! itself, so no denoiser but `normalise` belongs before it. `learnt` reads streams of several rates, and gives the
//! available bandwidth and its expected error. `learnt-verdict` reads streams of one rate, and decides whether that rate
//! was too high.
//!
//! Source: Q. Yin, "TCP RAPID: from theory to practice", chapter 6. The algorithm itself is the law's integer C
//! (`rapid/features.h`, `rapid/learnt.h`, deviations there); training is in `training/`. Deviations here:
//!  1. The interval is the estimate plus and minus [`SPREADS`] times the expected error. That is a quantile, unlike the
//!     intervals of other methods: it held 92 % of the truths of runs that the model was not trained on.
//!  2. A stream is refused if its expected error exceeds `sure`. By default none is refused.
//!  3. One interrupt between two batches is enough: the first packets of both, and the last of the first, show the time
//!     between them.

use crate::estimation::contract::{Abstain, Estimate, Estimator, Probing, Verdict};
use crate::estimation::readable::one_size;
use crate::estimation::stream::Stream;
use crate::rapid::gaps::{Gaps, LEARNT_ONE, MOST_GAPS};
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Rate, Ratio, Span};
use alloc::boxed::Box;
use alloc::vec::Vec;

const SURE: Parameter<Ratio> = Parameter::new(
    "sure",
    Ratio::ONE,
    Ratio::ZERO..=Ratio::ONE,
    "refuse streams with a larger expected error, as a share of the estimate",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&SURE];

/// No settings of the verdict.
pub const VERDICT: Parameters = &[];

/// Half the interval, in expected errors, as a fraction.
const SPREADS: (i64, i64) = (5, 2);

/// The fewest gaps from which features are computed.
const FEWEST: usize = 8;

/// The estimator for streams of several rates.
pub struct Learnt {
    sure: Ratio,
}

impl Learnt {
    pub fn build(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        let sure = SURE.read(settings)?;
        Ok(Box::new(Learnt { sure }))
    }
}

impl Estimator for Learnt {
    fn probing(&self) -> Probing {
        Probing::Rising
    }

    fn least_events(&self) -> usize {
        0
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        let gaps = seen(stream)?;
        let (value, spread) = gaps.learnt_value();
        let sure = i64::try_from(self.sure.of_u64(LEARNT_ONE as u64)).unwrap_or(i64::MAX);
        if i64::from(spread) > sure {
            return Err(Abstain::Unsure { percent: (i64::from(spread) * 100 / i64::from(LEARNT_ONE)) as u32 });
        }
        let (value, one) = (i64::from(value), i64::from(LEARNT_ONE));
        let half = value * i64::from(spread).clamp(0, one) / one * SPREADS.0 / SPREADS.1;
        let rate = |parts: i64| {
            let bps = u128::from(stream.send_rate().bps()) * parts.max(0) as u128 / one as u128;
            Rate::from_bps(bps as u64)
        };
        Ok(Estimate { value: rate(value), low: rate(value - half), high: Some(rate(value + half)) })
    }
}

/// The estimator for streams of one rate.
pub struct LearntVerdict;

impl LearntVerdict {
    pub fn build(_: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        Ok(Box::new(LearntVerdict))
    }
}

impl Estimator for LearntVerdict {
    fn probing(&self) -> Probing {
        Probing::Constant
    }

    fn least_events(&self) -> usize {
        0
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        let gaps = seen(stream)?;
        let verdict = if gaps.learnt_verdict() > 0 { Verdict::Above } else { Verdict::NotAbove };
        Estimate::of(verdict, stream.send_rate())
    }
}

/// Converts the stream to the form that the law's C code uses, and computes its features.
fn seen(stream: &Stream) -> Result<Gaps, Abstain> {
    one_size(&stream.gaps)?;
    if stream.gaps.len() > MOST_GAPS {
        return Err(Abstain::TooLong { most: MOST_GAPS });
    }
    if stream.gaps.len() < FEWEST {
        return Err(Abstain::TooFewGaps { found: stream.gaps.len(), needed: FEWEST });
    }
    let (send, receive): (Vec<Span>, Vec<Span>) = stream.gaps.iter().map(|gap| (gap.send, gap.receive)).unzip();
    let mut gaps = Gaps::new(&send, &receive);
    gaps.features().ok_or(Abstain::OneBatch)?;
    Ok(gaps)
}
