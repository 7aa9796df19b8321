//! BBR version 3: it models the path's bandwidth and delay instead of reacting to every loss.
//!
//! Source: draft-ietf-ccwg-bbr, "BBR Congestion Control". Sections are cited by their names, since their numbers move
//! between revisions.
//!
//! ```text
//! max_bw        = max delivery rate over this and the last probing cycle
//! min_rtt       = min round-trip time over 10 s, probed by draining the queue every 5 s
//! bw            = min(max_bw, bw_shortterm)
//! pacing rate   = 0.99 pacing_gain bw
//! window        <= cwnd_gain bw min_rtt + extra_acked, and <= inflight_longterm, inflight_shortterm
//!
//!              pacing_gain  cwnd_gain   until
//! Startup         2.77         2        the rate grows by less than 25 % in three rounds, or losses
//! Drain           0.5          2        in flight <= bw min_rtt, or three rounds
//! ProbeBW Down    0.9          2        in flight <= bw min_rtt, and headroom below inflight_longterm
//!         Cruise  1            2        2 to 3 s since the last probe, or as many rounds as Reno would take
//!         Refill  1            2        one round
//!         Up      1.25         2.25     the rate stops growing, or losses
//! ProbeRTT        1            0.5      200 ms and a round
//! ```
//!
//! While probing, losses above 2 % of what was in flight set inflight_longterm. While not probing, any loss moves
//! bw_shortterm and inflight_shortterm towards what was delivered in the last round, by a factor of 0.7 at most.
//! The parts: `model` measures, `machine` moves between the states, this file sets rate and window.
//!
//! Deviations:
//! 1. Packets are paced one by one: the send quantum is one packet ("Send Quantum" permits the smallest feasible),
//!    and the offload budget is the floor of four packets.
//! 2. Volumes are counted in packets, so that the prefix of a lost packet that still fitted ("Probing for Bandwidth
//!    In ProbeBW", lost_prefix) is zero.
//! 3. After a timeout the window is one packet until the next acknowledgment. The draft uses the packets in flight
//!    plus one; the host achieves that by sending the first retransmission.
//! 4. ProbeRTT marks its own samples as limited, by the range of delivered counts in which they left; the draft has
//!    the connection mark them.
//! 5. ProbeRTT is due every 5 s, as in the published revisions and Linux; drafts in preparation merge it with the
//!    10 s of the min_rtt filter. Its window is fixed on entry, from the previous min_rtt, as these drafts propose.
//! 6. A max_bw filter without a sample in the current cycle does not advance.
//! 7. ProbeRTT waits for the end of Startup and, in ProbeBW, until max_bw has advanced once since the last ProbeRTT, unless
//!    the application limits the flow. The next bandwidth probe waits for the round that follows the last one, in which
//!    max_bw advances. `whole_probes = false` gives the draft's schedule, by the clock alone. There, with round trips above
//!    about half a second, neither Startup nor a probing cycle fits between two ProbeRTTs, and above two seconds Refill
//!    begins before that round ends. A max_bw above the path's rate is then never forgotten: after a fall of the rate the
//!    queue grows, and so do the round trips.
//! 8. There is no reaction to congestion marks (ECN), which the draft leaves out.

mod machine;
mod model;

use crate::congestion::contract::{
    AckSample, Controller, Decision, Extras, Loss, LossResponse, LostFlight, Needs, RateSample, Sent, Setup, Timeout,
    Undo,
};
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings, check_names};
use crate::units::{Bytes, Random, Rate, Ratio, Span, Time};
use core::cell::Cell;
use machine::{AckPhase, State};
use model::{Aggregation, Bandwidth, Bounds, Delay, FullPipe, LatestRound, Rounds, UNBOUNDED};

const LOSS_THRESHOLD: Parameter<Ratio> = Parameter::new(
    "loss_threshold",
    Ratio::of(2, 100),
    PROPER,
    "loss that a bandwidth probe may cause, as a share of the packets in flight",
);
const BETA: Parameter<Ratio> =
    Parameter::new("beta", Ratio::of(7, 10), PROPER, "least factor on the bounds after a round with losses");
