//! Copa: aims at the rate 1 / (delta queueing delay), at which flows share a short queue equally.
//!
//! With `standing` the smallest round-trip time in half a smoothed round trip, `base` the smallest in ten seconds:
//!
//! ```text
//! queueing   = standing - base
//! target     = standing / (delta queueing)            packets: the target rate, times the standing round trip
//! per packet acknowledged:   window += v / (delta window)  if window <= target, else  -= v / (delta window)
//! per window:                v = 1 where the direction turned; doubles where it is the third window or a later one in
//!                            the same direction
//! slow start:                doubles per round until window > target
//! pacing:                    2 window / standing
//! ```
//!
//! Default mode, delta = 1/2, empties the queue about once in five round trips. If the queue has not been empty for
//! five round trips, another flow fills it. Competitive mode then raises 1 / delta by 1 per round trip without loss and
//! halves it on loss, but not below the default.
//!
//! Source: V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018,
//! sections 2 and 2.2.
//!
//! Choices where the paper leaves one:
//! 1. The queue is nearly empty when it adds less than a tenth of the most that it added in the last four round trips.
//! 2. A retransmission timeout restarts with slow start from two packets. In default mode there is no reaction to
//!    other losses.
//! 3. v is at most the value that moves the window by half in a round trip.
//!
//! Deviation:
//! 1. In default mode a smoothed round trip that lost more than a tenth of its packets while the delay asked for more leaves half of
//!    what it delivered as the window, at most every second one; `heavy_loss = false`: never, as published. A buffer that has been
//!    full for ten seconds is part of `base`: `queueing` is about zero, and nothing bounds the windows of several flows. Half of
//!    what was delivered drains the buffer, and `base` is found again. Time counts, as the left edge stands still where
//!    retransmissions are lost, too.

use crate::congestion::contract::{AckSample, Controller, Decision, Extras, Loss, LossResponse, Sent, Setup, Timeout};
use crate::congestion::extremes::Smallest;
use crate::congestion::rounds::Rounds;
use crate::settings::{PROPER, Parameter, Parameters, SettingError, Settings, check_names};
use crate::units::{Bytes, Rate, Ratio, Span, Time};

const DELTA: Parameter<Ratio> = Parameter::new("delta", Ratio::of(1, 2), PROPER, "keep 1 / delta packets queued");
const COMPETITIVE: Parameter<bool> =
    Parameter::switch("competitive", true, "lower delta beside flows that fill the queue");

const HEAVY_LOSS: Parameter<bool> = Parameter::switch(
    "heavy_loss",
    true,
    "drain the queue after a round trip that lost more than a tenth while the delay asked for more",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&DELTA, &COMPETITIVE, &HEAVY_LOSS];

/// One packet, in the unit of the window.
const FRACTION: u64 = 1 << 16;
const MIN_WINDOW: u64 = 2 * FRACTION;
const MAX_WINDOW: u64 = (1 << 30) * FRACTION;
/// Time to remember the smallest round-trip time.
const BASE_MEMORY: Span = Span::from_secs(10);
/// Round trips in which the queue must have been nearly empty once.
const EMPTY_ROUNDS: u32 = 5;
/// Round trips over which the largest delay is taken.
const LARGEST_ROUNDS: usize = 4;
/// Windows in one direction before the velocity doubles.
const STEADY_WINDOWS: u32 = 3;
/// Of this number of packets more than one is lost: heavy loss.
const HEAVY_LOSS_OF: u64 = 10;
const MAX_DEMAND: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// The controller. See the file's head for the law.
#[derive(Clone, Debug)]
pub struct Copa {
    packet: Bytes,
    /// In 1/65536 packet.
    window: u64,
    slow_start: bool,
    rounds: Rounds,
    standing: Smallest,
    base: Smallest,
    /// Largest delay of each of the last round trips, the present one first.
    largest: [Span; LARGEST_ROUNDS],
    rounds_since_empty: u32,
    velocity: u64,
    direction: Direction,
    steady: u32,
    window_before: u64,
    /// 1 / delta in 1/65536: as set, and now.
    default_demand: u64,
    demand: u64,
    competitive: bool,
    lost_in_round: bool,
    /// Packets lost and delivered since this time, a smoothed round trip ago at most.
    lost: u64,
    delivered: u64,
    counted_since: Time,
    answers_heavy_loss: bool,
    /// Heavy loss was answered when the last count ended.
    answered: bool,
    pacing: Rate,
    next_departure: Time,
}

