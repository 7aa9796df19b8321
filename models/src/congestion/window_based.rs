//! The frame of the window-based controllers: how each event uses the law.
//!
//! Linux has the same frame around its congestion-control modules, and a law here returns what a module returns there.
//! With the states open, recovery (fast recovery) and loss (after a timeout):
//!
//! ```text
//! acknowledgment:  the law measures; then, unless in recovery, and if the left edge moved and the window limits the
//!                  flow, the law grows the window by the packets delivered (or by one, `growth = "acknowledgments"`)
//! loss:            threshold = window = max(law, 2), once per episode; the host reduces towards it (RFC 6937)
//! mark:            like an episode that begins and ends at once, once per window for marks and losses; then no growth for
//!                  a round trip (RFC 3168, section 6.1.2)
//! timeout:         threshold = max(law, 2), window = 1; from recovery or after a repeated expiry the threshold stays
//! undo:            window and threshold are at least what they were before the reduction
//! idle for more    threshold = max(threshold, 3/4 window); the window is halved per timeout, but not below the initial
//! than the timeout window (RFC 5681, section 4.1; RFC 2861)
//! ```
//!
//! Deviations from Linux, for all laws:
//! 1. There is no state of disorder between the first duplicate acknowledgment and the first loss.
//! 2. After a timeout the window is 1, not the flight plus 1.
//! 3. Round-trip times are exact; Linux uses microseconds, and in places the ticks of its clock.

use crate::congestion::answered::Answered;
use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Idle, Loss, Marked, Needs, Setup, Timeout, Undo,
};
use crate::congestion::window::{Growth, Window};
use crate::settings::{Parameters, SettingError, Settings, check_names};
use crate::units::{Ecn, Time};
use core::fmt;

/// Least threshold (RFC 5681, equation 4).
const MIN_THRESHOLD: u32 = 2;

/// The flow's recovery state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// No known loss.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until the packets in flight then have arrived.
    Loss,
}

/// A controller's own law.
pub(crate) trait Law: Sized + Clone + fmt::Debug {
    /// The settings.
    const PARAMETERS: Parameters;

    fn new(setup: &Setup, settings: &Settings) -> Result<Self, SettingError>;

    /// Window to start with.
    fn initial_window(&self, setup: &Setup) -> u32 {
        setup.initial_window
    }

    /// Whether it reads arrival times ([`Needs::arrivals`]).
    fn needs_arrivals(&self) -> bool {
        false
    }

    /// Sees every acknowledgment, with the state before it.
    fn measure(&mut self, _ack: &AckSample<'_>, _state: State, _window: &mut Window) {}

    /// Grows the window by `acked` packets: those delivered, or one ([`Growth`]).
    fn grow(&mut self, ack: &AckSample<'_>, acked: u32, window: &mut Window);

    /// Returns the threshold for entering `next`, recovery or loss.
    fn threshold(&mut self, window: &Window, next: State, now: Time) -> u32;

    /// The flow entered `state`. From recovery to open, the window is at the threshold.
    fn enter(&mut self, _state: State, _now: Time, _window: &mut Window) {}

    /// The flow was idle; its window has restarted.
    fn idle(&mut self, _idle: &Idle) {}

    /// The last reduction was needless; [`Law::enter`] follows.
    fn undo(&mut self) {}
}

/// A controller that limits the packets in flight by one law.
#[derive(Clone, Debug)]
pub struct WindowBased<L> {
    pub(crate) window: Window,
    state: State,
    answered: Answered,
    /// State before the last reduction.
    prior: Option<Window>,
    growth: Growth,
    pub(crate) law: L,
}

// The law is private to the crate: outside it, only what the registry builds can be named.
#[allow(private_bounds)]
impl<L: Law> WindowBased<L> {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<WindowBased<L>, SettingError> {
        check_names(settings, L::PARAMETERS)?;
        let law = L::new(setup, settings)?;
        let window = Window::new(law.initial_window(setup));
        let growth = Growth::read(settings)?;
        Ok(WindowBased { window, state: State::Open, answered: Answered::No, prior: None, growth, law })
    }

    fn reduce(&mut self, next: State, now: Time) {
        self.prior = Some(self.window);
        self.window.threshold = self.law.threshold(&self.window, next, now).max(MIN_THRESHOLD);
        self.window.credit = 0;
    }

    fn enter(&mut self, state: State, now: Time) {
        self.state = state;
        self.law.enter(state, now, &mut self.window);
    }
}

#[allow(private_bounds)]
impl<L: Law> Controller for WindowBased<L> {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.law.measure(ack, self.state, &mut self.window);
        if self.state != State::Open && !ack.in_recovery {
            self.enter(State::Open, ack.now);
        }
        let held = self.answered.holds_at(ack);
        if !held && self.state != State::Recovery && ack.cumulative > 0 && ack.window_limited {
            self.law.grow(ack, self.growth.counted(ack.delivered), &mut self.window);
        }
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            if !self.answered.end() {
                self.reduce(State::Recovery, loss.now);
                self.window.size = self.window.threshold;
            }
            self.enter(State::Recovery, loss.now);
        }
    }

    fn on_mark(&mut self, marked: &Marked) {
        if marked.answer {
            self.reduce(State::Recovery, marked.now);
            self.window.size = self.window.threshold;
            self.prior = None; // a mark is never undone
            self.answered = Answered::Now;
            self.enter(State::Recovery, marked.now);
            self.enter(State::Open, marked.now);
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first && self.state != State::Recovery {
            self.reduce(State::Loss, timeout.now);
        }
        self.window.size = 1;
        self.window.credit = 0;
        self.answered = Answered::No;
        self.enter(State::Loss, timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle);
        self.law.idle(idle);
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.law.undo();
        if let Some(prior) = self.prior.take() {
            self.window.size = self.window.size.max(prior.size);
            self.window.threshold = self.window.threshold.max(prior.threshold);
        }
        self.enter(State::Open, undo.now);
    }

    #[inline]
    fn decision(&self) -> Decision {
        Decision { window: self.window.size, departure: Time::ZERO }
    }

    fn needs(&self) -> Needs {
        Needs { arrivals: self.law.needs_arrivals(), ecn: Ecn::Ect0, ..Needs::NOTHING }
    }

    fn slow_start_threshold(&self) -> u32 {
        self.window.threshold
    }
}

impl<L: Law> Extras for WindowBased<L> {}

#[cfg(test)]
pub(crate) mod driver;
