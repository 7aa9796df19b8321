//! The capacity of a link, as a function of time.
//!
//! `S(t)` is the amount that a link that is never idle has carried by `t`. It rises by a rate that steps, by bursts at
//! single instants, or by both, and may repeat after a period:
//!
//! ```text
//! S(t) = S(t_i-) + burst_i + rate_i (t - t_i)      t_i <= t < t_(i+1)
//! ```
//!
//! A link of constant rate that is idle serves by Lindley's recursion. The same recursion in amounts instead of times
//! serves any `S`: a packet of `size` that arrives at `a` behind packets that end at the amount `w` takes the amounts
//! from `max(w, S(a))` to `w' = max(w, S(a)) + size`, and its last bit leaves at the first `t` with `S(t) >= w'`. What `S`
//! offered before `a` without a packet is lost: the law of `mm-link`'s delivery opportunities (Netravali and others,
//! "Mahimahi", USENIX ATC 2015, section 4; `link_queue.cc`), where each opportunity is a burst of 1500 B.
//!
//! Grants, as in DOCSIS, hand out at the end of each period `P` what could be carried in it: `S(P floor(t / P))` takes the
//! place of `S(t)`, whatever `S` is. A last bit leaves at the first multiple of `P` by which `S` has reached `w'`.
//!
//! Amounts are whole numbers of 1e-12 bit, so that bit/s times ps is exact; instants are rounded up to whole ps.

use crate::units::{Bytes, Rate, Span, Time};
use alloc::sync::Arc;
use alloc::vec::Vec;

/// Amounts per bit: bit/s times ps.
const PER_BIT: u128 = 1_000_000_000_000;

/// From this instant of each period on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityPoint {
    /// When, from the start of the period.
    pub at: Span,
    /// The amount that the link can carry at this very instant.
    pub burst: Bytes,
    /// The rate from then on; zero: nothing.
    pub rate: Rate,
}

/// The capacity of a link: see the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    points: Vec<CapacityPoint>,
    period: Option<Span>,
    /// The period of the grants, if any.
    grants: Option<Span>,
}

impl Capacity {
    /// The end of time for a link that never carries anything again. Later than any run, and far enough from the last
    /// instant that delays can be added.
    pub const NEVER: Time = Time::from_picos(u64::MAX / 2);

    /// From these points, and again after each `period`; before the first point it carries nothing. `None` without
    /// points, or if they are out of order or after the end of the period, or if the link carries nothing in a
    /// period.
    pub fn new(mut points: Vec<CapacityPoint>, period: Option<Span>) -> Option<Capacity> {
        let ordered = points.windows(2).all(|pair| pair[0].at <= pair[1].at);
        let last = points.last()?.at;
        if !ordered || period.is_some_and(|period| period < last || period == Span::ZERO) {
            return None;
        }
        if points.first().is_some_and(|first| first.at > Span::ZERO) {
            points.insert(0, CapacityPoint { at: Span::ZERO, burst: Bytes::ZERO, rate: Rate::ZERO });
        }
        let capacity = Capacity { points, period, grants: None };
        let carries = match period {
            Some(period) => capacity.amount(Time::ZERO, Time::ZERO + period) > Bytes::ZERO,
            None => capacity.points.iter().any(|point| point.burst > Bytes::ZERO || point.rate > Rate::ZERO),
        };
        carries.then_some(capacity)
    }

    /// One rate, always, which is not zero.
    pub fn constant(rate: Rate) -> Option<Capacity> {
        Capacity::new(alloc::vec![CapacityPoint { at: Span::ZERO, burst: Bytes::ZERO, rate }], None)
    }

    /// The same in grants: what it can carry in each `period`, which is not zero, is carried at the end of that period.
    #[must_use]
    pub fn in_grants(self, period: Span) -> Capacity {
        Capacity { grants: (period > Span::ZERO).then_some(period), ..self }
    }

    /// The last grant at or before `t`; without grants `t`.
    fn granted(&self, t: Time) -> Time {
        let grant = |period: Span| Time::from_picos(t.picos() - t.picos() % period.picos());
        self.grants.map_or(t, grant)
    }

    /// The first grant at or after `t`; without grants `t`.
    fn grant_from(&self, t: Time) -> Time {
        match self.grants {
            Some(period) if self.granted(t) < t => self.granted(t).saturating_add(period).min(Capacity::NEVER),
            _ => t,
        }
    }

    /// Whether it carries by its rate only, without bursts.
    pub fn is_smooth(&self) -> bool {
        self.grants.is_none() && self.points.iter().all(|point| point.burst == Bytes::ZERO)
    }

    /// How much can be carried after `from`, up to `to`, rounded down.
    pub fn amount(&self, from: Time, to: Time) -> Bytes {
        let mut account = self.account();
        let before = account.until(from);
        account.until(to.max(from)) - before
    }

    /// The mean rate after `from`, up to `to`, rounded down.
    pub fn mean(&self, from: Time, to: Time) -> Rate {
        Rate::of(self.amount(from, to), to.saturating_since(from))
    }

    /// The mean rate of one period of its points; `None` where they do not repeat.
    pub fn mean_of_period(&self) -> Option<Rate> {
        self.period.map(|period| self.mean(Time::ZERO, Time::ZERO + period))
    }

