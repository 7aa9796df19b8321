//! Searches the islands side by side: each gets a generation in turn, until the evaluations or the time are used up.

use crate::attack::evolution::{MEMBERS, Population};
use crate::attack::genes::Kind;
use crate::attack::genome::{Genome, Island};
use crate::attack::judge::{Judge, Score};
use harness::runner::Error;
use std::collections::BTreeMap;
use std::time::Instant;

/// Number of best paths of an island that are candidates: those that other seeds do not confirm are skipped.
const KEPT: usize = 5;

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After this number of paths.
    Evaluations(u64),
    /// At this time.
    Until(Instant),
}

/// A path that was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The path.
    pub genome: Genome,
    /// Its score.
    pub score: Score,
}

/// The worst paths of an island, the worst first.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The island's name.
    pub island: &'static str,
    /// The paths.
    pub paths: Vec<Judged>,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Of every island.
    pub worst: Vec<Worst>,
    /// Paths that were judged.
    pub evaluations: u64,
}

/// Receives the progress of a search, and may end it.
pub trait Watch: Sync {
    /// Number of judged paths; the worst of all, and its island.
    fn judged(&self, evaluations: u64, worst: Option<(&'static str, f64)>);
    /// A finding is being simplified: its number from 1, and the total.
    fn shrinks(&self, number: usize, of: usize);
    /// Whether the search should end now.
    fn ends(&self) -> bool;
}

/// Searches all islands. `always`: the kinds that every path has.
///
/// # Errors
/// The host refuses, or the cache cannot be written.
pub fn search(judge: &Judge<'_>, always: &[Kind], budget: Budget, watch: &dyn Watch) -> Result<Searched, Error> {
    let islands = Island::all(always);
    let mut populations: Vec<Population> =
        (0u32..).zip(&islands).map(|(number, island)| Population::new(island.places(), judge.seed, number)).collect();
    let mut found: Vec<Worst> = islands.iter().map(|island| Worst { island: island.name, paths: Vec::new() }).collect();
    let mut evaluations = 0;
    loop {
        for (number, island) in islands.iter().enumerate() {
            let room = match budget {
                Budget::Evaluations(most) => usize::try_from(most.saturating_sub(evaluations)).unwrap_or(MEMBERS),
                Budget::Until(end) if Instant::now() >= end => 0,
                Budget::Until(_) => MEMBERS,
            };
            if room == 0 || watch.ends() {
                return Ok(Searched { worst: found, evaluations });
            }
            let mut points = populations[number].ask();
            points.truncate(room);
            let genomes: Vec<Genome> = points.iter().map(|point| island.genome(point)).collect();
            let scores = judge.all(&genomes)?;
            judge.save()?;
            evaluations += scores.len() as u64;
            populations[number].score(points, &scores.iter().map(|score| score.times_worse).collect::<Vec<_>>());
            let judged = genomes.into_iter().zip(scores);
            keep(&mut found[number].paths, judged.map(|(genome, score)| Judged { genome, score }));
            watch.judged(evaluations, worst_of(&found));
        }
    }
}

/// Keeps the worst, each once.
fn keep(paths: &mut Vec<Judged>, more: impl Iterator<Item = Judged>) {
    for judged in more {
        if paths.iter().all(|known| known.genome != judged.genome) {
            paths.push(judged);
        }
    }
    paths.sort_by(|a, b| b.score.times_worse.total_cmp(&a.score.times_worse));
    paths.truncate(KEPT);
}

fn worst_of(found: &[Worst]) -> Option<(&'static str, f64)> {
    let each = found.iter().filter_map(|worst| Some((worst.island, worst.paths.first()?.score.times_worse)));
    each.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Of several findings with the same causes the worst one, and none that is no worse than one with fewer of its causes; the
/// worst first.
pub fn one_of_each<T>(found: Vec<T>, genome: impl Fn(&T) -> &Genome, times_worse: impl Fn(&T) -> f64) -> Vec<T> {
    let mut best: BTreeMap<Vec<Kind>, T> = BTreeMap::new();
    for one in found {
        let causes = genome(&one).causes();
        if best.get(&causes).is_none_or(|known| times_worse(known) < times_worse(&one)) {
            best.insert(causes, one);
        }
    }
    let strengths: Vec<(Vec<Kind>, f64)> =
        best.iter().map(|(causes, one)| (causes.clone(), times_worse(one))).collect();
    best.retain(|causes, one| {
        let simpler = |known: &(Vec<Kind>, f64)| {
            known.0.len() < causes.len()
                && known.0.iter().all(|kind| causes.contains(kind))
                && known.1 >= times_worse(one)
        };
        !strengths.iter().any(simpler)
    });
    let mut each: Vec<T> = best.into_values().collect();
    each.sort_by(|a, b| times_worse(b).total_cmp(&times_worse(a)));
    each
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kinds: &[Kind], times_worse: f64) -> Judged {
        Judged { genome: Genome::usual(kinds), score: Score { times_worse, subject: 1.0, reference: times_worse } }
    }

    #[test]
    fn keeps_distinct_worst_paths() {
        let mut paths = Vec::new();
        let other = |loss: f64| Judged {
            genome: Genome::usual(&[Kind::Loss]).with(crate::attack::genes::Id::LossShare, loss),
            ..judged(&[], loss * 100.0)
        };
        keep(&mut paths, [0.01, 0.02, 0.03, 0.02, 0.04, 0.05, 0.06].into_iter().map(other));
        let times: Vec<f64> = paths.iter().map(|path| path.score.times_worse).collect();
        assert_eq!(times, [6.0, 5.0, 4.0, 3.0, 2.0]);
    }

    #[test]
    fn findings_with_equal_causes_merge() {
        let found = vec![judged(&[Kind::Loss], 3.0), judged(&[Kind::Delay], 2.0), judged(&[Kind::Loss], 9.0)];
        let each = one_of_each(found, |one| &one.genome, |one| one.score.times_worse);
        assert_eq!(each.iter().map(|one| one.score.times_worse).collect::<Vec<_>>(), [9.0, 2.0]);
    }

    #[test]
    fn further_causes_need_further_harm() {
        let both = [Kind::Delay, Kind::Loss];
        let times = |with_both: f64| {
            let found = vec![judged(&[Kind::Loss], 3.0), judged(&both, with_both)];
            one_of_each(found, |one| &one.genome, |one| one.score.times_worse).len()
        };
        assert_eq!((times(2.9), times(3.0), times(3.1)), (1, 1, 2));
    }
}
