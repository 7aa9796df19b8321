//! Wavelet denoising of one-way delays, as in IMR-Pathload: three stages of a Daubechies transform. Each stage keeps
//! the scale coefficients and discards the wavelet coefficients, which are the noise. N delays become about N/8.
//!
//! ```text
//! c[j] = sum over k of h[k] d[2j + k]     h = (1 + s, 3 + s, 3 - s, 1 - s) / 8,   s = sqrt(3)
//! ```
//!
//! Source: S.-R. Kang and D. Loguinov, "IMR-Pathload", PAM 2008; Q. Yin, "TCP RAPID: from theory to practice", section
//! 5.1.1 ("the standard Daubechies wavelet transform"). Deviations:
//!  1. The text does not give the order. Here it is the four-tap filter (two vanishing moments), the first after
//!     Haar's, so that a steady slope passes unchanged.
//!  2. Coefficients are divided by sqrt(2) at each stage, so that they remain delays.
//!  3. Where a filter would reach past the end of the stream, the last step is extrapolated. Wrapping around, the usual
//!     way, would put the first delay after the last and break every trend.
//!  4. As a denoiser it gives a stream of gaps between coefficients, as `average.rs` does between windows.

use crate::estimation::average::coarser;
use crate::estimation::contract::{Abstain, Denoiser};
use crate::estimation::stream::Stream;
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use alloc::boxed::Box;
use alloc::vec::Vec;

const STAGES: Parameter<u32> = Parameter::new("stages", 3, 1..=10, "stages, each halving the number of delays");

/// The settings.
pub const PARAMETERS: Parameters = &[&STAGES];

const SQRT_3: f64 = 1.732_050_807_568_877_2;
const FILTER: [f64; 4] = [(1.0 + SQRT_3) / 8.0, (3.0 + SQRT_3) / 8.0, (3.0 - SQRT_3) / 8.0, (1.0 - SQRT_3) / 8.0];

/// The denoising, with its number of stages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wavelet {
    stages: u32,
}

impl Wavelet {
    pub fn build(settings: &Settings) -> Result<Wavelet, SettingError> {
        Ok(Wavelet { stages: STAGES.read(settings)? })
    }

    pub fn denoiser(settings: &Settings) -> Result<Box<dyn Denoiser>, SettingError> {
        Ok(Box::new(Wavelet::build(settings)?))
    }

    /// Returns the scale coefficients of the last stage.
    ///
    /// # Errors
    /// The stream leaves fewer than two coefficients.
    pub fn delays(&self, delays: &[i64]) -> Result<Vec<i64>, Abstain> {
        let needed = 2 << self.stages;
        if delays.len() < needed {
            return Err(Abstain::TooFewGaps { found: delays.len(), needed });
        }
        let delays: Vec<f64> = delays.iter().map(|delay| *delay as f64).collect();
        let scale = (0..self.stages).fold(delays, |delays, _| stage(&delays));
        Ok(scale.into_iter().map(|delay| delay as i64).collect())
    }
}

/// Applies one stage, which halves the number of delays.
fn stage(delays: &[f64]) -> Vec<f64> {
    let last = delays.len() - 1;
    let slope = delays[last] - delays[last - 1];
    let at = |i: usize| if i <= last { delays[i] } else { delays[last] + (i - last) as f64 * slope };
    let coefficient = |j| FILTER.iter().enumerate().map(|(k, tap)| tap * at(2 * j + k)).sum();
    (0..delays.len() / 2).map(coefficient).collect()
}

impl Denoiser for Wavelet {
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain> {
        let delays = self.delays(&stream.delays())?;
        Ok(coarser(&stream, &delays, |coefficient| coefficient << self.stages))
    }
}
