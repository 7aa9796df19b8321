//! RED: marks or drops at random before the buffer is full, as the average queue rises.
//!
//! At every arrival, with `q` packets queued (the one in service included):
//!
//! ```text
//! q > 0:   average += weight (q - average)
//! q = 0:   average *= (1 - weight)^m,  m = idle time / time of a packet on the link;  m = 1 without `idle_time`
//! chosen:  with the probability of the ramp (see `ramp`): marked if the sender reads marks (RFC 3168), else dropped
//! above the ramp:  dropped; marked with `mark_above`
//! ```
//!
//! With `weight = 1`, `min = max` and `mark_above`, and without `gentle`, it marks by a step of the queue itself, as
//! DCTCP requires (RFC 8257, section 4.1).
//!
//! Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions
//! on Networking 1(4), 1993; RFC 3168, section 5.
//!
//! Deviations:
//! 1. The queue counts the packet in service, as everywhere here; ns-2 counts those that wait.
//! 2. The default of `max_p` is 0.1, and the ramp is gentle: later advice of the first author, and the defaults of ns-2.
//!    The paper has 0.02 and no gentle part.
//! 3. Above the ramp, packets that could be marked are dropped, unless `mark_above` is set: the paper has no marks
//!    there, and ns-2 drops.

use crate::queueing::average::Average;
use crate::queueing::contract::{DropReason, Packet, Queue, Readings, Setup, Verdict};
use crate::queueing::fifo::Fifo;
use crate::queueing::ramp::{Choice, Ramp};
use crate::settings::{Derived, PROPER, Parameter, Parameters, SettingError, Settings, Value, above_zero, check_names};
use crate::units::{Bytes, Packets, Random, Ratio, Span, Time};

const MIN: Parameter<Packets> =
    Parameter::new("min", Packets::new(5), above_zero(), "average queue at which marking begins");
const MAX: Derived<Packets> =
    Derived::new("max", "three times min", above_zero(), "average queue at which max_p is reached");
const MAX_P: Parameter<Ratio> = Parameter::new("max_p", Ratio::of(1, 10), PROPER, "probability at max");
const WEIGHT: Parameter<Ratio> = Parameter::new(
    "weight",
    Ratio::of(2, 1000),
    Ratio::NEXT..=Ratio::ONE,
    "weight of a new sample in the average; 1: no average",
);
const GENTLE: Parameter<bool> =
    Parameter::switch("gentle", true, "raise the probability from max_p to 1 between max and twice max");
const SPREAD: Parameter<bool> = Parameter::switch("spread", true, "space marks evenly over packets");
const MARK_ABOVE: Parameter<bool> =
    Parameter::switch("mark_above", false, "above the ramp, mark instead of dropping if possible");

const IDLE_TIME: Parameter<bool> = Parameter::switch(
    "idle_time",
    true,
    "let the average fall while the queue is empty; false: as in Linux under tc-tbf",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&MIN, &MAX, &MAX_P, &WEIGHT, &GENTLE, &SPREAD, &MARK_ABOVE, &IDLE_TIME];

/// The discipline; the head of this file explains it.
#[derive(Clone, Debug)]
pub struct Red<P> {
    fifo: Fifo<P>,
    average: Average,
    ramp: Ramp,
    mark_above: bool,
    idle_time: bool,
    /// Time of a packet on the link.
    service: Span,
    /// When the queue became empty.
    idle_since: Time,
    random: Random,
}

