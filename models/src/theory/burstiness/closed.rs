//! The paper's nine cases, each solved for its own `D`.
//!
//! Symbols: `r = R_on / C`, `X = T_on - T_off + tau + D` (the part of the burst outside the high plateau),
//! `z = T_off - D` (how long the rate rises). Queues are in seconds, `Q_max / C = D`.
//!
//! | case | `D` |
//! |---|---|
//! | RTT-only | `r T_on`, or `r T_off / (1 + r)` if that is less |
//! | L1, S1 | `r T_on` |
//! | L2 | `r / (1 + r) (T_off - (tau - eta) / 2)` |
//! | L3 | `s/r (sqrt(1 + 2 r (c + r T_on) / s) - 1) - c`, `s = tau + eta`, `c = T_on - T_off + tau` |
//! | S2 | root of `2 eta (T_on + tau + D)(D - r T_on) + r (T_on + D)(D + c)^2 = 0` |
//! | S3 | `z = (sqrt((r eta + 2 tau)^2 + 8 r tau T_off) - (r eta + 2 tau)) / (2 r)` |
//! | S4 | `2 (tau + r T_on) z^2 + (2 tau (eta - T_off) + r T_on (2 eta - T_on)) z - 2 tau eta T_off = 0` |
//! | S5 | root of `D ((T_on + D) tau + z eta - (T_on + D) z) = r T_on z (eta - T_on (T_on + D) / (2 T))` |
//!
//! Source: TR11-007, sections IV-VI and Appendix X. The paper leaves `D` to mathematical software; the rows are its
//! `Q_max` put into `Q_max = C D`. Corrections to the print:
//!
//! 1. VI-A: `Q_max = R_on T_on` is missing.
//! 2. VI-B: the denominator of the throughput is `2 T_on eta`, as in VI-A, not `2 T_on tau`.
//! 3. VI-C, VI-D: the second term of the throughput is added, not subtracted. The text of VI-C needs
//!    `T_on >= T_off - D + eta`, as in its title: the hump fits into the burst.
//! 4. VI-D: `Q_max` ends in `-(C - R_on) T_on` and `R_M` in `+(C - R_on) T_on / (z + eta)`.
//! 5. VI-E: `R_H = R_L + (C - R_L) z / tau`, `R_M` adds its two parts, and so does the second line of `Q_max`.
//! 6. Appendix X uses `T` for the part of the burst not spent at `R_H`; here `T` is the period.

use super::{Case, Filter, Model, OnOff, Outcome, Smoothing, falling_root};
use crate::theory::Error;
use alloc::format;
use libm::sqrt;

/// Returns the worst phase from the case that applies; the [module](super) explains what it means.
///
/// # Errors
/// The errors of [`worst_phase`](super::worst_phase), and [`Error::Input`] for the exponential filter, which has no closed
/// form.
pub fn closed_form(traffic: &OnOff, smoothing: &Smoothing) -> Result<Outcome, Error> {
    if smoothing.filter == Filter::Exponential {
        return Err(Error::input("filter", "exponential", "linear: only the linear filter has closed forms"));
    }
    let model = Model::new(traffic, smoothing)?;
    let (case, delay) = solve(&model)?;
    let loss = model.average * loss_per_average(&model, case, delay);
    let load = 1.0 - loss;
    if load > super::FULL {
        return Err(Error::Unstable { load });
    }
    let (high, low) = extremes(&model, case, delay);
    let (rtt_worst_s, rtt_worst_to_s) = worst_rtts(&model, case, delay);
    Ok(Outcome {
        case,
        queue_delay_s: delay,
        queue_max_bits: delay * model.capacity,
        standing_queue_bits: 0.0,
        throughput_bps: (load.min(1.0) - model.average) * model.capacity,
        utilisation: load.min(1.0),
        rate_high_bps: high * model.capacity,
        rate_low_bps: low * model.capacity,
        rtt_worst_s,
        rtt_worst_to_s,
        stable: model.load(0.0) <= super::FULL,
    })
}

const SMOOTHED: [Case; 8] = [Case::L1, Case::L2, Case::L3, Case::S1, Case::S2, Case::S3, Case::S4, Case::S5];

