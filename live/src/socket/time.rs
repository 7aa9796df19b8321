//! The time of a packet, and the choice of one clock for those of a stream.

use crate::wire::{Source, Stamp};

/// Arrival or departure time of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// In nanoseconds of CLOCK_REALTIME.
    pub ns: u64,
    /// Clock that took it.
    pub source: Source,
    /// Nanoseconds of the card's clock, if available.
    pub card_ns: Option<u64>,
}

/// The times of packets by one clock, since only then differences are meaningful: the card's if it took all of them,
/// else the kernel's. And the worst source among them.
pub fn by_one_clock(times: &[(u64, Time)]) -> (Vec<Stamp>, Source) {
    let of_card: Option<Vec<Stamp>> =
        times.iter().map(|(sequence, time)| Some(Stamp { sequence: *sequence, ns: time.card_ns? })).collect();
    of_card.map_or_else(
        || {
            let source = times.iter().map(|(_, time)| time.source).reduce(Source::worse);
            let stamp = |(sequence, time): &(u64, Time)| Stamp { sequence: *sequence, ns: time.ns };
            (times.iter().map(stamp).collect(), source.unwrap_or(Source::Card))
        },
        |stamps| (stamps, Source::Card),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: Time = Time { ns: 1_000, source: Source::Kernel, card_ns: None };
    const CARD: Time = Time { ns: 2_000, card_ns: Some(70), ..KERNEL };

    fn stamp(sequence: u64, ns: u64) -> Stamp {
        Stamp { sequence, ns }
    }

    #[test]
    fn uses_card_times_only_if_complete() {
        assert_eq!(by_one_clock(&[(5, CARD), (6, CARD)]), (vec![stamp(5, 70), stamp(6, 70)], Source::Card));
        assert_eq!(by_one_clock(&[(5, KERNEL), (6, CARD)]), (vec![stamp(5, 1_000), stamp(6, 2_000)], Source::Kernel));
        let late = Time { source: Source::Program, ..KERNEL };
        assert_eq!(by_one_clock(&[(5, late), (6, KERNEL)]).1, Source::Program);
        assert_eq!(by_one_clock(&[]), (Vec::new(), Source::Card));
    }
}
