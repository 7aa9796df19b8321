//! NewReno: additive increase, multiplicative decrease (RFC 5681; episodes as in RFC 6582, tracked by the host).
//!
//! With `n` packets newly acknowledged:
//!
//! ```text
//! slow start (window < threshold):   window += min(n, L)         RFC 5681 (2), RFC 3465 section 2.2, L = 2
//! avoidance:                         acked += n; at acked >= window: acked -= window, window += 1
//!                                                                RFC 5681 (3), RFC 3465 section 2.1
//! loss:                              threshold = window = max(beta window, 2), unless a mark of this window did so
//! mark:                              the same, once per window; then no growth for a round trip   RFC 3168 section 6.1.2
//!                                    abe: with 0.8 instead of beta            RFC 8511 section 3.1
//! timeout:                           threshold = max(beta window, 2), window = 1
//! idle for more than the timeout:    threshold = max(threshold, 3/4 window); window halved per timeout, at least 10
//!                                                                RFC 5681 section 4.1, RFC 2861
//! ```
//!
//! Growth counts bytes, not acknowledgments (unless `growth = "acknowledgments"`), so delayed acknowledgments do not
//! slow it. After a timeout L is 1 until the episode ends (RFC 3465 section 2.3).
//!
//! Deviations:
//! 1. The window is reduced, not the flight size (RFC 5681, equation 4), as in Linux. Equation 4 guards against a
//!    window that outgrew the flight. That cannot happen here: the window grows only while it limits the flow (RFC
//!    7661).
//! 2. In fast recovery the window is the target from the start; the host's proportional rate reduction replaces
//!    inflation and deflation.

use crate::congestion::answered::Answered;
use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Idle, Loss, Marked, Needs, Setup, Timeout, Undo,
};
use crate::congestion::window::{GROWTH, Growth, Window};
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings, check_names};
use crate::units::{Ecn, Ratio, Time};

const BETA: Parameter<Ratio> = Parameter::new("beta", Ratio::of(1, 2), PROPER, "factor on the window after a loss");
const ABE: Parameter<bool> = Parameter::switch("abe", false, "a mark leaves 0.8 of the window, not beta (RFC 8511)");
const ABC_LIMIT: Parameter<u32> = Parameter::new(
    "abc_limit",
    2,
    1..=1_000_000,
    "maximum window increase per acknowledgment in slow start, in packets (RFC 3465: L)",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&BETA, &ABE, &ABC_LIMIT, &GROWTH];

/// The part of the window after a mark with `abe`: all but a fifth (RFC 8511, section 3.1).
const ABE_BETA: Ratio = Ratio::of(2, 10).complement();
/// Least window after a loss (RFC 5681, equation 4).
const MIN_THRESHOLD: u32 = 2;

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct NewReno {
    window: Window,
    /// Whether in fast recovery, where the window is frozen.
    recovering: bool,
    answered: Answered,
    /// Whether in an episode that began with a timeout.
    after_timeout: bool,
    abc_limit: u32,
    growth: Growth,
    beta: Ratio,
    /// The part of the window after a mark.
    mark_beta: Ratio,
    /// State before the last reduction.
    prior: Option<Window>,
}

impl NewReno {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<NewReno, SettingError> {
        check_names(settings, PARAMETERS)?;
        let beta = BETA.read(settings)?;
        Ok(NewReno {
            window: Window::new(setup.initial_window),
            recovering: false,
            answered: Answered::No,
            after_timeout: false,
            abc_limit: ABC_LIMIT.read(settings)?,
            growth: Growth::read(settings)?,
            beta,
            mark_beta: if ABE.read(settings)? { ABE_BETA } else { beta },
            prior: None,
        })
    }

    /// Remembers the state, and sets the threshold to this share of the window.
    fn reduce(&mut self, part: Ratio) {
        self.prior = Some(self.window);
        let kept = part.of_u64(u64::from(self.window.size)) as u32;
        self.window.threshold = kept.max(MIN_THRESHOLD);
        self.window.credit = 0;
    }

    /// Share of the window after a mark.
    pub(crate) fn answer(&mut self, marked: &Marked, part: Ratio) {
        if marked.answer {
            self.reduce(part);
            self.window.size = self.window.threshold;
            self.prior = None; // a mark is never undone
        }
    }