/// Returns the case with a `D` that satisfies the case's conditions. The conditions divide all `D` among the cases and the
/// fixed point is unique, so there is one such case. At a boundary the neighbours agree, and rounding decides.
fn solve(m: &Model) -> Result<(Case, f64), Error> {
    if m.increase == 0.0 && m.decrease == 0.0 {
        return Ok((Case::RttOnly, delay_in(m, Case::RttOnly)));
    }
    let nudge = 1e-12 * m.off;
    SMOOTHED
        .into_iter()
        .map(|case| (case, delay_in(m, case)))
        .find(|&(case, d)| d >= 0.0 && [d, d - nudge, d + nudge].into_iter().any(|near| m.case(near) == case))
        .ok_or_else(|| Error::input("traffic", format!("{m:?}"), "times that one of the nine cases accepts"))
}

fn delay_in(m: &Model, case: Case) -> f64 {
    let Model { ratio: r, on, off, increase: tau, decrease: eta, .. } = *m;
    let outside = on - off + tau;
    match case {
        Case::RttOnly => (r * on).min(r * off / (1.0 + r)),
        Case::L1 | Case::S1 => r * on,
        Case::L2 => r / (1.0 + r) * (off - 0.5 * (tau - eta)),
        Case::L3 => {
            let both = tau + eta;
            both / r * (sqrt(1.0 + 2.0 * r * (outside + r * on) / both) - 1.0) - outside
        }
        Case::S2 => falling_root(off, |d| {
            let x = d + outside;
            -(2.0 * eta * (on + tau + d) * (d - r * on) + r * (on + d) * x * x)
        }),
        Case::S3 => {
            let p = r * eta + 2.0 * tau;
            off - (sqrt(p * p + 8.0 * r * tau * off) - p) / (2.0 * r)
        }
        Case::S4 => {
            let square = 2.0 * (tau + r * on);
            let linear = 2.0 * tau * (eta - off) + r * on * (2.0 * eta - on);
            let constant = -2.0 * tau * eta * off;
            off - (sqrt(linear * linear - 4.0 * square * constant) - linear) / (2.0 * square)
        }
        Case::S5 => falling_root(off, |d| {
            let z = off - d;
            let supply = r * on * z * (eta - on * (on + d) / (2.0 * (on + off)));
            supply - d * ((on + d) * tau + z * eta - (on + d) * z)
        }),
        Case::Exponential => f64::NAN,
    }
}

/// Returns `(C - R) / R_avg - 1`: the capacity lost beyond the cross traffic itself, in units of the cross traffic.
fn loss_per_average(m: &Model, case: Case, d: f64) -> f64 {
    let Model { average: x, on, off, increase: tau, decrease: eta, .. } = *m;
    let z = off - d;
    match case {
        Case::RttOnly => d / on,
        Case::L1 | Case::L2 | Case::L3 => (2.0 * d + tau - eta) / (2.0 * on),
        Case::S1 | Case::S2 => (on + d) * (on + d + tau) / (2.0 * on * eta) - 1.0,
        Case::S3 | Case::S4 => off / on - z * (z + eta) / (2.0 * on * tau),
        Case::S5 | Case::Exponential => {
            let (high, low) = extremes(m, case, d);
            (1.0 - 0.5 * (high + low)) / x - 1.0
        }
    }
}

/// `R_H` and `R_L` in units of the capacity.
fn extremes(m: &Model, case: Case, d: f64) -> (f64, f64) {
    let Model { ratio: r, on, off, increase: tau, decrease: eta, .. } = *m;
    let (a, b) = ((on + d) / eta, (off - d) / tau);
    match case {
        Case::RttOnly | Case::L1 | Case::L2 | Case::L3 => (1.0, 1.0 - r),
        Case::S1 | Case::S2 => (1.0, 1.0 - r * a),
        Case::S3 | Case::S4 => (1.0 - r + r * b, 1.0 - r),
        Case::S5 | Case::Exponential => {
            let high = r * b / (a + b - a * b);
            (1.0 - r + high, 1.0 - r + high * (1.0 - a))
        }
    }
}

/// `RTT'_rem`: one value, or an interval.
fn worst_rtts(m: &Model, case: Case, d: f64) -> (f64, f64) {
    let Model { on, off, increase: tau, decrease: eta, .. } = *m;
    let (z, x) = (off - d, on - off + tau + d);
    let one = |rtt| (rtt, rtt);
    match case {
        Case::RttOnly => (on.min(z), on.max(z)),
        Case::L1 | Case::S1 => (on, z - tau),
        Case::L2 | Case::S3 => (z, on - eta),
        Case::L3 => one(on - eta / (tau + eta) * x),
        Case::S2 => one(on - (on + d) / (on + d + tau) * x),
        Case::S4 => one(on * z / (z + eta)),
        Case::S5 | Case::Exponential => one(on / (on + off) * z),
    }
}
