//! Random draws that are the same on every machine.

use packetscale_models::units::Span;
use rand::Rng;
use rand_pcg::Pcg64;

/// The generator of one copy of one source.
#[derive(Clone, Debug)]
pub struct Draws(Pcg64);

impl Draws {
    /// Takes the state and stream of each copy from SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), started at a hash of
    /// the seed plus the copy. Copies that share a state and differ only in PCG's stream number are not independent:
    /// their first draws lie on a lattice, and superposed periodic sources then queue 6 % longer than N*D/D/1.
    pub fn new(seed: u64, copy: u32) -> Draws {
        let mut mix = SplitMix(SplitMix(seed).next().wrapping_add(u64::from(copy).wrapping_mul(0xd1b5_4a32_d192_ed03)));
        let mut wide = || u128::from(mix.next()) << 64 | u128::from(mix.next());
        Draws(Pcg64::new(wide(), wide()))
    }

    /// Draws uniformly from (0, 1], in steps of 2^-53: a logarithm of it is finite.
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / 9_007_199_254_740_992.0;
        ((self.0.next_u64() >> 11) + 1) as f64 * STEP
    }

    /// Draws uniformly from zero to just below `span` (zero if `span` is zero).
    pub fn below(&mut self, span: Span) -> Span {
        Span::from_picos(((u128::from(self.0.next_u64()) * u128::from(span.picos())) >> 64) as u64)
    }

    /// Draws from the normal law with mean 0 and deviation 1 (G. E. P. Box, M. E. Muller, Ann. Math. Statist. 29,
    /// 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Draws from the exponential law with this mean, by inversion: -mean ln u. The largest value is 36.7 means, for
    /// u = 2^-53.
    pub fn exponential(&mut self, mean: Span) -> Span {
        times(mean, -libm::log(self.uniform()))
    }
}

/// Returns `span * factor`, to the nearest picosecond.
pub fn times(span: Span, factor: f64) -> Span {
    Span::from_picos((span.picos() as f64 * factor + 0.5) as u64)
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_gives_the_published_sequence() {
        // First outputs for seed 1234567 of the reference implementation (Vigna, splitmix64.c).
        let mut mix = SplitMix(1_234_567);
        assert_eq!([mix.next(), mix.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn uniform_draws_have_mean_half_within_bounds() {
        let mut draws = Draws::new(1, 0);
        let n = 100_000;
        let mut sum = 0.0;
        for _ in 0..n {
            let u = draws.uniform();
            assert!(u > 0.0 && u <= 1.0);
            sum += u;
        }
        // Standard error 1 / sqrt(12 n) = 0.00091; five of them.
        assert!((sum / f64::from(n) - 0.5).abs() < 0.0046);
    }

    #[test]
    fn copies_draw_different_numbers() {
        assert_ne!(Draws::new(7, 0).uniform(), Draws::new(7, 1).uniform());
    }
}
