//! Cells: whether our interval lies within the tolerance of the printed value.
//!
//! The tolerance is the larger of 15 % and half of the last printed place. The interval is that of Student's t around the
//! mean of our runs, with the noise of the whole quantity. A cell is equivalent if the interval lies within the tolerance,
//! different if it lies outside, else undecided: two one-sided tests (D. J. Schuirmann, J. Pharmacokinetics and
//! Biopharmaceutics 15, 1987).
//!
//! Where print spans so little that one constant would be within the tolerance of all cells, no cell counts.

use crate::agreement::quantity::{Cell, Quantity};
use crate::papers::tolerance;
use experiment::results::student_t975;
use serde::Serialize;

/// Counts of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Equivalence {
    /// Ours is within the tolerance.
    pub equivalent: usize,
    /// Ours is outside, or missing.
    pub different: usize,
    /// The runs do not decide.
    pub undecided: usize,
}

impl Equivalence {
    /// Judges the cells; none if a constant would meet all, or if nothing was repeated.
    pub fn of(quantity: &Quantity) -> Option<Equivalence> {
        let noise = quantity.noise().filter(|_| !is_met_by_constant(&quantity.cells))?;
        let t = student_t975(quantity.degrees());
        let mut counts = Equivalence::default();
        for cell in &quantity.cells {
            let half = t * noise / (cell.runs.len().max(1) as f64).sqrt();
            let interval = cell.ours().map(|ours| ((ours - half).exp(), (ours + half).exp()));
            let (from, to) = tolerated(cell);
            match interval {
                Some((least, most)) if from <= least && most <= to => counts.equivalent += 1,
                Some((least, most)) if least <= to && from <= most => counts.undecided += 1,
                _ => counts.different += 1,
            }
        }
        Some(counts)
    }

    /// Both together.
    pub fn plus(self, other: Equivalence) -> Equivalence {
        Equivalence {
            equivalent: self.equivalent + other.equivalent,
            different: self.different + other.different,
            undecided: self.undecided + other.undecided,
        }
    }
}

/// From where to where ours may lie. The logarithms of zeros are those of half a place.
fn tolerated(cell: &Cell) -> (f64, f64) {
    let printed = cell.printed.max(cell.half_place);
    let tolerance = tolerance(printed, 2.0 * cell.half_place);
    (printed - tolerance, printed + tolerance)
}

fn is_met_by_constant(cells: &[Cell]) -> bool {
    let from = cells.iter().map(|cell| tolerated(cell).0).fold(f64::MIN, f64::max);
    let to = cells.iter().map(|cell| tolerated(cell).1).fold(f64::MAX, f64::min);
    from <= to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::quantity::tests::table;

    /// Ten repeated pairs that differ by 2 % make the noise small; 1.14 of print is within, 1.16 is not decided, 1.3 is outside.
    #[test]
    fn interval_decides() {
        let runs = |around: f64| vec![around * 0.99, around * 1.01];
        let printed = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let ours: Vec<Vec<f64>> = printed
            .iter()
            .zip([1.0, 1.1, 1.15, 1.15, 1.3, 1.5])
            .map(|(printed, factor)| runs(printed * factor))
            .collect();
        let cells: Vec<(f64, &[f64])> = printed.iter().copied().zip(ours.iter().map(Vec::as_slice)).collect();
        let counts = Equivalence::of(&table(&cells)).unwrap();
        assert_eq!(counts, Equivalence { equivalent: 2, different: 2, undecided: 2 });
    }

    #[test]
    fn narrow_column_does_not_count() {
        assert_eq!(Equivalence::of(&table(&[(1.0, &[1.0, 1.0]), (1.3, &[1.3, 1.3])])), None);
        assert!(Equivalence::of(&table(&[(1.0, &[1.0, 1.0]), (1.4, &[1.4, 1.4])])).is_some());
    }
}
