//! How the phases of the flows arise: Figure 2 of the paper, and independent phases.

use crate::theory::Error;
use alloc::format;
use alloc::vec::Vec;
use libm::log;

/// The law of the times between arrivals of flows, all with mean `1 / U` packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Uniform between 0 and twice the mean.
    Uniform,
    /// A Poisson process.
    Exponential,
    /// Pareto with this index `k > 1`: at least `(k - 1) / k` of the mean.
    Pareto(f64),
    /// No successive arrivals: each flow has its own phase, uniform over the period.
    Phases,
}

impl Arrivals {
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Arrivals::Pareto(index) if !(index > 1.0 && index.is_finite()) => {
                let expected = "an index above 1, as in pareto:2.1: with 1 or less there is no mean";
                Err(Error::input("arrivals", format!("pareto:{index}"), expected))
            }
            _ => Ok(()),
        }
    }

    /// Returns the variance of the times over their squared mean, `c_v^2`; `None` if it is infinite, or if phases are
    /// not successive arrivals.
    pub fn squared_variation(self) -> Option<f64> {
        match self {
            Arrivals::Uniform => Some(1.0 / 3.0),
            Arrivals::Exponential => Some(1.0),
            Arrivals::Pareto(k) if k > 2.0 => Some(1.0 / (k * (k - 2.0))),
            Arrivals::Pareto(_) | Arrivals::Phases => None,
        }
    }

    /// Draws the sorted phases of `flows` flows. One short loop per step keeps the processor's pipelines full.
    pub(super) fn draw(self, flows: u32, period: f64, random: &mut impl FnMut() -> u64, phases: &mut Vec<f64>) {
        phases.clear();
        phases.extend((0..flows).map(|_| unit(random)));
        let mean = period / f64::from(flows);
        match self {
            Arrivals::Uniform => {
                phases.iter_mut().for_each(|x| *x *= 2.0 * mean);
                accumulate_modulo(period, phases);
            }
            Arrivals::Exponential => {
                phases.iter_mut().for_each(|x| *x = -mean * log(*x));
                accumulate_modulo(period, phases);
            }
            Arrivals::Pareto(k) => {
                let (least, power) = (mean * (k - 1.0) / k, -1.0 / k);
                phases.iter_mut().for_each(|x| *x = power * log(*x));
                phases.iter_mut().for_each(|x| *x = least * exp(*x));
                accumulate_modulo(period, phases);
            }
            Arrivals::Phases => {
                phases.iter_mut().for_each(|x| *x = -log(*x));
                let sum = phases.iter_mut().fold(0.0, |sum, x| {
                    *x += sum;
                    *x
                });
                let scale = period / (sum - log(unit(random)));
                phases.iter_mut().for_each(|x| *x *= scale);
            }
        }
        phases.sort_by(f64::total_cmp);
    }
}

/// From gaps to `t_i mod T`, in the order of the flows; the first flow arrives at 0 and has no gap.
fn accumulate_modulo(period: f64, gaps: &mut [f64]) {
    let mut time = 0.0;
    if let Some(first) = gaps.first_mut() {
        *first = 0.0;
    }
    for gap in gaps {
        time += *gap;
        if time >= period {
            time -= period * libm::floor(time / period);
            // Rounding may move a time beyond the ends of the period.
            time = if time < period { time.max(0.0) } else { 0.0 };
        }
        *gap = time;
    }
}

/// Uniform over the open interval from 0 to 1.
#[inline]
fn unit(random: &mut impl FnMut() -> u64) -> f64 {
    ((random() >> 11) as f64 + 0.5) * (1.0 / 9_007_199_254_740_992.0)
}

/// `exp(x)` for `0 <= x <= 700` within two units in the last place: a Taylor polynomial around the nearest multiple of
/// `ln 2`. A general `exp` would take half the time of a run.
#[inline]
fn exp(x: f64) -> f64 {
    // ln 2 in two parts, the first with trailing zeros so that its multiples are exact.
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let octaves = (x * core::f64::consts::LOG2_E + 0.5) as u64;
    let r = (x - octaves as f64 * LN2_HIGH) - octaves as f64 * LN2_LOW;
    let series = (1..=13).rev().fold(1.0, |sum, n| 1.0 + sum * r * (1.0 / f64::from(n)));
    series * f64::from_bits((1023 + octaves) << 52)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exponential_agrees_with_libm() {
        for i in 0..70_000 {
            let x = f64::from(i) * 0.01;
            let exact = libm::exp(x);
            assert!((super::exp(x) - exact).abs() <= 5e-16 * exact, "{x}");
        }
    }
}
