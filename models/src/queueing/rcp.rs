//! RCP's router: one rate for every flow, adjusted until the link is full and its queue empty.
//!
//! The router keeps a rate `R` and writes it into each packet that leaves, unless an earlier router wrote a lower one.
//! The receiver returns this rate, and the sender sends at it. Let `y` be the rate at which traffic arrived, dropped
//! packets included, `q` the queue, and `d` the mean of the round-trip times that packets carry. Every interval `T`,
//!
//! ```text
//! R <- R (1 + T/d (alpha (g C - y) - beta q/d) / (g C)),     T = min(d, interval)
//! d <- d + T/d (d_T - d)                                     d_T: mean over the bytes of the interval
//! ```
//!
//! `R` stays between one packet per hundred round trips and `g C`. Flows are never counted: `g C / R` estimates their
//! number. Packets that do not fit into the buffer are dropped at the tail.
//!
//! Source: N. Dukkipati, M. Kobayashi, R. Zhang-Shen and N. McKeown, "Processor Sharing Flows in the Internet",
//! IWQoS 2005, equation (2); N. Dukkipati, "Rate Control Protocol (RCP)", PhD thesis, Stanford 2008, chapter 2. Gains,
//! first rate, bounds and the target `g` are the defaults of the authors' ns-2 code.
//!
//! Deviations:
//! 1. `q` is the queue at the end of the interval, as in the authors' ns-2 code; the thesis also offers its minimum.
//! 2. An update takes place at the first packet after it is due, since no earlier packet can carry the rate. The
//!    updates of idle intervals are then made one by one, until the rate has reached its bound.
//! 3. `d` moves by `T/d` in both directions. The authors' ns-2 code moves it down more slowly while `R` is small.

use crate::queueing::contract::{Packet, Queue, Setup, Verdict};
use crate::queueing::fifo::Fifo;
use crate::settings::{Parameter, Parameters, SettingError, Settings, Value, check_names};
use crate::units::{Bytes, Packets, Rate, Ratio, Span, Time};
use core::ops::RangeInclusive;

/// Weights of the law.
const GAIN: RangeInclusive<Ratio> = Ratio::ZERO..=Ratio::of(10, 1);
/// Shares of the capacity.
const SHARE: RangeInclusive<Ratio> = Ratio::NEXT..=Ratio::ONE;
/// Times that the law divides by.
const TIME: RangeInclusive<Span> = Span::from_micros(1)..=Span::MAX;

const ALPHA: Parameter<Ratio> = Parameter::new("alpha", Ratio::of(2, 5), GAIN, "weight of spare capacity");
const BETA: Parameter<Ratio> = Parameter::new("beta", Ratio::of(2, 5), GAIN, "weight of the queue");
const TARGET: Parameter<Ratio> = Parameter::new("target", Ratio::ONE, SHARE, "target utilisation");
const INTERVAL: Parameter<Span> =
    Parameter::new("interval", Span::from_millis(10), TIME, "longest time between updates of the rate");
const INITIAL: Parameter<Ratio> =
    Parameter::new("initial", Ratio::of(1, 20), SHARE, "first rate, as a share of the capacity");
const INITIAL_RTT: Parameter<Span> =
    Parameter::new("initial_rtt", Span::from_millis(200), TIME, "round-trip time until one is measured");

/// The settings.
pub const PARAMETERS: Parameters = &[&ALPHA, &BETA, &TARGET, &INTERVAL, &INITIAL, &INITIAL_RTT];

/// Least rate, in packets per round trip.
const LEAST_PACKETS_PER_RTT: f64 = 0.01;

/// The discipline; the head of this file explains its law.
#[derive(Clone, Debug)]
pub struct Rcp<P> {
    waiting: Fifo<P>,
    rate: Law,
    /// When the next update of the rate is due.
    due: Time,
    /// Bytes that arrived in this interval.
    arrived: u64,
    /// The part of them that carried a round-trip time; then the sum of these times over bytes, in seconds.
    timed: u64,
    rtt_sum_s: f64,
}

/// The rate, and the quantities of its law.
#[derive(Clone, Copy, Debug)]
struct Law {
    /// Bytes per second.
    rate: f64,
    /// Mean round-trip time, seconds.
    rtt_s: f64,
    /// Target, bytes per second.
    target: f64,
    alpha: f64,
    beta: f64,
    interval_s: f64,
    packet: f64,
}

impl Law {
    /// `T`.
    fn interval_s(&self) -> f64 {
        self.rtt_s.min(self.interval_s)
    }

    /// Makes one update. In the interval `arrived` bytes arrived, with the mean round-trip time `rtt_s` if one is
    /// known; at its end `queued` bytes are queued.
    fn update(&mut self, arrived: f64, rtt_s: Option<f64>, queued: f64) {
        let interval = self.interval_s();
        if let Some(rtt) = rtt_s {
            self.rtt_s += (interval / self.rtt_s).min(1.0) * (rtt - self.rtt_s);
        }
        let spare = self.alpha * (self.target - arrived / interval) - self.beta * queued / self.rtt_s;
        let wanted = self.rate * (1.0 + interval / self.rtt_s * spare / self.target);
        let least = LEAST_PACKETS_PER_RTT * self.packet / self.rtt_s;
        self.rate = wanted.max(least).min(self.target);
    }

    fn offer(&self) -> Rate {
        Rate::from_bps((self.rate * 8.0) as u64)
    }
}

