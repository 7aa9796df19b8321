//! Laws of the queue, which are sharper than bounds.
//!
//! **Arrivals modulo `T`.** Inside a period the arrivals leave a Brownian motion `c B(u)`, `c = c_v sqrt N`. At the
//! boundary they leave a jump `-c B(1)` back (a gap or an overlap of the last flows), not a Brownian bridge. With
//! `m = N (1/U - 1)` and the law of the maximum of Brownian motion with drift,
//! `F_v(y, t) = Phi((y - v t) / (c sqrt t)) - exp(2 v y / c^2) Phi((-y - v t) / (c sqrt t))`,
//!
//! ```text
//! P(q <= y) = integral over u from 0 to 1 of F_(-m)(y, u) F_(+m)(y + m, 1 - u),    E q = c sqrt(2 / pi) at U = 1
//! ```
//!
//! It is a heavy-traffic law: it is accurate while the queue is many packets long.
//!
//! **Independent phases.** The limit is the bridge: `P(q > y) = exp(-2 y (y + m) / N)`. The exact law, with `n` other
//! flows (N*D/D/1; a packet finds what the `N - 1` others left, at an instant that is random for them), is
//!
//! ```text
//! P(V > y) = sum over y < k <= n of C(n, k) p^k (1 - p)^(n - k) (T - n + y) / (T - k + y),   p = (k - y) / T
//! ```
//!
//! Sources: the first law extends WUCSE-2007-42, section IV (which neglects the queue at the start of the period and
//! the jump); `F_v` is in any text on Brownian motion (reflection and Girsanov). N*D/D/1: J. W. Roberts and J. T.
//! Virtamo, "The superposition of periodic cell arrival streams in an ATM multiplexer", IEEE Trans. Commun. 39, 1991.
//!
//! Pareto gaps with an index just above 2 have a variance, but a finite number of flows hardly shows it: the missing
//! part falls like `N^-(k-2)/k`. The law (like the paper's bounds) then overestimates at any practical `N`.

use super::{Arrivals, Setting};
use crate::theory::Error;
use crate::theory::search::bisect;
use core::f64::consts::PI;
use libm::{cos, erf, erfc, exp, lgamma, log, log1p, sqrt};

/// The queue in packets that a law gives.
#[derive(Clone, Copy, Debug)]
pub enum Law {
    /// Arrivals modulo the period: Brownian motion with a jump.
    Jump {
        /// `c_v sqrt N`.
        scale: f64,
        /// `N (1/U - 1)`.
        slack: f64,
    },
    /// Independent phases of many flows: the bridge.
    Bridge {
        /// `N`.
        flows: f64,
        /// `N (1/U - 1)`.
        slack: f64,
    },
    /// Independent phases, exactly.
    Periodic {
        /// Flows other than that of the arriving packet.
        others: u32,
        /// `T`, in packets.
        period: f64,
    },
}

/// Returns the mean queue, in packets, that a packet finds with `flows` flows of constant rate and independent phases:
/// the queueing that remains when packets meet only by chance. 0 for a single flow.
///
/// # Errors
/// The errors of [`Setting::check`].
pub fn least_mean_packets(flows: u32, utilisation: f64) -> Result<f64, Error> {
    /// The exact sum takes a tenth of a second for this many flows; the bridge is within some percent there.
    const MOST_EXACT: u32 = 1_000;
    let setting = Setting { flows, utilisation, arrivals: Arrivals::Phases, buffer_packets: None };
    setting.check()?;
    let bridge = Law::Bridge { flows: f64::from(flows), slack: f64::from(flows) * (1.0 / utilisation - 1.0) };
    let law = if flows <= MOST_EXACT { Law::of(&setting) } else { None };
    Ok(law.unwrap_or(bridge).mean_packets())
}

/// With more flows than this the bridge replaces the exact sum.
const MOST_SUMMED: u32 = 5_000;

impl Law {
    /// Returns the law for a setting with an unlimited buffer; `None` if the times between arrivals have no variance.
    pub fn of(setting: &Setting) -> Option<Law> {
        let flows = f64::from(setting.flows);
        let slack = flows * (1.0 / setting.utilisation - 1.0);
        Some(match setting.arrivals {
            Arrivals::Phases if setting.flows <= MOST_SUMMED => {
                Law::Periodic { others: setting.flows - 1, period: setting.period() }
            }
            Arrivals::Phases => Law::Bridge { flows, slack },
            successive => Law::Jump { scale: sqrt(successive.squared_variation()? * flows), slack },
        })
    }