impl<P> Red<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Red<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        let min = MIN.read(settings)?;
        let max = MAX.read(settings)?.unwrap_or(Packets::new(min.get().saturating_mul(3)));
        if max < min {
            return Err(MAX.refuse("at least min"));
        }
        let max_p = MAX_P.read(settings)?;
        let weight = WEIGHT.read(settings)?;
        Ok(Red {
            fifo: Fifo::new(setup.limit),
            average: Average::new(weight.as_f64()),
            ramp: Ramp {
                min: min.get() as f64,
                max: max.get() as f64,
                max_p: max_p.as_f64(),
                gentle: GENTLE.read(settings)?,
                spread: SPREAD.read(settings)?,
                count: None,
            },
            mark_above: MARK_ABOVE.read(settings)?,
            idle_time: IDLE_TIME.read(settings)?,
            service: setup.rate.time_for(setup.packet).max(Span::from_picos(1)),
            idle_since: Time::ZERO,
            random: Random::new(setup.seed),
        })
    }

    fn take_average(&mut self, now: Time) {
        match self.length().0 {
            Packets::ZERO if self.idle_time => {
                self.average.take_zeros(now.saturating_since(self.idle_since) / self.service)
            }
            queued => self.average.take(queued.get() as f64),
        }
        if self.length().0 == Packets::ZERO {
            self.idle_since = now; // idle time counts once, even if this packet is dropped
        }
    }
}

impl<P> Queue<P> for Red<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>) -> Verdict {
        self.take_average(now);
        let may_mark = match self.ramp.choose(self.average.value, &mut self.random) {
            Choice::Spared => return self.fifo.enqueue(now, packet),
            Choice::Drawn => packet.ecn.is_capable(),
            Choice::Every => packet.ecn.is_capable() && self.mark_above,
        };
        if !may_mark {
            return Verdict::Dropped(DropReason::Early);
        }
        packet.marks.congestion = true;
        self.fifo.enqueue(now, packet)
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        self.fifo.dequeue(now)
    }

    fn departed(&mut self, now: Time, size: Bytes) {
        self.fifo.departed(now, size);
        if self.length().0 == Packets::ZERO {
            self.idle_since = now;
        }
    }

    fn length(&self) -> (Packets, Bytes) {
        self.fifo.length()
    }

    fn readings(&self) -> Readings {
        Readings { average_packets: Some(self.average.value), ..Readings::default() }
    }
}

