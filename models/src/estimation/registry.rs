//! The registries: one line per denoiser, one line per estimator.

use crate::estimation::average::{self, Average};
use crate::estimation::bass::{self, Bass};
use crate::estimation::combined::{self, Combined};
use crate::estimation::contract::{Denoiser, Estimator};
use crate::estimation::imr::{self, Imr};
use crate::estimation::learnt::{self, Learnt, LearntVerdict};
use crate::estimation::multi_pass::{self, MultiPass};
use crate::estimation::multi_rate::{self, MultiRate};
use crate::estimation::normalise::{self, Normalise};
use crate::estimation::pathload::{self, Pathload};
use crate::estimation::posterior::{self, Posterior};
use crate::estimation::prc_mt::{self, PrcMt};
use crate::estimation::receive_rate::{self, ReceiveRate};
use crate::estimation::wavelet::{self, Wavelet};
use crate::estimation::window::{self, Window};
use crate::settings::{Parameters, SettingError, Settings};
use alloc::boxed::Box;

/// One line of a registry of `T`, a denoiser or an estimator.
#[derive(Debug)]
pub struct Entry<T: ?Sized> {
    /// The name that methods and the command line use.
    pub name: &'static str,
    /// Its summary, in one line.
    pub summary: &'static str,
    /// The settings.
    pub parameters: Parameters,
    /// Builds it from settings with checked names.
    pub build: fn(&Settings) -> Result<Box<T>, SettingError>,
}

const fn entry<T: ?Sized>(
    name: &'static str,
    summary: &'static str,
    parameters: Parameters,
    build: fn(&Settings) -> Result<Box<T>, SettingError>,
) -> Entry<T> {
    Entry { name, summary, parameters, build }
}

const DENOISERS: &[Entry<dyn Denoiser>] = &[
    entry(
        "normalise",
        "delayed acknowledgments shared out over the packets they cover",
        normalise::PARAMETERS,
        Normalise::build,
    ),
    entry("bass", "buffering-aware spike smoothing: the mean of each buffering event", bass::PARAMETERS, Bass::build),
    entry(
        "multi-pass-bass",
        "BASS at three heights in turn, then a sliding window",
        multi_pass::PARAMETERS,
        MultiPass::build,
    ),
    entry("window", "a sliding window over gaps, whatever they belong to", window::PARAMETERS, Window::build),
    entry("average", "one-way delays averaged in ten windows (IMR-avg)", average::PARAMETERS, Average::denoiser),
    entry(
        "wavelet",
        "one-way delays through a three-stage Daubechies transform (IMR-wavelet)",
        wavelet::PARAMETERS,
        Wavelet::denoiser,
    ),
];

const ESTIMATORS: &[Entry<dyn Estimator>] = &[
    entry(
        "multi-rate",
        "rising rates: the highest that did not congest (RAPID, pathChirp)",
        multi_rate::PARAMETERS,
        MultiRate::build,
    ),
    entry(
        "combined",
        "rising rates: the mean of posterior and of BASS with multi-rate",
        combined::PARAMETERS,
        Combined::build,
    ),
    entry(
        "posterior",
        "rising rates: what explains the growth of delays, weighed against having learnt nothing",
        posterior::PARAMETERS,
        Posterior::build,
    ),
    entry(
        "receive-rate",
        "one rate: too high if it arrives more slowly than it was sent",
        receive_rate::PARAMETERS,
        ReceiveRate::build,
    ),
    entry(
        "pathload",
        "one rate: too high if one-way delays increase (PCT and PDT)",
        pathload::PARAMETERS,
        Pathload::build,
    ),
    entry("imr-average", "IMR-Pathload: the trend tests on delays averaged in windows", imr::AVERAGE, Imr::average),
    entry("imr-wavelet", "IMR-Pathload: the trend tests on delays denoised by wavelet", imr::WAVELET, Imr::wavelet),
    entry(
        "prc-mt",
        "one rate, long streams: too high if it exceeds the receive rate at all",
        prc_mt::PARAMETERS,
        PrcMt::build,
    ),
    entry(
        "learnt",
        "rising rates: trees trained on simulated streams, with an expected error",
        learnt::PARAMETERS,
        Learnt::build,
    ),
    entry(
        "learnt-verdict",
        "one rate: too high by the verdict of trees trained on simulated streams",
        learnt::VERDICT,
        LearntVerdict::build,
    ),
];

/// All denoisers, in the order in which they are shown.
pub fn denoisers() -> &'static [Entry<dyn Denoiser>] {
    DENOISERS
}

/// All estimators, in the order in which they are shown.
pub fn estimators() -> &'static [Entry<dyn Estimator>] {
    ESTIMATORS
}
