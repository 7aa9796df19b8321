//! Prague: DCTCP for the Internet. Frequent marks, each worth little; paced; short round trips take no more than long
//! ones.
//!
//! The window has a fraction. `n` packets are newly delivered, `m` of them marked; `virt = max(srtt, rtt_virt)`:
//!
//! ```text
//! growth:    slow start: window += n - m;  then window += (n - m) s / window, after marks, too, but not while
//!            losses that no timeout found are repaired
//!            s = (srtt / virt)^2: one packet per virt and virt, whatever the round trip
//! alpha     += gain (F - alpha) once per round trip and virt, F the part of its packets that was marked
//! mark:      threshold = window -= alpha / 2 window, once per virt, but not in recovery;  the first: window /= 2
//! loss:      threshold = window = window / 2, once per recovery
//! timeout:   threshold = window / 2, window = 1
//! pacing:    window / srtt;  twice that while window < threshold / 2
//! ```
//!
//! In the first four round trips after slow start `virt = srtt`. Alpha is 0 before the first mark.
//!
//! Source: K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, "Prague Congestion Control",
//! draft-briscoe-iccrg-prague-congestion-control-04, 2024; where it leaves a choice, its reference implementation for
//! Linux (`tcp_prague.c`, 2024): the window mode, gain 1/16, rtt_virt 25 ms, four round trips, alpha from 0 with half of
//! the window lost at the first mark. The requirements for senders of ECT(1) are in RFC 9331, section 4.
//!
//! Deviations:
//! 1. There is no fallback for a bottleneck that marks as in RFC 3168: Prague then takes more than its share.
//! 2. Below two packets the window is two, or one after a timeout; the packet size does not shrink, and there is no mode
//!    that counts a rate instead of a window.
//! 3. The pacing rate does not alternate by 3 %.
//! 4. A mark is answered as soon as `virt` has passed since the last answer. The reference implementation also waits
//!    for a whole window, so that round trips just below `virt` are answered every other time.
//! 5. Round trips above 25 ms grow by one packet per round trip, as in the reference implementation.

use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Idle, Loss, LossResponse, Marked, Needs, Sent, Setup, Timeout, Undo,
};
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings, any, check_names};
use crate::units::{Bytes, Ecn, Rate, Ratio, Span, Time};

const GAIN: Parameter<Ratio> =
    Parameter::new("gain", Ratio::of(1, 16), PROPER, "weight of a round trip's marks in alpha");
const RTT_VIRT: Parameter<Span> = Parameter::new(
    "rtt_virt",
    Span::from_millis(25),
    any(),
    "shorter round trips act as if they were this long; 0 s: none does",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&GAIN, &RTT_VIRT];

/// Least window after a mark or a loss, in packets.
const MIN_WINDOW: f64 = 2.0;
/// Largest window: of one-byte packets, the largest that TCP's window field can express (RFC 7323, section 2.2).
const MAX_WINDOW: f64 = 1_073_741_824.0;
/// Round trips after slow start until round trips count as virtual ones.
const TRANSITION: u32 = 4;

/// State that an undo restores.
#[derive(Clone, Copy, Debug)]
struct Course {
    /// In packets, with a fraction.
    window: f64,
    threshold: f64,
}

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct Prague {
    course: Course,
    /// As it was before the last reduction for a loss.
    before: Option<Course>,
    /// How much of the data is marked: a moving average.
    alpha: f64,
    saw_mark: bool,
    /// Of this round: packets delivered and marked.
    delivered: u64,
    marked: u64,
    /// Marked packets that the next acknowledgment covers.
    just_marked: u32,
    /// The round ends when this packet is acknowledged.
    round_end: u64,
    /// Rounds since slow start.
    rounds: u32,
    alpha_at: Time,
    reduced_at: Option<Time>,
    /// A loss was answered; until that is over, marks are not.
    recovering: bool,
    /// It was answered after a timeout: then the window grows while the losses are repaired (RFC 5681, section 3.1).
    after_timeout: bool,
    srtt: Span,
    packet: Bytes,
    pacing: Rate,
    departure: Time,
    gain: f64,
    rtt_virt: Span,
}

impl Prague {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Prague, SettingError> {
        check_names(settings, PARAMETERS)?;
        let window = f64::from(setup.initial_window.max(1));
        let mut prague = Prague {
            course: Course { window, threshold: f64::MAX },
            before: None,
            alpha: 0.0,
            saw_mark: false,
            delivered: 0,
            marked: 0,
            just_marked: 0,
            round_end: 0,
            rounds: 0,
            alpha_at: setup.now,
            reduced_at: None,
            recovering: false,
            after_timeout: false,
            srtt: setup.handshake_rtt,
            packet: setup.packet,
            pacing: Rate::from_bps(u64::MAX),
            departure: setup.now,
            gain: GAIN.read(settings)?.as_f64(),
            rtt_virt: RTT_VIRT.read(settings)?,
        };
        prague.pace();
        Ok(prague)
    }

