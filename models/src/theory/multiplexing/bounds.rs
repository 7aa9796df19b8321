//! The paper's bounds on the queue of the top packets at full load.
//!
//! With `A = c_v sqrt(2)` the queue of packet `i` exceeds `Q` with probability `(1 - erf(Q / (A sqrt i))) / 2`, so
//!
//! ```text
//! Q_min = L A sqrt N,  erf(L sqrt(3/2)) = 1 - 6 theta
//! Q_max = E A sqrt N,  erf(E) = 1 - 2 theta
//! ```
//!
//! Source: WUCSE-2007-42, section IV, equations (13)-(22).
//!
//! 1. The printed `E` of 1.6 and 1.15 are rounded down. The 0.89 and 1.54 of Figure 3 come from an unrounded `L`. Here
//!    both constants are solved for.
//! 2. `Q_max` is not a bound: it assumes an empty queue at the start of the period. At the top 1 % the queue is just
//!    below `Q_max` (and above the `Q_max` with 1.6); at the top 5 % it is above. `Q_min` shows `Omega(sqrt N)`, a
//!    lower bound; Theorem 1 prints `O(sqrt N)`.

use super::Arrivals;
use crate::theory::search::bisect;
use libm::{erf, sqrt};

/// `L` for the top `fraction` of the packets; at most 0 from a sixth upwards.
pub fn lower_constant(fraction: f64) -> f64 {
    inverse_erf(1.0 - 6.0 * fraction) / sqrt(1.5)
}

/// `E` for the top `fraction` of the packets.
pub fn upper_constant(fraction: f64) -> f64 {
    inverse_erf(1.0 - 2.0 * fraction)
}

/// Returns `Q_min` and `Q_max` in packets for the top `fraction` of the packets of `flows` flows at full load; `None`
/// if the times between arrivals have no variance or are not successive.
pub fn queue_packets(flows: u32, arrivals: Arrivals, fraction: f64) -> Option<(f64, f64)> {
    let scale = sqrt(2.0 * arrivals.squared_variation()? * f64::from(flows));
    Some((lower_constant(fraction) * scale, upper_constant(fraction) * scale))
}

fn inverse_erf(y: f64) -> f64 {
    bisect(-6.0, 6.0, |x| erf(x) < y)
}
