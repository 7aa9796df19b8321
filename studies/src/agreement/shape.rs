//! Shape: what a table shows that the means of its rows and columns do not.
//!
//! The logarithm of a cell is a common mean, an effect of its row, an effect of its column, and a rest. The rests of print
//! and ours are correlated. The effects are fitted by least squares, by turns: a table may lack cells.

use crate::agreement::quantity::Quantity;
use std::collections::BTreeMap;

/// Turns of the fit. A full table needs one; gaps converge geometrically.
const TURNS: usize = 50;
/// Rests this small are rounding errors of the fit.
const ROUNDING: f64 = 1e-9;

/// Pearson's correlation of the rests; none if a side has none, as with a single row or column.
pub fn interaction(quantity: &Quantity) -> Option<f64> {
    let cells: Vec<_> = quantity.cells.iter().filter_map(|cell| Some((cell, cell.ours()?))).collect();
    let keys: Vec<(&str, &str)> = cells.iter().map(|(cell, _)| (cell.row.as_str(), cell.column.as_str())).collect();
    let printed = rests(&keys, &cells.iter().map(|(cell, _)| cell.printed_logarithm()).collect::<Vec<f64>>());
    let ours = rests(&keys, &cells.iter().map(|(_, ours)| *ours).collect::<Vec<f64>>());
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (one, other) = (product(&printed, &printed), product(&ours, &ours));
    let is_left = |squares: f64| squares.sqrt() > ROUNDING * cells.len() as f64;
    (is_left(one) && is_left(other)).then(|| product(&printed, &ours) / (one * other).sqrt())
}

/// What the effects of rows and columns leave.
fn rests(keys: &[(&str, &str)], values: &[f64]) -> Vec<f64> {
    let mut rests = values.to_vec();
    for _ in 0..TURNS {
        remove_means(&mut rests, keys.iter().map(|(row, _)| *row));
        remove_means(&mut rests, keys.iter().map(|(_, column)| *column));
    }
    rests
}

fn remove_means<'a>(rests: &mut [f64], groups: impl Iterator<Item = &'a str> + Clone) {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (rest, group) in rests.iter().zip(groups.clone()) {
        let (sum, count) = sums.entry(group).or_default();
        (*sum, *count) = (*sum + rest, *count + 1.0);
    }
    for (rest, group) in rests.iter_mut().zip(groups) {
        let (sum, count) = sums[group];
        *rest -= sum / count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::quantity::Cell;

    /// Logarithms of a table of two rows and two columns: its rests are the product of signs times one number.
    fn square(printed: [f64; 4], ours: [f64; 4]) -> Quantity {
        let cell = |at: usize| Cell {
            row: (at / 2).to_string(),
            column: (at % 2).to_string(),
            printed: printed[at].exp(),
            half_place: 0.0,
            runs: vec![ours[at].exp()],
        };
        Quantity { figure: "a/b".into(), name: String::new(), cells: (0..4).map(cell).collect() }
    }

    #[test]
    fn effects_of_rows_and_columns_leave_nothing() {
        assert_eq!(interaction(&square([1.0, 2.0, 4.0, 5.0], [1.0, 2.0, 4.0, 9.0])), None);
    }

    #[test]
    fn opposite_interactions_correlate_by_minus_one() {
        let found = interaction(&square([1.0, 2.0, 4.0, 6.0], [1.0, 2.0, 4.0, 3.0])).unwrap();
        assert!((found + 1.0).abs() < 1e-9);
    }
}
