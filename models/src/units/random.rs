//! Random numbers for algorithms that have no source of their own. The host's seed fixes the sequence.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of this seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in `[0, 1)`, in steps of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the reference implementation (Vigna, splitmix64.c) for seed 1234567.
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    /// The bound is five standard errors; one is 1 / sqrt(12 n) = 0.00091.
    #[test]
    fn uniform_numbers_have_mean_half_and_stay_below_one() {
        let mut random = Random::new(1);
        let draws: alloc::vec::Vec<f64> = (0..100_000).map(|_| random.uniform()).collect();
        assert!(draws.iter().all(|u| (0.0..1.0).contains(u)));
        assert!((draws.iter().sum::<f64>() / 1e5 - 0.5).abs() < 0.0046);
    }
}
