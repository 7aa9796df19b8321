//! IMR-Pathload: Pathload's trend tests on denoised one-way delays, by windows (`average.rs`) or by wavelet
//! (`wavelet.rs`).
//!
//! Source: S.-R. Kang and D. Loguinov, "IMR-Pathload", PAM 2008; Q. Yin, "TCP RAPID: from theory to practice", section
//! 5.1.1. Deviations:
//!  1. Chapter 9.1 keeps streams with at least eight points left after denoising; this file refuses shorter ones.
//!  2. The paper's median filtering and its choice of stages by the interrupt delay are not in the text, and not here.

use crate::estimation::average::{self, Average};
use crate::estimation::contract::{Abstain, Estimate, Estimator, Probing};
use crate::estimation::pathload::TrendTest;
use crate::estimation::stream::Stream;
use crate::estimation::wavelet::{self, Wavelet};
use crate::settings::{Parameters, SettingError, Settings};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The settings of IMR-avg. The tests' thresholds are set on `pathload`, with `average` before it.
pub const AVERAGE: Parameters = average::PARAMETERS;
/// The settings of IMR-wavelet.
pub const WAVELET: Parameters = wavelet::PARAMETERS;

enum Means {
    Average(Average),
    Wavelet(Wavelet),
}

/// Denoised delays, then the trend tests with their published thresholds.
pub struct Imr {
    means: Means,
    test: TrendTest,
}

impl Imr {
    pub fn average(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        Imr::with(Means::Average(Average::build(settings)?))
    }

    pub fn wavelet(settings: &Settings) -> Result<Box<dyn Estimator>, SettingError> {
        Imr::with(Means::Wavelet(Wavelet::build(settings)?))
    }

    fn with(means: Means) -> Result<Box<dyn Estimator>, SettingError> {
        Ok(Box::new(Imr { means, test: TrendTest::build(&Settings::new())? }))
    }

    fn denoised(&self, delays: &[i64]) -> Result<Vec<i64>, Abstain> {
        match &self.means {
            Means::Average(average) => average.delays(delays),
            Means::Wavelet(wavelet) => wavelet.delays(delays),
        }
    }
}

impl Estimator for Imr {
    fn probing(&self) -> Probing {
        Probing::Constant
    }

    fn estimate(&self, stream: &Stream) -> Result<Estimate, Abstain> {
        self.test.read(&self.denoised(&stream.delays())?, stream.send_rate())
    }
}