    fn in_slow_start(&self) -> bool {
        self.course.window < self.course.threshold
    }

    /// The round trip that it acts by.
    fn virt(&self) -> Span {
        if self.rounds < TRANSITION { self.srtt } else { self.srtt.max(self.rtt_virt) }
    }

    /// Leaves this part of the window.
    fn reduce(&mut self, part: f64) {
        let window = (self.course.window * part).max(MIN_WINDOW);
        self.course = Course { window, threshold: window };
    }

    fn grow(&mut self, packets: u32) {
        let packets = f64::from(packets);
        if self.in_slow_start() {
            self.course.window = (self.course.window + packets).min(self.course.threshold);
        } else {
            let share = self.srtt.as_secs_f64() / self.virt().as_secs_f64().max(f64::MIN_POSITIVE);
            self.course.window += packets * share * share / self.course.window;
        }
        self.course.window = self.course.window.min(MAX_WINDOW);
    }

    /// A round trip is over.
    fn end_round(&mut self, now: Time, next: u64) {
        if self.rounds >= TRANSITION && now.saturating_since(self.alpha_at) < self.rtt_virt {
            return;
        }
        if self.saw_mark {
            let part = self.marked.min(self.delivered) as f64 / self.delivered.max(1) as f64;
            self.alpha += self.gain * (part - self.alpha);
        }
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
        (self.delivered, self.marked, self.round_end, self.alpha_at) = (0, 0, next, now);
    }

    fn pace(&mut self) {
        let twice = self.course.window < self.course.threshold / 2.0;
        let packets = self.course.window * if twice { 2.0 } else { 1.0 };
        let bytes = (packets * self.packet.get() as f64) as u64;
        self.pacing = Rate::of(Bytes::new(bytes.max(1)), self.srtt.max(Span::from_nanos(1)));
    }
}

impl Controller for Prague {
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        self.departure = self.departure.max(sent.paced_from).saturating_add(self.pacing.time_for(sent.size));
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.srtt = ack.srtt;
        self.recovering &= ack.in_recovery;
        self.after_timeout &= ack.in_recovery;
        let marked = core::mem::take(&mut self.just_marked);
        self.delivered += u64::from(ack.delivered);
        if ack.window_limited && (self.after_timeout || !ack.in_recovery) {
            self.grow(ack.delivered.saturating_sub(marked));
        }
        if ack.next_unacked > self.round_end {
            self.end_round(ack.now, ack.next_unsent);
        }
        self.pace();
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            self.before = Some(self.course);
            self.recovering = true;
            self.after_timeout = false;
            self.reduce(0.5);
            self.pace();
        }
    }

    fn on_mark(&mut self, marked: &Marked) {
        self.marked += u64::from(marked.congestion);
        self.just_marked = self.just_marked.saturating_add(marked.congestion);
        let too_soon = self.reduced_at.is_some_and(|at| marked.now.saturating_since(at) < self.virt());
        if marked.congestion == 0 || self.recovering || too_soon {
            return;
        }
        let first = !core::mem::replace(&mut self.saw_mark, true);
        self.reduced_at = Some(marked.now);
        self.before = None; // a mark is never proven needless
        self.reduce(if first { 0.5 } else { 1.0 - self.alpha / 2.0 });
        self.pace();
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.before = Some(self.course);
            self.course.threshold = (self.course.window / 2.0).max(MIN_WINDOW);
        }
        self.course.window = 1.0;
        self.recovering = true;
        self.after_timeout = true;
        self.pace();
    }

    fn on_idle(&mut self, idle: &Idle) {
        idle.restart(&mut self.course.window, &mut self.course.threshold);
        self.pace();
    }

    fn on_undo(&mut self, _undo: &Undo) {
        if let Some(before) = self.before.take() {
            self.recovering = false;
            self.after_timeout = false;
            self.course = Course { window: self.course.window.max(before.window), threshold: before.threshold };
            self.pace();
        }
    }

    #[inline]
    fn decision(&self) -> Decision {
        let whole = self.course.window as u32;
        let window = whole + u32::from(self.course.window > f64::from(whole));
        Decision { window, departure: self.departure }
    }

    fn loss_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }

    fn needs(&self) -> Needs {
        Needs { ecn: Ecn::Ect1, ..Needs::NOTHING }
    }

    fn slow_start_threshold(&self) -> u32 {
        self.course.threshold as u32
    }
}

impl Extras for Prague {
    fn rate(&self) -> Option<Rate> {
        Some(self.pacing)
    }
}

#[cfg(test)]
mod tests;
