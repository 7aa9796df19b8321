//! PIE: drops arriving packets with a probability that a proportional-integral controller steers by the queue's delay.
//!
//! Every `update`, with `delay` that of the packet that left last, zero if nothing waits behind it:
//!
//! ```text
//! step  = alpha (delay - target) + beta (delay - old)          in seconds
//! step /= 2048, 512, 128, 32, 8, 2, 1        for p below 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, and above
//! step  = min(step, 0.02)                    for p of 0.1 and above                    section 5.5
//! p    += step;  p *= 0.98 if delay = old = 0;  within 0 and 1;  old = delay
//! burst = max(burst - update, 0);  = max_burst if p = 0 and both delays are below target / 2
//!
//! arrival:  spared if burst > 0, if old < target / 2 and p < 0.2, or if at most two packets wait
//!           else with probability p: marked if its sender reads marks and p < 0.1 (section 5.1), else dropped
//!           derandomise: not before the p since the last one add up to 0.85, and always from 8.5 on (section 5.4)
//! ```
//!
//! Source: R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE)", RFC 8033, 2017:
//! section 4. Its constants: alpha 1/8 and beta 1 1/4 per second, target and update 15 ms, max_burst 150 ms.
//!
//! Deviations:
//! 1. The delay is that of the packet that left last, which the RFC allows in place of bytes over a departure rate
//!    (sections 4.3 and 5.2). ns-3 measures so, too.
//! 2. Of the optional elements of section 5 there are marks (5.1), the capped step (5.5) and, on request,
//!    derandomisation (5.4), which Linux always has; there is no departure-rate estimation (5.2) and no turning off (5.3).
//! 3. Two packets are two packets of any size, where the RFC has twice a mean packet size of 1024 bytes.

use crate::queueing::contract::{DropReason, Packet, Queue, Setup, Verdict};
use crate::queueing::ticks::{DISTANCES, Ticks};
use crate::queueing::timed::{Occupancy, Timed};
use crate::settings::{Parameter, Parameters, SettingError, Settings, above_zero, any, check_names};
use crate::units::{Bytes, Packets, Random, Ratio, Span, Time};

const TARGET: Parameter<Span> =
    Parameter::new("target", Span::from_millis(15), above_zero(), "target queueing delay (QDELAY_REF)");
const UPDATE: Parameter<Span> =
    Parameter::new("update", Span::from_millis(15), DISTANCES, "time between updates of p (T_UPDATE)");
const MAX_BURST: Parameter<Span> =
    Parameter::new("max_burst", Span::from_millis(150), any(), "burst allowance: no drops for this long (MAX_BURST)");
const ALPHA: Parameter<Ratio> =
    Parameter::new("alpha", Ratio::of(1, 8), any(), "per second: weight of the distance from the target");
const BETA: Parameter<Ratio> =
    Parameter::new("beta", Ratio::of(5, 4), any(), "per second: weight of the change since the last update");
const DERANDOMISE: Parameter<bool> =
    Parameter::switch("derandomise", false, "space drops evenly (RFC 8033, section 5.4), as Linux does");

/// The settings.
pub const PARAMETERS: Parameters = &[&TARGET, &UPDATE, &MAX_BURST, &ALPHA, &BETA, &DERANDOMISE];

/// Sums of p since the last drop between which chance decides (section 5.4).
const CHANCE_FROM: f64 = 0.85;
const CHANCE_BELOW: f64 = 8.5;

/// From this p on, packets are dropped that could be marked (RFC 8033, section 5.1: MAX_ECNTH).
const MOST_MARKED: f64 = 0.1;
/// Below this p, and while the delay is small, nothing is dropped (section 4.1).
const SPARED_BELOW: f64 = 0.2;
/// This many waiting packets are spared (section 4.1).
const SPARED_PACKETS: u64 = 2;
/// Largest step of a p of 0.1 and above (section 5.5).
const MOST_STEP: f64 = 0.02;
/// The part of p that is left after an update without delay (section 4.2).
const DECAY: f64 = 0.98;
/// Section 4.2: below this p, the step is divided by this.
const SCALES: [(f64, f64); 6] = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (0.01, 8.0), (0.1, 2.0)];

/// The controller of p.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Control {
    alpha: f64,
    beta: f64,
    target: Span,
    update: Span,
    max_burst: Span,
    p: f64,
    old: Span,
    burst: Span,
}