    fn grow(&mut self, acked: u32) {
        let mut left = acked;
        if self.window.in_slow_start() {
            left = self.window.slow_start(acked.min(if self.after_timeout { 1 } else { self.abc_limit }));
        }
        if left > 0 {
            self.window.increase(self.window.size, left);
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
        if self.answered.holds_at(ack) || self.recovering || !ack.window_limited {
            return;
        }
        self.grow(self.growth.counted(ack.cumulative));
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            if !self.answered.end() {
                self.reduce(self.beta);
                self.window.size = self.window.threshold;
            }
            self.recovering = true;
        }
    }

    fn on_mark(&mut self, marked: &Marked) {
        self.answer(marked, self.mark_beta);
        if marked.answer {
            self.answered = Answered::Now;
        }
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Ecn::Ect0, ..Needs::NOTHING }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.reduce(self.beta);
        }
        self.window.size = 1;
        self.window.credit = 0;
        self.recovering = false;
        self.answered = Answered::No;
        self.after_timeout = true;
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.window.restart(idle);
    }

    fn on_undo(&mut self, _undo: &Undo) {
        if let Some(prior) = self.prior.take() {
            self.window.size = self.window.size.max(prior.size);
            self.window.threshold = prior.threshold;
        }
        self.recovering = false;
        self.after_timeout = false;
    }

    #[inline]
    fn decision(&self) -> Decision {
        Decision { window: self.window.size, departure: Time::ZERO }
    }

    fn slow_start_threshold(&self) -> u32 {
        self.window.threshold
    }
}

impl Extras for NewReno {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{self, setup};
    use crate::settings::Setting;
    use crate::units::Span;

    const RTT: Span = Span::from_millis(100);

    fn newreno(window: u32) -> NewReno {
        NewReno { window: Window::new(window), ..with(&Settings::new()) }
    }

    fn with(settings: &Settings) -> NewReno {
        NewReno::build(&setup(1000, RTT, 10), settings).expect("valid settings")
    }

