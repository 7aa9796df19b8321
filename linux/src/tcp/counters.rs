//! Totals of all connections since the load: the mirror of `bpf/counters.h`.

use crate::tcp::report::{Limit, Reason};
use crate::tcp::wire::{Plain, value_of};
use crate::tcp::{Error, pins};
use libbpf_rs::{MapCore, MapFlags};

/// How many limits and reasons the programs know.
const LIMITS: usize = Limit::ALL.len();
const REASONS: usize = Reason::ALL.len() + 1;

/// `struct counters`: cumulative since the load.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections that selected Rapid.
    pub begun: u64,
    /// Of these, those that got no slot.
    pub refused: u64,
    /// Those that Rapid began to steer.
    pub steered: u64,
    /// Those that released their slot.
    pub ended: u64,
    /// Times that a peer's arrival times were impossible for a clock.
    pub distrusted: u64,
    /// Times that arrivals ceased to come.
    pub silenced: u64,
    /// Retransmission timers that expired under Rapid.
    pub timeouts: u64,
    /// Of these, those later found spurious and undone.
    pub undone: u64,
    /// Round trips after which the guard lowered the rate, or in which its window was full.
    pub guarded: u64,
    /// Connections handed to CUBIC without a report, because the ring was full.
    pub unreported: u64,
    /// Time in nanoseconds that each limit held packets back, summed over connections; in the order of `Limit::ALL`.
    pub limited_ns: [u64; LIMITS],
    /// Connections that CUBIC has taken over, by the number of the reason; 0 is none.
    pub fallen: [u64; REASONS],
}

// SAFETY: double words.
unsafe impl Plain for Counters {}

impl Counters {
    /// Returns how many connections CUBIC has taken over for this reason.
    pub fn fallen(&self, reason: Reason) -> u64 {
        self.fallen.get(reason.number()).copied().unwrap_or(0)
    }

    /// Returns how many connections CUBIC has taken over.
    pub fn all_fallen(&self) -> u64 {
        self.fallen.iter().sum()
    }

    /// Time in nanoseconds that this limit held packets back, summed over connections.
    pub fn limited_ns(&self, limit: Limit) -> u64 {
        self.limited_ns[limit as usize]
    }

    /// Returns how many connections have a slot now.
    pub fn now(&self) -> u64 {
        self.begun.saturating_sub(self.refused).saturating_sub(self.ended)
    }

    fn words(&mut self) -> impl Iterator<Item = &mut u64> {
        let Counters {
            begun,
            refused,
            steered,
            ended,
            distrusted,
            silenced,
            timeouts,
            undone,
            guarded,
            unreported,
            ..
        } = self;
        let single = [begun, refused, steered, ended, distrusted, silenced, timeouts, undone, guarded, unreported];
        single.into_iter().chain(&mut self.limited_ns).chain(&mut self.fallen)
    }

    fn add(&mut self, mut other: Counters) {
        self.words().zip(other.words()).for_each(|(sum, more)| *sum += *more);
    }
}

/// Reads the counters, summed over processors, without touching connections.
///
/// # Errors
/// Nothing is loaded under `name`, or its map cannot be read.
pub fn counters(name: &str) -> Result<Counters, Error> {
    let map = pins::open(name, "counters")?;
    let copies = map.lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY);
    let copies = copies.map_err(|error| Error::machine("reading the counters", error))?;
    let mut sum = Counters::default();
    for copy in copies.into_iter().flatten() {
        sum.add(value_of(&copy).ok_or_else(|| Error::Machine("the map `counters` is too short".to_string()))?);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words 1, 2, 3, ... in the order of `struct counters`.
    fn counting() -> Counters {
        let words: Vec<u8> = (1..=20u64).flat_map(u64::to_ne_bytes).collect();
        assert_eq!(words.len(), size_of::<Counters>());
        value_of(&words).expect("as many words")
    }

    #[test]
    fn words_match_program_order() {
        let found = counting();
        assert_eq!((found.begun, found.refused, found.ended, found.unreported), (1, 2, 4, 10));
        assert_eq!(Limit::ALL.map(|limit| found.limited_ns(limit)), [11, 12, 13]);
        // The reason 0 is none.
        assert_eq!(Reason::ALL.map(|reason| found.fallen(reason)), [15, 16, 17, 18, 19, 20]);
    }

    #[test]
    fn sums_counters_over_processors() {
        let mut sum = counting();
        sum.add(counting());
        assert_eq!((sum.begun, sum.guarded, sum.limited_ns(Limit::Window)), (2, 18, 26));
        assert_eq!(sum.fallen(Reason::Bursts), 36);
        let some = Counters { begun: 9, refused: 2, ended: 4, fallen: [0, 2, 1, 0, 0, 0, 0], ..Counters::default() };
        assert_eq!((some.now(), some.all_fallen()), (3, 3));
    }
}
