//! CUBIC (RFC 9438) with HyStart++ (RFC 9406).
//!
//! The window follows a cubic function of the time since the last reduction, flat around the window at that reduction:
//!
//! ```text
//! W_cubic(t) = C (t - K)^3 + W_max                                    (1)
//! K          = cbrt((W_max - cwnd_epoch) / C)                         (2)
//! target     = W_cubic(t + RTT), within [cwnd, 1.5 cwnd]              (section 4.2)
//! W_est     += alpha acked / cwnd                                     (4)   what Reno would reach
//! alpha      = 3 (1 - beta) / (1 + beta), and 1 once W_est >= cwnd_prior; full_reno = false: never 1, as in Linux
//! per ack:     cwnd = W_est                                           if W_cubic(t) < W_est (section 4.3)
//!              cwnd += acked (target - cwnd) / cwnd                   otherwise (sections 4.4, 4.5)
//! loss:        W_max = cwnd, or cwnd (1 + beta) / 2 if cwnd < W_max   (section 4.7, fast convergence)
//!              threshold = cwnd = max(beta cwnd, 2)                   (section 4.6)
//! mark:        as a loss, once per window for both; then no growth    (section 4.6; RFC 3168, section 6.1.2)
//!              for a round trip
//!              abe: with 0.85 instead of beta                         (RFC 8511, section 3.1)
//! timeout:     the same with cwnd = 1; the next avoidance has K = 0   (section 4.8)
//! undo:        everything as before the reduction                     (section 4.9)
//! idle:        after more than a timeout, threshold = max(threshold, 3/4 cwnd); cwnd is halved per timeout, but not below
//!              the initial window; the time does not count in t       (RFC 5681, section 4.1; RFC 2861; section 4.2)
//! ```
//!
//! HyStart++ leaves the initial slow start when the smallest round-trip time of a round rises. It then grows at a
//! quarter of the pace for up to five rounds, and returns to slow start if the round-trip time falls again.
//!
//! Floating point uses only + - * /, and the cube root is computed here, so a run is the same on every machine.
//!
//! Deviations:
//! 1. The window is reduced, not the flight size, as RFC 9438 section 4.6 permits for senders that do not grow a window
//!    they do not use.
//! 2. Time in which the window does not limit the flow does not count in `t` (section 4.2 excludes only idle time).
//! 3. After a timeout, slow start is that of RFC 5681 with one packet per packet acknowledged; HyStart++ is only for
//!    the initial slow start (RFC 9406, section 4.3).

use crate::congestion::answered::Answered;
use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Idle, Loss, Marked, Needs, Setup, Timeout, Undo,
};
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings, above_zero, check_names};
use crate::units::{Ecn, Ratio, Span, Time};
use alloc::boxed::Box;

const BETA: Parameter<Ratio> = Parameter::new("beta", Ratio::of(7, 10), PROPER, "factor on the window after a loss");
const ABE: Parameter<bool> = Parameter::switch("abe", false, "a mark leaves 0.85 of the window, not beta (RFC 8511)");
const C: Parameter<Ratio> =
    Parameter::new("c", Ratio::of(4, 10), above_zero(), "steepness of the cubic, in packets per second^3");
const FAST_CONVERGENCE: Parameter<bool> =
    Parameter::switch("fast_convergence", true, "lower the maximum if the window shrank since the last loss");
const RENO_FRIENDLY: Parameter<bool> = Parameter::switch("reno_friendly", true, "grow at least as fast as Reno");
const FULL_RENO: Parameter<bool> = Parameter::switch(
    "full_reno",
    true,
    "Reno's estimate grows by a packet per round trip from the window before the loss on (RFC 9438); false: never (Linux)",
);
const HYSTART: Parameter<bool> =
    Parameter::switch("hystart", true, "leave initial slow start when delay rises (HyStart++)");

/// The settings.
pub const PARAMETERS: Parameters = &[&BETA, &ABE, &C, &FAST_CONVERGENCE, &RENO_FRIENDLY, &FULL_RENO, &HYSTART];

/// The part of the window after a mark with `abe` (RFC 8511, section 3.1).
const ABE_BETA: f64 = 0.85;
/// Least window after a loss (RFC 9438, section 4.6).
const MIN_THRESHOLD: f64 = 2.0;

/// The cubic of one epoch, with Reno's estimate.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Seconds from the start to the plateau.
    k: f64,
    w_max: f64,
    w_est: f64,
}

/// State that decides the window, and that an undo restores.
#[derive(Clone, Copy, Debug)]
struct Course {
    /// In packets, with its fraction.
    window: f64,
    threshold: f64,
    /// Window before the last reduction.
    prior: f64,
    /// Window of the next plateau; `None`: where the next epoch begins.
    w_max: Option<f64>,
    /// `None` until avoidance begins.
    epoch: Option<Epoch>,
}

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct Cubic {
    course: Course,
    /// State before the last reduction.
    before: Option<Box<Course>>,
    /// Whether in fast recovery, where the window is frozen.
    recovering: bool,
    answered: Answered,
    last_ack: Time,
    hystart: Option<HyStart>,
    beta: f64,
    /// The part of the window after a mark.
    mark_beta: f64,
    c: f64,
    alpha: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    full_reno: bool,
}