    fn ack(cumulative: u32) -> AckSample<'static> {
        testing::ack(Time::ZERO, cumulative, RTT)
    }

    fn loss() -> Loss<'static> {
        testing::loss(Time::ZERO, RTT)
    }

    fn mark() -> Marked {
        Marked { now: Time::ZERO, congestion: 1, burstiness: 0, answer: true, srtt: RTT }
    }

    fn timeout(first: bool) -> Timeout {
        Timeout { now: Time::ZERO, in_flight: 10, first }
    }

    fn window(newreno: &NewReno) -> u32 {
        newreno.decision().window
    }

    /// 10 + 2 + 2 + min(5, 2) + 1 = 17.
    #[test]
    fn slow_start_counts_at_most_two_packets_per_ack() {
        let mut newreno = newreno(10);
        for acked in [2, 2, 5, 1] {
            newreno.on_ack(&ack(acked));
        }
        assert_eq!(window(&newreno), 17);
    }

    /// From 20, a loss leaves 10. Then 10 packets make 11, the next 11 make 12; 22 at once would too: 10 + 11 = 21.
    #[test]
    fn avoidance_adds_one_packet_per_window_acknowledged() {
        let mut newreno = newreno(20);
        newreno.on_loss(&loss());
        assert_eq!((window(&newreno), newreno.slow_start_threshold()), (10, 10));
        (0..9).for_each(|_| newreno.on_ack(&ack(1)));
        assert_eq!(window(&newreno), 10);
        newreno.on_ack(&ack(1));
        assert_eq!(window(&newreno), 11);
        newreno.on_ack(&ack(11));
        assert_eq!(window(&newreno), 12);
    }

    #[test]
    fn the_window_is_frozen_in_recovery() {
        let mut newreno = newreno(20);
        newreno.on_loss(&loss());
        newreno.on_ack(&AckSample { in_recovery: true, ..ack(10) });
        assert_eq!(window(&newreno), 10);
    }

    #[test]
    fn an_unused_window_does_not_grow() {
        let mut newreno = newreno(10);
        newreno.on_ack(&AckSample { window_limited: false, ..ack(2) });
        assert_eq!(window(&newreno), 10);
    }

    /// From 20: threshold 10, window 1. One packet per acknowledgment, 1 -> 3 after two with two packets each; the second
    /// expiry leaves the threshold.
    #[test]
    fn after_a_timeout_it_starts_from_one() {
        let mut newreno = newreno(20);
        newreno.on_timeout(&timeout(true));
        assert_eq!((window(&newreno), newreno.slow_start_threshold()), (1, 10));
        newreno.on_ack(&AckSample { in_recovery: true, ..ack(2) });
        newreno.on_ack(&AckSample { in_recovery: true, ..ack(2) });
        assert_eq!(window(&newreno), 3);
        newreno.on_timeout(&timeout(false));
        assert_eq!((window(&newreno), newreno.slow_start_threshold()), (1, 10));
    }

    /// Nine of ten to the threshold, then three acknowledged: one step of slow start, two packets counted in avoidance.
    #[test]
    fn slow_start_ends_exactly_at_the_threshold() {
        let mut newreno = newreno(9);
        newreno.window.threshold = 10;
        newreno.on_ack(&ack(3));
        assert_eq!((window(&newreno), newreno.window.credit), (10, 1));
    }

    #[test]
    fn an_undo_restores_window_and_threshold() {
        for reduction in [|n: &mut NewReno| n.on_loss(&loss()), |n: &mut NewReno| n.on_timeout(&timeout(true))] {
            let mut newreno = newreno(20);
            reduction(&mut newreno);
            newreno.on_undo(&Undo { now: Time::ZERO });
            assert_eq!((window(&newreno), newreno.slow_start_threshold()), (20, u32::MAX));
        }
    }

    /// From 20, a mark leaves 10. Packets up to 30 had left: until 31 of them are acknowledged, nothing changes.
    #[test]
    fn the_window_is_frozen_for_an_rtt_after_a_mark() {
        let mut newreno = newreno(20);
        newreno.on_mark(&mark());
        for (next_unacked, next_unsent) in [(11, 30), (20, 32), (30, 40)] {
            newreno.on_ack(&AckSample { next_unacked, next_unsent, ..ack(10) });
            assert_eq!(window(&newreno), 10);
        }
        newreno.on_ack(&AckSample { next_unacked: 31, next_unsent: 41, ..ack(10) });
        assert_eq!(window(&newreno), 11);
    }

    /// From 20, a mark leaves 10, and so does the loss in the same window; the next loss leaves 5.
    #[test]
    fn a_loss_in_the_window_of_an_answered_mark_is_ignored() {
        let mut newreno = newreno(20);
        newreno.on_mark(&mark());
        newreno.on_ack(&AckSample { next_unacked: 11, next_unsent: 30, in_recovery: true, ..ack(1) });
        newreno.on_loss(&loss());
        assert_eq!((window(&newreno), newreno.slow_start_threshold()), (10, 10));
        newreno.on_loss(&loss());
        assert_eq!((window(&newreno), newreno.slow_start_threshold()), (5, 5));
    }

    /// From 20, a mark that is to be answered leaves 10, or with `abe` 16; a loss leaves 10 either way.
    #[test]
    fn a_mark_cuts_as_a_loss_and_less_with_abe() {
        let after = |settings: &Settings, marked: bool| {
            let mut newreno = NewReno { mark_beta: with(settings).mark_beta, ..newreno(20) };
            if marked {
                newreno.on_mark(&mark())
            } else {
                newreno.on_loss(&loss())
            }
            window(&newreno)
        };
        let (classic, abe) = (Settings::new(), Settings::from([("abe".into(), Setting::Switch(true))]));
        assert_eq!([after(&classic, true), after(&abe, true), after(&abe, false)], [10, 16, 10]);
    }

    #[test]
    fn the_threshold_is_never_below_two() {
        let mut newreno = newreno(2);
        newreno.on_loss(&loss());
        assert_eq!(window(&newreno), 2);
    }

    #[test]
    fn a_beta_of_one_is_refused() {
        let settings = Settings::from([("beta".into(), Setting::Ratio(Ratio::ONE))]);
        let error = NewReno::build(&setup(1000, RTT, 10), &settings).expect_err("refused");
        assert_eq!(error, SettingError::invalid("beta", "a number above 0 and below 1"));
    }
}
