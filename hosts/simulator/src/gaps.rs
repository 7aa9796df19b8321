//! How a sending host creates gaps, and how it errs.
//!
//! `Noise` and `Timer` delay the instant at which the sender is woken: it sends late and records the late time, as a
//! kernel does. `Batch` errs behind its back: packets leave the sender on time, wait in the network card and leave
//! the host together, which no send record shows.

use crate::transit::Transit;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use scenario::GapModel;
use units::{Span, Time};

/// The longest that a batch waits for its last packet.
const BATCH_TIMEOUT: Span = Span::from_micros(100);

/// The error of one sending host.
#[derive(Clone, Debug)]
pub(crate) struct Gaps {
    model: GapModel,
    random: Pcg64Mcg,
    /// Packets that wait until a batch is full.
    pub(crate) held: Vec<Transit>,
}

impl Gaps {
    /// `None` for a host that does not err.
    pub(crate) fn new(model: GapModel, seed: u64) -> Option<Box<Gaps>> {
        let random = Pcg64Mcg::seed_from_u64(seed);
        (model != GapModel::Perfect).then(|| Box::new(Gaps { model, random, held: Vec::new() }))
    }

    /// When a sender that asked for `due` is woken.
    #[inline]
    pub(crate) fn wake(&mut self, due: Time) -> Time {
        match self.model {
            GapModel::Perfect | GapModel::Batch(_) => due,
            GapModel::Noise(most) => due + Span::from_picos(self.random.random_range(0..=most.picos())),
            GapModel::Timer(period) => {
                let tick = due.picos().div_ceil(period.picos());
                Time::from_picos(tick.saturating_mul(period.picos()))
            }
        }
    }

    /// How many packets leave the host at a time.
    fn batch(&self) -> usize {
        match self.model {
            GapModel::Batch(packets) => packets as usize,
            _ => 1,
        }
    }

    /// Holds a packet; whether the batch is full.
    pub(crate) fn hold(&mut self, transit: Transit) -> bool {
        self.held.push(transit);
        self.held.len() >= self.batch()
    }

    /// When the batch leaves, full or not; [`Time::MAX`] when there is none.
    pub(crate) fn deadline(&self) -> Time {
        self.held.first().map_or(Time::MAX, |first| first.at.saturating_add(BATCH_TIMEOUT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_wakes_at_its_next_tick() {
        let mut gaps = Gaps::new(GapModel::Timer(Span::from_micros(10)), 1).unwrap();
        assert_eq!(gaps.wake(Time::from_nanos(10_000)), Time::from_nanos(10_000));
        assert_eq!(gaps.wake(Time::from_nanos(10_001)), Time::from_nanos(20_000));
    }

    #[test]
    fn noise_is_never_early_and_never_above_its_bound() {
        let mut gaps = Gaps::new(GapModel::Noise(Span::from_nanos(400)), 1).unwrap();
        let due = Time::from_nanos(1_000_000);
        let errors: Vec<u64> = (0..1000).map(|_| gaps.wake(due).since(due).picos()).collect();
        assert!(errors.iter().all(|e| *e <= 400_000));
        let mean = errors.iter().sum::<u64>() / 1000;
        // Uniform on 0..400 ns: mean 200 ns, standard error 400/sqrt(12 * 1000) = 3.7 ns.
        assert!((185_000..215_000).contains(&mean), "{mean}");
    }
}
