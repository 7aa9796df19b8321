//! Sending hosts: every gap model of the scenarios.

use crate::streams::draws::{Draws, Scale, span};
use crate::streams::fixed::Fixed;
use experiment::scenario::GapModel;
use packetscale_models::units::{Ratio, Span};
use std::error::Error;

const KINDS: [&str; 7] = ["perfect", "noise", "late", "timer", "busy-wait", "hrtimer", "batch"];

/// Returns a gap model's name and its setting. Half of the hosts have the errors of dummy packets: 0.4 us, or a tenth
/// of a gap if that is less. Clocks have a resolution of 1 us, or a twentieth of a gap if that is less.
pub fn draw(scale: &Scale, fixed: &Fixed, draws: &mut Draws) -> Result<(&'static str, GapModel), Box<dyn Error>> {
    let kind = draws.one_of(&[0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6]);
    let kind = fixed.word("gaps", &KINDS, kind)?;
    let noise_s = 0.4e-6f64.min(scale.gap_s * 0.1);
    let noise = span(fixed.span("noise", noise_s)?);
    let clock = span(1e-6f64.min(scale.gap_s / 20.0).max(1e-9));
    let model = match kind {
        "perfect" => GapModel::Perfect,
        "noise" => GapModel::Noise(noise),
        "late" => GapModel::Late {
            p50: span(scale.gap_s * 0.01),
            p99: span(scale.gap_s * 0.5),
            p999: span(scale.gap_s * 3.0),
        },
        "timer" => GapModel::Timer(clock),
        "busy-wait" => GapModel::BusyWait(clock),
        "hrtimer" => GapModel::Hrtimer { deferral: Span::from_micros(100), often: Ratio::of(1, 100) },
        _ => GapModel::Batch(2),
    };
    Ok((kind, model))
}
