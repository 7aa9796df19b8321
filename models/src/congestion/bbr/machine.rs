//! How BBR moves between its states (draft-ietf-ccwg-bbr, "State Machine Operation").

use super::model::UNBOUNDED;
use super::{Bbr, MIN_PIPE, STARTUP_LOST_RANGES, Seen};
use crate::units::{Rate, Ratio, Span, Time};

/// The states; ProbeBW is four of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// The part of a bandwidth probe that acknowledgments cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

impl State {
    pub fn pacing_gain(self) -> Ratio {
        match self {
            State::Startup => const { Ratio::of(277, 100) },
            State::Drain => const { Ratio::of(1, 2) },
            State::Down => const { Ratio::of(9, 10) },
            State::Up => const { Ratio::of(5, 4) },
            State::Cruise | State::Refill | State::ProbeRtt => Ratio::ONE,
        }
    }

    pub fn window_gain(self) -> Ratio {
        match self {
            State::Up => const { Ratio::of(9, 4) },
            State::ProbeRtt => const { Ratio::of(1, 2) },
            _ => const { Ratio::of(2, 1) },
        }
    }

    pub fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Whether probing causes losses here: then they do not show a change of the path.
    pub fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

const DRAIN_ROUNDS: u64 = 3;
const PROBE_RTT_DURATION: Span = Span::from_millis(200);
/// Rounds after which a Reno flow of the same volume would have grown to lose.
const RENO_ROUNDS: u64 = 63;
const MAX_UP_ROUNDS: u32 = 30;

impl Bbr {
    /// Moves the state on an acknowledgment, in the draft's order.
    pub(super) fn update_state(&mut self, seen: &Seen) {
        self.check_startup_done(seen);
        self.check_drain_done(seen);
        self.update_probe_bw(seen);
        self.check_probe_rtt(seen);
    }

