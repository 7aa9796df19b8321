//! A matrix: every controller beside every other, on one path after another. The report draws it; `--json` prints it.

use crate::results::evaluation::Cell;
use serde::Serialize;

/// The file that shows a folder to hold one.
pub const FILE: &str = "matrix.json";

/// All pairs of a list of controllers, on all settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// Version of packetscale.
    pub version: String,
    /// Commit it was built from, if known.
    pub commit: Option<String>,
    /// The controllers, as the user wrote them, with colours.
    pub controllers: Vec<(String, String)>,
    /// Whether this is the short form.
    pub quick: bool,
    /// SHA-256 of all that was asked: the experiments, and what is in the files that they read.
    pub asked: String,
    /// Runs made.
    pub runs: usize,
    /// The paths.
    pub settings: Vec<Setting>,
}

/// All pairs on one path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Setting {
    /// Its name, as `--only` takes it.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// The resolved scenario of the first pair.
    pub scenario: String,
    /// Each pair once, the row's number never above the column's.
    pub pairs: Vec<Pair>,
}

/// One controller beside another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pair {
    /// The number of the first controller.
    pub row: usize,
    /// The number of the second; the same for a controller beside itself.
    pub column: usize,
    /// The first one's part of what both got, 0 to 1; of a controller beside itself, the part of the flow that got less.
    pub share: Option<Cell>,
    /// Packets that the third lost, divided by those that it sent. Whole run.
    pub third_loss_ratio: Option<Cell>,
    /// Packets of the pair dropped after the warm-up, divided by those and the delivered ones.
    pub pair_loss_ratio: Option<Cell>,
    /// 95th percentile of the waiting time at the bottleneck.
    pub queue_delay_p95_s: Option<Cell>,
    /// What both and the third got, of the capacity.
    pub utilisation: Option<Cell>,
}

impl Pair {
    /// The part of `controller`, 0 to 1, in a pair that it is in.
    pub fn share_of(&self, controller: usize) -> Option<f64> {
        let share = self.share?.mean;
        Some(if controller == self.row { share } else { 1.0 - share })
    }
}

impl Setting {
    /// The pair of these two, in whatever order.
    pub fn pair(&self, one: usize, other: usize) -> Option<&Pair> {
        let (row, column) = (one.min(other), one.max(other));
        self.pairs.iter().find(|pair| (pair.row, pair.column) == (row, column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_from_either_side() {
        let share = Some(Cell { mean: 0.25, half_width: None });
        let setting =
            Setting { pairs: vec![Pair { row: 0, column: 2, share, ..Pair::default() }], ..Setting::default() };
        let of = |one: usize, other: usize| setting.pair(one, other).and_then(|pair| pair.share_of(one));
        assert_eq!((of(0, 2), of(2, 0), of(0, 1)), (Some(0.25), Some(0.75), None));
    }
}
