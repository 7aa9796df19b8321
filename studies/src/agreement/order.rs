//! Order: which pairs of cells ours puts in the printed order.
//!
//! Print distinguishes a pair whose values differ by more than their half places together, and by more than one per cent.
//! Noise of ours does not enter: else a law whose runs scatter would be asked about fewer pairs. What noise costs is
//! measured instead, by the same question to a repetition about our own order. Equal values of ours count half: so any
//! constant scores one half.

use crate::agreement::quantity::{Cell, Quantity};
use serde::Serialize;

/// Smallest distance of logarithms that counts: one per cent.
const LEAST: f64 = 0.01;

/// Pairs in the printed order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Order {
    /// Pairs that print distinguishes.
    pub pairs: usize,
    /// Those of ours in the same order; equal ones count half.
    pub agreeing: f64,
}

impl Order {
    /// The part of the pairs in the printed order; none without pairs.
    pub fn part(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.agreeing / self.pairs as f64)
    }

    /// Both together.
    pub fn plus(self, other: Order) -> Order {
        Order { pairs: self.pairs + other.pairs, agreeing: self.agreeing + other.agreeing }
    }
}

/// What is compared: a reference, another value for it, and half of the last place of both.
struct Compared<'a> {
    cell: &'a Cell,
    reference: f64,
    other: Option<f64>,
}

/// Our order against the printed one, for the pairs that are `compared`.
pub fn of_pairs(quantity: &Quantity, compared: impl Fn(&Cell, &Cell) -> bool) -> Order {
    let printed = |cell| Compared { cell, reference: cell.printed, other: cell.ours() };
    order(&quantity.cells.iter().map(printed).collect::<Vec<_>>(), compared)
}

/// The order that the means of our columns alone have against the printed one: what is known of the columns, as of paths, and
/// nothing of the rows, as of protocols.
pub fn of_column_means(quantity: &Quantity) -> Order {
    let mean = |column: &str| {
        let of_column = quantity.cells.iter().filter(|cell| cell.column == column).filter_map(Cell::ours);
        let ours: Vec<f64> = of_column.collect();
        (!ours.is_empty()).then(|| ours.iter().sum::<f64>() / ours.len() as f64)
    };
    let of = |cell| Compared { cell, reference: cell.printed, other: mean(&cell.column) };
    order(&quantity.cells.iter().map(of).collect::<Vec<_>>(), |_, _| true)
}

/// The order of the first repetition against that of the stored run, for all pairs; none if nothing was repeated.
pub fn of_repetition(quantity: &Quantity) -> Option<Order> {
    let repeated = |cell: &'_ Cell| Some((*cell.runs.first()?, cell.logarithm(*cell.runs.get(1)?)));
    let of = |cell| repeated(cell).map(|(reference, other)| Compared { cell, reference, other: Some(other) });
    let all: Vec<Compared<'_>> = quantity.cells.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| order(&all, |_, _| true))
}