impl Cubic {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Cubic, SettingError> {
        check_names(settings, PARAMETERS)?;
        let beta = decimal(BETA.read(settings)?);
        let window = f64::from(setup.initial_window.max(1));
        Ok(Cubic {
            course: Course { window, threshold: f64::MAX, prior: 0.0, w_max: None, epoch: None },
            before: None,
            recovering: false,
            answered: Answered::No,
            last_ack: setup.now,
            hystart: HYSTART.read(settings)?.then(HyStart::new),
            beta,
            mark_beta: if ABE.read(settings)? { ABE_BETA } else { beta },
            c: decimal(C.read(settings)?),
            alpha: 3.0 * (1.0 - beta) / (1.0 + beta),
            fast_convergence: FAST_CONVERGENCE.read(settings)?,
            reno_friendly: RENO_FRIENDLY.read(settings)?,
            full_reno: FULL_RENO.read(settings)?,
        })
    }

    /// Sets the window, in packets, for an agent that also controls it. Avoidance restarts from there.
    pub fn begin_at(&mut self, window: f64) {
        self.course.window = window.max(1.0);
        self.course.epoch = None;
    }

    /// Leaves this part of the window.
    fn reduce(&mut self, beta: f64) {
        self.before = Some(Box::new(self.course));
        let window = self.course.window;
        let shrinking = self.course.w_max.is_some_and(|w_max| window < w_max);
        let w_max = if shrinking && self.fast_convergence { window * (1.0 + beta) / 2.0 } else { window };
        let threshold = (window * beta).max(MIN_THRESHOLD);
        self.course = Course { window: threshold, threshold, prior: window, w_max: Some(w_max), epoch: None };
    }

    /// Section 4.2: where the cubic begins. Without a reduction before it (HyStart++ ended slow start, section 4.10)
    /// and after a timeout (section 4.8) the plateau is here.
    fn begin_epoch(&self, now: Time) -> Epoch {
        let window = self.course.window;
        let w_max = self.course.w_max.unwrap_or(window).max(window);
        Epoch { start: now, k: cube_root((w_max - window) / self.c), w_max, w_est: window }
    }

    fn avoid_congestion(&mut self, ack: &AckSample<'_>) {
        let mut epoch = self.course.epoch.unwrap_or_else(|| self.begin_epoch(ack.now));
        let window = self.course.window;
        let acked = f64::from(ack.cumulative);
        let t = seconds(ack.now.saturating_since(epoch.start));
        let curve = |at: f64| {
            let x = at - epoch.k;
            self.c * x * x * x + epoch.w_max
        };
        let alpha = if self.full_reno && epoch.w_est >= self.course.prior { 1.0 } else { self.alpha };
        epoch.w_est += alpha * acked / window;
        self.course.window = if self.reno_friendly && curve(t) < epoch.w_est {
            window.max(epoch.w_est)
        } else {
            let target = curve(t + seconds(ack.srtt)).clamp(window, 1.5 * window);
            window + acked * (target - window) / window
        };
        self.course.epoch = Some(epoch);
    }

    fn slow_start(&mut self, ack: &AckSample<'_>) {
        let initial = self.course.threshold == f64::MAX;
        let (step, leave) = match &mut self.hystart {
            Some(hystart) if initial => hystart.on_ack(ack),
            _ => (f64::from(ack.cumulative), false),
        };
        self.course.window = (self.course.window + step).min(self.course.threshold);
        if leave {
            self.course.threshold = self.course.window;
        }
    }
}

impl Controller for Cubic {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let idle = ack.now.saturating_since(self.last_ack);
        self.last_ack = ack.now;
        if !ack.in_recovery {
            self.recovering = false;
        }
        if self.answered.holds_at(ack) || self.recovering || ack.cumulative == 0 {
            return;
        }
        if !ack.window_limited {
            if let Some(epoch) = &mut self.course.epoch {
                epoch.start += idle;
            }
        } else if self.course.window < self.course.threshold {
            self.slow_start(ack);
        } else {
            self.avoid_congestion(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            if !self.answered.end() {
                self.reduce(self.beta);
            }
            self.recovering = true;
        }
    }

