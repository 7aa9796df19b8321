//! Pareto lengths: P(length > x) = (least / x)^shape for x above `least`, with
//! least = mean (shape - 1) / shape, so that the mean is the requested one.
//!
//! Heavy tail: for a shape of 2 or less the variance is infinite, and sums of such sources are bursty at every
//! timescale (Willinger, Taqqu, Sherman, Wilson, IEEE/ACM ToN 5(1), 1997; shapes of 1.2 to 1.7 are typical of web
//! traffic). Time averages then converge slowly, as n^(1/shape - 1) over n bursts: with shape 1.2, a mean over a
//! thousand bursts is still uncertain by some 30 %. Compare runs by their seeds, not by the nominal mean.
//!
//! The residual law has density (1 / mean) P(length > x): uniform below `least` with probability
//! (shape - 1) / shape, else Pareto with shape - 1, the same `least`, and for shapes up to 2 an infinite mean. A
//! stationary source may thus open with a silence or a burst longer than the run; that is what stationarity means.

use crate::traffic::draw::{Draws, times};
use crate::traffic::on_off::Law;
use packetscale_models::units::Span;

/// The Pareto law.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pareto {
    shape: f64,
}

impl Pareto {
    pub(super) fn new(shape: f64) -> Pareto {
        Pareto { shape }
    }

    fn least(&self, mean: Span) -> Span {
        times(mean, (self.shape - 1.0) / self.shape)
    }
}

impl Law for Pareto {
    fn length(&self, draws: &mut Draws, mean: Span) -> Span {
        times(self.least(mean), libm::pow(draws.uniform(), -1.0 / self.shape))
    }

    fn residual(&self, draws: &mut Draws, mean: Span) -> Span {
        let least = self.least(mean);
        if draws.uniform() <= (self.shape - 1.0) / self.shape {
            return draws.below(least);
        }
        times(least, libm::pow(draws.uniform(), -1.0 / (self.shape - 1.0)))
    }
}
