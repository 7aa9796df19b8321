//! DualPI2: a low-delay queue for scalable senders and a classic queue, coupled so that all share the link.
//!
//! Packets with ECT(1) or CE go to the L queue, others to the C queue. Every `update` a proportional-integral
//! controller sets one probability, with `delay` the longer wait of the two heads:
//!
//! ```text
//! p'   += alpha (delay - target) + beta (delay - old),  within 0 and 1;  old = delay
//! p_CL  = k p'                                          coupled to L: scalable senders answer p with 1/p
//! p_C   = p'^2                                          for C: classic ones answer with 1/sqrt(p)
//! p_L   = max(p_CL, ramp),  ramp = (wait - ramp_from) / ramp, within 0 and 1; 0 for a packet that is alone
//! L:  marked with p_L.  If p_CL >= 1: dropped with p_C, the rest marked
//! C:  dropped with p_C; marked instead with ECT(0) and p_C < 1 / k^2
//! with p:  count += p;  count > 1: count -= 1, chosen
//! ```
//!
//! While both queues wait, C gets `classic_share` of the link and L the rest: the ratio of the bytes sent decides which is
//! next. In equilibrium it is the coupling that shares the link, not this schedule.
//!
//! Source: K. De Schepper, B. Briscoe, G. White, "Dual-Queue Coupled Active Queue Management (AQM)", RFC 9332, 2023:
//! appendices A.1 and A.2. Its constants: k = 2, target 15 ms, RTT_max 100 ms, update = min(target, RTT_max / 3),
//! alpha = 0.1 update / RTT_max^2, beta = 0.3 / RTT_max, a ramp of 400 us from 800 us.
//!
//! Deviations:
//! 1. The limit is the link's buffer, not 250 ms of the link.
//! 2. The RFC leaves the scheduler open; this is a weighted round robin by bytes, with the tenth for C that Linux has.
//! 3. A step at 1 ms, as in Linux, is `ramp_from = "1 ms"` with `ramp = "0 s"`.
//! 4. p' neither marks nor drops while less than two full packets wait behind the packet, as in Linux: on a slow link a single
//!    packet is in service for longer than the target. RFC 8033, section 4.1 has this floor for PIE, RFC 9332 has none.

use crate::queueing::contract::{DropReason, Packet, Queue, Setup, Verdict};
use crate::queueing::ticks::{DISTANCES, Ticks};
use crate::queueing::timed::{Occupancy, Timed};
use crate::settings::{Derived, PROPER, Parameter, Parameters, SettingError, Settings, above_zero, any, check_names};
use crate::units::{Bytes, Ecn, Packets, Ratio, Span, Time};
use alloc::collections::VecDeque;

const COUPLING: Parameter<Ratio> = Parameter::new(
    "coupling",
    Ratio::of(2, 1),
    Ratio::ONE..=Ratio::of(100, 1),
    "k: L is marked with k times the square root of C's drop probability",
);
const TARGET: Parameter<Span> =
    Parameter::new("target", Span::from_millis(15), above_zero(), "target queueing delay in C");
const RTT_MAX: Parameter<Span> =
    Parameter::new("rtt_max", Span::from_millis(100), above_zero(), "longest expected round trip (RTT_max)");
const UPDATE: Derived<Span> = Derived::new(
    "update",
    "the smaller of target and a third of rtt_max, 1 us at least",
    DISTANCES,
    "time between updates of p'",
);
const RAMP_FROM: Parameter<Span> =
    Parameter::new("ramp_from", Span::from_micros(800), any(), "queueing delay in L at which marking starts (minTh)");
const RAMP: Parameter<Span> = Parameter::new(
    "ramp",
    Span::from_micros(400),
    any(),
    "further delay until every packet is marked (range); 0 s: a step",
);
const CLASSIC_SHARE: Parameter<Ratio> =
    Parameter::new("classic_share", Ratio::of(1, 10), PROPER, "share of the link for C while both queues wait");

/// The settings.
pub const PARAMETERS: Parameters = &[&COUPLING, &TARGET, &RTT_MAX, &UPDATE, &RAMP_FROM, &RAMP, &CLASSIC_SHARE];

/// Gains of the controller, times update / rtt_max^2 and 1 / rtt_max (RFC 9332, appendix A.1).
const INTEGRAL: f64 = 0.1;
const PROPORTIONAL: f64 = 0.3;

/// The controller of p'.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Control {
    alpha: f64,
    beta: f64,
    target: Span,
    p: f64,
    old: Span,
}

impl Control {
    /// An update that finds this delay.
    fn update(&mut self, delay: Span) {
        let seconds = |span: Span| span.as_secs_f64();
        self.p +=
            self.alpha * (seconds(delay) - seconds(self.target)) + self.beta * (seconds(delay) - seconds(self.old));
        self.p = self.p.clamp(0.0, 1.0);
        self.old = delay;
    }
}

/// A queue, and what is counted towards the next packet that is chosen from it.
#[derive(Clone, Debug)]
struct Part<P> {
    waiting: Timed<P>,
    count: f64,
}

impl<P> Part<P> {
    fn new() -> Part<P> {
        Part { waiting: Timed::new(), count: 0.0 }
    }

    /// Whether this packet is chosen, with likelihood `p`: deterministically, evenly spread.
    fn chooses(&mut self, p: f64) -> bool {
        self.count += p;
        let chosen = self.count > 1.0;
        self.count -= f64::from(u8::from(chosen));
        chosen
    }
}

