//! NewReno: additive increase, multiplicative decrease (RFC 5681; episodes as in RFC 6582, kept by the host).
//!
//! With `n` packets newly acknowledged:
//!
//! ```text
//! slow start (window < threshold):   window += min(n, L)         RFC 5681 (2), RFC 3465 section 2.2, L = 2
//! avoidance:                         acked += n; at acked >= window: acked -= window, window += 1
//!                                                                RFC 5681 (3), RFC 3465 section 2.1
//! loss:                              threshold = window = max(beta window, 2)
//! timeout:                           threshold = max(beta window, 2), window = 1
//! ```
//!
//! Bytes are counted, not acknowledgments, so that delayed acknowledgments do not slow the growth. After a timeout
//! L is 1 until the episode ends (RFC 3465 section 2.3).
//!
//! Deviations:
//! 1. The window is cut, not the flight size (RFC 5681, equation 4), as in Linux. What equation 4 guards against, a
//!    window that outgrew the flight, cannot arise: the window does not grow unless it limits the flow (RFC 7661).
//! 2. In fast recovery the window is the target from the start; the host's proportional rate reduction takes the
//!    place of inflation and deflation.

use crate::contract::{AckSample, Controller, Decision, Loss, Setup, Timeout, Undo};
use crate::registry::{Kind, Parameter, Setting, SettingError, Settings, check_names};
use units::{Ratio, Time};

/// What a scenario can set.
pub const PARAMETERS: &[Parameter] = &[
    Parameter { name: "beta", kind: Kind::Ratio, default: "0.5", doc: "what a loss leaves of the window" },
    Parameter {
        name: "abc_limit",
        kind: Kind::Integer,
        default: "2",
        doc: "packets that one acknowledgment may add in slow start (RFC 3465: L)",
    },
];

/// Least window after a loss (RFC 5681, equation 4).
const MIN_THRESHOLD: u32 = 2;

/// What an undo restores.
#[derive(Clone, Copy, Debug)]
struct Prior {
    window: u32,
    threshold: u32,
}

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct NewReno {
    window: u32,
    threshold: u32,
    /// Packets acknowledged towards the next step of one.
    acked: u32,
    /// In fast recovery the window stands still.
    recovering: bool,
    /// In the episode that began with a timeout.
    after_timeout: bool,
    abc_limit: u32,
    beta: Ratio,
    prior: Option<Prior>,
}

impl NewReno {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<NewReno, SettingError> {
        check_names(settings, PARAMETERS)?;
        let beta = match settings.get("beta") {
            None => Ratio::of(1, 2),
            Some(Setting::Ratio(beta)) if *beta > Ratio::ZERO && *beta < Ratio::ONE => *beta,
            Some(_) => return Err(SettingError::Invalid { name: "beta", expected: "a fraction between 0 and 1" }),
        };
        let abc_limit = match settings.get("abc_limit") {
            None => 2,
            Some(Setting::Integer(limit @ 1..=1_000_000)) => *limit as u32,
            Some(_) => return Err(SettingError::Invalid { name: "abc_limit", expected: "a whole number from 1" }),
        };
        Ok(NewReno {
            window: setup.initial_window.max(1),
            threshold: u32::MAX,
            acked: 0,
            recovering: false,
            after_timeout: false,
            abc_limit,
            beta,
            prior: None,
        })
    }

    /// Remembers the state, and sets the threshold for what comes.
    fn reduce(&mut self) {
        self.prior = Some(Prior { window: self.window, threshold: self.threshold });
        self.threshold = (self.beta.of_u64(u64::from(self.window)) as u32).max(MIN_THRESHOLD);
        self.acked = 0;
    }

    /// Grows exponentially up to the threshold. Answers how many packets are left to count in avoidance.
    fn slow_start(&mut self, acked: u32) -> u32 {
        let limit = if self.after_timeout { 1 } else { self.abc_limit };
        let step = acked.min(limit);
        let room = self.threshold - self.window;
        self.window += step.min(room);
        step.saturating_sub(room)
    }

    fn avoid_congestion(&mut self, acked: u32) {
        self.acked += acked;
        while self.acked >= self.window {
            self.acked -= self.window;
            self.window += 1;
        }
    }
}

impl Controller for NewReno {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if !ack.in_recovery {
            self.recovering = false;
            self.after_timeout = false;
        }
        if self.recovering || !ack.window_limited {
            return;
        }
        let mut acked = ack.cumulative;
        if self.window < self.threshold {
            acked = self.slow_start(acked);
        }
        if acked > 0 && self.window >= self.threshold {
            self.avoid_congestion(acked);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            self.reduce();
            self.window = self.threshold;
            self.recovering = true;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.reduce();
        }
        self.window = 1;
        self.acked = 0;
        self.recovering = false;
        self.after_timeout = true;
    }

    fn on_undo(&mut self, _undo: &Undo) {
        if let Some(prior) = self.prior.take() {
            self.window = self.window.max(prior.window);
            self.threshold = prior.threshold;
        }
        self.recovering = false;
        self.after_timeout = false;
    }

    #[inline]
    fn decision(&self) -> Decision {
        Decision { window: self.window, departure: Time::ZERO }
    }

    fn slow_start_threshold(&self) -> u32 {
        self.threshold
    }
}