impl Control {
    /// An update that finds this delay.
    fn update(&mut self, delay: Span) {
        let seconds = |span: Span| span.as_secs_f64();
        let step =
            self.alpha * (seconds(delay) - seconds(self.target)) + self.beta * (seconds(delay) - seconds(self.old));
        let scale = SCALES.iter().find(|(below, _)| self.p < *below).map_or(1.0, |(_, scale)| *scale);
        let step = if self.p >= MOST_MARKED { step.min(MOST_STEP) } else { step / scale };
        self.p += step;
        if delay == Span::ZERO && self.old == Span::ZERO {
            self.p *= DECAY;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(self.update);
        let half = self.target / 2;
        if self.p == 0.0 && delay < half && self.old < half {
            self.burst = self.max_burst;
        }
        self.old = delay;
    }
}

/// The discipline; the head of this file explains it.
#[derive(Clone, Debug)]
pub struct Pie<P> {
    control: Control,
    ticks: Ticks,
    /// Of the packet that left last.
    delay: Span,
    waiting: Timed<P>,
    held: Occupancy,
    random: Random,
    /// Sum of p over the packets since the last that was chosen, where drops are spaced.
    sum: Option<f64>,
}

impl<P> Pie<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Pie<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        let update = UPDATE.read(settings)?;
        let max_burst = MAX_BURST.read(settings)?;
        Ok(Pie {
            control: Control {
                alpha: ALPHA.read(settings)?.as_f64(),
                beta: BETA.read(settings)?.as_f64(),
                target: TARGET.read(settings)?,
                update,
                max_burst,
                p: 0.0,
                old: Span::ZERO,
                burst: max_burst,
            },
            ticks: Ticks::new(update),
            delay: Span::ZERO,
            waiting: Timed::new(),
            held: Occupancy::new(setup.limit),
            random: Random::new(setup.seed),
            sum: DERANDOMISE.read(settings)?.then_some(0.0),
        })
    }

    /// Makes the updates that are due.
    fn catch_up(&mut self, now: Time) {
        while self.ticks.due(now).is_some() {
            let before = self.control;
            self.control.update(self.delay);
            if self.control == before {
                self.ticks.skip(now); // the same update again changes nothing either
            }
        }
    }

    fn is_chosen(&mut self) -> bool {
        let Control { p, old, burst, target, .. } = self.control;
        let calm = old < target / 2 && p < SPARED_BELOW;
        let spared = burst > Span::ZERO || calm || self.waiting.packets() <= SPARED_PACKETS;
        !spared && self.is_drawn(p)
    }

    fn is_drawn(&mut self, p: f64) -> bool {
        let Some(sum) = &mut self.sum else { return self.random.uniform() < p };
        *sum = if p == 0.0 { 0.0 } else { *sum + p };
        let drawn = *sum >= CHANCE_FROM && (*sum >= CHANCE_BELOW || self.random.uniform() < p);
        if drawn {
            *sum = 0.0;
        }
        drawn
    }
}