    fn check_startup_done(&mut self, seen: &Seen) {
        let lossy = self.latest.ends
            && seen.in_recovery
            && self.latest.lost_ranges >= STARTUP_LOST_RANGES
            && self.is_too_high(seen.sample.lost, seen.sample.tx_in_flight);
        if self.state == State::Startup && !self.full_pipe.reached && lossy {
            self.note_left(State::Startup);
            self.full_pipe.reached = true;
            self.bounds.inflight_longterm = self.bdp(self.bw(), Ratio::ONE).max(self.latest.volume);
        }
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    fn check_drain_done(&mut self, seen: &Seen) {
        if self.state != State::Drain {
            return;
        }
        let drained = seen.in_flight <= self.budget(self.bdp(self.bw(), Ratio::ONE));
        if drained || self.rounds.count > self.drain_start_round + DRAIN_ROUNDS {
            self.start_down(seen.now);
        }
    }

    fn start_down(&mut self, now: Time) {
        self.latest.reset();
        self.up_acked_per_packet = UNBOUNDED;
        self.rounds.since_probe = self.random.bits() & 1;
        self.probe_wait = Span::from_secs(2) + Span::from_micros(self.random.bits() % 1_000_000);
        self.cycle_start = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    fn start_refill(&mut self) {
        self.bounds.forget_shortterm();
        self.up_rounds = 0;
        self.up_acked = 0;
        self.probe_was_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, rate: Rate) {
        self.judging_probe = true;
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(self.delivered);
        self.full_pipe.restart(rate);
        self.state = State::Up;
        self.raise_slope();
    }

    /// "ProbeBW Algorithm Details": BBRUpdateProbeBWCyclePhase.
    fn update_probe_bw(&mut self, seen: &Seen) {
        if !self.full_pipe.reached || self.adapt_longterm(seen) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(seen.now) => self.start_refill(),
            State::Down if self.is_time_to_cruise(seen.in_flight) => self.state = State::Cruise,
            State::Refill if self.rounds.started => self.start_up(seen.rate),
            State::Up => self.end_probe_in_time(seen),
            _ => {}
        }
    }

    /// "Time Scale for Bandwidth Probing": the clock's or Reno's, whichever is first.
    fn is_time_to_probe(&self, now: Time) -> bool {
        if self.tuning.whole_probes && self.ack_phase == AckPhase::ProbeStopping {
            return false;
        }
        let rounds = self.rounds.since_probe;
        now > self.cycle_start + self.probe_wait || rounds >= RENO_ROUNDS || rounds >= self.target_inflight()
    }

    fn target_inflight(&self) -> u64 {
        self.bdp(self.bw(), Ratio::ONE).min(self.window)
    }

    fn is_time_to_cruise(&self, in_flight: u64) -> bool {
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.budget(self.bdp(self.bandwidth.max(), Ratio::ONE))
    }

    fn end_probe_in_time(&mut self, seen: &Seen) {
        if self.is_time_to_go_down(seen) {
            self.probe_was_too_high = false;
            self.start_down(seen.now);
        }
    }

    fn is_time_to_go_down(&mut self, seen: &Seen) -> bool {
        if self.probe_was_too_high && seen.in_flight >= self.bounds.inflight_longterm {
            self.probe_was_precautionary = true;
            return true;
        }
        if self.is_window_full() && self.window >= self.bounds.inflight_longterm {
            self.full_pipe.restart(seen.rate);
            return false;
        }
        self.full_pipe.now
    }

    /// Reads the last probe's acknowledgments. Returns whether the state changed.
    fn adapt_longterm(&mut self, seen: &Seen) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.rounds.started {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.rounds.started {
            self.judging_probe = false;
            self.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !seen.sample.is_app_limited {
                self.bandwidth.advance();
                self.probed_bandwidth = true;
            }
            if self.state.is_probe_bw() && self.probe_was_precautionary && !self.probe_was_too_high {
                self.start_refill();
                return true;
            }
        }
        let (tx_in_flight, longterm) = (seen.sample.tx_in_flight, self.bounds.inflight_longterm);
        if longterm != UNBOUNDED && !self.is_too_high(seen.sample.lost, tx_in_flight) {
            self.bounds.inflight_longterm = longterm.max(u64::from(tx_in_flight));
            if self.state == State::Up {
                self.raise_longterm(seen.delivered);
            }
        }
        false
    }

    /// Each round of a probe doubles the packets by which the bound rises.
    fn raise_longterm(&mut self, newly: u64) {
        if !self.is_window_full() || self.window < self.bounds.inflight_longterm {
            return;
        }
        self.up_acked += newly;
        let steps = self.up_acked / self.up_acked_per_packet;
        self.up_acked -= steps * self.up_acked_per_packet;
        self.bounds.inflight_longterm += steps;
        if self.rounds.started {
            self.raise_slope();
        }
    }

    fn raise_slope(&mut self) {
        self.up_acked_per_packet = (self.window >> self.up_rounds).max(1);
        self.up_rounds = (self.up_rounds + 1).min(MAX_UP_ROUNDS);
    }

    /// Ends a probe that lost too much, and keeps the volume that fitted.
    pub(super) fn handle_too_high(&mut self, now: Time, fitted: u64, app_limited: bool) {
        self.probe_was_too_high = true;
        self.judging_probe = false;
        if !app_limited {
            let floor = self.tuning.beta.of_u64(self.target_inflight());
            self.bounds.inflight_longterm = fitted.max(floor);
        }
        if self.state == State::Up {
            self.note_left(State::Up);
            self.start_down(now);
        }
    }

    fn note_left(&mut self, state: State) {
        if let Some(saved) = &mut self.saved {
            saved.left = Some(state);
        }
    }

    /// Undoes what spurious losses ended.
    pub(super) fn return_to(&mut self, left: Option<State>) {
        match left {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => self.start_refill(),
            _ => {}
        }
    }

    /// Whether ProbeRTT would cut off what has to end first (deviation 7).
    fn is_measuring_bandwidth(&self, seen: &Seen) -> bool {
        let unfinished = match self.state {
            State::Startup => !self.full_pipe.reached,
            State::Drain => true,
            State::ProbeRtt => false,
            _ => !self.probed_bandwidth,
        };
        self.tuning.whole_probes && unfinished && !seen.sample.is_app_limited
    }

    /// "ProbeRTT Logic".
    fn check_probe_rtt(&mut self, seen: &Seen) {
        let before = self.delay.min_rtt();
        let interval = (!self.is_measuring_bandwidth(seen)).then_some(self.tuning.probe_rtt_interval);
        self.delay.see(seen.now, seen.rtt, interval);
        if self.state != State::ProbeRtt && self.delay.probe_due && !self.idle_restart {
            self.save_window();
            self.state = State::ProbeRtt;
            let gain = State::ProbeRtt.window_gain();
            self.probe_rtt_window = self.bdp_over(before, self.bw(), gain).max(MIN_PIPE);
            self.probe_rtt_done = None;
            self.limited = Some((self.delivered, self.delivered));
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(self.delivered);
        }
        if self.state == State::ProbeRtt {
            self.hold_probe_rtt(seen);
        }
        self.idle_restart = false;
    }

    fn hold_probe_rtt(&mut self, seen: &Seen) {
        if let Some((_, until)) = &mut self.limited {
            *until = self.delivered + seen.in_flight;
        }
        match self.probe_rtt_done {
            None if seen.in_flight <= self.probe_rtt_window => {
                self.probe_rtt_done = Some(seen.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.rounds.started;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(seen.now);
                }
            }
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.delay.probed(now);
        self.probed_bandwidth = false;
        self.restore_window();
        self.bounds.forget_shortterm();
        if self.full_pipe.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// "Restarting From Idle": at the last bandwidth.
    pub(super) fn restart_from_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.state.is_probe_bw() {
            self.set_pacing_rate(Ratio::ONE);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }
}
