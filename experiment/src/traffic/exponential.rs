//! Exponential lengths: P(length > x) = exp(-x / mean). The law has no memory, so the residual has the same law.

use crate::traffic::draw::Draws;
use crate::traffic::on_off::Law;
use packetscale_models::units::Span;

/// The exponential law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exponential;

impl Law for Exponential {
    fn length(&self, draws: &mut Draws, mean: Span) -> Span {
        draws.exponential(mean)
    }

    fn residual(&self, draws: &mut Draws, mean: Span) -> Span {
        draws.exponential(mean)
    }
}
