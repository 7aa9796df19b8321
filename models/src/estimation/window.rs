//! A sliding window: each gap becomes the mean of the gaps around it, whatever buffering events they belong to.
//!
//! Source: AVG_WINDOW alone, without BASS before it: variant V4 of Q. Yin, "TCP RAPID: from theory to practice", section
//! 8.4 ("simply applies a sliding-window smoothing to the raw receive gaps"). Deviations:
//!  1. The window slides over both send and receive gaps and is centred, so that it does not compare one level's send
//!     gap with the next level's receive gap. It is shorter at both ends.
//!  2. Its length is a fraction of the stream, so that it means the same for longer streams: 16 of 64 packets, N_p with
//!     four rates, is a quarter.

use crate::estimation::contract::{Abstain, Denoiser};
use crate::estimation::stream::{Gap, Stream};
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Ratio, Span};
use alloc::boxed::Box;

const PART: Parameter<Ratio> =
    Parameter::new("part", Ratio::of(1, 4), Ratio::ZERO..=Ratio::ONE, "length of the window, in streams");

/// The settings.
pub const PARAMETERS: Parameters = &[&PART];

/// The window.
pub struct Window {
    part: Ratio,
}

impl Window {
    pub fn build(settings: &Settings) -> Result<Box<dyn Denoiser>, SettingError> {
        let part = PART.read(settings)?;
        Ok(Box::new(Window { part }))
    }
}

impl Denoiser for Window {
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain> {
        let length = (self.part.of_u64(stream.gaps.len() as u64) as usize).max(1);
        let before = length / 2;
        let after = length - before;
        let (mut from, mut to) = (0, 0);
        let (mut send, mut receive) = (Span::ZERO, Span::ZERO);
        let slide = |(i, gap): (usize, &Gap)| {
            while to < (i + after).min(stream.gaps.len()) {
                send += stream.gaps[to].send;
                receive += stream.gaps[to].receive;
                to += 1;
            }
            while from + before < i {
                send -= stream.gaps[from].send;
                receive -= stream.gaps[from].receive;
                from += 1;
            }
            let count = (to - from) as u64;
            Gap { send: send / count, receive: receive / count, ..*gap }
        };
        Ok(Stream { gaps: stream.gaps.iter().enumerate().map(slide).collect(), ..stream })
    }
}
