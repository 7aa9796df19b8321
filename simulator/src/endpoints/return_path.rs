//! The way back of a flow's acknowledgments, except their delay: loss, bunching, links to cross.

use experiment::scenario::ReceiverSpec;
use experiment::traffic::chance::{self, Purpose};
use packetscale_models::units::{Span, Time};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The return path of one flow, where it does more than delay.
#[derive(Clone, Debug)]
pub(super) struct ReturnPath {
    /// A draw of 32 bits below this loses one.
    loss_below: u64,
    bunching: Span,
    random: Pcg64Mcg,
    /// The number of the route that they cross; `None`: no links.
    route: Option<u32>,
}

impl ReturnPath {
    /// The return path of the flow with this number; `None`: it only delays.
    pub(super) fn new(receiver: &ReceiverSpec, seed: u64, index: usize, route: Option<u32>) -> Option<Box<ReturnPath>> {
        let loss_below = receiver.ack_loss.q32();
        let random = Pcg64Mcg::seed_from_u64(chance::seed(seed, Purpose::Return, index));
        let plain = loss_below == 0 && receiver.ack_bunching == Span::ZERO && route.is_none();
        (!plain).then(|| Box::new(ReturnPath { loss_below, bunching: receiver.ack_bunching, random, route }))
    }

    /// The number of the route that acknowledgments cross, if they cross links.
    pub(super) fn route(&self) -> Option<u32> {
        self.route
    }

    /// Whether the next acknowledgment is lost.
    pub(super) fn loses(&mut self) -> bool {
        self.loss_below > 0 && self.random.next_u64() >> 32 < self.loss_below
    }

    /// When an acknowledgment arrives that would arrive at `at` without bunching.
    pub(super) fn bunched(&self, at: Time) -> Time {
        let bunch = self.bunching.picos().max(1);
        Time::from_picos(at.picos().div_ceil(bunch) * bunch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn acknowledgments_are_bunched_and_lost_as_configured() {
        let (bunching, random) = (Span::from_millis(5), Pcg64Mcg::seed_from_u64(1));
        let mut path = ReturnPath { loss_below: 1 << 31, bunching, random, route: None };
        let carried: Vec<Time> = (1..=4000).filter(|_| !path.loses()).map(at).collect();
        let carried: Vec<Time> = carried.into_iter().map(|time| path.bunched(time)).collect();
        assert!((1900..2100).contains(&carried.len()), "{}", carried.len());
        assert!(carried.iter().all(|time| time.picos() % Span::from_millis(5).picos() == 0));
    }
}
