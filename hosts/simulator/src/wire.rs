//! What a wire does to packets beside delaying and losing them ([`scenario::Impairments`]), on the way there and, for
//! acknowledgments, on the way back.
//!
//! Rings of packets are in order of time, so that only their heads need be scheduled. Packets that others overtake
//! take a detour: a ring of their own, on which all are late by the same time.

use crate::network::Network;
use crate::sources::Kind;
use crate::transit::{Owner, Transit};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use scenario::{Experiment, Impairments, ReceiverSpec};
use traffic::chance::{self, Purpose};
use units::{Bytes, Span, Time};

/// A wire with impairments.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    impairments: Impairments,
    /// The delay before the first step.
    delay: Span,
    /// When the last packet in order arrives.
    last: Time,
    /// How late an overtaken packet is.
    hold: Span,
    random: Pcg64Mcg,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost,
    /// It arrives then, in order.
    Arrives(Time),
    /// It arrives then, by the detour.
    Late(Time),
}

impl Wire {
    /// That of a link; `None`: it only delays and loses.
    pub(crate) fn new(experiment: &Experiment, index: usize, largest: Bytes) -> Option<Box<Wire>> {
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
    pub(crate) fn fate(&mut self, departs: Time) -> Fate {
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

/// The way back of one flow's acknowledgments, where that does more than delay them.
#[derive(Clone, Debug)]
pub(crate) struct Return {
    /// A draw of 32 bits below this loses one.
    loss_below: u64,
    bunching: Span,
    random: Pcg64Mcg,
}

impl Return {
    /// That of a flow; `None`: it only delays.
    pub(crate) fn new(receiver: &ReceiverSpec, seed: u64, index: usize) -> Option<Box<Return>> {
        let loss_below = receiver.ack_loss.q32();
        let random = Pcg64Mcg::seed_from_u64(chance::seed(seed, Purpose::Return, index));
        let plain = loss_below == 0 && receiver.ack_bunching == Span::ZERO;
        (!plain).then(|| Box::new(Return { loss_below, bunching: receiver.ack_bunching, random }))
    }

    /// When an acknowledgment gets there that would do so at `at`; `None`: it is lost.
    pub(crate) fn carry(&mut self, at: Time) -> Option<Time> {
        if self.loss_below > 0 && self.random.next_u64() >> 32 < self.loss_below {
            return None;
        }
        let bunch = self.bunching.picos().max(1);
        Some(Time::from_picos(at.picos().div_ceil(bunch) * bunch))
    }
}

impl Network {
    /// A packet that others overtake.
    pub(crate) fn detour(&mut self, link: usize, transit: Transit) {
        let ring = &mut self.detours[link];
        if ring.is_empty() {
            self.schedule.packet(transit.at, self.sources.id(Kind::Detour(link as u32)));
        }
        ring.push_back(transit);
    }

    /// The first packet of a detour arrives.
    pub(crate) fn off_detour(&mut self, now: Time, link: usize) {
        let ring = &mut self.detours[link];
        let Some(transit) = ring.pop_front() else { return };
        self.schedule.advance_packet(ring.front().map(|next| next.at));
        let route = match transit.owner() {
            Owner::Flow(flow) => self.flows[flow].route,
            Owner::Traffic(source) => self.traffic[source].route,
        };
        match self.routes[route as usize].get(usize::from(transit.hop)) {
            Some(&next) => self.arrive(now, next as usize, transit),
            None => self.reaches_host(now, transit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Reordering;
    use units::Ratio;

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
    fn the_share_that_is_asked_for_is_late_by_the_hold() {
        let reorder = Some(Reordering { share: Ratio::of(1, 4), packets: 3 });
        let mut wire = wire(Impairments { reorder, ..Impairments::default() });
        let late = (0..4000).filter(|ms| wire.fate(at(*ms)) == Fate::Late(at(ms + 13))).count();
        assert!((900..1100).contains(&late), "{late}");
    }

    #[test]
    fn acknowledgments_come_in_bunches_and_the_share_that_is_asked_for_is_lost() {
        let mut back =
            Return { loss_below: 1 << 31, bunching: Span::from_millis(5), random: Pcg64Mcg::seed_from_u64(1) };
        let carried: Vec<Time> = (1..=4000).filter_map(|ms| back.carry(at(ms))).collect();
        assert!((1900..2100).contains(&carried.len()), "{}", carried.len());
        assert!(carried.iter().all(|time| time.picos() % Span::from_millis(5).picos() == 0));
    }
}
