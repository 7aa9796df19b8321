//! The burstiness `eta` that a TDQM queue measures, for Poisson traffic.
//!
//! With `V(t)` the unfinished work as a time, a busy period of length `b` has `eta = integral of V / (b^2 / 2)`, from
//! `1/n` for `n` packets back to back to 1 for `n` packets at once (or one alone). For Poisson arrivals of equal packets
//!
//! ```text
//! E[eta | n] = Q(n) / n,   Q(n) = 1 + (n-1)/n + (n-1)(n-2)/n^2 + ...        independent of the load
//! Q(n) = sqrt(pi n / 2) - 1/3 + sqrt(pi / (2 n)) / 12 - 4 / (135 n) + ...
//! P(n) = exp(-rho n) (rho n)^(n-1) / n!                                      packets of a busy period: Borel
//! E[eta]                 = (Li2(rho) - (1 - rho) ln(1 - rho) - rho) / rho    each busy period counts once
//! E[eta n] / E[n]        = (1 - rho) / rho ln(1 / (1 - rho))                 each packet counts once
//! eta of many periods together, B packets of busy time in all:  1 / ((1 - rho) B),  B much above 1 / (1 - rho)
//! ```
//!
//! `Q` is Ramanujan's function; the sums over Borel's law are its generating function
//! `sum of Q(n) n^(n-1) z^n / n! = ln(1 / (1 - T(z)))` with `T exp(-T) = z`, and its integral. The last line is
//! `2 E[area] / (B E[b])` with the mean work of M/D/1.
//!
//! Source of `eta`: Q. Li and D. L. Mills, "Control Architecture for Tuning Intensity and Burstiness of Traffic". The
//! paper does not treat Poisson traffic; the means are derived here. `Q(n)`: D. Knuth, The Art of Computer
//! Programming 1, section 1.2.11.3.
//!
//! Not in the paper:
//!
//! 1. `V` is unfinished work, service included: only then do simultaneous arrivals give 1, as the paper states.
//!    Counting only waiting packets gives `eta - 1/n`.
//! 2. `eta` does not separate burstiness from load. For a given `n` it does not depend on the load, but `n` does, so
//!    both means fall as the load rises.
//! 3. Thresholds of 0.1 to 0.2 lie below the `eta` of Poisson traffic unless busy periods are tens of packets long.

use crate::theory::Error;
use alloc::format;
use core::f64::consts::PI;
use libm::{exp, lgamma, log, log1p, sqrt};

/// The mean `eta` of a busy period with `packets` packets, for Poisson arrivals.
///
/// # Errors
/// [`Error::Input`] for no packets.
pub fn eta_of_length(packets: u32) -> Result<f64, Error> {
    if packets == 0 {
        return Err(Error::input("packets", "0", "at least 1, the packet that starts the busy period"));
    }
    Ok(ramanujan(packets) / f64::from(packets))
}

/// The probability that a busy period has `packets` packets at a load, for Poisson arrivals of equal packets.
///
/// # Errors
/// [`Error::Input`] for a load outside `(0, 1)`.
pub fn length_probability(packets: u32, load: f64) -> Result<f64, Error> {
    check(load)?;
    let n = f64::from(packets);
    if packets == 0 {
        return Ok(0.0);
    }
    Ok(exp((n - 1.0) * log(load * n) - load * n - lgamma(n + 1.0)))
}

/// The mean `eta` over busy periods.
///
/// # Errors
/// [`Error::Input`] for a load outside `(0, 1)`.
pub fn eta_per_period(load: f64) -> Result<f64, Error> {
    check(load)?;
    // The closed form loses digits for small loads; its series begins 1 - rho / 4 - rho^2 / 18.
    if load < 1e-4 {
        return Ok(1.0 - load / 4.0);
    }
    Ok((dilogarithm(load) - (1.0 - load) * log1p(-load) - load) / load)
}

/// The mean `eta` over packets: each busy period counts as often as it has packets.
///
/// # Errors
/// [`Error::Input`] for a load outside `(0, 1)`.
pub fn eta_per_packet(load: f64) -> Result<f64, Error> {
    check(load)?;
    Ok(-(1.0 - load) / load * log1p(-load))
}

/// The `eta` of many busy periods joined into one of `busy_packet_times` packet times, as TDQM joins short ones; `None`
/// below ten mean busy periods, where the formula is not accurate.
///
/// # Errors
/// [`Error::Input`] for a load outside `(0, 1)`.
pub fn eta_accumulated(load: f64, busy_packet_times: f64) -> Result<Option<f64>, Error> {
    check(load)?;
    let eta = 1.0 / ((1.0 - load) * busy_packet_times);
    Ok((busy_packet_times >= 10.0 / (1.0 - load)).then_some(eta))
}

fn check(load: f64) -> Result<(), Error> {
    if load > 0.0 && load < 1.0 { Ok(()) } else { Err(Error::input("load", format!("{load}"), "above 0 and below 1")) }
}

/// Ramanujan's `Q(n)`: the sum up to a thousand, then the expansion, with a next term below 1e-6 of it.
fn ramanujan(n: u32) -> f64 {
    let n_real = f64::from(n);
    if n > 1000 {
        return sqrt(0.5 * PI * n_real) - 1.0 / 3.0 + sqrt(0.5 * PI / n_real) / 12.0 - 4.0 / (135.0 * n_real);
    }
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 1..=n {
        sum += term;
        term *= f64::from(n - k) / n_real;
    }
    sum
}

/// `Li2(x)` for `0 < x < 1`, by its series, reflected above one half.
fn dilogarithm(x: f64) -> f64 {
    if x > 0.5 {
        return PI * PI / 6.0 - log(x) * log1p(-x) - dilogarithm(1.0 - x);
    }
    let (mut sum, mut power) = (0.0, 1.0);
    for k in 1..=60 {
        power *= x;
        sum += power / f64::from(k * k);
    }
    sum
}
