//! Seeds: every source of chance in a run has its own, derived from the run's seed.
//!
//! ```text
//! seed = mix(run seed ^ purpose * 0x9E37... ^ index * 0xD1B5...)        mix: the finaliser of SplitMix64
//! ```
//!
//! A purpose and an index (of a link, a flow, a traffic source, ...) name one source of chance. Its draws do not depend
//! on the number of others, so adding a flow changes nothing else. Source: G. L. Steele, D. Lea, C. H. Flood,
//! "Fast splittable pseudorandom number generators", OOPSLA 2014.

/// The purpose of a seed. Each number is used once and keeps its meaning: changing it changes the runs that draw from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Random loss on a link.
    LinkLoss = 1,
    /// Whatever a controller draws.
    Controller = 2,
    /// When a flow starts.
    Start = 3,
    /// Errors of a sender's gaps.
    Gaps = 4,
    /// The packets of a traffic source.
    Traffic = 5,
    /// Whatever a queue discipline draws.
    Queue = 6,
    /// When an application offers data.
    Application = 7,
    /// Interrupt coalescence at a receiver's card.
    Card = 8,
    /// The rates of probe streams.
    ProbeStreams = 9,
    /// How late a receiver's stamps are.
    Stamps = 10,
    /// Which packets of a link are overtaken.
    Reordering = 11,
    /// The way back of acknowledgments.
    Return = 12,
    /// When flows arrive, and how much they send.
    Arrivals = 13,
    /// Delay that a link adds to each packet.
    Jitter = 14,
    /// Losses of a link in bursts.
    LossBursts = 15,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Purpose; 15] = [
        Purpose::LinkLoss,
        Purpose::Controller,
        Purpose::Start,
        Purpose::Gaps,
        Purpose::Traffic,
        Purpose::Queue,
        Purpose::Application,
        Purpose::Card,
        Purpose::ProbeStreams,
        Purpose::Stamps,
        Purpose::Reordering,
        Purpose::Return,
        Purpose::Arrivals,
        Purpose::Jitter,
        Purpose::LossBursts,
    ];
}

/// Returns the seed of the `index`-th source of chance with this purpose, in a run with the seed `run`.
pub fn seed(run: u64, purpose: Purpose, index: usize) -> u64 {
    let purpose = (purpose as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let index = (index as u64).wrapping_mul(0xD1B5_4A32_D192_ED03);
    let mut z = run ^ purpose ^ index;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use std::collections::BTreeMap;

    #[test]
    fn no_two_purposes_have_one_number() {
        let numbers: Vec<u64> = Purpose::ALL.iter().map(|purpose| *purpose as u64).collect();
        assert_eq!(numbers, (1..=15).collect::<Vec<u64>>());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// In a run with up to 300 links, flows and sources, every source of chance starts with a different number.
        #[test]
        fn no_two_random_sources_in_a_run_are_equal(run in 0u64..1 << 53) {
            let mut first = BTreeMap::new();
            for purpose in Purpose::ALL {
                for index in 0..300 {
                    let drawn = Pcg64Mcg::seed_from_u64(seed(run, purpose, index)).next_u64();
                    let other = first.insert(drawn, (purpose, index));
                    prop_assert_eq!(other, None, "{:?} {} draws as another", purpose, index);
                }
            }
        }
    }
}