    /// Reads amounts in order of time.
    pub fn account(&self) -> CapacityAccount<'_> {
        CapacityAccount { capacity: self, cursor: Cursor::START }
    }

    /// The rate from each time on, before `end`. Bursts are not in it, nor are grants: it is what they are made of.
    pub fn rates(&self, end: Time) -> Vec<(Time, Rate)> {
        let mut cursor = Cursor::START;
        let mut rates: Vec<(Time, Rate)> = Vec::new();
        loop {
            let point = self.points[cursor.point];
            match rates.last_mut() {
                Some(last) if last.0 == cursor.at => last.1 = point.rate,
                Some(last) if last.1 == point.rate => {}
                _ => rates.push((cursor.at, point.rate)),
            }
            match cursor.next(self) {
                Some(next) if next.at < end => cursor = next,
                _ => return rates,
            }
        }
    }
}

/// Reads a [`Capacity`] in order of time.
#[derive(Clone, Debug)]
pub struct CapacityAccount<'a> {
    capacity: &'a Capacity,
    cursor: Cursor,
}

impl CapacityAccount<'_> {
    /// How much can be carried up to `to`, rounded down. `to` does not fall from call to call.
    pub fn until(&mut self, to: Time) -> Bytes {
        let amount = self.cursor.advance(self.capacity, self.capacity.granted(to)) / (8 * PER_BIT);
        Bytes::new(u64::try_from(amount).unwrap_or(u64::MAX))
    }
}

/// A point of a capacity, in a certain period.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    point: usize,
    /// When it is.
    at: Time,
    /// When its period began.
    began: Time,
    /// `S` just before it.
    before: u128,
}

impl Cursor {
    const START: Cursor = Cursor { point: 0, at: Time::ZERO, began: Time::ZERO, before: 0 };

    /// `S` at the point, its burst included.
    fn amount(&self, capacity: &Capacity) -> u128 {
        self.before + u128::from(capacity.points[self.point].burst.bits()) * PER_BIT
    }

    /// `S` at `t`, with no other point between this one and `t`.
    fn amount_at(&self, capacity: &Capacity, t: Time) -> u128 {
        let rate = u128::from(capacity.points[self.point].rate.bps());
        self.amount(capacity) + rate * u128::from(t.saturating_since(self.at).picos())
    }

    /// The next point; `None` before the end of time.
    fn next(&self, capacity: &Capacity) -> Option<Cursor> {
        let (point, began) = match (capacity.points.get(self.point + 1), capacity.period) {
            (Some(_), _) => (self.point + 1, self.began),
            (None, Some(period)) => (0, self.began.saturating_add(period)),
            (None, None) => return None,
        };
        let at = began.saturating_add(capacity.points[point].at);
        (at < Capacity::NEVER).then(|| Cursor { point, at, began, before: self.amount_at(capacity, at) })
    }

    /// Moves to the last point at or before `t`, and returns `S` there.
    fn advance(&mut self, capacity: &Capacity, t: Time) -> u128 {
        while let Some(next) = self.next(capacity)
            && next.at <= t
        {
            *self = next;
        }
        self.amount_at(capacity, t)
    }

    /// Moves to the last point that `S` reaches with less than `amount`, or with `amount` itself if `through`.
    fn seek(&mut self, capacity: &Capacity, amount: u128, through: bool) {
        while let Some(next) = self.next(capacity)
            && (next.before < amount || through && next.before == amount)
        {
            *self = next;
        }
    }

    /// The first whole picosecond by which the link has carried `amount`, reached between this point and the next.
    fn instant_of(&self, capacity: &Capacity, amount: u128) -> Time {
        let above = amount.saturating_sub(self.amount(capacity));
        let rate = u128::from(capacity.points[self.point].rate.bps());
        match (above, rate) {
            (0, _) => self.at,
            (_, 0) => Capacity::NEVER,
            _ => {
                let ps = u64::try_from(above.div_ceil(rate)).unwrap_or(u64::MAX);
                self.at.saturating_add(Span::from_picos(ps)).min(Capacity::NEVER)
            }
        }
    }
}

/// Times on a wire with a varying rate, packet after packet: [`crate::units::Serialiser`] for a [`Capacity`].
#[derive(Clone, Debug)]
pub struct VaryingSerialiser {
    capacity: Arc<Capacity>,
    /// The last point at or before the latest instant passed in.
    now: Cursor,
    /// The point at which the next packet begins.
    place: Cursor,
    /// The amount at which it begins.
    taken: u128,
}

impl VaryingSerialiser {
    /// A wire that can carry this.
    pub fn new(capacity: Arc<Capacity>) -> VaryingSerialiser {
        VaryingSerialiser { capacity, now: Cursor::START, place: Cursor::START, taken: 0 }
    }

    /// Nothing was waiting just before `now`: what could have been carried up to then is lost. Instants do not fall from
    /// call to call.
    pub fn idle_until(&mut self, now: Time) {
        self.taken = self.taken.max(self.now.advance(&self.capacity, self.capacity.granted(now)));
    }

    /// When the next packet begins to be carried.
    pub fn begins(&mut self) -> Time {
        let capacity = &*self.capacity;
        self.place.seek(capacity, self.taken, true);
        let stands = capacity.points[self.place.point].rate == Rate::ZERO;
        if stands && self.taken >= self.place.amount(capacity) {
            return Capacity::NEVER;
        }
        let rises = self.place.instant_of(capacity, self.taken);
        // A grant at the very instant from which on more is carried has nothing of it yet, unless that is a burst.
        let next_grant = capacity.grants.is_some() && self.place.amount_at(capacity, rises) == self.taken;
        capacity.grant_from(if next_grant { rises.saturating_add(Span::from_picos(1)) } else { rises })
    }

    /// The next packet, of `size`, is carried: when its last bit has left.
    pub fn next(&mut self, size: Bytes) -> Time {
        self.taken += u128::from(size.bits()) * PER_BIT;
        self.place.seek(&self.capacity, self.taken, false);
        self.capacity.grant_from(self.place.instant_of(&self.capacity, self.taken))
    }
}
