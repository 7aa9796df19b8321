//! The default law of Rapid as a fluid: where it rests, whether it swings there, and how it drains a queue.
//!
//! With capacity `C`, rates `R_i`, spare capacity `h = C - sum of R_i`, smallest round trip `T` and margin `m`, every flow
//! measures `A_i = R_i + h` and learns it a round trip later (`envelope.h`; streams are taken as short):
//!
//! ```text
//! dR/dt = 4/T (X - R),   X = R(t-T) (1 + G ((1-m) A(t-T) / R(t-T) - 1)),   G = min(0.7, R/C + 0.15)
//! rest:         R = h (1-m)/m,  utilisation  n (1-m) / (m + n (1-m))
//! sum:          x + 4 = 4 (1 - g) exp(-x),    g = G (m + n (1-m)),   x in 1/T
//! differences:  x + 4 = 4 (1 - G m) exp(-x),  near x = -0.8 G m
//! ```
//!
//! Both are `x = W(4 (1 - g) exp(4)) - 4` with Lambert's function: real down to `g = 1.0017`, then complex with
//! `W = -v cot v + i v` and the period `2 pi / v`. The rest is stable at any delay for `g` below 2, at one of `T` for `g`
//! below 2.189: for eight flows.
//!
//! That holds where the law sees its rest. A top level of `x3` over an available `1 / (1-m)` has the slope
//! `s (x3 - 1 / (1-m))`, `s = R/C`, and one below 3 % counts as none. From four flows on the rest has no slope, the flows
//! go up past it, and a queue sends them back: they cycle ([`Cycle`]). So do three flows, which the
//! swing takes across the threshold.
//!
//! A standing queue `q` above the tolerated two packets of a flow lowers `X` by `d = min(0.07, q / 1.5 T)` (`queue.h`).
//! The rate then rests where `(1 - d)(1 + G (p - 1)) = 1`, `p = (1-m) A / R`, and
//!
//! ```text
//! dq/dt = -x / (x + n (1-m)),   x = m + d / (G (1-d))
//! time  = (q - 0.105 T)+ / |dq/dt at 0.07| + 1.5 T (d + n (1-m) G (ln(1 + b d / a) / b^2 - d / b)),  a = G m, b = 1 - a
//! ```
//!
//! as if the rate followed at once. Flows that a burst has just met go lower for the burst, too: packets need a quarter to a
//! half of this time.
//!
//! A dip that lasts is refilled by what is clocked by acknowledgments. Paced flows go down by a part `e` of their rate; the
//! others have the share `E` of a full link, and send what left a round trip ago:
//!
//! ```text
//! E' = E / (E + (1-E)(1-e)) where 1-E shrinks with the dip;  for small e the part 1 - (1-E)^k is back after k round trips
//! ```
//!
//! Source: the law is this project's own. The fluid simplifies: the gain's share is the true one, a
//! small flow adds nothing, and there are no streams, timers, losses, or start-up.

mod cycle;

pub use cycle::Cycle;

use crate::theory::Error;
use crate::theory::search::bisect;
use crate::units::{Bytes, Rate, Ratio, Span};
use alloc::format;
use core::f64::consts::PI;
use libm::{cbrt, exp, expm1, log, log1p, pow, sin, tan};

/// How many times per round trip the rate moves to its target: `RAPID_MOVES_PER_ROUND`.
const MOVES: f64 = 4.0;
/// Largest gain, and what the gain has above the share.
const GAIN_MAX: f64 = 0.7;
const GAIN_OFFSET: f64 = 0.15;
/// The slope above which level 3 is congested: `RAPID_CONGESTED_Q16`.
const CONGESTED: f64 = 0.03;
/// Packets of a flow worth of tolerated queue, and those below which a path shows no congestion.
const TOLERATED_PACKETS: f64 = 2.0;
const CEILING_PACKETS: f64 = 4.0;
/// The drain: its most, and the part of a round trip's queue that it takes.
const DRAIN_CAP: f64 = 0.07;
const DRAIN_TIMES: f64 = 2.0 / 3.0;
/// Top over bottom rate of a stream: usual, and where the path shows no limit.
const SPAN: f64 = 1.3;
const SPAN_WIDE: f64 = 1.6;

/// Equal flows of the law on one path.
#[derive(Clone, Copy, Debug)]
pub struct Flows {
    /// How many, at least one.
    pub flows: u32,
    /// Part of the available bandwidth that each leaves, `m`.
    pub margin: Ratio,
    /// The capacity, `C`.
    pub rate: Rate,
    /// The round trip without a queue, `T`.
    pub rtt: Span,
    /// Size of every packet.
    pub packet: Bytes,
}

/// Where the rates rest.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// Of one flow, as a part of the capacity.
    pub share: f64,
    /// Of the path.
    pub utilisation: f64,
    /// `G` of each flow.
    pub gain: f64,
    /// `g`: what all flows together make of a change.
    pub loop_gain: f64,
    /// Slope of the top level there.
    pub slope: f64,
    /// Whether the law counts it as one.
    pub seen: bool,
}

/// Growth of a small change: as `exp(growth t / T)`, with a period or without.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// Negative where it dies out, per round trip.
    pub growth: f64,
    /// In round trips; none where it does not swing.
    pub period: Option<f64>,
}

