//! BASS: Buffering-Aware Spike Smoothing.
//!
//! A batch of packets that waited together (for an interrupt, or behind other traffic) shows as one long receive gap,
//! the spike, followed by short gaps, the dips. A single gap is meaningless. The mean is right if it is taken over
//! exactly the whole event. A gap longer by SPIKE_UP than the previous one opens an event; a dip SPIKE_DOWN below the
//! spike makes it valid; the next spike closes it. The send gaps of an event are replaced by their mean, and so are its
//! receive gaps.
//!
//! Source: Q. Yin, "TCP RAPID: from theory to practice", Figure 5.5. The algorithm itself is the law's integer C
//! (`rapid/gaps.h`), with the readings numbered there. Deviations here:
//!  1. SPIKE_UP and SPIKE_DOWN are multiples of the mean send gap: 25/9 and 25/18. With 9000 B at 10 Gbit/s (7.2 us)
//!     they are the printed 20 and 10 us; at other rates they keep their meaning.
//!  2. At the end, an event still open is dropped if it is at most a third of the stream. At the start, the gaps before
//!     the first spike follow the same rule; with `head = keep` they stay, as in the law. The text drops both, whatever
//!     their length; the pseudo-code averages both.
//!  3. Streams of more than 512 gaps are refused: the C code stores streams in arrays of fixed size.

use crate::estimation::contract::{Abstain, Denoiser};
use crate::estimation::stream::{Gap, Stream};
use crate::rapid::gaps::{Gaps, MOST_GAPS};
use crate::settings::{OneOf, Parameter, Parameters, SettingError, Settings};
use crate::units::Span;
use crate::units::{Bytes, Ratio};
use alloc::boxed::Box;

const UP: Parameter<Ratio> =
    Parameter::new("up", SPIKE_UP, Ratio::ZERO..=Ratio::of(1000, 1), "SPIKE_UP, in mean send gaps");
const DOWN: Parameter<Ratio> =
    Parameter::new("down", SPIKE_DOWN, Ratio::ZERO..=Ratio::of(1000, 1), "SPIKE_DOWN, in mean send gaps");
const HEAD: OneOf =
    OneOf::new("head", &["drop", "keep"], "gaps before the first spike, if at most a third of the stream");

/// The settings.
pub const PARAMETERS: Parameters = &[&UP, &DOWN, &HEAD];

/// SPIKE_UP and SPIKE_DOWN in mean send gaps: 20 and 10 us when that gap is 7.2 us.
const SPIKE_UP: Ratio = Ratio::of(25, 9);
const SPIKE_DOWN: Ratio = Ratio::of(25, 18);

/// BASS in one pass.
pub struct Bass {
    up: Ratio,
    down: Ratio,
    drop_head: bool,
}

impl Bass {
    pub fn build(settings: &Settings) -> Result<Box<dyn Denoiser>, SettingError> {
        Ok(Box::new(Bass {
            up: UP.read(settings)?,
            down: DOWN.read(settings)?,
            drop_head: HEAD.read(settings)? == "drop",
        }))
    }
}

impl Denoiser for Bass {
    fn denoise(&self, stream: Stream) -> Result<Stream, Abstain> {
        let mut gaps = for_the_law(&stream)?;
        let mean = mean_gap(&stream);
        let up = mean.scale(self.up);
        let head = if self.drop_head { head(&stream.gaps, up, mean.scale(self.down)) } else { 0 };
        gaps.smooth(up, mean.scale(self.down));
        let mut smooth = from_the_law(&gaps, &stream)?;
        if 3 * head <= stream.gaps.len() && head < smooth.gaps.len() {
            smooth.gaps.drain(..head);
        }
        Ok(smooth)
    }
}

/// Returns the number of gaps before the first spike; 0 if the stream starts with a spike or has none.
fn head(gaps: &[Gap], up: Span, down: Span) -> usize {
    match gaps {
        [first, second, ..] if first.receive > second.receive + down => 0,
        _ => first_spike(gaps, up).unwrap_or(0),
    }
}

/// Converts the stream to the form that the law's C code uses.
pub(crate) fn for_the_law(stream: &Stream) -> Result<Gaps, Abstain> {
    if stream.gaps.len() > MOST_GAPS {
        return Err(Abstain::TooLong { most: MOST_GAPS });
    }
    Ok(Gaps::of(stream.gaps.iter().map(|gap| (gap.send, gap.receive))))
}

/// Converts the gaps back to a stream. Averaged gaps belong to packets of one size.
pub(crate) fn from_the_law(gaps: &Gaps, stream: &Stream) -> Result<Stream, Abstain> {
    let size: Bytes = crate::estimation::readable::one_size(&stream.gaps)?;
    let gap = |(send, receive)| Gap { send, receive, size, acked: true };
    let batched = stream.batched || first_spike(&stream.gaps, mean_gap(stream).scale(SPIKE_UP)).is_some();
    Ok(Stream { gaps: gaps.get().into_iter().map(gap).collect(), lost: stream.lost, batched })
}

/// The mean send gap.
fn mean_gap(stream: &Stream) -> Span {
    stream.send_time() / (stream.gaps.len() as u64).max(1)
}

/// Returns the first gap that is longer than the previous one by `up`.
fn first_spike(gaps: &[Gap], up: Span) -> Option<usize> {
    gaps.windows(2).position(|pair| pair[0].receive + up < pair[1].receive).map(|before| before + 1)
}
