//! How much slower streams of one rate arrive than they left, read in parts.
//!
//! A FIFO link of rate C of which A is free slows a stream of rate R > A by the factor 1 + (R - A) / C, and a slower one not at
//! all. So the ratio of two rates' slowing shows where it begins, for any C.
//!
//! Source: ours. The linear growth of slowing is TOPP's: B. Melander, M. Björkman, P. Gunningberg, "A new end-to-end
//! probing and analysis method for estimating bandwidth bottlenecks", GLOBECOM 2000.

use packetscale_models::estimation::{Gap, Stream};
use packetscale_models::units::Span;

/// Packets per part.
const PART: usize = 25;
/// Number of standard errors that counts as significant.
const SURE: f64 = 2.0;

/// The parts of some streams of one rate: how much longer each took to arrive than to leave.
#[derive(Clone, Debug, Default)]
pub struct Slowing {
    parts: Vec<f64>,
}

impl Slowing {
    /// Adds a stream. With losses only a share of it arrived in its time.
    pub fn note(&mut self, stream: &Stream) {
        let arrived = stream.gaps.len() as f64 + 1.0;
        let lost = (arrived + stream.lost as f64) / arrived;
        self.parts.extend(stream.gaps.chunks_exact(PART).map(|part| slowed(part) * lost));
    }

    fn mean(&self) -> f64 {
        self.parts.iter().sum::<f64>() / self.parts.len() as f64
    }

    fn deviation(&self) -> f64 {
        let (count, mean) = (self.parts.len() as f64, self.mean());
        let squares: f64 = self.parts.iter().map(|part| (part - mean) * (part - mean)).sum();
        if count < 2.0 { 0.0 } else { (squares / (count - 1.0)).sqrt() }
    }

    /// The standard deviation of the parts over their mean; 0 with fewer than two.
    pub fn spread(&self) -> f64 {
        if self.parts.is_empty() { 0.0 } else { self.deviation() / self.mean() }
    }

    /// Whether these streams are significantly slowed, by more than a share of the slowing of `faster` ones.
    pub fn exceeds(&self, share: f64, faster: &Slowing) -> bool {
        if self.parts.is_empty() || faster.parts.is_empty() {
            return false;
        }
        let variance = |slowing: &Slowing| slowing.deviation().powi(2) / slowing.parts.len() as f64;
        let error = (variance(self) + share * share * variance(faster)).sqrt();
        self.mean() - 1.0 - share * (faster.mean() - 1.0) > SURE * error
    }
}

fn slowed(part: &[Gap]) -> f64 {
    let total = |span: fn(&Gap) -> Span| part.iter().map(|gap| span(gap).nanos() as f64).sum::<f64>();
    total(|gap| gap.receive) / total(|gap| gap.send).max(1.0)
}