impl Copa {
    /// Builds the controller.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Copa, SettingError> {
        check_names(settings, PARAMETERS)?;
        let delta = DELTA.read(settings)?;
        let demand = (u128::from(FRACTION) << 32) / u128::from(delta.q32());
        let demand = u64::try_from(demand).unwrap_or(u64::MAX).min(MAX_DEMAND * FRACTION);
        let window = (u64::from(setup.initial_window) * FRACTION).clamp(MIN_WINDOW, MAX_WINDOW);
        let mut copa = Copa {
            packet: setup.packet,
            window,
            slow_start: true,
            rounds: Rounds::new(),
            standing: Smallest::default(),
            base: Smallest::default(),
            largest: [Span::ZERO; LARGEST_ROUNDS],
            rounds_since_empty: 0,
            velocity: 1,
            direction: Direction::Up,
            steady: 0,
            window_before: window,
            default_demand: demand,
            demand,
            competitive: COMPETITIVE.read(settings)?,
            lost_in_round: false,
            lost: 0,
            delivered: 0,
            counted_since: setup.now,
            answers_heavy_loss: HEAVY_LOSS.read(settings)?,
            answered: false,
            pacing: Rate::from_bps(u64::MAX),
            next_departure: setup.now,
        };
        copa.pace(setup.handshake_rtt.max(Span::from_micros(1)));
        Ok(copa)
    }

    fn pace(&mut self, standing: Span) {
        let bytes = self.packet.get().saturating_mul(2 * self.window.div_ceil(FRACTION));
        self.pacing = Rate::of(Bytes::new(bytes), standing.max(Span::from_nanos(1)));
    }

    /// Packets at which the rate is 1 / (delta queueing), in 1/65536.
    fn target(&self, standing: Span, queueing: Span) -> u64 {
        if queueing == Span::ZERO {
            return MAX_WINDOW;
        }
        let target = u128::from(self.demand) * u128::from(standing.picos()) / u128::from(queueing.picos());
        u64::try_from(target).unwrap_or(u64::MAX).min(MAX_WINDOW)
    }

    fn note_queue(&mut self, queueing: Span) {
        self.largest[0] = self.largest[0].max(queueing);
        let most = self.largest.iter().copied().max().unwrap_or(Span::ZERO);
        if queueing.saturating_mul(10) <= most {
            self.rounds_since_empty = 0;
        }
    }

    fn end_round(&mut self) {
        self.largest.rotate_right(1);
        self.largest[0] = Span::ZERO;
        self.rounds_since_empty += 1;
        if !self.competitive || self.rounds_since_empty <= EMPTY_ROUNDS {
            self.demand = self.default_demand;
        } else if !self.lost_in_round {
            self.demand = (self.demand + FRACTION).min(MAX_DEMAND * FRACTION);
        }
        self.lost_in_round = false;
        self.turn();
    }

    /// Losses of packets that left before the window was cut are found in the round trip after it.
    fn answer_heavy_loss(&mut self, now: Time, target: u64) {
        let heavy = self.lost * HEAVY_LOSS_OF > self.lost + self.delivered;
        let unbounded = self.demand == self.default_demand && self.window <= target;
        self.answered = self.answers_heavy_loss && heavy && unbounded && !self.answered;
        if self.answered {
            self.window = (self.delivered * FRACTION / 2).clamp(MIN_WINDOW, self.window);
            self.slow_start = false;
        }
        (self.lost, self.delivered, self.counted_since) = (0, 0, now);
    }

    /// Velocity for the next window.
    fn turn(&mut self) {
        let direction = if self.window > self.window_before { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.steady += 1;
            if self.steady >= STEADY_WINDOWS {
                self.velocity *= 2;
            }
        } else {
            self.steady = 0;
            self.velocity = 1;
        }
        self.direction = direction;
        self.velocity = self.velocity.min(self.most_velocity());
        self.window_before = self.window;
    }

    /// v / delta packets a round trip are half the window.
    fn most_velocity(&self) -> u64 {
        (self.window / 2 / self.demand.max(1)).max(1)
    }

    fn step(&mut self, acked: u32, target: u64) {
        let below = self.window <= target;
        if self.slow_start {
            if below {
                self.window = (self.window + u64::from(acked) * FRACTION).min(MAX_WINDOW);
                return;
            }
            self.slow_start = false;
            self.window_before = self.window;
        }
        let towards = if below { Direction::Up } else { Direction::Down };
        if self.velocity > 1 && towards != self.direction {
            self.velocity = 1;
            self.steady = 0;
        }
        let step = u128::from(acked) * u128::from(self.velocity) * u128::from(self.demand) * u128::from(FRACTION);
        let step = u64::try_from(step / u128::from(self.window)).unwrap_or(u64::MAX);
        let moved = if below { self.window.saturating_add(step) } else { self.window.saturating_sub(step) };
        self.window = moved.clamp(MIN_WINDOW, MAX_WINDOW);
    }
}

impl Controller for Copa {
    fn on_sent(&mut self, sent: &Sent) {
        self.next_departure = self.next_departure.max(sent.paced_from).saturating_add(self.pacing.time_for(sent.size));
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        if let Some(rtt) = ack.rtt {
            self.standing.take(rtt, ack.now, ack.srtt / 2);
            self.base.take(rtt, ack.now, BASE_MEMORY);
        }
        let (Some(standing), Some(base)) = (self.standing.value(), self.base.value()) else { return };
        let queueing = standing.saturating_sub(base);
        self.note_queue(queueing);
        let over = self.rounds.ends(ack);
        self.delivered += u64::from(ack.delivered);
        let target = self.target(standing, queueing);
        if ack.window_limited {
            self.step(ack.delivered, target);
        }
        if over {
            self.end_round();
        }
        if ack.now >= self.counted_since + ack.srtt {
            self.answer_heavy_loss(ack.now, target);
        }
        self.pace(standing);
    }