const HEADROOM: Parameter<Ratio> = Parameter::new(
    "headroom",
    Ratio::of(15, 100),
    PROPER,
    "share of the safe volume to leave to others while cruising",
);
const PROBE_RTT_INTERVAL: Parameter<Span> = Parameter::new(
    "probe_rtt_interval",
    Span::from_secs(5),
    Span::from_millis(200)..=Span::MAX,
    "time between searches for the base delay",
);
const WHOLE_PROBES: Parameter<bool> = Parameter::switch(
    "whole_probes",
    true,
    "neither ProbeRTT nor the next bandwidth probe begins before Startup, or the last probe, has shown its result; false: the draft",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&LOSS_THRESHOLD, &BETA, &HEADROOM, &PROBE_RTT_INTERVAL, &WHOLE_PROBES];

/// Least window, in packets: two under way and two acknowledgments coming back.
const MIN_PIPE: u64 = 4;
/// Pacing rate as a share of the bandwidth: a margin of 1 %.
const PACED: Ratio = Ratio::of(99, 100);
/// Losses end Startup from this many lost ranges in a round.
const STARTUP_LOST_RANGES: u32 = 6;

#[derive(Clone, Copy, Debug)]
struct Tuning {
    loss_threshold: Ratio,
    beta: Ratio,
    headroom: Ratio,
    probe_rtt_interval: Span,
    whole_probes: bool,
}

/// An acknowledgment as BBR sees it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    now: Time,
    rtt: Option<Span>,
    /// Packets newly delivered.
    delivered: u64,
    in_flight: u64,
    in_recovery: bool,
    sample: RateSample,
    /// Delivery rate; zero when the sample is too short.
    rate: Rate,
}

/// State to restore when losses prove spurious.
#[derive(Clone, Copy, Debug)]
struct Saved {
    bounds: Bounds,
    /// The state that losses ended.
    left: Option<State>,
}

/// Delay, bandwidth and gain, and the resulting volume in packets.
type Volume = ((Span, Rate, Ratio), u64);

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Bbr {
    packet: Bytes,
    initial_window: u64,
    tuning: Tuning,
    random: Random,

    state: State,
    ack_phase: AckPhase,
    rounds: Rounds,
    bandwidth: Bandwidth,
    delay: Delay,
    full_pipe: FullPipe,
    latest: LatestRound,
    bounds: Bounds,
    aggregation: Aggregation,
    /// Packets delivered so far.
    delivered: u64,

    drain_start_round: u64,
    /// When the current cycle of ProbeBW began, and how long it waits for the next probe.
    cycle_start: Time,
    probe_wait: Span,
    /// Acknowledgments may cover packets of a probe with losses that were not answered yet.
    judging_probe: bool,
    probe_was_too_high: bool,
    probe_was_precautionary: bool,
    /// The max_bw filter has advanced since the last ProbeRTT.
    probed_bandwidth: bool,
    up_rounds: u32,
    up_acked: u64,
    up_acked_per_packet: u64,
    probe_rtt_window: u64,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    /// Samples of packets that left between these delivered counts are limited: they do not bound the bandwidth.
    limited: Option<(u64, u64)>,

    /// The last product of bandwidth, delay and gain in packets, for other gains and for one: it costs divisions, and few
    /// acknowledgments change it.
    volumes: [Cell<Volume>; 2],
    pacing_rate: Rate,
    /// The time of a full packet at this rate: most packets are full, and few acknowledgments change the rate.
    packet_time: Span,
    next_departure: Time,
    window: u64,
    prior_window: u64,
    recovering: bool,
    /// Whether the window was full in this round, and in the last one.
    window_full: [bool; 2],
    /// The application had nothing more to send after the last packet.
    ran_dry: bool,
    idle_restart: bool,
    saved: Option<Saved>,
}

