//! Queue-length based pacing (QLBP): the longer the queue, the faster its packets leave.
//!
//! A packet of size `S` has left at `t_last`, and `n` packets wait. The next packet leaves no earlier than
//!
//! ```text
//! t_next = t_last + S / mu(n),    mu(n) = mu_min + (mu_max - mu_min) n / Q_max    n <= Q_max
//!                                 mu(n) = rate of the link, that is: no pacing    n >  Q_max
//! ```
//!
//! `t_next` is computed again whenever `n` changes: an arrival moves it earlier, a departure restarts it.
//! A packet that arrives at an empty queue after `t_next` is not held at all. Each step is one division: O(1).
//!
//! Source: Y. Cai, B. Jiang, T. Wolf and W. Gong, "A Practical On-line Pacing Scheme at Edges of Small Buffer
//! Networks": equation (1), Algorithm 1.
//!
//! Where this differs from the paper:
//!
//! 1. Algorithm 1 sets only `t_last` before the first packet, but reads `t_next`. Here the first packet is not held.
//! 2. `S` is the size of the packet that has left; Table I has the packet at the head. After a departure there may be
//!    none at the head, and lines 7 and 31 would pace the same gap by two sizes.
//! 3. In lines 7 and 31 the rate continues to rise beyond `Q_max`. Equation (1) gives the link's rate there, as this file
//!    does.
//! 4. Line 52 wakes the queue at once; in the text (section III-D) it waits until the packet is on the wire. A host
//!    takes a packet only when the link is free.
//! 5. There is no `blocked` state. A queue is blocked while the link is busy, which the host knows, or while `t_next`
//!    is in the future. Unblocked and empty with `now < t_next` (line 22) cannot happen.
//! 6. With [`Params::qmax_includes_in_service`] the slope is `(mu_max - mu_min) / (Q_max - 1)`, so that the rate
//!    reaches `mu_max` with `Q_max` packets in the system, one of them on the wire. That reading gives the paper's
//!    Table II; equation (1), which is the default, does not.

use crate::queueing::contract::{DropReason, Limit, Packet, Queue, Setup, Verdict};

use crate::settings::{Derived, Parameter, Parameters, SettingError, Settings, Value, above_zero, any, check_names};
use crate::units::{Bytes, Packets, Rate, Span, Time};
use alloc::collections::VecDeque;

const MU_MIN: Derived<Rate> = Derived::new(
    "mu_min",
    "a hundredth of the link's rate",
    any(),
    "rate at an empty queue; slower packets are not delayed",
);
const MU_MAX: Derived<Rate> =
    Derived::new("mu_max", "the link's rate", above_zero(), "rate with q_max packets waiting");
const Q_MAX: Parameter<Packets> = Parameter::new(
    "q_max",
    Packets::new(80),
    Packets::NEXT..=Params::MOST_PACKETS,
    "above this queue length nothing is delayed",
);
const QMAX_INCLUDES_IN_SERVICE: Parameter<bool> =
    Parameter::switch("qmax_includes_in_service", false, "whether q_max counts the packet in service");

/// The settings.
pub const PARAMETERS: Parameters = &[&MU_MIN, &MU_MAX, &Q_MAX, &QMAX_INCLUDES_IN_SERVICE];

/// The pacing law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Rate with nothing waiting, `mu_min`. With zero the last packet of a burst leaves when the next arrives.
    pub mu_min: Rate,
    /// Rate with `q_max` packets waiting, `mu_max`.
    pub mu_max: Rate,
    /// Number of waiting packets beyond which nothing is paced, `Q_max`.
    pub q_max: Packets,
    /// Whether `q_max` counts the packet on the wire too.
    pub qmax_includes_in_service: bool,
}

impl Params {
    /// The largest `Q_max` that a scenario can set, so that no multiplication exceeds 128 bits.
    pub const MOST_PACKETS: Packets = Packets::new(10_000_000);

    /// Number of waiting packets at `mu_max`.
    fn steps(&self) -> u64 {
        self.q_max.get().saturating_sub(u64::from(self.qmax_includes_in_service))
    }

