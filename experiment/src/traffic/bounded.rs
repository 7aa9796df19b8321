//! Bounded Pareto: a heavy tail that a run of some minutes can meet.
//!
//! ```text
//! P(x > t) = (t^-a - most^-a) / (least^-a - most^-a)       least <= t <= most
//! ```

use crate::traffic::draw::Draws;

/// The bounded Pareto law. Draws have the unit of its bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedPareto {
    pub(crate) shape: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl BoundedPareto {
    pub(crate) fn draw(&self, draws: &mut Draws) -> f64 {
        self.inverted(self.shape, draws)
    }

    /// Draws a value in proportion to its size, as an observer at a random instant finds it: the same law with a tail
    /// index one smaller.
    pub(crate) fn found(&self, draws: &mut Draws) -> f64 {
        self.inverted(self.shape - 1.0, draws)
    }

    fn inverted(&self, index: f64, draws: &mut Draws) -> f64 {
        let (most, least) = (libm::pow(self.least, -index), libm::pow(self.most, -index));
        libm::pow(least + (most - least) * draws.uniform(), -1.0 / index)
    }

    /// Returns the mean, for tail indices other than 1.
    pub(crate) fn mean(&self) -> f64 {
        let (a, ratio) = (self.shape, self.least / self.most);
        let bounded = (1.0 - libm::pow(ratio, a - 1.0)) / (1.0 - libm::pow(ratio, a));
        a / (a - 1.0) * self.least * bounded
    }
}
