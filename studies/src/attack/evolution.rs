//! Differential evolution over points with coordinates between 0 and 1.
//!
//! ```text
//! m = x_i + F (best_p - x_i) + F (x_a - x_b)          F from 0.4 to 1, drawn for each
//! trial: each place from m with probability CR, else from x_i; one place always from m
//! x_i becomes the trial, if that is as good
//! ```
//!
//! **Source:** R. Storn, K. Price, *Differential evolution*, J. Global Optimization 11, 1997; the step towards one of the best,
//! "current-to-pbest/1": J. Zhang, A. C. Sanderson, *JADE*, IEEE Trans. Evolutionary Computation 13, 2009, eq. 4, without its archive
//! and with fixed laws of F and CR: a search has some tens of generations, too few to learn them.
//!
//! Deviations:
//! 1. A coordinate beyond a bound is set half-way between the bound and its previous value, as in JADE (eq. 5).
//! 2. After [`PATIENCE`] generations without improvement, all but the best are redrawn: the worst paths are often narrow
//!    resonances, and a population that has converged elsewhere cannot leave.
//!
//! Only draws, sums and products: the same points on every machine.

use experiment::traffic::Draws;

/// Points of a population: twice the number of cores of a small machine, several times, and about the number of genes of a cause.
pub const MEMBERS: usize = 16;
/// Fraction of the best members from which one is approached.
const BEST: usize = 3;
/// Probability that a place is that of the mutant.
const CROSSOVER: f64 = 0.9;
/// Generations without improvement after which the others are redrawn.
pub const PATIENCE: usize = 12;

/// A point with its score; more is better.
#[derive(Clone, Debug, PartialEq)]
struct Member {
    point: Vec<f64>,
    score: f64,
}

/// Points that are compared and changed.
#[derive(Clone, Debug)]
pub struct Population {
    places: usize,
    draws: Draws,
    members: Vec<Member>,
    idle: usize,
}

impl Population {
    /// An unevaluated population. Every `number` draws different points.
    pub fn new(places: usize, seed: u64, number: u32) -> Population {
        Population { places, draws: Draws::new(seed, number), members: Vec::new(), idle: 0 }
    }

    /// The points to be judged next, [`MEMBERS`] of them.
    pub fn ask(&mut self) -> Vec<Vec<f64>> {
        if self.members.is_empty() {
            return (0..MEMBERS).map(|_| self.anywhere()).collect();
        }
        if self.idle >= PATIENCE {
            self.idle = 0;
            self.members.truncate(1);
            self.members.extend((1..MEMBERS).map(|_| Member { point: Vec::new(), score: f64::NEG_INFINITY }));
        }
        (0..MEMBERS).map(|number| self.trial(number)).collect()
    }

    /// Takes the scores of the proposed points, in their order. Missing scores at the end: not evaluated.
    pub fn score(&mut self, points: Vec<Vec<f64>>, scores: &[f64]) {
        let before = self.members.first().map(|best| best.score);
        let judged = points.into_iter().zip(scores).map(|(point, score)| Member { point, score: *score });
        if self.members.is_empty() {
            self.members = judged.collect();
        } else {
            for (member, trial) in self.members.iter_mut().zip(judged) {
                if trial.score >= member.score {
                    *member = trial;
                }
            }
        }
        self.members.sort_by(|a, b| b.score.total_cmp(&a.score));
        let Some(best) = self.members.first() else { return };
        let better = before.is_none_or(|before| best.score > before);
        self.idle = if better { 0 } else { self.idle + 1 };
    }

    fn anywhere(&mut self) -> Vec<f64> {
        (0..self.places).map(|_| self.draws.uniform()).collect()
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.draws.uniform() * count as f64) as usize).min(count - 1)
    }

    fn trial(&mut self, number: usize) -> Vec<f64> {
        let known = self.members.iter().take_while(|member| !member.point.is_empty()).count();
        // Too few to differ, or a discarded member.
        if known < 4 || number >= known {
            return self.anywhere();
        }
        let best = self.below(BEST.min(known));
        let (one, other) = (self.below(known), self.below(known));
        let step = 0.4 + 0.6 * self.draws.uniform();
        let always = self.below(self.places);
        (0..self.places)
            .map(|place| {
                let at = |member: usize| self.members[member].point[place];
                let (old, toward, from, to) = (at(number), at(best), at(other), at(one));
                let mutant = old + step * (toward - old) + step * (to - from);
                let crosses = self.draws.uniform() <= CROSSOVER || place == always;
                match mutant {
                    _ if !crosses => old,
                    mutant if mutant < 0.0 => old / 2.0,
                    mutant if mutant > 1.0 => (1.0 + old) / 2.0,
                    mutant => mutant,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(places: usize, generations: usize, seed: u64, score: impl Fn(&[f64]) -> f64) -> f64 {
        let mut population = Population::new(places, seed, 0);
        for _ in 0..generations {
            let points = population.ask();
            assert!(points.iter().flatten().all(|place| (0.0..=1.0).contains(place)));
            let scores: Vec<f64> = points.iter().map(|point| score(point)).collect();
            population.score(points, &scores);
        }
        population.members[0].score
    }

    /// A bowl, and Rastrigin's function with its many minima. A uniform search with as many points is some 0.1 and 20 away.
    #[test]
    fn the_best_point_is_found() {
        let bowl = |point: &[f64]| -point.iter().map(|x| (x - 0.3) * (x - 0.3)).sum::<f64>();
        assert!(searched(8, 60, 1, bowl) > -1e-3);
        let hollows = |point: &[f64]| {
            let one = |x: &f64| {
                let x = 4.0 * (x - 0.7);
                x * x + 10.0 * (1.0 - libm::cos(std::f64::consts::TAU * x))
            };
            -point.iter().map(one).sum::<f64>()
        };
        assert!(searched(4, 100, 1, hollows) > -5.0);
    }

    #[test]
    fn same_seed_finds_same() {
        let bowl = |point: &[f64]| -point.iter().map(|x| x * x).sum::<f64>();
        assert_eq!(searched(5, 20, 7, bowl), searched(5, 20, 7, bowl));
        assert_ne!(searched(5, 20, 7, bowl), searched(5, 20, 8, bowl));
    }

    /// A plateau with one narrow peak: the population does not converge, and is redrawn until it hits.
    #[test]
    fn stuck_population_is_redrawn_and_keeps_best() {
        let peak = |point: &[f64]| if (point[0] - 0.5).abs() < 0.01 { 1.0 } else { 0.0 };
        assert_eq!(searched(1, 100, 3, peak), 1.0);
    }
}
