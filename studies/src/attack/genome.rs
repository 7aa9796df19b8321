//! A path as a list of genes, and the islands of the search.

use crate::attack::genes::{GENES, Gene, Id, Kind};

/// Length of the search's runs.
pub const DURATION_S: f64 = 30.0;

/// A path: a value for each gene whose kind it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Genome {
    values: Vec<Option<f64>>,
    /// Length of a run.
    pub duration_s: f64,
}

impl Genome {
    /// The path with neutral values of all genes of these kinds.
    pub fn usual(kinds: &[Kind]) -> Genome {
        let value = |gene: &Gene| kinds.contains(&gene.kind).then_some(gene.usual);
        Genome { values: GENES.iter().map(value).collect(), duration_s: DURATION_S }
    }

    /// The value of a gene; `None` if the path lacks its kind.
    pub fn get(&self, id: Id) -> Option<f64> {
        self.values[id as usize]
    }

    /// With another value of this gene.
    pub fn with(&self, id: Id, value: f64) -> Genome {
        let mut changed = self.clone();
        changed.values[id as usize] = Some(value);
        changed
    }

    /// Without this kind.
    pub fn without(&self, kind: Kind) -> Genome {
        let keep = |(gene, value): (&Gene, &Option<f64>)| value.filter(|_| gene.kind != kind);
        Genome { values: GENES.iter().zip(&self.values).map(keep).collect(), ..*self }
    }

    /// With runs of this length.
    pub fn lasting(&self, duration_s: f64) -> Genome {
        Genome { duration_s, ..self.clone() }
    }

    /// Its genes, in the table's order.
    pub fn genes(&self) -> impl Iterator<Item = (Id, f64)> {
        Id::ALL.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// The kinds beyond those of every path.
    pub fn causes(&self) -> Vec<Kind> {
        Kind::CAUSES.into_iter().filter(|kind| self.genes().any(|(id, _)| id.gene().kind == *kind)).collect()
    }
}

/// A part of the space with its own search: one cause, or all of them. Otherwise a strong cause would hide the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Island {
    /// Its name.
    pub name: &'static str,
    genes: Vec<Id>,
    /// Optional causes, each with a coordinate that switches it.
    switched: Vec<Kind>,
}

impl Island {
    /// One for each cause, and one for all together; `always`: kinds that every path has.
    pub fn all(always: &[Kind]) -> Vec<Island> {
        let genes = |kinds: &[Kind]| -> Vec<Id> {
            let all = Id::ALL.iter().copied();
            all.filter(|id| always.contains(&id.gene().kind) || kinds.contains(&id.gene().kind)).collect()
        };
        let one = |kind: Kind| Island { name: kind.name(), genes: genes(&[kind]), switched: Vec::new() };
        let every = Island { name: "all", genes: genes(&Kind::CAUSES), switched: Kind::CAUSES.to_vec() };
        Kind::CAUSES.into_iter().map(one).chain([every]).collect()
    }

    /// How many places a point has.
    pub fn places(&self) -> usize {
        self.genes.len() + self.switched.len()
    }

    /// The path at a point: a place from 0 to 1 for each gene, then for each switch.
    pub fn genome(&self, point: &[f64]) -> Genome {
        let mut genome = Genome::usual(&[]);
        for (id, place) in self.genes.iter().zip(point) {
            genome = genome.with(*id, id.gene().at(*place));
        }
        let switches = self.switched.iter().zip(&point[self.genes.len()..]);
        switches.filter(|(_, place)| **place < 0.5).fold(genome, |genome, (kind, _)| genome.without(*kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn island_has_its_cause_and_path() {
        for island in Island::all(&[Kind::Path]).iter().filter(|island| island.name != "all") {
            let genome = island.genome(&vec![0.5; island.places()]);
            let names: Vec<&str> = genome.causes().iter().map(|kind| kind.name()).collect();
            assert_eq!(names, [island.name]);
            assert!(genome.get(Id::PathRate).is_some());
        }
    }

    #[test]
    fn switches_turn_causes_off() {
        let islands = Island::all(&[Kind::Path]);
        let every = islands.last().expect("an island");
        assert_eq!(every.genome(&vec![0.9; every.places()]).causes(), Kind::CAUSES);
        assert_eq!(every.genome(&vec![0.1; every.places()]).causes(), []);
    }

    #[test]
    fn removal_affects_only_its_cause() {
        let genome = Genome::usual(&[Kind::Path, Kind::Loss, Kind::Delay]);
        assert_eq!(genome.without(Kind::Delay), Genome::usual(&[Kind::Path, Kind::Loss]));
    }
}