    fn on_loss(&mut self, loss: &Loss<'_>) {
        self.lost += u64::from(loss.lost);
        if loss.enters_recovery {
            self.lost_in_round = true;
            self.demand = (self.demand / 2).max(self.default_demand);
        }
    }

    fn on_timeout(&mut self, _timeout: &Timeout) {
        self.window = MIN_WINDOW;
        self.slow_start = true;
        self.velocity = 1;
        self.steady = 0;
        self.demand = self.default_demand;
    }

    fn decision(&self) -> Decision {
        Decision { window: self.window.div_ceil(FRACTION) as u32, departure: self.next_departure }
    }

    fn loss_response(&self) -> LossResponse {
        LossResponse::OwnWindow
    }
}

impl Extras for Copa {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const BASE: Span = Span::from_millis(100);

    fn copa() -> Copa {
        let setup =
            Setup { now: Time::ZERO, packet: Bytes::new(1000), handshake_rtt: BASE, initial_window: 10, seed: 1 };
        Copa::build(&setup, &Settings::new()).expect("the defaults")
    }

    /// delta = 1/2: the target rate with 10 ms of queue is 1 / (0.5 0.01 s) = 200 packets/s: 22 in 110 ms.
    #[test]
    fn the_target_is_two_packets_per_queueing_delay() {
        let target = copa().target(Span::from_millis(110), Span::from_millis(10));
        assert_eq!(target / FRACTION, 22);
        assert_eq!(copa().target(BASE, Span::ZERO), MAX_WINDOW);
    }

    /// Window 100 below its target, v = 1, delta = 1/2: 100 packets acknowledged add 2, within rounding of 1 / window.
    #[test]
    fn a_window_of_acknowledgments_moves_it_by_1_over_delta() {
        let mut copa = copa();
        copa.slow_start = false;
        copa.window = 100 * FRACTION;
        (0..100).for_each(|_| copa.step(1, MAX_WINDOW));
        assert!((copa.window as f64 / FRACTION as f64 - 102.0).abs() < 0.03);
        (0..102).for_each(|_| copa.step(1, 0));
        assert!((copa.window as f64 / FRACTION as f64 - 100.0).abs() < 0.05);
    }

    #[test]
    fn slow_start_ends_above_the_target() {
        let mut copa = copa();
        copa.step(10, 30 * FRACTION);
        assert_eq!(copa.window, 20 * FRACTION);
        copa.step(20, 30 * FRACTION);
        copa.step(1, 30 * FRACTION);
        assert!(!copa.slow_start && copa.window < 40 * FRACTION);
    }

    /// Four windows upwards: 1, 1, 2, 4; then down: 1.
    #[test]
    fn velocity_doubles_from_the_third_window_in_one_direction() {
        let mut copa = copa();
        copa.slow_start = false;
        copa.window = 10_000 * FRACTION;
        copa.window_before = copa.window;
        let mut seen = Vec::new();
        for _ in 0..4 {
            copa.window += FRACTION;
            copa.turn();
            seen.push(copa.velocity);
        }
        assert_eq!(seen, [1, 1, 2, 4]);
        copa.window -= FRACTION;
        copa.turn();
        assert_eq!(copa.velocity, 1);
    }

    /// 11 of 100 are more than a tenth: what was delivered, 89, leaves 44; not twice for one flight. 10 of 100 are not more, and a delay
    /// that asks for less answers by itself.
    #[test]
    fn heavy_loss_while_the_delay_asks_for_more_leaves_half_of_what_arrived() {
        let windows = |lost, target, settings: &Settings| {
            let setup = crate::congestion::testing::setup(1000, BASE, 100);
            let mut copa = Copa::build(&setup, settings).expect("valid settings");
            [(); 2].map(|()| {
                (copa.lost, copa.delivered) = (lost, 100 - lost);
                copa.answer_heavy_loss(Time::ZERO, target);
                copa.window / FRACTION
            })
        };
        assert_eq!(windows(11, MAX_WINDOW, &Settings::new()), [44, 44]);
        assert_eq!(windows(10, MAX_WINDOW, &Settings::new()), [100, 100]);
        assert_eq!(windows(50, 99 * FRACTION, &Settings::new()), [100, 100]);
        let published = [("heavy_loss".into(), crate::settings::Setting::Switch(false))].into_iter().collect();
        assert_eq!(windows(50, MAX_WINDOW, &published), [100, 100]);
    }

    #[test]
    fn competitive_mode_lasts_until_the_queue_is_empty() {
        let mut copa = copa();
        for _ in 0..10 {
            copa.note_queue(Span::from_millis(50));
            copa.end_round();
        }
        assert_eq!(copa.demand, 2 * FRACTION + 5 * FRACTION);
        copa.note_queue(Span::ZERO);
        copa.end_round();
        assert_eq!(copa.demand, 2 * FRACTION);
    }
}
