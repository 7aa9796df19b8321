//! The average of two readings with errors of different causes: `posterior`, which knows the delays well but not the
//! capacity, and BASS with Algorithm 1, which does not need the capacity but needs whole batches.
//!
//! ```text
//! estimate = posterior^w other^(1 - w)
//! ```
//!
//! If the other reading abstains (too few complete batches), the estimate is the posterior's. The posterior skips
//! unacknowledged packets; they are normalised for the other reading.
//!
//! Source: ours. In even traffic on a busy link the posterior is high, since it divides the growth of a queue by a
//! capacity that it does not know; Algorithm 1 compares only signs. Under interrupt coalescence it is the other way
//! round. w = 0.6 was chosen on periodic, Poisson and on-off traffic and on the recorded web trace, whose scores were
//! visible during the choice (`docs/estimation.md` has the result on other superpositions of that trace).

use crate::estimation::bass::Bass;
use crate::estimation::contract::{Abstain, Denoiser, Estimate, Estimator, Probing};
use crate::estimation::multi_rate::MultiRate;
use crate::estimation::normalise::Normalise;
use crate::estimation::posterior::Posterior;
use crate::estimation::readable;
use crate::estimation::stream::Stream;
use crate::estimation::window::Window;
use crate::settings::{Parameter, Parameters, Setting, SettingError, Settings};
use crate::units::{Rate, Ratio};
use alloc::boxed::Box;

const WEIGHT: Parameter<Ratio> =
    Parameter::new("weight", Ratio::of(6, 10), Ratio::ZERO..=Ratio::ONE, "w: weight of the posterior");

/// The settings.
pub const PARAMETERS: Parameters = &[&WEIGHT];

/// Length of the window after BASS, in streams.
const WINDOW: Ratio = Ratio::of(375, 1000);

/// Both readings, combined.
pub struct Combined {
    weight: f64,
    posterior: Box<dyn Estimator>,
    denoisers: [Box<dyn Denoiser>; 3],
    other: Box<dyn Estimator>,
}

impl Combined {
    pub fn build(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        let defaults = Settings::new();
        let window = Settings::from_iter([("part".into(), Setting::Ratio(WINDOW))]);
        let weight = WEIGHT.read(settings)?;
        Ok(Box::new(Combined {
            weight: weight.as_f64(),
            posterior: Posterior::build(&defaults)?,
            denoisers: [Normalise::build(&defaults)?, Bass::build(&defaults)?, Window::build(&window)?],
            other: MultiRate::build(&defaults)?,
        }))
    }

    fn other(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        let [normalise, bass, window] = &self.denoisers;
        let normal = normalise.denoise(stream.clone())?;
        readable::check(&normal, &*self.other)?;
        self.other.estimate(&window.denoise(bass.denoise(normal)?)?)
    }
}

impl Estimator for Combined {
    fn probing(&self) -> Probing {
        Probing::Rising
    }

    fn least_events(&self) -> usize {
        self.posterior.least_events()
    }

    fn reads_unacknowledged(&self) -> bool {
        true
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        match (self.posterior.estimate(stream), self.other(stream)) {
            (Ok(posterior), Ok(other)) => Ok(self.mean(posterior, other)),
            (Ok(posterior), Err(_)) => Ok(posterior),
            (Err(_), Ok(other)) => Ok(other),
            (Err(reason), Err(_)) => Err(reason),
        }
    }
}

impl Combined {
    /// Returns weighted geometric means of the values and of the intervals' ends. Where one reading has no end, the
    /// interval is open.
    fn mean(&self, a: Estimate, b: Estimate) -> Estimate {
        let mean = |a: Rate, b: Rate| {
            let log = |rate: Rate| libm::log(rate.bps().max(1) as f64);
            Rate::from_bps(libm::exp(self.weight * log(a) + (1.0 - self.weight) * log(b)) as u64)
        };
        let value = mean(a.value, b.value);
        let open = a.low == Rate::ZERO || b.low == Rate::ZERO;
        Estimate {
            value,
            low: if open { Rate::ZERO } else { mean(a.low, b.low).min(value) },
            high: a.high.zip(b.high).map(|(a, b)| mean(a, b).max(value)),
        }
    }
}