impl Bbr {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Bbr, SettingError> {
        check_names(settings, PARAMETERS)?;
        let tuning = Tuning {
            loss_threshold: rounded_up(LOSS_THRESHOLD.read(settings)?),
            beta: rounded_up(BETA.read(settings)?),
            headroom: rounded_up(HEADROOM.read(settings)?),
            probe_rtt_interval: PROBE_RTT_INTERVAL.read(settings)?,
            whole_probes: WHOLE_PROBES.read(settings)?,
        };
        let initial_window = u64::from(setup.initial_window.max(1));
        let rtt = if setup.handshake_rtt == Span::ZERO { Span::from_millis(1) } else { setup.handshake_rtt };
        let pacing_rate = Rate::of(setup.packet * initial_window, rtt).scale(State::Startup.pacing_gain());
        Ok(Bbr {
            packet: setup.packet,
            initial_window,
            tuning,
            random: Random::new(setup.seed),
            state: State::Startup,
            ack_phase: AckPhase::Init,
            rounds: Rounds::default(),
            bandwidth: Bandwidth::default(),
            delay: Delay::new(setup.now, setup.handshake_rtt),
            full_pipe: FullPipe::default(),
            latest: LatestRound::default(),
            bounds: Bounds::NONE,
            aggregation: Aggregation::new(setup.now),
            delivered: 0,
            drain_start_round: 0,
            cycle_start: setup.now,
            probe_wait: Span::ZERO,
            judging_probe: false,
            probe_was_too_high: false,
            probe_was_precautionary: false,
            probed_bandwidth: true,
            up_rounds: 0,
            up_acked: 0,
            up_acked_per_packet: UNBOUNDED,
            probe_rtt_window: initial_window,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            limited: None,
            volumes: [const { Cell::new(((Span::ZERO, Rate::ZERO, Ratio::ZERO), 0)) }; 2],
            pacing_rate,
            packet_time: pacing_rate.time_for(setup.packet),
            next_departure: setup.now,
            window: initial_window,
            prior_window: 0,
            recovering: false,
            window_full: [false; 2],
            ran_dry: false,
            idle_restart: false,
            saved: None,
        })
    }

    /// The bandwidth to use: the short-term bound on the long-term estimate ("Updating the Model Upon Packet Loss").
    fn bw(&self) -> Rate {
        self.bandwidth.max().min(self.bounds.bw_shortterm)
    }

    /// `gain bw min_rtt` in packets ("Computing BBR.max_inflight").
    fn bdp(&self, bw: Rate, gain: Ratio) -> u64 {
        self.bdp_over(self.delay.min_rtt(), bw, gain)
    }

    fn bdp_over(&self, min_rtt: Span, bw: Rate, gain: Ratio) -> u64 {
        if min_rtt == Span::MAX {
            return self.initial_window;
        }
        let known = &self.volumes[usize::from(gain == Ratio::ONE)];
        let (of, volume) = known.get();
        if of == (min_rtt, bw, gain) {
            return volume;
        }
        let volume = bw.scale(gain).amount_in(min_rtt).packets_of(self.packet).get();
        known.set(((min_rtt, bw, gain), volume));
        volume
    }

    fn budget(&self, volume: u64) -> u64 {
        volume.max(MIN_PIPE) + if self.state == State::Up { 2 } else { 0 }
    }

    /// Most packets in flight while cruising: the safe volume less the headroom.
    fn inflight_with_headroom(&self) -> u64 {
        let safe = self.bounds.inflight_longterm;
        if safe == UNBOUNDED {
            return UNBOUNDED;
        }
        safe.saturating_sub(self.tuning.headroom.of_u64(safe).max(1)).max(MIN_PIPE)
    }

    /// Whether `lost` of `tx_in_flight` exceed the loss threshold.
    fn is_too_high(&self, lost: u64, tx_in_flight: u32) -> bool {
        lost > self.tuning.loss_threshold.of_u64(u64::from(tx_in_flight))
    }

    fn is_window_full(&self) -> bool {
        self.window_full[0] || self.window_full[1]
    }

    /// "Pacing Rate": until the pipe was full once, the rate only rises.
    fn set_pacing_rate(&mut self, gain: Ratio) {
        let rate = self.bw().scale(gain).scale(PACED);
        let other = if self.full_pipe.reached { rate != self.pacing_rate } else { rate > self.pacing_rate };
        if rate > Rate::ZERO && other {
            self.pacing_rate = rate;
            self.packet_time = rate.time_for(self.packet);
        }
    }