impl<P> Queue<P> for Pie<P> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<P>) -> Verdict {
        self.catch_up(now);
        if !self.held.admits(packet.size) {
            return Verdict::Dropped(DropReason::Full);
        }
        if self.is_chosen() {
            if !packet.ecn.is_capable() || self.control.p >= MOST_MARKED {
                return Verdict::Dropped(DropReason::Early);
            }
            packet.marks.congestion = true;
        }
        self.held.add(packet.size);
        self.waiting.push(now, packet);
        Verdict::Queued
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        self.catch_up(now);
        let (came, packet) = self.waiting.pop()?;
        self.delay = if self.waiting.packets() == 0 { Span::ZERO } else { now.since(came) };
        Some(packet)
    }

    fn departed(&mut self, _now: Time, size: Bytes) {
        self.held.remove(size);
    }

    fn length(&self) -> (Packets, Bytes) {
        self.held.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::contract::Limit;
    use crate::units::{Ecn, Rate};
    use alloc::vec::Vec;

    fn built() -> Pie<u32> {
        let setup = Setup { rate: Rate::from_mbps(8), limit: Limit::Unlimited, packet: Bytes::new(1000), seed: 3 };
        Pie::build(&setup, &Settings::new()).expect("defaults are valid")
    }

    fn packet(ecn: Ecn) -> Packet<u32> {
        Packet { ecn, ..Packet::new(0, Bytes::new(1000), 0) }
    }

    /// With p = 1/8 the first six packets add up to 0.75 and are spared; with the sixty-eighth the sum is 8.5, and it is
    /// chosen. So from one drop to the next there are 7 to 68 packets: six, and then on average 1 / p.
    #[test]
    fn spaced_drops_are_neither_close_nor_far() {
        let mut pie = built();
        pie.sum = Some(0.0);
        let drawn: Vec<usize> = (1..100_000).filter(|_| pie.is_drawn(0.125)).collect();
        let gaps: Vec<usize> = drawn.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (7..=68).contains(gap)), "{:?}", gaps.iter().max());
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert!((13.7..14.3).contains(&mean), "{mean}");
    }

    fn ms(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// p = 0 and 25 ms: (0.125 0.010 + 1.25 0.025) / 2048 = 1.5869e-5. Then 25 ms again, from p above 1e-5: 0.00125 / 128
    /// more, 2.5635e-5. Then 15 ms: 1.25 (-0.010) / 128 less, below zero: 0.
    #[test]
    fn p_matches_hand_calculation() {
        let mut control = built().control;
        let mut after = |delay| {
            control.update(ms(delay));
            control.p
        };
        let found = [after(25), after(25), after(15)];
        let expected = [0.0325 / 2048.0, 0.0325 / 2048.0 + 0.00125 / 128.0, 0.0];
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
    }

    /// From p = 0.5 and 100 ms: 0.125 0.085 + 1.25 0.1 = 0.1356, capped at 0.02. From p = 0.05: halved, 0.0678.
    #[test]
    fn a_step_is_scaled_below_a_tenth_and_capped_above() {
        let step = |p: f64| {
            let mut control = Control { p, ..built().control };
            control.update(ms(100));
            control.p - p
        };
        assert!((step(0.5) - 0.02).abs() < 1e-12, "{}", step(0.5));
        assert!((step(0.05) - 0.135_625 / 2.0).abs() < 1e-12, "{}", step(0.05));
    }

    /// Without delay p falls by 0.125 0.015 and then by 2 %: 0.98 (0.5 - 0.001875).
    #[test]
    fn p_decays_without_a_queue() {
        let mut control = Control { p: 0.5, ..built().control };
        control.update(Span::ZERO);
        assert!((control.p - 0.98 * 0.498_125).abs() < 1e-12, "{}", control.p);
    }

    /// The allowance of 150 ms is used up after ten updates of 15 ms, from the first with delay on.
    #[test]
    fn a_burst_is_spared_for_its_allowance() {
        let mut control = Control { p: 0.3, ..built().control };
        let updates = core::iter::repeat_with(|| {
            control.update(ms(40));
            control.burst
        });
        assert_eq!(updates.take_while(|burst| *burst > Span::ZERO).count(), 9);
    }

    /// p held at 0.05 with 30 packets waiting: of 20 000 arrivals 1000 are chosen, five standard errors are 154.
    #[test]
    fn packets_are_chosen_with_p_and_marked_if_capable() {
        let chosen = |ecn: Ecn, p: f64| {
            let mut pie = built();
            (0..30).for_each(|_| {
                pie.enqueue(at(0), packet(Ecn::NotEct));
            });
            pie.control = Control { p, old: ms(15), burst: Span::ZERO, ..pie.control };
            let dropped = (0..20_000).filter(|_| pie.enqueue(at(1), packet(ecn)) != Verdict::Queued).count();
            let marked = core::iter::from_fn(|| pie.dequeue(at(1))).filter(|packet| packet.marks.congestion).count();
            (dropped, marked)
        };
        let (dropped, marked) = chosen(Ecn::NotEct, 0.05);
        assert!(dropped.abs_diff(1000) < 154 && marked == 0, "{dropped} {marked}");
        assert_eq!(chosen(Ecn::Ect0, 0.05), (0, dropped));
        let (dropped, marked) = chosen(Ecn::Ect0, 0.15);
        assert!(dropped.abs_diff(3000) < 253 && marked == 0, "{dropped} {marked}");
    }

    /// Two hours of silence are over in no time, and leave nothing behind.
    #[test]
    fn idle_updates_reach_a_fixed_point() {
        let mut pie = built();
        pie.control.p = 0.9;
        pie.enqueue(at(7_200_000), packet(Ecn::NotEct));
        assert_eq!((pie.control.p, pie.control.burst), (0.0, ms(150)));
    }
}
