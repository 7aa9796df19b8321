//! The capacity of the measured link: its rate, constant or not.

use experiment::scenario::LinkSpec;
use packetscale_models::units::{Rate, Span, Time};
use std::sync::Arc;

/// The capacity of a link over time.
#[derive(Clone, Debug)]
pub(crate) struct LinkCapacity {
    /// The rate that it has where it does not change.
    rate: Rate,
    /// The varying capacity.
    varying: Option<Arc<packetscale_models::units::Capacity>>,
}

impl LinkCapacity {
    pub(crate) fn of(link: &LinkSpec) -> LinkCapacity {
        let varying = link.service.variation.as_ref().map(|variation| variation.capacity.clone());
        LinkCapacity { varying, ..LinkCapacity::constant(link.within_buckets(link.rate)) }
    }

    pub(crate) fn constant(rate: Rate) -> LinkCapacity {
        LinkCapacity { rate, varying: None }
    }

    /// The mean after `from`, up to `to`.
    pub(crate) fn mean(&self, from: Time, to: Time) -> Rate {
        self.varying.as_ref().map_or(self.rate, |varying| varying.mean(from, to))
    }

    /// The same in bit/s, without rounding to whole ones.
    pub(crate) fn mean_bps(&self, from: Time, to: Time) -> f64 {
        match &self.varying {
            Some(varying) if from < to => varying.amount(from, to).get() as f64 * 8.0 / to.since(from).as_secs_f64(),
            _ => self.mean(from, to).bps() as f64,
        }
    }

    /// The bytes that can be carried in each of `count` intervals from `origin` on.
    pub(crate) fn amounts(&self, origin: Time, step: Span, count: usize) -> Vec<f64> {
        let Some(varying) = &self.varying else {
            return vec![self.rate.bps() as f64 / 8.0 * step.as_secs_f64(); count];
        };
        let mut account = varying.account();
        let mut before = account.until(origin);
        let ends = (1..=count as u64).map(|i| origin + step * i);
        ends.map(|end| {
            let until = account.until(end);
            let amount = until - before;
            before = until;
            amount.get() as f64
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Variation;

    #[test]
    fn interval_capacity_integrates_rates() {
        let ms = |n| Time::ZERO + Span::from_millis(n);
        let constant = LinkCapacity::constant(Rate::from_mbps(8));
        assert_eq!(constant.amounts(ms(3), Span::from_millis(2), 2), [2000.0, 2000.0]);
        let steps = Variation::steps(Rate::from_mbps(8), vec![(ms(4), Rate::ZERO)], Some(Span::from_millis(6)));
        let varying = LinkCapacity { rate: Rate::from_mbps(8), varying: steps.map(|steps| steps.capacity) };
        // 1000 B in each of the milliseconds 0 to 4, 6 to 10, 12 to 16.
        assert_eq!(varying.amounts(ms(3), Span::from_millis(2), 4), [1000.0, 1000.0, 2000.0, 1000.0]);
        assert_eq!(varying.mean(ms(0), ms(12)), Rate::from_bps(8_000_000 * 2 / 3));
        assert_eq!(varying.mean_bps(ms(0), ms(12)), 8000.0 * 8.0 / 0.012);
    }
}