    fn on_mark(&mut self, marked: &Marked) {
        if marked.answer {
            self.reduce(self.mark_beta);
            self.before = None; // a mark is never undone
            self.answered = Answered::Now;
        }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Ecn::Ect0, ..Needs::NOTHING }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.reduce(self.beta);
            self.course.w_max = None;
        }
        self.course.window = 1.0;
        self.course.epoch = None;
        self.recovering = false;
        self.answered = Answered::No;
    }

    fn on_idle(&mut self, idle: &Idle) {
        let course = &mut self.course;
        if let Some(epoch) = &mut course.epoch {
            epoch.start += idle.now.saturating_since(self.last_ack);
        }
        self.last_ack = idle.now;
        idle.restart(&mut course.window, &mut course.threshold);
    }

    fn on_undo(&mut self, _undo: &Undo) {
        if let Some(before) = self.before.take() {
            self.course = *before;
        }
        self.recovering = false;
    }

    #[inline]
    fn decision(&self) -> Decision {
        Decision { window: self.course.window as u32, departure: Time::ZERO }
    }

    fn slow_start_threshold(&self) -> u32 {
        self.course.threshold as u32
    }
}

impl Extras for Cubic {}

/// Rounds of the initial slow start (RFC 9406, section 4).
#[derive(Clone, Debug)]
struct HyStart {
    /// The round ends when this packet is acknowledged.
    round_end: u64,
    last_round_min: Span,
    round_min: Span,
    samples: u32,
    /// Conservative slow start: the delay that began it and the rounds spent in it.
    conservative: Option<(Span, u32)>,
}

impl HyStart {
    const MIN_RTT_THRESHOLD: Span = Span::from_millis(4);
    const MAX_RTT_THRESHOLD: Span = Span::from_millis(16);
    const MIN_RTT_DIVISOR: u64 = 8;
    const SAMPLES: u32 = 8;
    const GROWTH_DIVISOR: f64 = 4.0;
    const CONSERVATIVE_ROUNDS: u32 = 5;
    /// Packets that one acknowledgment may add (L, for senders that do not pace).
    const BURST_LIMIT: u32 = 8;

    fn new() -> HyStart {
        HyStart { round_end: 0, last_round_min: Span::MAX, round_min: Span::MAX, samples: 0, conservative: None }
    }

    /// Returns the packets to add to the window, and whether slow start ends.
    fn on_ack(&mut self, ack: &AckSample<'_>) -> (f64, bool) {
        let leave = ack.next_unacked >= self.round_end && self.next_round(ack.next_unsent);
        if let Some(rtt) = ack.rtt {
            self.round_min = self.round_min.min(rtt);
            self.samples += 1;
        }
        let step = f64::from(ack.cumulative.min(HyStart::BURST_LIMIT));
        match self.conservative {
            None => {
                self.watch_delay();
                (step, leave)
            }
            Some((baseline, _)) => {
                if self.samples >= HyStart::SAMPLES && self.round_min < baseline {
                    self.conservative = None;
                }
                (step / HyStart::GROWTH_DIVISOR, leave)
            }
        }
    }

    /// Ends a round. Returns whether the conservative rounds are used up.
    fn next_round(&mut self, next_unsent: u64) -> bool {
        self.round_end = next_unsent;
        self.last_round_min = self.round_min;
        self.round_min = Span::MAX;
        self.samples = 0;
        match &mut self.conservative {
            Some((_, rounds)) => {
                *rounds += 1;
                *rounds >= HyStart::CONSERVATIVE_ROUNDS
            }
            None => false,
        }
    }

    fn watch_delay(&mut self) {
        if self.samples < HyStart::SAMPLES || self.round_min == Span::MAX || self.last_round_min == Span::MAX {
            return;
        }
        let eighth = self.last_round_min / HyStart::MIN_RTT_DIVISOR;
        let threshold = eighth.clamp(HyStart::MIN_RTT_THRESHOLD, HyStart::MAX_RTT_THRESHOLD);
        if self.round_min >= self.last_round_min + threshold {
            self.conservative = Some((self.round_min, 0));
        }
    }
}

fn seconds(span: Span) -> f64 {
    span.picos() as f64 * 1e-12
}

/// The cube root by Newton's method, x <- (2 x + a / x^2) / 3, to a relative error below 1e-14.
///
/// The first guess is a power of two from a third of the exponent, between 1 and 2 roots away; each step at least
/// squares the relative error.
fn cube_root(a: f64) -> f64 {
    if a <= 0.0 {
        return 0.0;
    }
    let exponent = (a.to_bits() >> 52) as i64 - 1023;
    let guess_exponent = exponent.div_euclid(3) + 1;
    let mut x = f64::from_bits(((guess_exponent + 1023) as u64) << 52);
    for _ in 0..7 {
        x = (2.0 * x + a / (x * x)) / 3.0;
    }
    x
}

/// The fraction as it was written: to nine decimal places, so that 0.7 is 0.7 and 1000 packets become 700.
fn decimal(ratio: Ratio) -> f64 {
    (ratio.as_f64() * 1e9 + 0.5) as u64 as f64 / 1e9
}

#[cfg(test)]
mod tests;