impl<P> Rcp<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Rcp<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        let capacity = setup.rate.bps() as f64 / 8.0;
        let target = capacity * TARGET.read(settings)?.as_f64();
        let rate = (capacity * INITIAL.read(settings)?.as_f64()).min(target);
        let law = Law {
            rate,
            rtt_s: INITIAL_RTT.read(settings)?.as_secs_f64(),
            target,
            alpha: ALPHA.read(settings)?.as_f64(),
            beta: BETA.read(settings)?.as_f64(),
            interval_s: INTERVAL.read(settings)?.as_secs_f64(),
            packet: setup.packet.get() as f64,
        };
        let due = Time::ZERO + Span::from_secs_f64(law.interval_s());
        Ok(Rcp { waiting: Fifo::new(setup.limit), rate: law, due, arrived: 0, timed: 0, rtt_sum_s: 0.0 })
    }

    /// Makes every update that is due.
    fn catch_up(&mut self, now: Time) {
        while self.due <= now {
            let rtt = (self.timed > 0).then(|| self.rtt_sum_s / self.timed as f64);
            let idle = self.arrived == 0 && rtt.is_none();
            let queued = self.waiting.length().1.get() as f64;
            self.rate.update(self.arrived as f64, rtt, queued);
            (self.arrived, self.timed, self.rtt_sum_s) = (0, 0, 0.0);
            let interval = Span::from_secs_f64(self.rate.interval_s());
            self.due += interval;
            if idle && queued == 0.0 && self.rate.rate >= self.rate.target && self.due <= now {
                // Further updates would change nothing.
                self.due = now + interval;
            }
        }
    }
}

impl<P> Queue<P> for Rcp<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict {
        self.catch_up(now);
        self.arrived += packet.size.get();
        if let Some(header) = packet.header
            && header.rtt > Span::ZERO
        {
            self.timed += packet.size.get();
            self.rtt_sum_s += header.rtt.as_secs_f64() * packet.size.get() as f64;
        }
        self.waiting.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        let mut packet = self.waiting.dequeue(now)?;
        if let Some(header) = &mut packet.header {
            self.catch_up(now);
            header.lower(self.rate.offer());
        }
        Some(packet)
    }

    fn departed(&mut self, now: Time, size: Bytes) {
        self.waiting.departed(now, size);
    }

    fn length(&self) -> (Packets, Bytes) {
        self.waiting.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::contract::{Limit, RateHeader};

    /// 80 Mbit/s are 10^7 bytes per second: 100 000 bytes in 10 ms.
    fn rcp() -> Rcp<()> {
        let setup = Setup { rate: Rate::from_mbps(80), limit: Limit::Unlimited, packet: Bytes::new(1000), seed: 1 };
        Rcp::build(&setup, &Settings::new()).expect("defaults are valid")
    }

    fn near(found: f64, expected: f64) -> bool {
        // Settings have steps of 2^-32.
        (found - expected).abs() < 1e-8 * expected
    }

    /// By hand: R (1 + 0.01/0.2 (0.4 (1e7 - 5e6) - 0.4 20000/0.2) / 1e7) = R (1 + 0.05 (2e6 - 4e4) / 1e7) = 1.0098 R.
    #[test]
    fn update_matches_the_equation() {
        let mut law = rcp().rate;
        assert!(near(law.rate, 5e5));
        law.update(50_000.0, None, 20_000.0);
        assert!(near(law.rate, 5e5 * 1.0098), "{}", law.rate);
    }

    #[test]
    fn the_mean_rtt_moves_by_the_share_of_the_interval() {
        let mut law = rcp().rate;
        law.update(0.0, Some(0.1), 0.0);
        // 0.2 + 0.01/0.2 (0.1 - 0.2).
        assert!(near(law.rtt_s, 0.195), "{}", law.rtt_s);
    }

    #[test]
    fn the_rate_stays_within_its_bounds() {
        let mut law = rcp().rate;
        (0..100_000).for_each(|_| law.update(0.0, None, 0.0));
        assert!(near(law.rate, 1e7));
        (0..100_000).for_each(|_| law.update(400_000.0, None, 1e6));
        assert!(near(law.rate, 0.01 * 1000.0 / 0.2), "{}", law.rate);
    }

    #[test]
    fn packets_leave_with_the_lower_of_two_rates() {
        let mut queue = rcp();
        let offered = |queue: &mut Rcp<()>, offer: Option<Rate>| {
            let header = Some(RateHeader { rtt: Span::ZERO, offer });
            queue.enqueue(Time::ZERO, Packet { header, ..Packet::new(0, Bytes::new(1000), ()) });
            queue.dequeue(Time::ZERO).and_then(|packet| packet.header).and_then(|header| header.offer)
        };
        // A twentieth of 80 Mbit/s.
        let own = offered(&mut queue, None).expect("an offer");
        assert!(own.bps().abs_diff(4_000_000) <= 1, "{own}");
        assert_eq!(offered(&mut queue, Some(Rate::from_mbps(9))), Some(own));
        assert_eq!(offered(&mut queue, Some(Rate::from_mbps(1))), Some(Rate::from_mbps(1)));
    }

    #[test]
    fn a_packet_without_the_header_stays_without() {
        let mut queue = rcp();
        queue.enqueue(Time::ZERO, Packet::new(0, Bytes::new(1000), ()));
        assert!(queue.dequeue(Time::ZERO).is_some_and(|packet| packet.header.is_none()));
    }

    #[test]
    fn catches_up_after_a_long_idle_time() {
        let mut queue = rcp();
        queue.catch_up(Time::ZERO + Span::from_secs(100_000));
        assert!(near(queue.rate.rate, 1e7));
    }
}
