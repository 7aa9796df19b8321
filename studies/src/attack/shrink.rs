//! Simplifies a path while the finding persists.
//!
//! One change at a time, the largest first: remove a cause; set a gene to its neutral value; drop digits; shorten the run.
//! A change stays if the finding persists. All are repeated until none stays.

use crate::attack::genes::{Id, Kind};
use crate::attack::genome::Genome;

/// Digits that a value may keep, from few to many.
const DIGITS: [usize; 2] = [1, 2];
/// Lengths of runs, from short to long; a third of each is the warm-up.
const DURATIONS_S: [f64; 3] = [12.0, 15.0, 21.0];
/// Times that all changes are tried.
const ROUNDS: usize = 3;

/// The simplest path that was found for which `holds` is true, beginning with one for which
/// it is.
///
/// # Errors
/// That of `holds`, with the simplest path until then.
pub fn shrink<E>(genome: &Genome, mut holds: impl FnMut(&Genome) -> Result<bool, E>) -> Result<Genome, (Genome, E)> {
    let mut best = genome.clone();
    for _ in 0..ROUNDS {
        let before = best.clone();
        for step in steps(&best) {
            let Some(next) = step.of(&best) else { continue };
            match holds(&next) {
                Ok(true) => best = next,
                Ok(false) => {}
                Err(error) => return Err((best, error)),
            }
        }
        if best == before {
            break;
        }
    }
    Ok(best)
}

/// A way to make a path simpler.
enum Step {
    Without(Kind),
    Usual(Id),
    Digits(Id, usize),
    Lasting(f64),
}

impl Step {
    /// The path after it; `None`: it is as simple already.
    fn of(&self, genome: &Genome) -> Option<Genome> {
        let put = |id: Id, value: f64| (genome.get(id)? != value).then(|| genome.with(id, value));
        match *self {
            Step::Without(kind) => genome.causes().contains(&kind).then(|| genome.without(kind)),
            Step::Usual(id) => put(id, id.gene().usual),
            Step::Digits(id, digits) => {
                let value = genome.get(id)?;
                let fewer = id.gene().fitted(value, digits);
                // A neutral value is already simple.
                if value == id.gene().usual { None } else { put(id, fewer) }
            }
            Step::Lasting(duration_s) => (duration_s < genome.duration_s).then(|| genome.lasting(duration_s)),
        }
    }
}

fn steps(genome: &Genome) -> Vec<Step> {
    let ids: Vec<Id> = genome.genes().map(|(id, _)| id).collect();
    let causes = genome.causes().into_iter().map(Step::Without);
    let usual = ids.iter().map(|id| Step::Usual(*id));
    let digits = ids.iter().flat_map(|id| DIGITS.map(|digits| Step::Digits(*id, digits)));
    let durations = DURATIONS_S.map(Step::Lasting);
    causes.chain(usual).chain(digits).chain(durations).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::genome::Island;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn shrunk(genome: &Genome, holds: impl Fn(&Genome) -> bool) -> Genome {
        shrink(genome, |genome| Ok::<bool, Infallible>(holds(genome))).unwrap_or_else(|(_, never)| match never {})
    }

    proptest! {
        /// Whatever the finding is: a delay that grows enough, pulses of about one period, or both.
        #[test]
        fn simplified_path_keeps_finding(
            places in prop::collection::vec(0.0..=1.0, 64),
            least_ms in 1.0..30.0f64,
            period in 0.1..3.0f64,
        ) {
            let islands = Island::all(&[Kind::Path]);
            let genome = islands[islands.len() - 1].genome(&places);
            let holds = |genome: &Genome| {
                let delay = genome.get(Id::DelayExtra).is_some_and(|extra| extra >= least_ms);
                delay || genome.get(Id::PulsePeriod).is_some_and(|found| (found / period - 1.0).abs() < 0.2)
            };
            prop_assume!(holds(&genome));
            let left = shrunk(&genome, holds);
            prop_assert!(holds(&left));
            prop_assert_eq!(left.causes().len(), 1);
            prop_assert!(left.genes().count() <= genome.genes().count());
            prop_assert_eq!(left.duration_s, 12.0);
            prop_assert_eq!(left.get(Id::PathRate), Some(Id::PathRate.gene().usual));
        }
    }

    #[test]
    fn keeps_required_causes() {
        let genome = Genome::usual(&[Kind::Path, Kind::Loss]).with(Id::LossShare, 0.0537);
        assert_eq!(shrunk(&genome, |tried| *tried == genome), genome);
        // 0.01 is usual, and too little; 0.05 is enough.
        let left = shrunk(&genome, |tried| tried.get(Id::LossShare).is_some_and(|loss| loss >= 0.03));
        assert_eq!((left.get(Id::LossShare), left.duration_s), (Some(0.05), 12.0));
    }

    #[test]
    fn failed_judging_keeps_findings() {
        let genome = Genome::usual(&[Kind::Path, Kind::Loss, Kind::Delay]);
        let mut calls = 0;
        let ended = shrink(&genome, |_| {
            calls += 1;
            if calls > 1 { Err("no time") } else { Ok(true) }
        });
        assert_eq!(ended, Err((Genome::usual(&[Kind::Path, Kind::Loss]), "no time")));
    }
}
