//! How a sending host creates gaps, and how it errs.
//!
//! Most models delay the instant at which the sender is woken: it sends late and records the late time, as a kernel does.
//! `Batch` errs behind its back: packets leave the sender on time, wait in the network card and leave the host together,
//! which no send record shows. `BusyWait` is early, which only probe streams and packets of applications can be: no controller allows it.
//!
//! Source: Q. Yin, "TCP RAPID: from theory to practice", section 4.6. What is printed there and what is chosen here:
//!  1. Busy-waiting: errors within 2 us, always below zero, since a clock of 1 us makes the sender use the floor of the
//!     gap. Here exactly the floor.
//!  2. Timer interrupts (hrtimer): a mean below 0.1 us, but single gaps off by more than 20 us; handlers that were deferred
//!     run together, which leaves a gap of over 100 us and, behind it, gaps of the line rate. Here an interrupt is deferred
//!     with a probability, by 50 to 150 us; what is due meanwhile leaves with it. How often is not printed: the default, 0.05,
//!     is the value at which the share of over-estimates in figure 4.9 comes out as printed.
//!  3. Dummy packets: errors below 0.4 us with a deviation below 0.5 us. Here `Noise`, uniform up to 0.4 us.
//!  4. Several flows on one processor (figure 4.10) are not modelled: `Late` takes measured quantiles instead.

use crate::transit::Transit;
use experiment::scenario::GapModel;
use packetscale_models::units::{Ratio, Span, Time};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The longest that a batch waits for its last packet.
const BATCH_TIMEOUT: Span = Span::from_micros(100);

/// The error of one sending host.
#[derive(Clone, Debug)]
pub(crate) struct Gaps {
    model: GapModel,
    random: Pcg64Mcg,
    /// Until when timer interrupts are deferred.
    deferred: Time,
    /// Packets that wait until a batch is full.
    held: Vec<Transit>,
}

impl Gaps {
    /// `None` for a host that does not err.
    pub(crate) fn new(model: GapModel, seed: u64) -> Option<Box<Gaps>> {
        let random = Pcg64Mcg::seed_from_u64(seed);
        (model != GapModel::Perfect).then(|| Box::new(Gaps { model, random, deferred: Time::ZERO, held: Vec::new() }))
    }

    /// When a sender wakes from a sleep until `due`.
    #[inline]
    pub(super) fn wake(&mut self, due: Time) -> Time {
        match self.model {
            GapModel::Perfect | GapModel::Batch(_) | GapModel::BusyWait(_) => due,
            GapModel::Hrtimer { deferral, often } => self.interrupt(due, deferral, often),
            GapModel::Late { p50, p99, p999 } => due + self.late(p50, p99, p999),
            GapModel::Noise(most) => due + Span::from_picos(self.random.random_range(0..=most.picos())),
            GapModel::Timer(period) => {
                let tick = due.picos().div_ceil(period.picos());
                Time::from_picos(tick.saturating_mul(period.picos()))
            }
        }
    }

    /// When a packet of a probe stream leaves that is scheduled `gap` after the one before, which left at `before`, on a
    /// schedule that has it at `due`.
    pub(crate) fn create(&mut self, before: Time, gap: Span, due: Time) -> Time {
        match self.model {
            GapModel::BusyWait(step) => before + Span::from_picos(gap.picos() - gap.picos() % step.picos()),
            _ => self.wake(due).max(before),
        }
    }

    /// The end of a deferral in progress at `due`, or of one that begins.
    fn interrupt(&mut self, due: Time, deferral: Span, often: Ratio) -> Time {
        if due >= self.deferred && u64::from(self.random.next_u32()) < often.q32() {
            let half = deferral.picos() / 2;
            self.deferred = due + Span::from_picos(self.random.random_range(half..=half + deferral.picos()));
        }
        due.max(self.deferred)
    }

    /// By inversion, linear between the quantiles.
    fn late(&mut self, p50: Span, p99: Span, p999: Span) -> Span {
        let draw = self.random.random_range(0..1_000_000u64);
        let between = |from: (u64, Span), to: (u64, Span)| {
            let part = Ratio::of(draw - from.0, to.0 - from.0);
            from.1 + to.1.saturating_sub(from.1).scale(part)
        };
        match draw {
            0..500_000 => between((0, Span::ZERO), (500_000, p50)),
            500_000..990_000 => between((500_000, p50), (990_000, p99)),
            990_000..999_000 => between((990_000, p99), (999_000, p999)),
            _ => p999,
        }
    }

    /// How many packets leave the host at a time.
    pub(crate) fn batch(&self) -> usize {
        match self.model {
            GapModel::Batch(packets) => packets as usize,
            _ => 1,
        }
    }

    /// Holds a packet; whether the batch is full.
    pub(super) fn hold(&mut self, transit: Transit) -> bool {
        self.held.push(transit);
        self.held.len() >= self.batch()
    }

    /// Takes the packets that wait.
    pub(super) fn release(&mut self) -> Vec<Transit> {
        std::mem::take(&mut self.held)
    }

    /// When the batch leaves, full or not; [`Time::MAX`] without one.
    pub(super) fn deadline(&self) -> Time {
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
    fn busy_waiting_takes_the_floor_of_a_gap() {
        let mut gaps = Gaps::new(GapModel::BusyWait(Span::from_micros(1)), 1).unwrap();
        let before = Time::from_nanos(123);
        assert_eq!(gaps.create(before, Span::from_nanos(7_230), Time::from_nanos(7_353)), Time::from_nanos(7_123));
    }

    #[test]
    fn a_deferred_interrupt_delays_everything_due_meanwhile() {
        let model = GapModel::Hrtimer { deferral: Span::from_micros(100), often: Ratio::ONE };
        let mut gaps = Gaps::new(model, 1).unwrap();
        let first = gaps.wake(Time::from_nanos(1_000));
        let waited = first.since(Time::from_nanos(1_000)).nanos();
        assert!((50_000..=150_000).contains(&waited), "{waited}");
        assert_eq!(gaps.wake(Time::from_nanos(20_000)), first);
        assert!(gaps.wake(first) > first);
    }

    #[test]
    fn lateness_has_the_quantiles_it_was_given() {
        let quantiles = [Span::from_nanos(47), Span::from_nanos(5_800), Span::from_micros(59)];
        let [p50, p99, p999] = quantiles;
        let mut gaps = Gaps::new(GapModel::Late { p50, p99, p999 }, 1).unwrap();
        let due = Time::from_nanos(1_000_000);
        let late: Vec<Span> = (0..100_000).map(|_| gaps.wake(due).since(due)).collect();
        // Standard errors of the shares: 0.16, 0.03 and 0.01 %.
        for (quantile, share) in quantiles.iter().zip([0.5, 0.99, 0.999]) {
            let below = late.iter().filter(|late| **late < *quantile).count() as f64 / 1e5;
            assert!((below - share).abs() < 0.006, "{quantile}: {below}");
        }
        assert!(late.iter().all(|late| *late <= p999));
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