    /// The probability that a packet finds more than `queue` packets; `queue` is not negative.
    pub fn exceeds(&self, queue: f64) -> f64 {
        match *self {
            Law::Jump { scale, slack } => 1.0 - jump(queue, scale, slack),
            Law::Bridge { flows, slack } => exp(-2.0 * queue * (queue + slack) / flows),
            Law::Periodic { others, period } => periodic(others, period, queue),
        }
    }

    /// The queue that this fraction of the packets exceeds.
    pub fn top_packets(&self, fraction: f64) -> f64 {
        bisect(0.0, self.horizon(), |queue| self.exceeds(queue) > fraction)
    }

    /// The queue on average.
    pub fn mean_packets(&self) -> f64 {
        match *self {
            Law::Bridge { flows, slack } => {
                let x = slack / sqrt(2.0 * flows);
                sqrt(PI * flows / 8.0) * scaled_erfc(x)
            }
            _ => {
                // Beyond this queue the integral is negligible; the integrand is smooth except for the steps of the
                // sum.
                let end = bisect(0.0, self.horizon(), |queue| self.exceeds(queue) > 1e-12);
                midpoint(1000, |s| self.exceeds(end * s)) * end
            }
        }
    }

    /// Returns a queue that is never exceeded.
    fn horizon(&self) -> f64 {
        match *self {
            Law::Jump { scale, .. } => 20.0 * scale,
            Law::Bridge { flows, .. } => 20.0 * sqrt(flows),
            Law::Periodic { others, .. } => f64::from(others),
        }
    }
}

/// `P(q <= y)` for arrivals modulo the period. The substitution `u = (1 - cos(pi s)) / 2` smooths both ends.
fn jump(y: f64, scale: f64, slack: f64) -> f64 {
    midpoint(256, |s| {
        let u = 0.5 * (1.0 - cos(PI * s));
        let v = 0.5 * (1.0 + cos(PI * s));
        let weight = 0.5 * PI * libm::sin(PI * s);
        weight * maximum(y, -slack, u, scale) * maximum(y + slack, slack, v, scale)
    })
}

/// `F_v(y, t)`: the probability that `c B(s) + v s` stays below `y` until `t`.
fn maximum(y: f64, drift: f64, t: f64, scale: f64) -> f64 {
    let spread = scale * sqrt(2.0 * t);
    let (near, far) = ((y - drift * t) / spread, (y + drift * t) / spread);
    // exp(2 v y / c^2) erfc(far) without the overflow of its factors.
    let reflected = if far > 0.0 {
        exp(-near * near) * scaled_erfc(far)
    } else {
        exp(2.0 * drift * y / (scale * scale)) * erfc(far)
    };
    (0.5 * (1.0 + erf(near) - reflected)).max(0.0)
}

/// `exp(x^2) erfc(x)` for `x >= 0`.
fn scaled_erfc(x: f64) -> f64 {
    if x < 20.0 {
        return exp(x * x) * erfc(x);
    }
    let s = 1.0 / (2.0 * x * x);
    (1.0 - s * (1.0 - 3.0 * s * (1.0 - 5.0 * s))) / (x * sqrt(PI))
}

/// N*D/D/1 at a random instant.
fn periodic(flows: u32, period: f64, y: f64) -> f64 {
    let n = f64::from(flows);
    let all = lgamma(n + 1.0);
    let from = libm::floor(y) as u32 + 1;
    let terms = (from..=flows).map(|k| {
        let k = f64::from(k);
        let p = (k - y) / period;
        let rest = if k < n { (n - k) * log1p(-p) } else { 0.0 };
        let binomial = all - lgamma(k + 1.0) - lgamma(n - k + 1.0);
        exp(binomial + k * log(p) + rest) * (period - n + y) / (period - k + y)
    });
    terms.sum::<f64>().min(1.0)
}

/// A function over `[0, 1]`, integrated by the midpoint rule.
fn midpoint(points: u32, f: impl Fn(f64) -> f64) -> f64 {
    let step = 1.0 / f64::from(points);
    (0..points).map(|i| f((f64::from(i) + 0.5) * step)).sum::<f64>() * step
}
