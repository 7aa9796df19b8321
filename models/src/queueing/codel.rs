//! CoDel: drops at the head while no packet's wait has been below a target for an interval, ever faster until one is.
//!
//! A packet that leaves the queue has waited for its *sojourn time*.
//!
//! ```text
//! above:       the sojourn time is at least `target`, and more than one full packet waits behind it
//! first_above: one `interval` after the first packet that was above; none as soon as a packet is not
//! ok:          above, and now >= first_above
//!
//! not dropping, ok:                 drop;  count = delta if delta > 1 and now - drop_next < 16 interval, else 1
//!                                   (delta = count - last_count);  last_count = count
//!                                   drop_next = now + interval / sqrt(count);  dropping
//! dropping, not ok:                 not dropping
//! dropping, ok, now >= drop_next:   drop;  count += 1;  and, if the next packet is ok, too,
//!                                   drop_next += interval / sqrt(count);  again
//! ```
//!
//! A packet of a sender that reads marks is marked instead of dropped, and leaves.
//!
//! Source: K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, 2018:
//! sections 4.4 and 5. Its constants: a target of 5 ms and an interval of 100 ms (sections 4.3, 4.4).
//!
//! Deviations:
//! 1. The RFC's code drops only. A mark counts as a drop that lets its packet go, as in Linux and RFC 8290, section 5.1.
//! 2. `drop_next` follows from the last drop's own due time while dropping, also after a mark. ns-3 restarts from the
//!    time of the mark.
//! 3. A full buffer drops at its tail. That is the link's drop, not CoDel's, and does not count in `count`.

use crate::queueing::contract::{DropReason, Packet, Queue, Setup, Verdict};
use crate::queueing::timed::{Occupancy, Timed};
use crate::settings::{Parameter, Parameters, SettingError, Settings, above_zero, check_names};
use crate::units::{Bytes, Packets, Span, Time};
use alloc::collections::VecDeque;

pub(crate) const TARGET: Parameter<Span> =
    Parameter::new("target", Span::from_millis(5), above_zero(), "acceptable standing queueing delay (TARGET)");
pub(crate) const INTERVAL: Parameter<Span> = Parameter::new(
    "interval",
    Span::from_millis(100),
    above_zero(),
    "time above target before dropping starts: a worst-case round trip (INTERVAL)",
);

/// The settings.
pub const PARAMETERS: Parameters = &[&TARGET, &INTERVAL];

/// A new dropping state starts from the rate of the last if that ended less than this many intervals ago (RFC 8289,
/// section 5.5).
const REMEMBERED_INTERVALS: u64 = 16;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params {
    target: Span,
    interval: Span,
    /// One full packet.
    packet: Bytes,
}

impl Params {
    pub fn read(setup: &Setup, settings: &Settings) -> Result<Params, SettingError> {
        Ok(Params { target: TARGET.read(settings)?, interval: INTERVAL.read(settings)?, packet: setup.packet })
    }

    /// The time from a drop to the next, `interval / sqrt(count)`.
    fn pause(&self, count: u32) -> Span {
        Span::from_picos((self.interval.picos() as f64 / libm::sqrt(f64::from(count.max(1)))) as u64)
    }
}

/// The state of one queue; the head of this file has the law.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Codel {
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    count: u32,
    last_count: u32,
}

impl Codel {
    /// The next packet of `queue` to send. Packets that are dropped on the way are handed to `discard`.
    pub fn dequeue<P>(
        &mut self,
        params: &Params,
        now: Time,
        queue: &mut Timed<P>,
        mut discard: impl FnMut(Packet<P>),
    ) -> Option<Packet<P>> {
        let (mut packet, mut ok) = self.head_verdict(params, now, queue)?;
        if !self.dropping {
            if ok {
                self.begin(params, now);
                return self.strike(params, now, queue, packet, &mut discard).map(|(packet, _)| packet);
            }
            return Some(packet);
        }
        self.dropping = ok;
        while self.dropping && now >= self.drop_next {
            self.count = self.count.saturating_add(1);
            if packet.ecn.is_capable() {
                packet.marks.congestion = true;
                self.drop_next += params.pause(self.count);
                return Some(packet);
            }
            (packet, ok) = self.strike(params, now, queue, packet, &mut discard)?;
            self.dropping = ok;
            if ok {
                self.drop_next += params.pause(self.count);
            }
        }
        Some(packet)
    }

    /// Takes the packet at the head, and returns whether it is ok to drop it.
    fn head_verdict<P>(&mut self, params: &Params, now: Time, queue: &mut Timed<P>) -> Option<(Packet<P>, bool)> {
        let Some((came, packet)) = queue.pop() else {
            (self.first_above, self.dropping) = (None, false);
            return None;
        };
        if now.saturating_since(came) < params.target || queue.bytes() <= params.packet {
            self.first_above = None;
            return Some((packet, false));
        }
        let first_above = *self.first_above.get_or_insert(now + params.interval);
        Some((packet, now >= first_above))
    }

    /// Enters the dropping state.
    fn begin(&mut self, params: &Params, now: Time) {
        let recent = now.saturating_since(self.drop_next) < params.interval.saturating_mul(REMEMBERED_INTERVALS);
        let delta = self.count.saturating_sub(self.last_count);
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
        self.drop_next = now + params.pause(self.count);
    }

    /// Marks this packet, or drops it and takes the next.
    fn strike<P>(
        &mut self,
        params: &Params,
        now: Time,
        queue: &mut Timed<P>,
        mut packet: Packet<P>,
        discard: &mut impl FnMut(Packet<P>),
    ) -> Option<(Packet<P>, bool)> {
        if packet.ecn.is_capable() {
            packet.marks.congestion = true;
            return Some((packet, true));
        }
        discard(packet);
        self.head_verdict(params, now, queue)
    }
}

/// One queue under CoDel.
#[derive(Clone, Debug)]
pub struct CodelQueue<P> {
    params: Params,
    codel: Codel,
    waiting: Timed<P>,
    held: Occupancy,
    dropped: VecDeque<Packet<P>>,
}

impl<P> CodelQueue<P> {
    /// Builds it.
    pub fn build(setup: &Setup, settings: &Settings) -> Result<CodelQueue<P>, SettingError> {
        check_names(settings, PARAMETERS)?;
        Ok(CodelQueue {
            params: Params::read(setup, settings)?,
            codel: Codel::default(),
            waiting: Timed::new(),
            held: Occupancy::new(setup.limit),
            dropped: VecDeque::new(),
        })
    }
}

impl<P> Queue<P> for CodelQueue<P> {
    fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Verdict {
        if !self.held.admits(packet.size) {
            return Verdict::Dropped(DropReason::Full);
        }
        self.held.add(packet.size);
        self.waiting.push(now, packet);
        Verdict::Queued
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        let CodelQueue { params, codel, waiting, held, dropped } = self;
        codel.dequeue(params, now, waiting, |packet| {
            held.remove(packet.size);
            dropped.push_back(packet);
        })
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
