//! BBR version 1, as Linux's `tcp_bbr`: it paces at the largest delivery rate of ten rounds, and ignores single losses.
//!
//! Sources: N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, "BBR: Congestion-Based Congestion Control",
//! ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00 ("the draft", cited by section). What the draft
//! leaves out is in Linux only: the answer to policers, and the allowance for bunched acknowledgments.
//!
//! ```text
//! max_bw       = max delivery rate of the last 10 rounds               4.1.1
//! min_rtt      = min round-trip time over 10 s                         4.1.2
//! pacing rate  = 0.99 pacing_gain max_bw                               4.2.1
//! window       = cwnd_gain max_bw min_rtt + extra_acked + 3 send quanta, at least 4    4.2.3
//!
//!              pacing_gain              cwnd_gain   until
//! Startup         2.885                   2.885     max_bw grows by less than 25 % in three rounds     4.3.2
//! Drain           1 / 2.885               2.885     in flight <= max_bw min_rtt                        4.3.3
//! ProbeBW         1.25, 0.75, 1 (6 times) 2         min_rtt passed; 1.25: also 1.25 max_bw min_rtt in flight, or a
//!                                                   loss; 0.75: or in flight <= max_bw min_rtt         4.3.4
//! ProbeRTT        1                       4 packets 200 ms and a round; due when min_rtt is 10 s old   4.3.5
//! ```
//!
//! In the first round of a recovery packets are conserved: the window is what is in flight plus what has arrived. Then it
//! grows as without losses, and at the recovery's end it is at least what it was before (4.2.3.4). A recovery that begins
//! with the acknowledgment that ends another continues it: packets are not conserved again, as in Linux.
//! The first ten packets of a connection are not paced, as in Linux.
//! The parts: `model` measures, `policer` looks for one, this file moves between the states and sets rate and window.
//!
//! Deviations from Linux:
//! 1. Packets are paced one by one. The send quantum only counts in the window: what leaves in 1/1024 s, at least two
//!    packets (one below 1.2 Mbit/s), at most 64 KiB.
//! 2. The filter of max_bw is exact. Linux keeps three samples, which is the same but where the rate falls.
//! 3. After a timeout the window is 1, not the flight plus 1.
//! 4. Losses of an acknowledgment count with it, those found by a timer with the next.
//! 5. The send quantum is at most 64 KiB of packets, headers included; Linux also has at most 127 segments.
//! 6. A min_rtt that is 10 s old is replaced by the next sample; Linux waits for one that was not delayed.

mod model;
mod policer;

use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Loss, LossResponse, Needs, RateSample, Sent, Setup, Timeout, Undo,
};
use crate::settings::{Parameters, SettingError, Settings, check_names};
use crate::units::{Bytes, Random, Rate, Ratio, Span, Time};
use model::{Aggregation, FullPipe, MaxRate};
use policer::Policer;

/// No settings, as in Linux.
pub const PARAMETERS: Parameters = &[];

/// 2 / ln 2: the least gain that doubles the delivery rate in a round (`bbr_high_gain`: 2885/1000 and one part of 256).
const HIGH_GAIN: Ratio = Ratio::of(2885, 1000);
const DRAIN_GAIN: Ratio = Ratio::of(1000, 2885);
const WINDOW_GAIN: Ratio = Ratio::of(2, 1);
/// Gains of ProbeBW's phases: probe, drain what probing queued, cruise.
const CYCLE: [Ratio; 8] =
    [Ratio::of(5, 4), Ratio::of(3, 4), Ratio::ONE, Ratio::ONE, Ratio::ONE, Ratio::ONE, Ratio::ONE, Ratio::ONE];
