//! Aurora's observations, actions and reward (Jay, Rotman, Godfrey, Schapira, Tamar, "A deep reinforcement learning
//! perspective on Internet congestion control", ICML 2019, and the code published with it, PCC-RL).
//!
//! A rate is steered. For each interval:
//!
//! ```text
//! observed:  gradient = (mean round trip of its second half - of its first half) / its length
//!            ratio    = its mean round trip / smallest mean round trip of an interval so far
//!            sending  = packets sent / packets acknowledged
//! reward:    (10 packets acknowledged per second - 1000 mean round trip in s - 2000 lost / (lost + acknowledged)) / 1000
//! action a:  rate *= 1 + 0.025 a          if a >= 0
//!            rate /= 1 - 0.025 a          otherwise
//! length:    half of its mean round trip; the first: one and a half round trips of the handshake
//! ```
//!
//! An observation is the last ten intervals, the newest last; before the first there are (0, 1, 1).
//!
//! Deviations:
//! 1. The sender is TCP: what is lost is sent again, counts as sent again, and is lost when TCP knows it.
//! 2. The first rate is that of the initial window over the handshake's round trip, since a sender does not know its path;
//!    in PCC-RL it is 0.3 to 1.5 times the link's.
//! 3. An interval in which no round trip was measured has the ratio and the latency of the one before; in PCC-RL it has
//!    none, and its reward is larger for it.
//! 4. All packets acknowledged count in the throughput; PCC-RL takes one off.
//! 5. An action is from -40 to 40, so a rate at most doubles or halves; PCC-RL takes any number. The rate stays above 40
//!    packets a second, as there, and below a given bound, which there is twice the fastest link.
//! 6. Observations stay within the bounds that PCC-RL declares but does not enforce.

use crate::congestion::{Decision, Sent, Setup};
use crate::steered::interval::Interval;
use crate::units::{Bytes, Rate, Span, Time};

/// Values observed of one interval.
pub const FEATURES: usize = 3;
/// Bounds of what is observed: gradient, ratio, sending.
pub const BOUNDS: [(f32, f32); FEATURES] = [(-1.0, 10.0), (1.0, 10_000.0), (0.0, 1000.0)];
/// The history before the first interval.
pub const BEFORE: [f32; FEATURES] = [0.0, 1.0, 1.0];
/// Largest action; the smallest is its opposite.
pub const MOST_ACTION: f32 = 40.0;
/// Part of the rate that an action of 1 adds.
const STEP: f64 = 0.025;
/// Least rate, in packets per second.
const LEAST_RATE: f64 = 40.0;
/// Parts of a round trip: the length of an interval, and of the first.
const LENGTH: f64 = 0.5;
const FIRST_LENGTH: f64 = 1.5;
/// Rewards per packet a second, per second of latency, per loss; and the scale of all.
const PER_PACKET: f64 = 10.0;
const PER_LATENCY_S: f64 = 1000.0;
const PER_LOSS: f64 = 2000.0;
const SCALE: f64 = 0.001;
/// More packets sent than this for each one acknowledged count as one (PCC-RL).
const MOST_SENDING: f64 = 1000.0;
/// The window: as large as hosts allow, since the rate is what is steered.
const WINDOW: u32 = 1 << 20;

/// The rate, and what intervals are compared with.
#[derive(Clone, Debug)]
pub(crate) struct Aurora {
    packet: Bytes,
    /// In packets per second.
    rate: f64,
    most_rate: f64,
    smallest_s: f64,
    /// Mean round trip of the last interval that has one.
    latency_s: f64,
    next_departure: Time,
}

impl Aurora {
    pub(crate) fn new(setup: &Setup, most: Rate) -> Aurora {
        let rtt_s = setup.handshake_rtt.max(Span::from_micros(1)).as_secs_f64();
        let most_rate = (most.bps() as f64 / (8.0 * setup.packet.get() as f64)).max(LEAST_RATE);
        Aurora {
            packet: setup.packet,
            rate: (f64::from(setup.initial_window) / rtt_s).clamp(LEAST_RATE, most_rate),
            most_rate,
            smallest_s: f64::INFINITY,
            latency_s: rtt_s,
            next_departure: setup.now,
        }
    }

    pub(crate) fn first_length(setup: &Setup) -> Span {
        Span::from_secs_f64(FIRST_LENGTH * setup.handshake_rtt.as_secs_f64())
    }

    pub(crate) fn length(&self) -> Span {
        Span::from_secs_f64(LENGTH * self.latency_s)
    }

    /// Returns what is observed of an interval, and its reward.
    pub(crate) fn judge(&mut self, interval: &Interval) -> ([f32; FEATURES], f64) {
        if let Some(rtt_s) = interval.rtt_s {
            self.latency_s = rtt_s;
            self.smallest_s = self.smallest_s.min(rtt_s);
        }
        let ratio = if self.smallest_s.is_finite() { self.latency_s / self.smallest_s } else { 1.0 };
        let sending = interval.sent as f64 / interval.delivered.max(1) as f64;
        let sending = if interval.delivered == 0 || sending > MOST_SENDING { 1.0 } else { sending };
        let reward =
            PER_PACKET * interval.delivered_per_s() - PER_LATENCY_S * self.latency_s - PER_LOSS * interval.loss_ratio();
        ([(interval.rtt_rise_s / interval.seconds) as f32, ratio as f32, sending as f32], SCALE * reward)
    }

    pub(crate) fn act(&mut self, action: f32) {
        let change = STEP * f64::from(action);
        let rate = if change >= 0.0 { self.rate * (1.0 + change) } else { self.rate / (1.0 - change) };
        self.rate = rate.clamp(LEAST_RATE, self.most_rate);
    }

    pub(crate) fn on_sent(&mut self, sent: &Sent) {
        let packets = sent.size.get() as f64 / self.packet.get() as f64;
        let gap = Span::from_secs_f64(packets / self.rate);
        self.next_departure = self.next_departure.max(sent.paced_from).saturating_add(gap);
    }

    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bps((self.rate * 8.0 * self.packet.get() as f64) as u64)
    }

    pub(crate) fn decision(&self) -> Decision {
        Decision { window: WINDOW, departure: self.next_departure }
    }
}
