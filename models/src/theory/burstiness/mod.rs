//! One Rapid flow against periodic on-off cross traffic: throughput, queue and stability.
//!
//! A burst of rate `R_on` lasts `T_on`, then the cross traffic is silent for `T_off`. The sender learns of the start
//! of a burst one RTT later. It learns of the end one RTT and `D = Q_max / C` later, because that signal waits behind
//! the queue that the burst left. It then closes the gap between its rate and the available bandwidth over `eta`
//! (decrease) or `tau` (increase). With the waveform of `waveform.rs` for a given `D`,
//!
//! ```text
//! Q(D) = max over phases of the excess of the rate over C - R_on, integrated over a burst
//! Q(D) = C D                  (the fixed point; Q falls with D, so there is exactly one)
//! R    = the waveform averaged over T,   U = (R_avg + R) / C
//! ```
//!
//! [`worst_phase`] and [`at_rtt`] find the fixed point by bisection on `D`, which needs no cases. [`closed_form`] has
//! the paper's nine cases one by one. The tests compare the two with each other, and both with a fluid in time steps.
//!
//! Source: R. Lovewell and J. Kaur, "Impact of Cross Traffic Burstiness on the Packet-scale Paradigm: An Extended
//! Analysis", TR11-007, UNC Chapel Hill: equations (1)-(3), sections IV-VI, Appendix X.
//!
//! Where this differs from the paper:
//!
//! 1. Section II-A prints the filter with its conditions exchanged and `L/n` for `L/eta`; `tau` belongs to increases.
//! 2. That filter is proportional, so its fluid limit is exponential, while the analysis ramps linearly over `tau` and
//!    `eta`. The area lost per full ramp differs by a factor of two. Both are here: [`Filter`].
//! 3. Section II-D: the on state lasts `T_on`, not `T_off`. Section IV: the loss is `(R_avg/C)^2 T/T_on`; as printed
//!    it has a dimension. The worst phase of section IV needs `T_on <= RTT_rem <= T_off - D`, else the other RTT-only
//!    branch holds.
//! 4. The analysis takes the queue as empty when a burst starts, which is `U <= 1`. With `D = 0` the load is above 1
//!    for many settings; footnote 6 (`eta < tau`) is the condition for large bursts only. If some phase overloads the
//!    link, `stable` is false. If every phase does, the result is [`Error::Unstable`], never a utilisation above 1. At
//!    an overloaded phase a standing queue grows until it has shifted the phase to one with `U = 1`.
//! 5. The steady state repeats from burst to burst, but need not attract. With bursts near the capacity a longer queue
//!    can make the next one shorter by more than the difference, and a fluid in time steps alternates around it.
//!
//! The misprints of single cases are listed in `closed.rs`.

mod closed;
mod waveform;

use crate::theory::Error;
use crate::theory::search::bisect;
use crate::units::{Rate, Span};
use alloc::format;
use waveform::Waveform;

pub use closed::closed_form;

/// The link and the cross traffic on it.
#[derive(Clone, Copy, Debug)]
pub struct OnOff {
    /// Capacity of the bottleneck, `C`.
    pub capacity: Rate,
    /// Cross traffic averaged over a period, `R_avg`.
    pub average: Rate,
    /// Length of a burst, `T_on`.
    pub on: Span,
    /// Silence between bursts, `T_off`.
    pub off: Span,
}

/// How the sender closes a gap between its rate and the available bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// A straight line that would close the gap in the time constant: the paper's analysis.
    Linear,
    /// A fixed part of the gap per unit of time: the fluid limit of the filter that the paper prints.
    Exponential,
}

/// The sender's filter and its two time constants.
#[derive(Clone, Copy, Debug)]
pub struct Smoothing {
    /// Shape of the approach.
    pub filter: Filter,
    /// Time constant of increases, `tau`.
    pub increase: Span,
    /// Time constant of decreases, `eta`.
    pub decrease: Span,
}

/// Which ramps complete, and how burst and hump overlap at the worst phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// No smoothing: section IV.
    RttOnly,
    /// Both ramps complete, the burst is within the high plateau.
    L1,
    /// Both ramps complete, the hump is within the burst.
    L2,
    /// Both ramps complete, partial overlap.
    L3,
    /// The fall is cut short, the burst is within the high plateau.
    S1,
    /// The fall is cut short, partial overlap.
    S2,
    /// The rise is cut short, the hump is within the burst.
    S3,
    /// The rise is cut short, partial overlap.
    S4,
    /// Both are cut short.
    S5,
    /// An exponential never completes, so the cases do not apply.
    Exponential,
}

impl Case {
    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Case::RttOnly => "RTT-only",
            Case::L1 => "L1",
            Case::L2 => "L2",
            Case::L3 => "L3",
            Case::S1 => "S1",
            Case::S2 => "S2",
            Case::S3 => "S3",
            Case::S4 => "S4",
            Case::S5 => "S5",
            Case::Exponential => "exponential",
        }
    }
}