/// Pacing rate as a share of what it is meant to be: a margin of 1 % drains queues.
const PACED: Ratio = Ratio::of(99, 100);
/// The first packets of a connection leave as the window allows (`tcp_update_skb_after_send`).
const UNPACED: u64 = 10;
const MIN_WINDOW: u64 = 4;
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
/// The send quantum is what leaves in this time (`sk_pacing_shift`: 2^-10 s).
const QUANTUM_TIME: Span = Span::from_micros(977);
const MOST_QUANTUM: Bytes = Bytes::new(65_535);
/// Below this rate single packets leave (`bbr_min_tso_rate`).
const SLOW: Rate = Rate::from_bps(1_200_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of the connection, as the last acknowledgment left it (`prev_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Episode {
    Open,
    Recovery,
    Timeout,
}

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    packet: Bytes,
    initial_window: u64,
    random: Random,

    mode: Mode,
    /// Phase of ProbeBW, and when it began.
    phase: usize,
    phase_start: Time,

    /// A round ends when a packet is delivered that left after this many were.
    round_end: u64,
    rounds: u64,
    round_started: bool,
    max_rate: MaxRate,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    policer: Policer,
    min_rtt: Span,
    min_rtt_stamp: Time,
    delivered: u64,
    lost: u64,
    /// Packets declared lost since the last acknowledgment.
    newly_lost: u64,

    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    /// Samples of packets that left between these delivered counts are limited by ProbeRTT's small window.
    limited: Option<(u64, u64)>,

    pacing_rate: Rate,
    next_departure: Time,
    /// Packets that have left.
    sent: u64,
    window: u64,
    prior_window: u64,
    episode: Episode,
    /// In the first round of a recovery.
    conserving: bool,
    entered_recovery: bool,
    ran_dry: bool,
    idle_restart: bool,
}

impl Bbr1 {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Bbr1, SettingError> {
        check_names(settings, PARAMETERS)?;
        let initial_window = u64::from(setup.initial_window.max(1));
        let known = setup.handshake_rtt > Span::ZERO;
        let rtt = if known { setup.handshake_rtt } else { Span::from_millis(1) };
        Ok(Bbr1 {
            packet: setup.packet,
            initial_window,
            random: Random::new(setup.seed),
            mode: Mode::Startup,
            phase: 0,
            phase_start: setup.now,
            round_end: 0,
            rounds: 0,
            round_started: false,
            max_rate: MaxRate::default(),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::new(setup.now),
            policer: Policer::default(),
            min_rtt: if known { rtt } else { Span::MAX },
            min_rtt_stamp: setup.now,
            delivered: 0,
            lost: 0,
            newly_lost: 0,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            limited: None,
            pacing_rate: Rate::of(setup.packet * initial_window, rtt).scale(HIGH_GAIN).scale(PACED),
            next_departure: setup.now,
            sent: 0,
            window: initial_window,
            prior_window: 0,
            episode: Episode::Open,
            conserving: false,
            entered_recovery: false,
            ran_dry: false,
            idle_restart: false,
        })
    }

    /// The rate to use: a policer's, if one was detected.
    fn rate_in_use(&self) -> Rate {
        self.policer.rate().unwrap_or(self.max_rate.value())
    }

    fn gain(&self) -> Ratio {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw if self.policer.rate().is_some() => Ratio::ONE,
            Mode::ProbeBw => CYCLE[self.phase],
            Mode::ProbeRtt => Ratio::ONE,
        }
    }

    fn window_gain(&self) -> Ratio {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => WINDOW_GAIN,
            Mode::ProbeRtt => Ratio::ONE,
        }
    }

    /// Packets that leave together where packets leave in bursts (`bbr_tso_segs_goal`).
    fn quantum(&self) -> u64 {
        let least = if self.pacing_rate < SLOW { 1 } else { 2 };
        (self.pacing_rate.amount_in(QUANTUM_TIME).min(MOST_QUANTUM) / self.packet).max(least)
    }

    /// `gain rate min_rtt`, rounded up.
    fn bdp(&self, rate: Rate, gain: Ratio) -> u64 {
        match self.min_rtt {
            Span::MAX => self.initial_window,
            min_rtt => rate.scale(gain).amount_in(min_rtt).packets_of(self.packet).get(),
        }
    }

    /// Adds what hosts need to send in bursts: an even number of packets, two more in the probing phase.
    fn with_quanta(&self, volume: u64) -> u64 {
        let even = (volume + 3 * self.quantum()).next_multiple_of(2);
        even + if self.mode == Mode::ProbeBw && self.phase == 0 { 2 } else { 0 }
    }

    /// Packets in flight that this gain aims at (`bbr_inflight`).
    fn target(&self, gain: Ratio) -> u64 {
        self.with_quanta(self.bdp(self.max_rate.value(), gain))
    }

    /// Packets in flight when the next packet may leave (`bbr_packets_in_net_at_edt`).
    fn in_flight_at_departure(&self, now: Time, in_flight: u64) -> u64 {
        let wait = self.next_departure.saturating_since(now);
        let delivered = self.rate_in_use().amount_in(wait) / self.packet;
        let sent = if self.gain() > Ratio::ONE { self.quantum() } else { 0 };
        (in_flight + sent).saturating_sub(delivered)
    }

    // ---- the model -------------------------------------------------------------------------------------------------

    /// 4.1.1: counts the round, and takes the delivery rate.
    fn update_rate(&mut self, now: Time, sample: &RateSample) {
        self.round_started = false;
        if sample.interval == Span::ZERO {
            return;
        }
        if sample.prior_delivered >= self.round_end {
            self.round_end = self.delivered;
            self.rounds += 1;
            self.round_started = true;
            self.conserving = false;
        }
        self.look_for_policer(now, sample);
        let rate = Rate::of(self.packet * sample.delivered, sample.interval);
        if !sample.is_app_limited || rate >= self.max_rate.value() {
            self.max_rate.take(self.rounds, rate);
        }
    }

    fn look_for_policer(&mut self, now: Time, sample: &RateSample) {
        let seen = policer::Seen {
            now,
            packet: self.packet,
            delivered: self.delivered,
            lost: self.lost,
            newly_lost: self.newly_lost > 0,
            round_started: self.round_started,
            is_app_limited: sample.is_app_limited,
            probes: self.mode == Mode::ProbeBw,
        };
        if self.policer.see(&seen) {
            self.start_probe_bw(now);
        }
    }

    /// 4.3.4.3: ends a phase of ProbeBW.
    fn update_phase(&mut self, ack: &AckSample<'_>) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let long_enough = ack.now.saturating_since(self.phase_start) > self.min_rtt;
        let in_flight = self.in_flight_at_departure(ack.now, u64::from(ack.prior_in_flight));
        let gain = self.gain();
        let over = if gain == Ratio::ONE {
            long_enough
        } else if gain > Ratio::ONE {
            long_enough && (self.newly_lost > 0 || in_flight >= self.target(gain))
        } else {
            long_enough || in_flight <= self.target(Ratio::ONE)
        };
        if over {
            self.next_phase(ack.now);
        }
    }

    fn next_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = now;
    }

    /// 4.3.4.2: begins at a random phase, but not at the one that drains.
    fn start_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.phase = CYCLE.len() - 1 - (self.random.bits() % (CYCLE.len() as u64 - 1)) as usize;
        self.next_phase(now);
    }

    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.round_started && !sample.is_app_limited {
            self.full_pipe.see(self.max_rate.value());
        }
    }

    /// 4.3.3.
    fn check_drain(&mut self, now: Time, in_flight: u64) {
        if self.mode == Mode::Startup && self.full_pipe.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_flight_at_departure(now, in_flight) <= self.target(Ratio::ONE) {
            self.start_probe_bw(now);
        }
    }

    /// 4.1.2 and 4.3.5.
    fn update_min_rtt(&mut self, ack: &AckSample<'_>) {
        let expired = ack.now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt
            && (rtt < self.min_rtt || expired)
        {
            (self.min_rtt, self.min_rtt_stamp) = (rtt, ack.now);
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window();
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done = None;
            self.limited = Some((self.delivered, self.delivered));
        }
        if self.mode == Mode::ProbeRtt {
            self.hold_probe_rtt(ack.now, u64::from(ack.in_flight));
        }
        self.idle_restart = false;
    }

    fn hold_probe_rtt(&mut self, now: Time, in_flight: u64) {
        if let Some((_, until)) = &mut self.limited {
            *until = self.delivered + in_flight;
        }
        if self.probe_rtt_done.is_some() {
            self.probe_rtt_round_done |= self.round_started;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(now);
            }
        } else if in_flight <= MIN_WINDOW {
            self.probe_rtt_done = Some(now + PROBE_RTT_TIME);
            self.probe_rtt_round_done = false;
            self.round_end = self.delivered;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_stamp = now;
        self.restore_window();
        if self.full_pipe.reached {
            self.start_probe_bw(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    // ---- rate and window -------------------------------------------------------------------------------------------

    /// 4.2.1: until the pipe was full once, the rate only rises.
    fn set_pacing_rate(&mut self, gain: Ratio) {
        let rate = self.rate_in_use().scale(gain).scale(PACED);
        if self.full_pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// 4.2.3.
    fn set_window(&mut self, acked: u64, in_flight: u64, in_recovery: bool) {
        if !self.recover_or_restore(acked, in_flight, in_recovery) {
            let rate = self.rate_in_use();
            let extra = if self.full_pipe.reached { self.aggregation.extra(rate, self.packet) } else { 0 };
            let target = self.with_quanta(self.bdp(rate, self.window_gain()) + extra);
            if self.full_pipe.reached {
                self.window = (self.window + acked).min(target);
            } else if self.window < target || self.delivered < self.initial_window {
                self.window += acked;
            }
            self.window = self.window.max(MIN_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(MIN_WINDOW);
        }
    }

    /// 4.2.3.4: returns whether packets are conserved.
    fn recover_or_restore(&mut self, acked: u64, in_flight: u64, in_recovery: bool) -> bool {
        self.window = self.window.saturating_sub(self.newly_lost).max(1);
        if self.entered_recovery {
            self.conserving = true;
            self.round_end = self.delivered;
            self.window = in_flight + acked;
        } else if self.episode != Episode::Open && !in_recovery {
            self.episode = Episode::Open;
            self.conserving = false;
            self.restore_window();
        }
        self.entered_recovery = false;
        if self.conserving {
            self.window = self.window.max(in_flight + acked);
        }
        self.conserving
    }

    fn save_window(&mut self) {
        self.prior_window = if self.episode != Episode::Open || self.mode == Mode::ProbeRtt {
            self.prior_window.max(self.window)
        } else {
            self.window
        };
    }

    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    /// After an idle time (4.2.3.5 and 4.3.4.4): at the last rate.
    fn restart_from_idle(&mut self, now: Time) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.mode == Mode::ProbeBw {
            self.set_pacing_rate(Ratio::ONE);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }
}

impl Controller for Bbr1 {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == 1 && self.ran_dry && !sent.retransmission {
            self.restart_from_idle(sent.now);
        }
        self.ran_dry = sent.app_limited;
        self.sent += 1;
        if self.sent < UNPACED {
            return;
        }
        self.next_departure =
            self.next_departure.max(sent.paced_from).saturating_add(self.pacing_rate.time_for(sent.size));
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let Some(mut sample) = ack.rate else { return };
        self.delivered = sample.prior_delivered + sample.delivered;
        let limited = self.limited.is_some_and(|(from, to)| (from..=to).contains(&sample.prior_delivered));
        sample.is_app_limited |= limited;
        self.update_rate(ack.now, &sample);
        if sample.interval > Span::ZERO {
            let acked = u64::from(ack.delivered);
            let window = (self.round_started, self.full_pipe.reached);
            self.aggregation.see(ack.now, acked, self.rate_in_use(), self.packet, self.window, window);
        }
        self.update_phase(ack);
        self.check_full_pipe(&sample);
        self.check_drain(ack.now, u64::from(ack.in_flight));
        self.update_min_rtt(ack);
        self.set_pacing_rate(self.gain());
        self.set_window(u64::from(ack.delivered), u64::from(ack.in_flight), ack.in_recovery);
        self.newly_lost = 0;
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.lost += u64::from(loss.lost);
        self.newly_lost += u64::from(loss.lost);
        if loss.enters_recovery {
            self.save_window();
            self.entered_recovery |= self.episode != Episode::Recovery;
            self.episode = Episode::Recovery;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.save_window();
        }
        self.episode = Episode::Timeout;
        self.conserving = false;
        self.full_pipe.restart();
        self.window = 1;
    }

    fn on_undo(&mut self, _undo: &Undo) {
        self.episode = Episode::Open;
        self.conserving = false;
        self.restore_window();
        self.full_pipe.restart();
        self.policer = Policer::default();
    }

    #[inline]
    fn decision(&self) -> Decision {
        Decision { window: self.window.min(u64::from(u32::MAX)) as u32, departure: self.next_departure }
    }

    fn loss_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }

    fn needs(&self) -> Needs {
        Needs { rate_samples: true, ..Needs::NOTHING }
    }
}

impl Extras for Bbr1 {
    fn rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }
}

#[cfg(test)]
mod tests;
