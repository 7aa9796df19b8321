//! Window-based averaging of one-way delays, as in IMR-Pathload: the N delays of a stream become 10, each the mean of
//! N/10 adjacent ones.
//!
//! Source: S.-R. Kang and D. Loguinov, "IMR-Pathload", PAM 2008; Q. Yin, "TCP RAPID: from theory to practice", section
//! 5.1.1. Deviations:
//!  1. If N is not a multiple of 10, the windows differ by one packet.
//!  2. As a denoiser it gives a stream of 9 gaps between the windows' centres, each with the data that was sent between
//!     them. A receive gap cannot be negative: where averaged delays fall faster than time passes, the rest is
//!     subtracted from the next gap.

use crate::estimation::contract::{Abstain, Denoiser};
use crate::estimation::stream::{Gap, Stream};
use crate::settings::{Parameter, Parameters, SettingError, Settings};
use crate::units::{Bytes, Span};
use alloc::boxed::Box;
use alloc::vec::Vec;

const WINDOWS: Parameter<u32> = Parameter::new("windows", 10, 2..=4096, "means to leave");

/// The settings.
pub const PARAMETERS: Parameters = &[&WINDOWS];

/// The averaging, with its number of windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Average {
    windows: usize,
}

impl Average {
    pub fn build(settings: &Settings) -> Result<Average, SettingError> {
        let windows = WINDOWS.read(settings)?;
        Ok(Average { windows: windows as usize })
    }

    pub fn denoiser(settings: &Settings) -> Result<Box<dyn Denoiser>, SettingError> {
        Ok(Box::new(Average::build(settings)?))
    }

    /// Returns the first packet of this window, of `packets` packets.
    fn start(&self, window: usize, packets: usize) -> usize {
        window * packets / self.windows
    }

    /// Returns the mean delay of each window.
    ///
    /// # Errors
    /// Fewer delays than windows.
    pub fn delays(&self, delays: &[i64]) -> Result<Vec<i64>, Abstain> {
        if delays.len() < self.windows {
            return Err(Abstain::TooFewGaps { found: delays.len(), needed: self.windows });
        }
        let mean = |window| {
            let part = &delays[self.start(window, delays.len())..self.start(window + 1, delays.len())];
            (part.iter().map(|delay| i128::from(*delay)).sum::<i128>() / part.len() as i128) as i64
        };
        Ok((0..self.windows).map(mean).collect())
    }
}

impl Denoiser for Average {
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain> {
        let delays = self.delays(&stream.delays())?;
        let packets = stream.gaps.len() + 1;
        let centre = |window| (self.start(window, packets) + self.start(window + 1, packets) - 1) / 2;
        Ok(coarser(&stream, &delays, centre))
    }
}

/// Returns a stream with these delays. `centre` gives the packet that each delay represents.
pub(crate) fn coarser(stream: &Stream, delays: &[i64], centre: impl Fn(usize) -> usize) -> Stream {
    let mut owed = 0;
    let gap = |(number, pair): (usize, &[i64])| {
        let part = &stream.gaps[centre(number)..centre(number + 1)];
        let send: Span = part.iter().map(|gap| gap.send).sum();
        let size: Bytes = part.iter().map(|gap| gap.size).sum();
        let receive = send.picos() as i64 + pair[1] - pair[0] + owed;
        owed = receive.min(0);
        Gap { send, receive: Span::from_picos(receive.max(0) as u64), size, acked: true }
    };
    Stream { gaps: delays.windows(2).enumerate().map(gap).collect(), lost: stream.lost, batched: stream.batched }
}
