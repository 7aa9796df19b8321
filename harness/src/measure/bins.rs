//! Amounts per equal interval of time.

use packetscale_models::units::{Span, Time};

/// Amounts per equal interval.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    pub(crate) origin: Time,
    pub(crate) step: Span,
    pub(crate) amounts: Vec<u64>,
}

impl Bins {
    pub(crate) fn new(origin: Time, step: Span, count: usize) -> Bins {
        Bins { origin, step, amounts: vec![0; count] }
    }

    #[inline]
    fn slot(&mut self, at: Time) -> Option<&mut u64> {
        if at < self.origin {
            return None;
        }
        let index = (at.picos() - self.origin.picos()) / self.step.picos();
        self.amounts.get_mut(index as usize)
    }

    #[inline]
    pub(crate) fn add(&mut self, at: Time, amount: u64) {
        if let Some(slot) = self.slot(at) {
            *slot += amount;
        }
    }

    #[inline]
    pub(crate) fn raise(&mut self, at: Time, to: u64) {
        if let Some(slot) = self.slot(at) {
            *slot = (*slot).max(to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_values_outside_the_bins() {
        let mut bins = Bins::new(Time::from_nanos(100), Span::from_nanos(10), 2);
        for ns in [99, 100, 109, 110, 119, 120] {
            bins.add(Time::from_nanos(ns), 1);
        }
        assert_eq!(bins.amounts, [2, 2]);
    }
}
