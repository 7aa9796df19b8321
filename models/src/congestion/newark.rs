//! Newark: one window for the receiver, another for the rate, and a token bucket for bursts. Two marks control them.
//!
//! ```text
//! send:          within W_b, the window that the receiver advertises; each packet takes one token
//! token clock:   expires after exponential times with mean g RTT / W_p
//!   on expiry:   a timeout is not cleared yet:  tokens = min(tokens, 1), cleared
//!                otherwise, tokens < floor(T_c): tokens += 1
//! W_p:           as TCP's window. Slow start, then 1 / W_p per packet of acknowledgments without rho-bit; halved on a
//!                rho-bit once per window (RFC 3168), and on loss; 1 after a timeout
//! T_c:           from T_max; halved, down to 1, on an eta-bit once per round trip; += 1 / T_c per acknowledgment without
//! eta-bit and T_c = 1:  W_p is halved instead
//! ```
//!
//! The rho-bit is congestion experienced, the eta-bit the burstiness bit; TDQM sets both. A sender that always has data
//! spends each token at once: its bucket never fills, `T_c` does not limit it, and its packets leave as a Poisson
//! process whatever `T_c` is. The eta-bit affects such a sender only through `W_p`, once `T_c` is 1.
//!
//! Source: Q. Li and D. L. Mills, "Control Architecture for Tuning Intensity and Burstiness of Traffic", section III.
//!
//! Where the paper leaves a choice, this file does the following:
//! 1. The clock is set again at every expiry. The paper's figure 4 prints that inside a branch, where a full bucket
//!    would stop it for ever.
//! 2. A full bucket ignores tokens, so a new time is drawn for its clock when a packet leaves or an acknowledgment
//!    arrives: exponential times have no memory. A change of `W_p` or RTT counts from the next expiry on.
//! 3. Each loop reads its own bit: "unmarked" means without that bit.
//! 4. RTT is the smoothed one (RFC 6298), at first that of the handshake. The bucket starts with the initial window.
//! 5. When `T_c` falls, tokens above it are lost.
//! 6. `W_p` grows only while tokens limit the flow (RFC 7661), unless `validate` is off: a window that an idle
//!    application never used carries no information about the path.
//! 7. The paper limits `W_p` to 240 packets, its receiver's buffer; here that limit is `window_max`, by default none.

use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Loss, LossResponse, Marked, Needs, Sent, Setup, Timeout, Undo,
};
use crate::congestion::window::Window;
use crate::settings::{Parameter, Parameters, SettingError, Settings, check_names};
use crate::units::{Bytes, Ecn, Random, Rate, Ratio, Span, Time};

const G: Parameter<Ratio> = Parameter::new(
    "g",
    Ratio::ONE,
    Ratio::of(1, 1000)..=Ratio::of(1000, 1),
    "a token every g RTT / W_p; above 1: slower than TCP",
);
const BUCKET_MAX: Parameter<u32> = Parameter::new("bucket_max", 240, 1..=Window::MAX, "T_max: most tokens to keep");
const WINDOW_MAX: Parameter<u32> =
    Parameter::new("window_max", Window::MAX, 1..=Window::MAX, "largest W_p, in packets");
const VALIDATE: Parameter<bool> = Parameter::switch("validate", true, "grow W_p only while tokens limit the flow");

/// The settings.
pub const PARAMETERS: Parameters = &[&G, &BUCKET_MAX, &WINDOW_MAX, &VALIDATE];

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct Newark {
    /// W_p.
    window: Window,
    /// T_c, grown like a window.
    bucket: Window,
    tokens: u32,
    /// When the token clock expires.
    expiry: Time,
    srtt: Span,
    /// Whether a timeout awaits the token clock.
    timed_out: bool,
    recovering: bool,
    /// Bits that this acknowledgment carries.
    marked: (bool, bool),
    /// When the last eta-bit was answered, and when W_p was last reduced.
    burst_answered: Time,
    reduced: Time,
    /// W_p before the last reduction for a loss.
    prior: Option<Window>,
    packet: Bytes,
    g: Ratio,
    bucket_max: u32,
    window_max: u32,
    validate: bool,
    random: Random,
}