#[cfg(test)]
mod law;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::contract::Limit;
    use crate::settings::Setting;
    use crate::units::{Ecn, Rate};

    /// 8 Mbit/s: a packet of 1000 bytes takes 1 ms.
    fn red(settings: &[(&str, Setting)]) -> Red<u32> {
        let limit = Limit::Packets(Packets::new(100));
        let setup = Setup { rate: Rate::from_mbps(8), limit, packet: Bytes::new(1000), seed: 5 };
        let settings =
            settings.iter().map(|(name, value)| (alloc::string::String::from(*name), value.clone())).collect();
        Red::build(&setup, &settings).expect("valid settings")
    }

    fn packet(ecn: bool) -> Packet<u32> {
        Packet { ecn: if ecn { Ecn::Ect0 } else { Ecn::NotEct }, ..Packet::new(0, Bytes::new(1000), 0) }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn step(packets: u64) -> [(&'static str, Setting); 5] {
        [
            ("weight", Setting::Ratio(Ratio::ONE)),
            ("min", Setting::Packets(Packets::new(packets))),
            ("max", Setting::Packets(Packets::new(packets))),
            ("gentle", Setting::Switch(false)),
            ("mark_above", Setting::Switch(true)),
        ]
    }

    /// Weight 1/4. Packets that arrive at one instant find 0, 1, 2, 3 queued: 0, 0.25, 0.25 + 1.75/4 = 0.6875,
    /// 0.6875 + 2.3125/4 = 1.265625.
    #[test]
    fn the_average_follows_the_queue_that_packets_find() {
        let mut red = red(&[("weight", Setting::Ratio(Ratio::of(1, 4)))]);
        let averages = [0.0, 0.25, 0.6875, 1.265625].map(|expected| {
            red.enqueue(at(0), packet(false));
            (red.readings().average_packets, Some(expected))
        });
        assert!(averages.iter().all(|(found, expected)| found == expected), "{averages:?}");
    }

    /// The queue of the previous test is empty from 4 ms on. At 7.5 ms three packet times have passed: times 0.75^3.
    #[test]
    fn the_average_falls_while_the_link_is_idle() {
        let mut red = red(&[("weight", Setting::Ratio(Ratio::of(1, 4)))]);
        (0..4).for_each(|_| {
            red.enqueue(at(0), packet(false));
        });
        for ms in 1..=4 {
            red.dequeue(at(ms - 1));
            red.departed(at(ms), Bytes::new(1000));
        }
        red.enqueue(at(7) + Span::from_micros(500), packet(false));
        assert_eq!(red.readings().average_packets, Some(1.265625 * 0.421875));
    }

    /// The same without idle time: the packet counts as one sample of an empty queue.
    #[test]
    fn without_idle_time_the_average_falls_by_packets_only() {
        let mut red = red(&[("weight", Setting::Ratio(Ratio::of(1, 4))), ("idle_time", Setting::Switch(false))]);
        for _ in 0..4 {
            red.enqueue(at(0), packet(false));
        }
        for ms in 1..=4 {
            red.dequeue(at(ms - 1));
            red.departed(at(ms), Bytes::new(1000));
        }
        red.enqueue(at(100), packet(false));
        assert_eq!(red.readings().average_packets, Some(1.265625 * 0.75));
    }

    #[test]
    fn marks_chosen_capable_packets_and_drops_others() {
        let mut red = red(&step(2));
        for _ in 0..2 {
            assert_eq!(red.enqueue(at(0), packet(true)), Verdict::Queued);
        }
        assert_eq!(red.enqueue(at(0), packet(false)), Verdict::Dropped(DropReason::Early));
        assert_eq!(red.enqueue(at(0), packet(true)), Verdict::Queued);
        let marked: [Option<bool>; 3] =
            core::array::from_fn(|_| red.dequeue(at(0)).map(|packet| packet.marks.congestion));
        assert_eq!(marked, [Some(false), Some(false), Some(true)]);
    }

    #[test]
    fn above_the_ramp_capable_packets_are_dropped_too() {
        let mut settings = step(2);
        settings[4].1 = Setting::Switch(false);
        let mut red = red(&settings);
        let verdicts = [true, true, true].map(|ecn| red.enqueue(at(0), packet(ecn)));
        assert_eq!(verdicts, [Verdict::Queued, Verdict::Queued, Verdict::Dropped(DropReason::Early)]);
    }

    /// Weight 1 and a queue held at 10. On the ramp from 5 to 15 that gives p = 0.05, spread over 1 to 20 packets: 1 in
    /// 10.
    #[test]
    fn a_steady_queue_is_marked_at_the_ramps_rate() {
        let mut red = red(&[("weight", Setting::Ratio(Ratio::ONE))]);
        (0..10).for_each(|_| {
            red.enqueue(at(0), packet(true));
        });
        let marks = (0..20_000).filter(|ms| {
            red.enqueue(at(*ms), packet(true));
            let left = red.dequeue(at(*ms)).is_some_and(|packet| packet.marks.congestion);
            red.departed(at(*ms), Bytes::new(1000));
            left
        });
        // Gaps have the mean 10 and the variance 30, so the count has the variance 20 000 * 30 / 10^3: five errors are
        // 122.
        let marks = marks.count();
        assert!(marks.abs_diff(2000) < 122, "{marks}");
    }

    #[test]
    fn a_maximum_below_the_minimum_is_refused() {
        let limit = Limit::Unlimited;
        let setup = Setup { rate: Rate::from_mbps(8), limit, packet: Bytes::new(1000), seed: 5 };
        let settings = Settings::from([("max".into(), Setting::Packets(Packets::new(4)))]);
        let error = Red::<()>::build(&setup, &settings).expect_err("refused");
        assert_eq!(error, SettingError::invalid("max", "at least min"));
    }
}
