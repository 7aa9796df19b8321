//! RED's marker: it chooses packets by an average.
//!
//! ```text
//! average < min             0
//! min <= average < max      p = max_p (average - min) / (max - min)
//! max <= average            1;  gentle: from max_p to 1 up to 2 max
//! spread:                   p / (1 - count p),  count = packets since the last one chosen
//! ```
//!
//! At a constant average the distance between chosen packets is uniform on 1 to 1/p with `spread`; without it, the
//! distance is geometric with the mean 1/p.
//!
//! Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions
//! on Networking 1(4), 1993, sections IV and VII. Gentle: S. Floyd, "Recommendation on using the gentle variant of RED",
//! 2000.

use crate::units::Random;

/// The marker; the head of this file explains it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ramp {
    pub min: f64,
    pub max: f64,
    pub max_p: f64,
    pub gentle: bool,
    pub spread: bool,
    /// Packets since the last one chosen; `None` below `min`.
    pub count: Option<u32>,
}

/// The marker's choice for one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The packet is left as it is.
    Spared,
    /// The packet was drawn at random.
    Drawn,
    /// Every packet is chosen: the average is above the ramp.
    Every,
}

impl Ramp {
    /// Returns the probability at this average, before spreading.
    pub fn probability(&self, average: f64) -> f64 {
        if average < self.min && average < self.max {
            0.0
        } else if average < self.max {
            self.max_p * (average - self.min) / (self.max - self.min)
        } else if self.gentle && average < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (average - self.max) / self.max
        } else {
            1.0
        }
    }

    /// A packet arrives while the average has this value. Returns the choice.
    pub fn choose(&mut self, average: f64, random: &mut Random) -> Choice {
        let p = self.probability(average);
        if p == 0.0 {
            self.count = None;
            return Choice::Spared;
        }
        if p >= 1.0 {
            self.count = Some(0);
            return Choice::Every;
        }
        let count = self.count.map_or(0, |count| count.saturating_add(1));
        self.count = Some(count);
        let rest = 1.0 - f64::from(count) * p;
        let chance = if !self.spread {
            p
        } else if rest > p {
            p / rest
        } else {
            1.0
        };
        if random.uniform() >= chance {
            return Choice::Spared;
        }
        self.count = Some(0);
        Choice::Drawn
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use alloc::vec::Vec;

    fn ramp() -> Ramp {
        Ramp { min: 5.0, max: 15.0, max_p: 0.1, gentle: false, spread: true, count: None }
    }

    /// A tenth of the way up: 0.1 * 0.1. Gentle, half way from 15 to 30: 0.1 + 0.9 / 2.
    #[test]
    fn the_probability_is_linear_then_jumps_to_one() {
        let at = |average| ramp().probability(average);
        assert_eq!([at(4.9), at(5.0), at(6.0), at(15.0), at(40.0)], [0.0, 0.0, 0.1 * 1.0 / 10.0, 1.0, 1.0]);
        let gentle = Ramp { gentle: true, ..ramp() };
        assert_eq!([gentle.probability(15.0), gentle.probability(22.5), gentle.probability(30.0)], [0.1, 0.55, 1.0]);
    }

    /// One threshold makes a step.
    #[test]
    fn equal_thresholds_are_a_step() {
        let step = Ramp { min: 10.0, max: 10.0, ..ramp() };
        assert_eq!([step.probability(9.9), step.probability(10.0)], [0.0, 1.0]);
    }

    fn gaps(spread: bool) -> Vec<u32> {
        let (mut ramp, mut random) = (Ramp { spread, ..ramp() }, Random::new(3));
        let (mut gaps, mut since) = (Vec::new(), 0);
        while gaps.len() < 20_000 {
            since += 1;
            if ramp.choose(10.0, &mut random) == Choice::Drawn {
                gaps.push(since);
                since = 0;
            }
        }
        gaps.split_off(1)
    }

    /// p = 0.05. Spread: after a choice the next packet has count 1, so the gap is uniform on 1 to 19 with chances
    /// p / (1 - k p): mean 10, variance (19^2 - 1) / 12 = 30. Independent: mean 20, variance 0.95 / 0.05^2 = 380.
    #[test]
    fn spread_choices_are_uniformly_spaced_others_geometrically() {
        for (spread, mean, variance) in [(true, 10.0, 30.0), (false, 20.0, 380.0)] {
            let gaps = gaps(spread);
            let n = gaps.len() as f64;
            let found = gaps.iter().map(|gap| f64::from(*gap)).sum::<f64>() / n;
            let spread_of =
                gaps.iter().map(|gap| (f64::from(*gap) - found) * (f64::from(*gap) - found)).sum::<f64>() / n;
            // The bound is five standard errors of the mean of 20 000.
            let error = 5.0 * (variance / n).sqrt();
            assert!((found - mean).abs() < error, "{spread}: {found}");
            assert!((spread_of / variance - 1.0).abs() < 0.08, "{spread}: {spread_of}");
        }
        assert!(gaps(true).iter().all(|gap| *gap <= 19));
    }
}
