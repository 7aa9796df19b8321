//! DCTCP: reduces its window in proportion to the fraction of marked packets. Without marks it is Reno.
//!
//! alpha is updated once per window of data, with `F` the fraction that arrived marked. A mark reduces the window at
//! most once per window:
//!
//! ```text
//! alpha   += g (F - alpha),  alpha = 1 at first           RFC 8257, section 3.3, step 6
//! mark:    threshold = window = (1 - alpha / 2) window     step 8
//! loss:    threshold = window = window / 2                 section 3.5
//! growth:  as Reno, also in the round trip after a mark    section 3.4: the rest of RFC 5681
//! ```
//!
//! Source: S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, "Data Center TCP (DCTCP)", RFC 8257, 2017;
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010. It needs queues that mark as soon as they grow a
//! little: RED with a step of the queue itself.
//!
//! Deviations:
//! 1. Packets are counted, not bytes. Every acknowledgment carries counts of marks, which section 3.2's receiver
//!    approximates with one bit.
//! 2. The window is in whole packets, rounded down: a mark removes at least one.

use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Idle, Loss, LossResponse, Marked, Needs, Setup, Timeout, Undo,
};
use crate::congestion::newreno::NewReno;
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings, check_names};
use crate::units::{Ecn, Ratio};

const GAIN: Parameter<Ratio> =
    Parameter::new("gain", Ratio::of(1, 16), PROPER, "weight of a window's marks in alpha (RFC 8257: g)");

/// The settings.
pub const PARAMETERS: Parameters = &[&GAIN];

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct Dctcp {
    reno: NewReno,
    /// Moving average of the marked share.
    alpha: Ratio,
    gain: Ratio,
    /// Of this window of data.
    delivered: u64,
    marked: u64,
    /// It ends when this packet is acknowledged.
    window_end: u64,
}

impl Dctcp {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Dctcp, SettingError> {
        check_names(settings, PARAMETERS)?;
        Ok(Dctcp {
            reno: NewReno::build(setup, &Settings::new())?,
            alpha: Ratio::ONE,
            gain: GAIN.read(settings)?,
            delivered: 0,
            marked: 0,
            window_end: 0,
        })
    }

    /// Ends a window of data.
    fn end_window(&mut self, next: u64) {
        let part = Ratio::of(self.marked.min(self.delivered), self.delivered);
        let kept = self.gain.complement().of_u64(self.alpha.q32());
        self.alpha = Ratio::from_q32(kept + self.gain.of_u64(part.q32()));
        (self.delivered, self.marked, self.window_end) = (0, 0, next);
    }
}

impl Controller for Dctcp {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.delivered += u64::from(ack.delivered);
        if ack.next_unacked > self.window_end {
            self.end_window(ack.next_unsent);
        }
        self.reno.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.reno.on_loss(loss);
    }

    fn on_mark(&mut self, marked: &Marked) {
        self.marked += u64::from(marked.congestion);
        self.reno.answer(marked, Ratio::from_q32(self.alpha.q32() / 2).complement());
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Ecn::Ect0, ..Needs::NOTHING }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.reno.on_timeout(timeout);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.reno.on_idle(idle);
    }

    fn on_undo(&mut self, undo: &Undo) {
        self.reno.on_undo(undo);
    }

    #[inline]
    fn decision(&self) -> Decision {
        self.reno.decision()
    }

    fn slow_start_threshold(&self) -> u32 {
        self.reno.slow_start_threshold()
    }
}

impl Extras for Dctcp {
    fn mark_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{self, setup};
    use crate::units::{Span, Time};

    fn dctcp(window: u32) -> Dctcp {
        Dctcp::build(&setup(1500, Span::from_micros(100), window), &Settings::new()).expect("defaults are valid")
    }

    /// `delivered` packets up to `unacked`, of which some were marked.
    fn ack(dctcp: &mut Dctcp, delivered: u32, marked: u32, unacked: u64, answer: bool) {
        let (now, srtt) = (Time::ZERO, Span::from_micros(100));
        if marked > 0 {
            dctcp.on_mark(&Marked { now, congestion: marked, burstiness: 0, answer, srtt });
        }
        dctcp.on_ack(&AckSample {
            next_unacked: unacked,
            next_unsent: unacked + 100,
            window_limited: false,
            ..testing::ack(now, delivered, srtt)
        });
    }

    /// The first mark finds alpha at 1: half is left, as of a loss.
    #[test]
    fn at_first_a_mark_halves() {
        let mut dctcp = dctcp(100);
        ack(&mut dctcp, 1, 1, 1, true);
        assert_eq!((dctcp.decision().window, dctcp.slow_start_threshold()), (50, 50));
    }

    /// Windows without marks: alpha = (15/16)^n. After 32 of them 0.1268, and a mark leaves 1 - 0.0634 of 1000: 936.
    #[test]
    fn alpha_forgets_by_a_sixteenth_per_window() {
        let mut dctcp = dctcp(1000);
        (0..32).for_each(|n| ack(&mut dctcp, 100, 0, 101 * (n + 1), false));
        assert!((dctcp.alpha.as_f64() - (15f64 / 16.0).powi(32)).abs() < 1e-6, "{:?}", dctcp.alpha);
        ack(&mut dctcp, 1, 1, 101 * 32 + 1, true);
        assert_eq!(dctcp.decision().window, 936);
    }

    /// A quarter of each window marked: alpha goes to 1/4.
    #[test]
    fn alpha_is_the_part_that_is_marked() {
        let mut dctcp = dctcp(1000);
        (0..200).for_each(|n| ack(&mut dctcp, 100, 25, 101 * (n + 1), false));
        assert!((dctcp.alpha.as_f64() - 0.25).abs() < 1e-4, "{:?}", dctcp.alpha);
    }

    /// Marks between two windows' ends are reported together, and only the host's request cuts.
    #[test]
    fn marks_without_a_request_to_react_only_count() {
        let mut dctcp = dctcp(1000);
        ack(&mut dctcp, 10, 10, 1, false);
        assert_eq!(dctcp.decision().window, 1000);
    }
}