/// The discipline; the head of this file explains it.
#[derive(Clone, Debug)]
pub struct DualPi2<P> {
    coupling: f64,
    ramp_from: Span,
    ramp: Span,
    /// C's share over L's.
    classic_weight: f64,
    control: Control,
    ticks: Ticks,
    low: Part<P>,
    classic: Part<P>,
    /// Bytes that C may send before L is next, while both wait.
    classic_credit: f64,
    /// With less than this waiting, p' spares every packet: two full packets.
    spared: Bytes,
    held: Occupancy,
    dropped: VecDeque<Packet<P>>,
}

impl<P> DualPi2<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<DualPi2<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        let (target, rtt_max) = (TARGET.read(settings)?, RTT_MAX.read(settings)?);
        let update = UPDATE.read(settings)?.unwrap_or(target.min(rtt_max / 3).max(*DISTANCES.start()));
        let rtt_max_s = rtt_max.as_secs_f64();
        let share = CLASSIC_SHARE.read(settings)?.as_f64();
        Ok(DualPi2 {
            coupling: COUPLING.read(settings)?.as_f64(),
            ramp_from: RAMP_FROM.read(settings)?,
            ramp: RAMP.read(settings)?,
            classic_weight: share / (1.0 - share),
            control: Control {
                alpha: INTEGRAL * update.as_secs_f64() / (rtt_max_s * rtt_max_s),
                beta: PROPORTIONAL / rtt_max_s,
                target,
                p: 0.0,
                old: Span::ZERO,
            },
            ticks: Ticks::new(update),
            low: Part::new(),
            classic: Part::new(),
            classic_credit: 0.0,
            spared: setup.packet * 2,
            held: Occupancy::new(setup.limit),
            dropped: VecDeque::new(),
        })
    }

    fn catch_up(&mut self, now: Time) {
        while let Some(due) = self.ticks.due(now) {
            let before = self.control;
            let delay = self.classic.waiting.delay(due).max(self.low.waiting.delay(due));
            self.control.update(delay);
            if self.control == before && delay == Span::ZERO {
                self.ticks.skip(now); // the same update again changes nothing either
            }
        }
    }

    /// The coupled probability and that of C: p_CL and p_C. Zero while too little waits.
    fn coupled(&self) -> (f64, f64) {
        if self.low.waiting.bytes() + self.classic.waiting.bytes() < self.spared {
            return (0.0, 0.0);
        }
        (self.coupling * self.control.p, self.control.p * self.control.p)
    }

    /// The probability from L's own wait.
    fn ramp(&self, wait: Span) -> f64 {
        if wait <= self.ramp_from || self.low.waiting.packets() == 0 {
            return 0.0;
        }
        let above = wait.saturating_sub(self.ramp_from);
        if above >= self.ramp { 1.0 } else { above.as_secs_f64() / self.ramp.as_secs_f64() }
    }

    /// Whether L is next.
    fn low_is_next(&self) -> bool {
        let (low, classic) = (self.low.waiting.packets(), self.classic.waiting.packets());
        low > 0 && (classic == 0 || self.classic_credit <= 0.0)
    }

    /// A packet of L leaves, unless it is dropped.
    fn send_low(&mut self, now: Time) -> Option<Packet<P>> {
        let (came, mut packet) = self.low.waiting.pop()?;
        let (p_cl, p_c) = self.coupled();
        let overloaded = p_cl >= 1.0;
        if overloaded && self.low.chooses(p_c) {
            return self.discard(packet);
        }
        let p_l = p_cl.min(1.0).max(self.ramp(now.since(came)));
        packet.marks.congestion |= overloaded || self.low.chooses(p_l);
        self.classic_credit = match self.classic.waiting.packets() {
            0 => 0.0,
            _ => self.classic_credit + self.classic_weight * packet.size.get() as f64,
        };
        Some(packet)
    }

    /// A packet of C leaves, unless it is dropped.
    fn send_classic(&mut self) -> Option<Packet<P>> {
        let (_, mut packet) = self.classic.waiting.pop()?;
        let (_, p_c) = self.coupled();
        if self.classic.chooses(p_c) {
            if !packet.ecn.is_capable() || p_c >= 1.0 / (self.coupling * self.coupling) {
                return self.discard(packet);
            }
            packet.marks.congestion = true;
        }
        self.classic_credit = match self.low.waiting.packets() {
            0 => 0.0,
            _ => self.classic_credit - packet.size.get() as f64,
        };
        Some(packet)
    }

    fn discard(&mut self, packet: Packet<P>) -> Option<Packet<P>> {
        self.held.remove(packet.size);
        self.dropped.push_back(packet);
        None
    }
}

impl<P> Queue<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict {
        self.catch_up(now);
        if !self.held.admits(packet.size) {
            return Verdict::Dropped(DropReason::Full);
        }
        self.held.add(packet.size);
        let scalable = packet.ecn == Ecn::Ect1 || packet.marks.congestion;
        let part = if scalable { &mut self.low } else { &mut self.classic };
        part.waiting.push(now, packet);
        Verdict::Queued
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        self.catch_up(now);
        while self.low.waiting.packets() + self.classic.waiting.packets() > 0 {
            let sent = if self.low_is_next() { self.send_low(now) } else { self.send_classic() };
            if sent.is_some() {
                return sent;
            }
        }
        None
    }

    fn take_dropped(&mut self) -> Option<Packet<P>> {
        self.dropped.pop_front()
    }

    fn departed(&mut self, _now: Time, size: Bytes) {
        self.held.remove(size);
    }

    fn length(&self) -> (Packets, Bytes) {
        self.held.length()
    }
}

#[cfg(test)]
mod tests;
