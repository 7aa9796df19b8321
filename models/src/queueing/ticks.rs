//! Updates at equal distances, made at the next event: a discipline has no clock.

use crate::units::{Span, Time};
use core::ops::RangeInclusive;

/// Distances that are allowed. Below the least one, the updates of a second are more than its packets.
pub(crate) const DISTANCES: RangeInclusive<Span> = Span::from_micros(1)..=Span::MAX;

/// Instants at equal distances, the first one distance after the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    next: Time,
    every: Span,
}

impl Ticks {
    /// `every` is above zero.
    pub fn new(every: Span) -> Ticks {
        Ticks { next: Time::ZERO + every, every }
    }

    /// The next instant that is due by `now`.
    pub fn due(&mut self, now: Time) -> Option<Time> {
        let due = self.next;
        (due <= now).then(|| {
            self.next = due.saturating_add(self.every);
            due
        })
    }

    /// Passes over all instants up to `now`.
    pub fn skip(&mut self, now: Time) {
        if self.next <= now {
            let passed = now.since(self.next) / self.every + 1;
            self.next = self.next.saturating_add(self.every.saturating_mul(passed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_one_by_one_and_may_be_skipped() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let mut ticks = Ticks::new(Span::from_millis(15));
        assert_eq!(ticks.due(at(14)), None);
        assert_eq!([ticks.due(at(31)), ticks.due(at(31)), ticks.due(at(31))], [Some(at(15)), Some(at(30)), None]);
        ticks.skip(at(60));
        assert_eq!([ticks.due(at(74)), ticks.due(at(75))], [None, Some(at(75))]);
    }
}