impl Mode {
    /// Of `x + 4 = 4 (1 - g) exp(-x)`: the root with the largest real part.
    fn of(g: f64) -> Mode {
        let z = MOVES * (1.0 - g) * exp(MOVES);
        if z >= -exp(-1.0) {
            let w = bisect(-1.0, MOVES + log(MOVES), |w| w * exp(w) <= z);
            return Mode { growth: w - MOVES, period: None };
        }
        // |W exp W| rises with v, from 1/e to infinity.
        let v = bisect(1e-9, PI - 1e-9, |v| log(v / sin(v)) - v / tan(v) <= log(-z));
        Mode { growth: -v / tan(v) - MOVES, period: Some(2.0 * PI / v) }
    }

    /// Round trips until a twentieth of a change is left, with the feedback delay of one; none where it grows.
    pub fn settles(&self) -> Option<f64> {
        (self.growth < 0.0).then(|| 1.0 + log(20.0) / -self.growth)
    }
}

/// What `share` of a full link that is clocked by acknowledgments has refilled, `rounds` round trips after the others began a
/// small dip, as a part of the dip.
///
/// # Errors
/// [`Error::Input`] for an invalid share.
pub fn refilled(share: f64, rounds: u32) -> Result<f64, Error> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::input("elastic", format!("{share}"), "a share, from 0 to 1"));
    }
    Ok(if share < 1.0 { -expm1(f64::from(rounds) * log1p(-share)) } else { f64::from(rounds.min(1)) })
}

/// Mean-one levels of a stream: the two top ones.
fn levels(span: f64) -> (f64, f64) {
    let a = cbrt(span);
    let h = (1.0 + 1.0 / a + 1.0 / (a * a) + 1.0 / span) / 4.0;
    (h * pow(a, 2.0), h * span)
}

fn gain(share: f64) -> f64 {
    GAIN_MAX.min(share + GAIN_OFFSET)
}

impl Flows {
    /// Checks the number of flows and the margin, and that each flow can have two packets in a round trip.
    ///
    /// # Errors
    /// [`Error::Input`] otherwise.
    pub fn check(&self) -> Result<(), Error> {
        if self.flows == 0 {
            return Err(Error::input("flows", "0", "at least 1"));
        }
        let margin = self.margin.as_f64();
        if !(margin > 0.0 && margin <= 0.5) {
            return Err(Error::input("margin", format!("{margin}"), "above 0 and at most 0.5"));
        }
        if self.rate.bps() == 0 || self.packet.get() == 0 || self.rtt == Span::ZERO {
            return Err(Error::input(
                "rate",
                format!("{}", self.rate),
                "a path with a rate, a round trip, and packets",
            ));
        }
        if TOLERATED_PACKETS * self.packet_time() * f64::from(self.flows) > 1.0 {
            let room = format!("at most {:.0}, which have two packets per round trip each", 0.5 / self.packet_time());
            return Err(Error::input("flows", format!("{}", self.flows), room));
        }
        Ok(())
    }

    /// A packet's time on the link, in round trips.
    fn packet_time(&self) -> f64 {
        self.packet.bits() as f64 / self.rate.bps() as f64 / self.rtt.as_secs_f64()
    }

    fn used_share(&self) -> f64 {
        1.0 - self.margin.as_f64()
    }

    /// Where the rates rest without a queue.
    pub fn rest(&self) -> Rest {
        let (n, m, used_share) = (f64::from(self.flows), self.margin.as_f64(), self.used_share());
        let share = used_share / (m + n * used_share);
        let gain = gain(share);
        let slope = share * (levels(SPAN).1 - 1.0 / used_share);
        Rest {
            share,
            utilisation: n * share,
            gain,
            loop_gain: gain * (m + n * used_share),
            slope: slope.max(0.0),
            seen: slope > CONGESTED,
        }
    }

    /// Growth of a small change of the sum, where the law sees its rest.
    pub fn sum(&self) -> Mode {
        Mode::of(self.rest().loop_gain)
    }

    /// Growth of a small difference between flows.
    pub fn differences(&self) -> Mode {
        Mode::of(self.rest().gain * self.margin.as_f64())
    }

    /// How fast a standing queue falls while a part `d` of the target is taken for it: seconds of queue per second.
    fn falls(&self, d: f64) -> f64 {
        let x = self.margin.as_f64() + d / (self.rest().gain * (1.0 - d));
        x / (x + f64::from(self.flows) * self.used_share())
    }

    /// How fast a queue of more than 0.105 round trips falls, in seconds per second.
    pub fn drain(&self) -> f64 {
        self.falls(DRAIN_CAP)
    }

    /// The time in which the drain alone takes a standing queue to what is tolerated, in seconds, with the round trip before it
    /// begins.
    pub fn drained_s(&self, queue: Span) -> f64 {
        let rtt = self.rtt.as_secs_f64();
        let tolerated = TOLERATED_PACKETS * self.packet_time() / self.rest().share;
        let queue = queue.as_secs_f64() / rtt - tolerated;
        if queue <= 0.0 {
            return 0.0;
        }
        let knee = DRAIN_CAP / DRAIN_TIMES;
        let d = DRAIN_CAP.min(queue * DRAIN_TIMES);
        let a = self.rest().gain * self.margin.as_f64();
        let (b, company) = (1.0 - a, f64::from(self.flows) * self.used_share() * self.rest().gain);
        let last = (d + company * (log1p(b * d / a) / (b * b) - d / b)) / DRAIN_TIMES;
        rtt * (1.0 + (queue - knee).max(0.0) / self.drain() + last)
    }
}