/// The steady state.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The case at this queue delay.
    pub case: Case,
    /// The largest queue, as the time it takes to drain.
    pub queue_delay_s: f64,
    /// The largest queue, `Q_max`.
    pub queue_max_bits: f64,
    /// The part of the largest queue that never drains; 0 unless this phase overloads the link.
    pub standing_queue_bits: f64,
    /// Rapid's throughput.
    pub throughput_bps: f64,
    /// `(R_avg + R) / C`, at most 1.
    pub utilisation: f64,
    /// The highest sending rate, `R_H`.
    pub rate_high_bps: f64,
    /// The lowest sending rate, `R_L`.
    pub rate_low_bps: f64,
    /// The shortest RTT with the longest queue (any number of periods may be added).
    pub rtt_worst_s: f64,
    /// The longest RTT with that queue, less than one period longer; the same unless the worst phase is an interval.
    pub rtt_worst_to_s: f64,
    /// Whether no phase overloads the link, so that the queue empties in every period from every start. If only some
    /// phases overload it, a standing queue left from another start can hold the sender at one of them.
    pub stable: bool,
}

/// The phase with the longest queue.
///
/// # Errors
/// [`Error::Input`] for a zero capacity, average, burst or silence and for `R_on` above the capacity;
/// [`Error::Unstable`] if the load is above 1 even at this phase.
pub fn worst_phase(traffic: &OnOff, smoothing: &Smoothing) -> Result<Outcome, Error> {
    let model = Model::new(traffic, smoothing)?;
    let delay = model.worst_delay()?;
    Ok(model.outcome(delay, 0.0))
}

/// The phase of a given RTT, measured without any queue.
///
/// # Errors
/// The errors of [`worst_phase`].
pub fn at_rtt(traffic: &OnOff, smoothing: &Smoothing, rtt: Span) -> Result<Outcome, Error> {
    let model = Model::new(traffic, smoothing)?;
    let worst = model.worst_delay()?;
    let lag = rtt.as_secs_f64();
    let delay = model.fixed_point(|wave| wave.queued(lag));
    let mut outcome = if model.load(delay) <= FULL {
        model.outcome(delay, 0.0)
    } else {
        let (increment, standing) = model.standing_queue(lag);
        model.outcome(increment, standing)
    };
    (outcome.rtt_worst_s, outcome.rtt_worst_to_s) = Waveform::new(&model, worst).worst_lags();
    Ok(outcome)
}

/// The sending rate at the bottleneck, bit/s, `after_decrease_s` seconds after a decrease took effect there, in a
/// steady state with queue delay `queue_delay_s` (without the standing part). Figures 6 and 8 draw this rate.
///
/// # Errors
/// [`Error::Input`] as for [`worst_phase`].
pub fn rate_bps(
    traffic: &OnOff,
    smoothing: &Smoothing,
    queue_delay_s: f64,
    after_decrease_s: f64,
) -> Result<f64, Error> {
    let model = Model::new(traffic, smoothing)?;
    let wave = Waveform::new(&model, queue_delay_s.clamp(0.0, model.off));
    Ok(model.capacity * (1.0 - model.ratio + wave.excess(after_decrease_s)))
}

/// The utilisation for very short bursts, or equally very slow smoothing with `tau = eta`.
///
/// The rate is then constant and `D = x T_off / (1 + x)` with `x = R_avg / C`, so
/// `U = 1 - x^2 / (1 + x) * T_off / T_on`: independent of the RTT and of `T_on` itself, and never below
/// `2 sqrt(2) - 2 = 0.83`. The paper's closing "80 % to 95 %" describes this limit.
///
/// # Errors
/// [`Error::Input`] as for [`worst_phase`].
pub fn small_burst_utilisation(traffic: &OnOff) -> Result<f64, Error> {
    let smoothing = Smoothing { filter: Filter::Linear, increase: Span::ZERO, decrease: Span::ZERO };
    let model = Model::new(traffic, &smoothing)?;
    Ok(1.0 - model.average * model.average / (1.0 + model.average) * model.off / model.on)
}

/// The largest load that counts as at most 1: 1 plus what rounding may add.
const FULL: f64 = 1.0 + 1e-12;

/// The inputs, checked, with capacity as the unit of rate and seconds as the unit of time.
#[derive(Clone, Copy, Debug)]
struct Model {
    filter: Filter,
    /// `C`, bit/s.
    capacity: f64,
    /// `R_avg / C`.
    average: f64,
    /// `R_on / C`.
    ratio: f64,
    on: f64,
    off: f64,
    increase: f64,
    decrease: f64,
}