fn order(all: &[Compared<'_>], compared: impl Fn(&Cell, &Cell) -> bool) -> Order {
    let mut order = Order::default();
    for (at, one) in all.iter().enumerate() {
        for other in &all[..at] {
            let distance = one.cell.logarithm(one.reference) - other.cell.logarithm(other.reference);
            let places = one.cell.half_place + other.cell.half_place;
            let differ = distance.abs() > LEAST && (one.reference - other.reference).abs() > places;
            if !differ || !compared(one.cell, other.cell) {
                continue;
            }
            order.pairs += 1;
            order.agreeing += match (one.other, other.other) {
                (Some(one), Some(other)) if one == other => 0.5,
                (Some(one), Some(other)) if (one - other) * distance > 0.0 => 1.0,
                _ => 0.0,
            };
        }
    }
    order
}

/// Kendall's tau-b, with its correction for ties (M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33,
/// 1945); none where one side is constant.
pub fn tau(pairs: &[(f64, f64)]) -> Option<f64> {
    let (mut concordant, mut discordant, mut equal) = (0i64, 0i64, [0i64; 2]);
    for (at, one) in pairs.iter().enumerate() {
        for other in &pairs[..at] {
            let (printed, ours) = (one.0.total_cmp(&other.0) as i64, one.1.total_cmp(&other.1) as i64);
            concordant += i64::from(printed * ours > 0);
            discordant += i64::from(printed * ours < 0);
            equal[0] += i64::from(printed == 0);
            equal[1] += i64::from(ours == 0);
        }
    }
    let all = (pairs.len() * pairs.len().saturating_sub(1) / 2) as i64;
    let scale = ((all - equal[0]) as f64 * (all - equal[1]) as f64).sqrt();
    (scale > 0.0).then(|| (concordant - discordant) as f64 / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::quantity::tests::table;

    /// Printed 1, 2, 3, 4; ours 1, 3, 2, 2: of six pairs 2-3 is turned and 3-4 equal.
    #[test]
    fn turned_pair_counts_nothing_and_equal_pair_half() {
        let order = of_pairs(&table(&[(1.0, &[1.0]), (2.0, &[3.0]), (3.0, &[2.0]), (4.0, &[2.0])]), |_, _| true);
        // 1-2, 1-3, 1-4 agree; 2-3 and 2-4 are turned; 3-4 is equal.
        assert_eq!(order, Order { pairs: 6, agreeing: 3.5 });
    }

    #[test]
    fn constant_scores_one_half() {
        let order = of_pairs(&table(&[(1.0, &[7.0]), (2.0, &[7.0]), (3.0, &[7.0])]), |_, _| true);
        assert_eq!(order.part(), Some(0.5));
    }

    /// Columns of 1, 2 and of 3, 4, and ours twice that, in the other order inside: four pairs across agree, two inside are equal.
    #[test]
    fn column_means_order_columns_and_no_row() {
        let mut quantity = table(&[(1.0, &[4.0]), (2.0, &[2.0]), (3.0, &[8.0]), (4.0, &[6.0])]);
        quantity.cells[2..].iter_mut().for_each(|cell| cell.column = "other".to_string());
        assert_eq!(of_column_means(&quantity), Order { pairs: 6, agreeing: 5.0 });
    }

    #[test]
    fn cell_without_value_agrees_with_nothing() {
        let order = of_pairs(&table(&[(1.0, &[1.0]), (2.0, &[]), (3.0, &[3.0])]), |_, _| true);
        assert_eq!(order, Order { pairs: 3, agreeing: 1.0 });
    }

    #[test]
    fn pair_within_a_per_cent_is_not_compared() {
        assert_eq!(of_pairs(&table(&[(10.0, &[1.0]), (10.09, &[2.0])]), |_, _| true).pairs, 0);
        assert_eq!(of_pairs(&table(&[(10.0, &[1.0]), (10.11, &[2.0])]), |_, _| true).pairs, 1);
    }

    /// A law whose runs scatter by a factor of 100 is asked about as many pairs as any other.
    #[test]
    fn scatter_excuses_no_pair() {
        let runs: &[f64] = &[1.0, 100.0];
        assert_eq!(of_pairs(&table(&[(1.0, runs), (2.0, runs)]), |_, _| true), Order { pairs: 1, agreeing: 0.5 });
    }

    #[test]
    fn repetition_is_compared_with_stored_run() {
        let turned = table(&[(1.0, &[1.0, 1.0]), (1.0, &[2.0, 3.0]), (1.0, &[4.0, 2.0])]);
        assert_eq!(of_repetition(&turned), Some(Order { pairs: 3, agreeing: 2.0 }));
        assert_eq!(of_repetition(&table(&[(1.0, &[1.0]), (1.0, &[2.0])])), None);
    }

    /// 1 2 3 4 5 against 3 4 1 2 5: six concordant pairs of ten, four discordant, so 0.2. With one tie on one side,
    /// 1 2 2 3 against 1 2 3 4: five of five untied pairs agree, 5 / sqrt(5 * 6).
    #[test]
    fn tau_matches_hand_count() {
        let tau_of =
            |ours: &[f64], printed: &[f64]| tau(&printed.iter().copied().zip(ours.iter().copied()).collect::<Vec<_>>());
        let close = |found: Option<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-12;
        assert!(close(tau_of(&[3.0, 4.0, 1.0, 2.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0]), 0.2));
        assert!(close(tau_of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 2.0, 3.0]), 5.0 / 30f64.sqrt()));
        assert_eq!(tau_of(&[1.0, 1.0], &[1.0, 2.0]), None);
    }
}
