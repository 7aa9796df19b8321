//! Multi-pass BASS: coarse spikes first, then finer ones, then a sliding window.
//!
//! Interrupts cause the high spikes; bursty cross traffic leaves lower ones under them. Three thresholds are applied in
//! turn, the last one until no spike is left. Then each gap becomes the mean over AVG_WINDOW.
//!
//! Source: Q. Yin, "TCP RAPID: from theory to practice", Algorithm 5 and section 5.3.3. The algorithm itself is the law's
//! integer C (`rapid/gaps.h`, readings 2 to 4 and 6): thresholds are multiples of the mean send gap, at most eight passes,
//! and the window is centred. Deviations here:
//!  1. Mean and window keep a stream's totals only inside it: an open event at the end is dropped, and the window is
//!     shorter at both ends.
//!  2. Streams of more than 512 gaps are refused.

use crate::estimation::bass::{for_the_law, from_the_law};
use crate::estimation::contract::{Abstain, Denoiser};
use crate::estimation::stream::Stream;
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use alloc::boxed::Box;

const WINDOW: Parameter<u32> = Parameter::new("window", 16, 1..=512, "AVG_WINDOW, in gaps; 1: none");

/// The settings.
pub const PARAMETERS: Parameters = &[&WINDOW];

/// Multi-pass BASS, Algorithm 5.
pub struct MultiPass {
    window: u32,
}

impl MultiPass {
    pub fn build(settings: &Settings) -> Result<Box<dyn Denoiser>, SettingError> {
        let window = WINDOW.read(settings)?;
        Ok(Box::new(MultiPass { window }))
    }
}

impl Denoiser for MultiPass {
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain> {
        let mut gaps = for_the_law(&stream)?;
        gaps.denoise(self.window);
        from_the_law(&gaps, &stream)
    }
}
