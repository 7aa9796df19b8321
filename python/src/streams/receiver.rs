//! Receiving hosts: every kind of interrupt coalescence of the scenarios.

use crate::streams::draws::{Draws, Scale, span};
use crate::streams::fixed::Fixed;
use experiment::scenario::{Coalescing, Moderation};
use std::error::Error;

/// The kinds: none; a timer from the first packet of a batch; that timer with a frame limit; a distance from the
/// previous interrupt; batches with a number of frames that is drawn for each.
const KINDS: [&str; 5] = ["none", "timer", "timer-frames", "spacing", "adaptive"];

/// Returns a kind's name and its setting. Times are up to 0.4 of a stream, and at most 300 us; frame limits are up to a
/// quarter of a stream.
pub fn draw(
    packets: u32,
    scale: &Scale,
    fixed: &Fixed,
    draws: &mut Draws,
) -> Result<(&'static str, Coalescing), Box<dyn Error>> {
    let kind = draws.one_of(&[0, 1, 1, 1, 2, 3, 3, 4, 4]);
    let kind = fixed.word("receiver", &KINDS, kind)?;
    let time_s = (scale.stream_s * draws.between(0.01, 0.4)).clamp(1e-6, 300e-6);
    let time = span(fixed.span("time", time_s)?);
    let frames = draws.one_of(&[2, 4, 6, 8, 12, 20]).min(packets / 4);
    let frames = fixed.number("frames", u64::from(frames))? as u32;
    let coalescing = match kind {
        "none" => Coalescing::NONE,
        "timer" => Coalescing { kind: Moderation::Timer, time, ..Coalescing::NONE },
        "timer-frames" => Coalescing { kind: Moderation::Timer, time, frames, ..Coalescing::NONE },
        "spacing" => Coalescing { kind: Moderation::Spacing, time, ..Coalescing::NONE },
        _ => adaptive(frames, scale),
    };
    Ok((kind, coalescing))
}

/// Returns an adaptive card. It hands over its packets when no packet has come for 100 us, or for four gaps if those
/// are longer.
fn adaptive(frames: u32, scale: &Scale) -> Coalescing {
    let time = span((4.0 * scale.gap_s).max(100e-6));
    Coalescing { kind: Moderation::Adaptive, time, frames, ..Coalescing::NONE }
}
