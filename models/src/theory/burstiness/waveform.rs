//! The sending rate over one period, as it arrives at the bottleneck.
//!
//! Capacity is the unit of rate, so areas under a rate are seconds of queue. Only the excess
//! `e = (R - (C - R_on)) / C`, between 0 and `r = R_on / C`, matters to the queue. Time 0 is where a decrease acts:
//! `e` falls towards 0 until `T_on + D`, then rises towards `r` until `T`. Let `g(u, k)` be the part of a gap that is
//! left `u` after a signal arrived, `A = g(T_on + D, eta)` and `B = g(T_off - D, tau)`. Periodicity gives
//!
//! ```text
//! high = r (1 - B) / (1 - A B),    low = high A
//! linear ramp: g = max(0, 1 - u/k)         exponential filter: g = exp(-u/k)
//! ```
//!
//! Source: R. Lovewell and J. Kaur, TR11-007, sections V and VI (the linear ramps of Figures 5 and 7). One expression
//! replaces the paper's eight pairs `R_H, R_L`: `B = 0` gives `R_H = C`, `A = 0` gives `R_L = C - R_on`.

use super::{Filter, Model};
use crate::theory::search::bisect;
use libm::expm1;

/// One period of the sending rate for a given queue delay `D`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waveform {
    model: Model,
    /// From the decrease to the increase: `T_on + D`.
    fall_for: f64,
    /// From the increase to the next decrease: `T_off - D`.
    rise_for: f64,
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Waveform {
    pub(super) fn new(model: &Model, delay: f64) -> Waveform {
        let (fall_for, rise_for) = (model.on + delay, model.off - delay);
        let a = closed(model.filter, fall_for, model.decrease);
        let b = closed(model.filter, rise_for, model.increase);
        let high = if b == 1.0 { model.ratio } else { model.ratio * b / (a + b - a * b) };
        Waveform { model: *model, fall_for, rise_for, high, low: high * (1.0 - a) }
    }

    pub(super) fn period(&self) -> f64 {
        self.model.on + self.model.off
    }

    /// The excess at a time.
    pub(super) fn excess(&self, time: f64) -> f64 {
        let t = wrapped(time, self.period());
        let m = &self.model;
        if t < self.fall_for {
            self.high * left(m.filter, t, m.decrease)
        } else {
            m.ratio - (m.ratio - self.low) * left(m.filter, t - self.fall_for, m.increase)
        }
    }

    /// The excess integrated from 0 to a time within the period, in seconds of queue.
    fn area(&self, t: f64) -> f64 {
        let m = &self.model;
        let fall = self.high * left_area(m.filter, t.min(self.fall_for), m.decrease);
        let rising = (t - self.fall_for).max(0.0);
        fall + m.ratio * rising - (m.ratio - self.low) * left_area(m.filter, rising, m.increase)
    }

    /// The excess averaged over a period.
    pub(super) fn mean(&self) -> f64 {
        self.area(self.period()) / self.period()
    }

    /// Returns what one burst adds to the queue, in seconds, if its decrease acts `lag` after it starts.
    pub(super) fn queued(&self, lag: f64) -> f64 {
        let period = self.period();
        let start = wrapped(-lag, period);
        let end = start + self.model.on;
        let beyond = (end - period).max(0.0);
        self.area(end.min(period)) - self.area(start) + self.area(beyond)
    }

    /// Returns the lags at which a burst queues most: the shortest and the longest of the interval.
    ///
    /// The area under a hump in a window of length `T_on` is largest where both ends of the window are at the same
    /// level (Appendix X of the paper). The difference of the levels is monotone for lags up to `min(T_off - D, T_on)`.
    /// If it does not reach zero before that, the whole higher plateau fits into the burst, or the burst fits into it.
    pub(super) fn worst_lags(&self) -> (f64, f64) {
        let m = &self.model;
        let limit = self.rise_for.min(m.on);
        let lag = bisect(0.0, limit, |lag| self.excess(m.on - lag) < self.excess(-lag));
        if limit - lag > 1e-12 * limit {
            return (lag, lag);
        }
        let slack = if m.on < self.rise_for {
            self.rise_for - settled(m.filter, m.increase) - m.on
        } else {
            m.on - settled(m.filter, m.decrease) - self.rise_for
        };
        (limit, limit + slack.max(0.0))
    }
}

fn wrapped(time: f64, period: f64) -> f64 {
    let t = time - libm::floor(time / period) * period;
    if t < period { t } else { 0.0 }
}

/// `g(u, k)`: the part of the gap that is left.
fn left(filter: Filter, u: f64, k: f64) -> f64 {
    1.0 - closed(filter, u, k)
}

/// `1 - g(u, k)`.
fn closed(filter: Filter, u: f64, k: f64) -> f64 {
    match filter {
        _ if k == 0.0 => 1.0,
        Filter::Linear => (u / k).min(1.0),
        Filter::Exponential => -expm1(-u / k),
    }
}

/// `g` integrated from 0 to `u`.
fn left_area(filter: Filter, u: f64, k: f64) -> f64 {
    match filter {
        _ if k == 0.0 => 0.0,
        Filter::Linear if u < k => u - 0.5 * u * u / k,
        Filter::Linear => 0.5 * k,
        Filter::Exponential => k * -expm1(-u / k),
    }
}

/// Returns the time after which nothing of the gap is left.
fn settled(filter: Filter, k: f64) -> f64 {
    match filter {
        Filter::Exponential if k > 0.0 => f64::INFINITY,
        _ => k,
    }
}
