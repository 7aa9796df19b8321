//! Computes the busy periods and windows of one link from arrivals alone.
//!
//! The unfinished work `V(t)`, in time on the link, falls with slope 1 and jumps by a packet's service time `s` when
//! the packet arrives. Let `free` be when the link would rest. Then `V(t) = max(free - t, 0)`, and
//!
//! ```text
//! arrival at t:                W = V(t), twice the area += s (2 W + s), free = max(t, free) + s
//! the link rests at free < t:  b = free - start, eta = twice the area / b^2
//! still busy at t:             twice the area up to t = twice the area - V(t)^2
//! busy time up to t:           B(t) = work that has arrived - V(t)
//! waiting only:                twice the area += 2 s W: without the packet in service, eta is less by sum(s^2) / b^2
//! ```
//!
//! All of it is exact in picoseconds: service times are the link's own, with remainders carried.

use crate::units::{Bytes, Rate, Serialiser, Span, Time};

/// The meter; the head of this file explains it.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    wire: Serialiser,
    /// When the link rests, if nothing more arrives.
    free: Time,
    /// Start of the busy period that lasts until `free`; `None` when it has been reported.
    start: Option<Time>,
    /// Twice the integral of V over this busy period, in square picoseconds.
    doubled_area: u128,
    /// Service times of all packets that have arrived.
    work: Span,
    /// Busy periods are joined until they are longer than this.
    shortest: Span,
    delay: Delay,
    /// The busy periods joined so far: busy time and twice the area.
    together: (Span, u128),
    window: Span,
    window_end: Time,
    /// Work and busy time up to the beginning of the window.
    at_window: (Span, Span),
}

/// Definitions of the queueing delay `V`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delay {
    /// All unfinished work, the packet in service included.
    Unfinished,
    /// The work of the packets that wait.
    Waiting,
}

/// The results of the meter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    /// A window has ended.
    Window {
        /// Its end.
        end: Time,
        /// Share of it in which the link was busy.
        busy: f64,
        /// Work that arrived in it, divided by its length.
        offered: f64,
    },
    /// This number of windows in which nothing arrived and the link rested.
    IdleWindows(u64),
    /// A busy period, or several short ones together, have ended.
    Burstiness(f64),
}

impl Meter {
    pub fn new(rate: Rate, window: Span, shortest: Span, delay: Delay) -> Meter {
        Meter {
            wire: Serialiser::new(rate),
            free: Time::ZERO,
            start: None,
            doubled_area: 0,
            work: Span::ZERO,
            shortest,
            delay,
            together: (Span::ZERO, 0),
            window,
            window_end: Time::ZERO + window,
            at_window: (Span::ZERO, Span::ZERO),
        }
    }

    /// Returns the unfinished work at `now`, which is after the last arrival.
    fn unfinished(&self, now: Time) -> Span {
        self.free.saturating_since(now)
    }

    /// Returns the next thing known by `now`, in order of time. Call it until it returns `None`.
    pub fn next(&mut self, now: Time) -> Option<Known> {
        let rested = self.start.filter(|_| self.free < now);
        if let Some(start) = rested.filter(|_| self.free < self.window_end) {
            self.start = None;
            return match self.end_busy_period(self.free.since(start)) {
                Some(eta) => Some(Known::Burstiness(eta)),
                None => self.next(now),
            };
        }
        if self.window_end > now {
            return None;
        }
        if self.start.is_none() && self.at_window == (self.work, self.work) {
            let windows = now.since(self.window_end) / self.window + 1;
            self.window_end = self.window_end.saturating_add(self.window.saturating_mul(windows));
            return Some(Known::IdleWindows(windows));
        }
        let end = self.window_end;
        let busy = self.work - self.unfinished(end);
        let share = |part: Span| part.picos() as f64 / self.window.picos() as f64;
        let known =
            Known::Window { end, busy: share(busy - self.at_window.1), offered: share(self.work - self.at_window.0) };
        self.at_window = (self.work, busy);
        self.window_end = end.saturating_add(self.window);
        Some(known)
    }

    fn end_busy_period(&mut self, length: Span) -> Option<f64> {
        let area = core::mem::take(&mut self.doubled_area);
        if length > self.shortest {
            return Some(eta(area, length));
        }
        self.together = (self.together.0 + length, self.together.1 + area);
        (self.together.0 > self.shortest).then(|| {
            let (length, area) = core::mem::take(&mut self.together);
            eta(area, length)
        })
    }

    /// Returns the burstiness of the current busy period up to `now`, of unfinished work; `None` when the link rests.
    pub fn so_far(&self, now: Time) -> Option<f64> {
        let start = self.start.filter(|start| *start < now && self.free >= now)?;
        let ahead = u128::from(self.unfinished(now).picos());
        Some(eta(self.doubled_area - ahead * ahead, now.since(start)))
    }

    /// A packet is accepted. The caller has taken everything known by `now` with `next`.
    pub fn arrival(&mut self, now: Time, size: Bytes) {
        let (service, wait) = (self.wire.next(size), self.unfinished(now));
        if self.start.is_none() {
            self.start = Some(now);
        }
        let (s, w) = (u128::from(service.picos()), u128::from(wait.picos()));
        self.doubled_area += match self.delay {
            Delay::Unfinished => s * (2 * w + s),
            Delay::Waiting => 2 * s * w,
        };
        self.free = self.free.max(now) + service;
        self.work += service;
    }
}

fn eta(doubled_area: u128, length: Span) -> f64 {
    let length = length.picos() as f64;
    doubled_area as f64 / (length * length)
}

#[cfg(test)]
mod tests;
