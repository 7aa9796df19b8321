//! Impairments of a wire other than delay and loss ([`experiment::scenario::Impairments`]).
//!
//! Rings of packets are in order of time, so that only their heads need be scheduled. Packets that others overtake
//! take a detour: a ring of their own, on which all are late by the same time.

use experiment::scenario::{Experiment, Impairments};
use experiment::traffic::chance::{self, Purpose};
use packetscale_models::units::{Bytes, Span, Time};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A wire with impairments.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    impairments: Impairments,
    /// The delay before the first step.
    delay: Span,
    /// When the last packet in order arrives.
    last: Time,
    /// How late an overtaken packet is.
    hold: Span,
    random: Pcg64Mcg,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    /// Arrives at this time, in order.
    Arrives(Time),
    /// Arrives at this time, by the detour.
    Late(Time),
}

impl Wire {
    /// The wire of a link; `None`: it only delays and loses.
    pub(super) fn new(experiment: &Experiment, index: usize, largest: Bytes) -> Option<Box<Wire>> {
        let spec = &experiment.links[index];
        if spec.impairments == Impairments::default() {
            return None;
        }
        Some(Box::new(Wire {
            delay: spec.delay,
            last: Time::ZERO,
            hold: spec.impairments.reorder.map_or(Span::ZERO, |late| spec.rate.time_for(largest) * late.packets),
            random: Pcg64Mcg::seed_from_u64(chance::seed(experiment.seed, Purpose::Reordering, index)),
            impairments: spec.impairments.clone(),
        }))
    }

    /// Of a packet that leaves the link at `departs`.
    pub(super) fn fate(&mut self, departs: Time) -> Fate {
        if self.impairments.outages.iter().any(|(from, to)| *from <= departs && departs < *to) {
            return Fate::Lost;
        }
        let step = self.impairments.delay_steps.iter().rev().find(|(at, _)| *at <= departs);
        let delay = step.map_or(self.delay, |(_, delay)| *delay);
        self.last = self.last.max(departs + delay);
        match self.impairments.reorder {
            Some(late) if self.random.next_u64() >> 32 < late.share.q32() => Fate::Late(self.last + self.hold),
            _ => Fate::Arrives(self.last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::scenario::Reordering;
    use packetscale_models::units::Ratio;

    fn wire(impairments: Impairments) -> Wire {
        Wire {
            impairments,
            delay: Span::from_millis(10),
            last: Time::ZERO,
            hold: Span::from_millis(3),
            random: Pcg64Mcg::seed_from_u64(1),
        }
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_wire_keeps_its_order_where_its_delay_falls() {
        let steps = vec![(at(100), Span::from_millis(50)), (at(200), Span::from_millis(5))];
        let mut wire = wire(Impairments { delay_steps: steps, ..Impairments::default() });
        let fates = [99, 100, 199, 200, 250].map(|departs| wire.fate(at(departs)));
        assert_eq!(fates, [109, 150, 249, 249, 255].map(|ms| Fate::Arrives(at(ms))));
    }

    #[test]
    fn an_outage_loses_what_leaves_in_it() {
        let mut wire = wire(Impairments { outages: vec![(at(20), at(30))], ..Impairments::default() });
        let fates = [19, 20, 29, 30].map(|departs| wire.fate(at(departs)));
        assert_eq!(fates, [Fate::Arrives(at(29)), Fate::Lost, Fate::Lost, Fate::Arrives(at(40))]);
    }

    #[test]
    fn the_configured_share_is_late_by_the_hold() {
        let reorder = Some(Reordering { share: Ratio::of(1, 4), packets: 3 });
        let mut wire = wire(Impairments { reorder, ..Impairments::default() });
        let late = (0..4000).filter(|ms| wire.fate(at(*ms)) == Fate::Late(at(ms + 13))).count();
        assert!((900..1100).contains(&late), "{late}");
    }
}