    /// Reads the settings of a scenario, for a link of this rate.
    ///
    /// # Errors
    /// A setting that the law cannot follow.
    pub fn of(rate: Rate, settings: &Settings) -> Result<Params, SettingError> {
        check_names(settings, PARAMETERS)?;
        let params = Params {
            mu_min: MU_MIN.read(settings)?.unwrap_or(Rate::from_bps(rate.bps() / 100)),
            mu_max: MU_MAX.read(settings)?.unwrap_or(rate),
            q_max: Q_MAX.read(settings)?,
            qmax_includes_in_service: QMAX_INCLUDES_IN_SERVICE.read(settings)?,
        };
        params.check()?;
        Ok(params)
    }

    fn check(&self) -> Result<(), SettingError> {
        if self.mu_min >= self.mu_max {
            return Err(MU_MIN.refuse("a rate below mu_max"));
        }
        match self.steps() {
            0 if self.qmax_includes_in_service => Err(Q_MAX.refuse("2 packets at least: one is on the wire")),
            0 => Err(Q_MAX.refuse("1 packet at least")),
            _ if self.q_max > Params::MOST_PACKETS => Err(Q_MAX.refuse("at most 10000000 packets")),
            _ => Ok(()),
        }
    }

    /// Returns `S / mu(n)`, rounded down to the picosecond; zero beyond `Q_max`.
    fn gap(&self, size: Bytes, waiting: u64) -> Span {
        const PS_PER_S: u128 = 1_000_000_000_000;
        let steps = self.steps();
        if waiting > steps {
            return Span::ZERO;
        }
        let range = u128::from(self.mu_max.bps() - self.mu_min.bps());
        // mu(n), in units of 1 / steps.
        let scaled = u128::from(self.mu_min.bps()) * u128::from(steps) + range * u128::from(waiting);
        let work = u128::from(size.bits()) * PS_PER_S * u128::from(steps);
        let picos = work.checked_div(scaled).and_then(|ps| u64::try_from(ps).ok());
        picos.map_or(Span::MAX, Span::from_picos)
    }
}

/// A queue that paces what leaves it.
#[derive(Clone, Debug)]
pub struct Qlbp<P> {
    params: Params,
    limit: Limit,
    waiting: VecDeque<Packet<P>>,
    /// When the last packet left, `t_last`, and its size.
    last: (Time, Bytes),
    /// When the next packet may leave, `t_next`.
    next: Time,
    /// Packets queued, the packet on the wire included.
    packets: Packets,
    bytes: Bytes,
}

impl<P> Qlbp<P> {
    /// Builds it.
    ///
    /// # Errors
    /// The same as for [`Params::of`].
    pub fn build(setup: &Setup, settings: &Settings) -> Result<Qlbp<P>, SettingError> {
        Ok(Qlbp::new(Params::of(setup.rate, settings)?, setup.limit))
    }

    fn new(params: Params, limit: Limit) -> Qlbp<P> {
        Qlbp {
            params,
            limit,
            waiting: VecDeque::new(),
            last: (Time::ZERO, Bytes::ZERO),
            next: Time::ZERO,
            packets: Packets::ZERO,
            bytes: Bytes::ZERO,
        }
    }

    fn pace(&mut self) {
        let (left, size) = self.last;
        self.next = left.saturating_add(self.params.gap(size, self.waiting.len() as u64));
    }
}

impl<P> Queue<P> for Qlbp<P> {
    fn enqueue(&mut self, _now: Time, packet: Packet<P>) -> Verdict {
        if !self.limit.admits(self.packets, self.bytes, packet.size) {
            return Verdict::Dropped(DropReason::Full);
        }
        self.packets += Packets::new(1);
        self.bytes += packet.size;
        self.waiting.push_back(packet);
        self.pace();
        Verdict::Queued
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        if now < self.next {
            return None;
        }
        let packet = self.waiting.pop_front()?;
        self.last = (now, packet.size);
        self.pace();
        Some(packet)
    }

    fn departed(&mut self, _now: Time, size: Bytes) {
        self.packets -= Packets::new(1);
        self.bytes -= size;
    }

    fn next_wakeup(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.next }
    }

    fn length(&self) -> (Packets, Bytes) {
        (self.packets, self.bytes)
    }
}

#[cfg(test)]
mod law;
#[cfg(test)]
mod tests;