impl Model {
    fn new(traffic: &OnOff, smoothing: &Smoothing) -> Result<Model, Error> {
        let OnOff { capacity, average, on, off } = *traffic;
        for (key, rate) in [("capacity", capacity), ("average", average)] {
            if rate == Rate::ZERO {
                return Err(Error::input(key, format!("{rate}"), "a rate above 0"));
            }
        }
        for (key, span) in [("on", on), ("off", off)] {
            if span == Span::ZERO {
                return Err(Error::input(key, format!("{span}"), "a time above 0"));
            }
        }
        let (on_s, off_s) = (on.as_secs_f64(), off.as_secs_f64());
        let on_rate_bps = average.bps() as f64 * (on_s + off_s) / on_s;
        let capacity_bps = capacity.bps() as f64;
        if on_rate_bps > capacity_bps * (1.0 + 1e-9) {
            let found = format!("{average}, which is {} during bursts", Rate::from_bps(on_rate_bps as u64));
            let expected = format!("at most {}, so that a burst fits into {capacity}", traffic.largest_average());
            return Err(Error::input("average", found, expected));
        }
        Ok(Model {
            filter: smoothing.filter,
            capacity: capacity_bps,
            average: average.bps() as f64 / capacity_bps,
            ratio: (on_rate_bps / capacity_bps).min(1.0),
            on: on_s,
            off: off_s,
            increase: smoothing.increase.as_secs_f64(),
            decrease: smoothing.decrease.as_secs_f64(),
        })
    }

    /// The load in units of the capacity at a queue delay.
    fn load(&self, delay: f64) -> f64 {
        self.average + (1.0 - self.ratio) + Waveform::new(self, delay).mean()
    }

    /// The root of `queued(D) = D`. `queued` falls with `D` and is 0 at `T_off`, where the rate never rises.
    fn fixed_point(&self, queued: impl Fn(&Waveform) -> f64) -> f64 {
        falling_root(self.off, |delay| queued(&Waveform::new(self, delay)) - delay)
    }

    fn worst_delay(&self) -> Result<f64, Error> {
        let delay = self.fixed_point(|wave| wave.queued(wave.worst_lags().0));
        let load = self.load(delay);
        if load > FULL { Err(Error::Unstable { load }) } else { Ok(delay) }
    }

    /// Returns the queue increment per burst at which the load is exactly 1, and the standing queue, in seconds, that
    /// shifts this lag to one with that increment. A standing queue delays both signals equally, so it shifts the phase
    /// and changes nothing else.
    fn standing_queue(&self, lag: f64) -> (f64, f64) {
        let delay = falling_root(self.off, |delay| self.load(delay) - 1.0);
        let wave = Waveform::new(self, delay);
        let ahead = wave.worst_lags().0 - lag;
        let to_worst = ahead - libm::floor(ahead / wave.period()) * wave.period();
        let standing = falling_root(to_worst, |standing| delay - wave.queued(lag + standing));
        (delay, standing)
    }

    fn outcome(&self, delay: f64, standing: f64) -> Outcome {
        let wave = Waveform::new(self, delay);
        let (rtt_worst_s, rtt_worst_to_s) = wave.worst_lags();
        let utilisation = self.load(delay).min(1.0);
        let floor = 1.0 - self.ratio;
        Outcome {
            case: self.case(delay),
            queue_delay_s: delay + standing,
            queue_max_bits: (delay + standing) * self.capacity,
            standing_queue_bits: standing * self.capacity,
            throughput_bps: (utilisation - self.average) * self.capacity,
            utilisation,
            rate_high_bps: (floor + wave.high) * self.capacity,
            rate_low_bps: (floor + wave.low) * self.capacity,
            rtt_worst_s,
            rtt_worst_to_s,
            stable: self.load(0.0) <= FULL,
        }
    }

    /// The conditions of sections V and VI at a queue delay.
    fn case(&self, delay: f64) -> Case {
        if self.filter == Filter::Exponential {
            return Case::Exponential;
        }
        if self.increase == 0.0 && self.decrease == 0.0 {
            return Case::RttOnly;
        }
        let burst_in_plateau = delay <= self.off - self.on - self.increase;
        let hump_in_burst = delay >= self.off - self.on + self.decrease;
        match (self.on + delay >= self.decrease, self.off - delay >= self.increase) {
            (true, true) if burst_in_plateau => Case::L1,
            (true, true) if hump_in_burst => Case::L2,
            (true, true) => Case::L3,
            (false, true) if burst_in_plateau => Case::S1,
            (false, true) => Case::S2,
            (true, false) if hump_in_burst => Case::S3,
            (true, false) => Case::S4,
            (false, false) => Case::S5,
        }
    }
}

impl OnOff {
    fn largest_average(&self) -> Rate {
        let part = self.on.as_secs_f64() / (self.on.as_secs_f64() + self.off.as_secs_f64());
        Rate::from_bps((self.capacity.bps() as f64 * part) as u64)
    }
}

/// Returns the root in `[0, limit]` of a function that is positive before the root and not after it.
fn falling_root(limit: f64, f: impl Fn(f64) -> f64) -> f64 {
    bisect(0.0, limit, |x| f(x) > 0.0)
}