impl Newark {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Newark, SettingError> {
        check_names(settings, PARAMETERS)?;
        let bucket_max = BUCKET_MAX.read(settings)?;
        let window_max = WINDOW_MAX.read(settings)?;
        let initial = setup.initial_window.clamp(1, window_max);
        let mut newark = Newark {
            window: Window::new(initial),
            bucket: Window::new(bucket_max),
            tokens: initial.min(bucket_max),
            expiry: setup.now,
            srtt: setup.handshake_rtt.max(Span::from_nanos(1)),
            timed_out: false,
            recovering: false,
            marked: (false, false),
            burst_answered: Time::ZERO,
            reduced: Time::ZERO,
            prior: None,
            packet: setup.packet,
            g: G.read(settings)?,
            bucket_max,
            window_max,
            validate: VALIDATE.read(settings)?,
            random: Random::new(setup.seed),
        };
        newark.expiry = setup.now.saturating_add(newark.draw());
        Ok(newark)
    }

    /// An exponential time with mean g RTT / W_p; one picosecond at least, so that the clock moves.
    fn draw(&mut self) -> Span {
        let mean = self.srtt.picos() as f64 * self.g.as_f64() / f64::from(self.window.size);
        let picos = -mean * libm::log(1.0 - self.random.uniform());
        Span::from_picos((picos + 0.5) as u64).max(Span::from_picos(1))
    }

    /// Lets the token clock run up to `now`.
    fn run_clock(&mut self, now: Time) {
        while self.expiry <= now {
            if self.timed_out {
                self.tokens = self.tokens.min(1);
                self.timed_out = false;
            } else if self.tokens < self.bucket.size {
                self.tokens += 1;
            } else {
                self.expiry = now.saturating_add(self.draw());
                return;
            }
            self.expiry = self.expiry.saturating_add(self.draw());
        }
    }

    fn halve_window(&mut self, now: Time) {
        self.prior = Some(self.window);
        self.window.threshold = self.window.half().max(1);
        self.window.size = self.window.threshold;
        self.window.credit = 0;
        self.reduced = now;
    }

    fn answer_burstiness(&mut self, marked: &Marked) {
        if self.bucket.size > 1 {
            self.bucket.size = self.bucket.half();
            self.bucket.credit = 0;
            self.tokens = self.tokens.min(self.bucket.size);
        } else if marked.now >= self.reduced.saturating_add(marked.srtt) {
            self.halve_window(marked.now);
            self.prior = None;
        }
        self.burst_answered = marked.now;
    }
}

impl Controller for Newark {
    fn on_sent(&mut self, sent: &Sent) {
        self.run_clock(sent.now);
        self.tokens = self.tokens.saturating_sub(1);
    }

    fn on_mark(&mut self, marked: &Marked) {
        self.run_clock(marked.now);
        self.marked = (marked.congestion > 0, marked.burstiness > 0);
        if marked.answer {
            self.halve_window(marked.now);
            self.prior = None;
        }
        if marked.burstiness > 0 && marked.now >= self.burst_answered.saturating_add(marked.srtt) {
            self.answer_burstiness(marked);
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.run_clock(ack.now);
        self.srtt = ack.srtt.max(Span::from_nanos(1));
        self.recovering &= ack.in_recovery;
        let (congested, bursty) = core::mem::take(&mut self.marked);
        if !bursty {
            self.bucket.increase(self.bucket.size, 1);
            self.bucket.size = self.bucket.size.min(self.bucket_max);
        }
        let limited = ack.window_limited || !self.validate;
        if limited && !congested && !self.recovering && self.reduced != ack.now {
            self.window.reno(ack.cumulative);
            self.window.size = self.window.size.min(self.window_max);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.run_clock(loss.now);
        if loss.enters_recovery {
            self.halve_window(loss.now);
            self.recovering = true;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.run_clock(timeout.now);
        if timeout.first {
            self.halve_window(timeout.now);
        }
        self.window.size = 1;
        self.window.credit = 0;
        self.timed_out = true;
        self.recovering = false;
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.run_clock(undo.now);
        if let Some(prior) = self.prior.take() {
            self.window.size = self.window.size.max(prior.size);
            self.window.threshold = self.window.threshold.max(prior.threshold);
        }
        self.timed_out = false;
        self.recovering = false;
    }

    /// W_b is the receiver's window, which the host keeps.
    fn decision(&self) -> Decision {
        let departure = if self.tokens > 0 { Time::ZERO } else { self.expiry };
        Decision { window: Window::MAX, departure }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Ecn::Ect0, ..Needs::NOTHING }
    }

    fn loss_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }

    fn slow_start_threshold(&self) -> u32 {
        self.window.threshold
    }
}

impl Extras for Newark {
    fn rate(&self) -> Option<Rate> {
        let per_window = self.srtt.scale(self.g).max(Span::from_picos(1));
        Some(Rate::of(self.packet * u64::from(self.window.size), per_window))
    }
}

#[cfg(test)]
mod tests;