    /// "cwnd Adjustment Mechanism" and "Bounding cwnd Based on Recent Congestion".
    fn set_window(&mut self, newly: u64) {
        let extra = self.aggregation.extra(self.full_pipe.reached, &self.rounds);
        let target = self.budget(self.bdp(self.bw(), self.state.window_gain()).saturating_add(extra));
        if self.full_pipe.reached {
            self.window = (self.window + newly).min(target);
        } else if self.window < target || self.delivered < self.initial_window {
            self.window += newly;
        }
        self.window = self.window.max(MIN_PIPE);
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window);
        }
        let cap = match self.state {
            State::Startup | State::Drain => UNBOUNDED,
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
        };
        self.window = self.window.min(cap.min(self.bounds.inflight_shortterm).max(MIN_PIPE));
    }

    fn save_window(&mut self) {
        self.prior_window = if self.recovering || self.state == State::ProbeRtt {
            self.prior_window.max(self.window)
        } else {
            self.window
        };
    }

    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    fn save_upon_loss(&mut self) {
        self.save_window();
        self.saved = Some(Saved { bounds: self.bounds, left: None });
    }

    fn seen(&self, ack: &AckSample<'_>, mut sample: RateSample) -> Seen {
        if self.limited.is_some_and(|(from, to)| (from..=to).contains(&sample.prior_delivered)) {
            sample.is_app_limited = true;
        }
        Seen {
            now: ack.now,
            rtt: ack.rtt,
            delivered: u64::from(ack.delivered),
            in_flight: u64::from(ack.in_flight),
            in_recovery: ack.in_recovery,
            sample,
            rate: Rate::of(self.packet * sample.delivered, sample.interval),
        }
    }

    /// "Per-ACK Steps", in the draft's order.
    fn update_model(&mut self, seen: &Seen) {
        let (sample, rate) = (&seen.sample, seen.rate);
        self.latest.see(sample, rate);
        if self.rounds.see(sample) {
            self.window_full = [false, self.window_full[0]];
        }
        self.bandwidth.see(rate, sample.is_app_limited);
        if self.latest.ends {
            if self.latest.lossy && !self.state.is_probing() {
                self.bounds.lower(&self.latest, self.bandwidth.max(), self.window, self.tuning.beta);
            }
            self.latest.lossy = false;
        }
        self.aggregation.see(seen, self.bw(), self.packet, self.window, &self.rounds);
        if self.rounds.started && !sample.is_app_limited && rate > Rate::ZERO {
            self.full_pipe.see(rate);
        }
    }

    /// "Probing for Bandwidth In ProbeBW": judges each lost packet by the flight when it left.
    fn judge_lost(&mut self, now: Time, flight: &LostFlight) {
        if !self.latest.lossy {
            self.latest.begin_loss_round(self.delivered);
            self.save_upon_loss();
        }
        self.latest.count_lost(flight.sequence);
        if self.judging_probe && self.is_too_high(flight.lost, flight.tx_in_flight) {
            let fitted = u64::from(flight.tx_in_flight).saturating_sub(1);
            self.handle_too_high(now, fitted, flight.is_app_limited);
        }
    }
}

impl Controller for Bbr {
    fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == 1 && self.ran_dry && !sent.retransmission {
            self.restart_from_idle(sent.now);
        }
        self.ran_dry = sent.app_limited;
        self.window_full[0] |= u64::from(sent.in_flight) >= self.window;
        let time = if sent.size == self.packet { self.packet_time } else { self.pacing_rate.time_for(sent.size) };
        self.next_departure = self.next_departure.max(sent.paced_from).saturating_add(time);
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let Some(sample) = ack.rate else { return };
        self.delivered = sample.prior_delivered + sample.delivered;
        let seen = self.seen(ack, sample);
        if self.recovering && !ack.in_recovery {
            self.recovering = false;
            self.restore_window();
        }
        self.update_model(&seen);
        self.update_state(&seen);
        self.latest.advance(&seen.sample, seen.rate);
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_window(seen.delivered);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        if loss.enters_recovery {
            self.save_upon_loss();
            self.recovering = true;
        }
        for flight in loss.flights {
            self.judge_lost(loss.now, flight);
        }
    }

    /// "Modulating cwnd in Loss Recovery".
    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.first {
            self.save_upon_loss();
        }
        self.recovering = true;
        self.window = 1;
    }

    /// "Handling a Spurious Loss Recovery".
    fn on_undo(&mut self, _undo: &Undo) {
        self.recovering = false;
        self.restore_window();
        self.latest.lossy = false;
        self.full_pipe.restart(Rate::ZERO);
        if let Some(saved) = self.saved.take() {
            self.bounds.raise_to(&saved.bounds);
            self.return_to(saved.left);
        }
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

impl Extras for Bbr {
    fn keeps_departure(&self) -> bool {
        true
    }

    fn rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }
}

/// Rounded up in its last place, since volumes are rounded down: 0.7 of 100 packets are 70, not 69.
fn rounded_up(ratio: Ratio) -> Ratio {
    Ratio::from_q32(ratio.q32() + 1)
}

#[cfg(test)]
mod tests;
