//! One printed quantity: the cells of a table, ours from each run, and the noise of a run.

use crate::papers::{Library, NamedCell, Outcome, PaperError, Stores};

/// A printed cell and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Name of its row.
    pub row: String,
    /// Name of its column.
    pub column: String,
    /// The printed value.
    pub printed: f64,
    /// Half of its last printed place: print does not tell smaller differences.
    pub half_place: f64,
    /// Ours from each run, the stored one first.
    pub runs: Vec<f64>,
}

impl Cell {
    /// The logarithm of a value, at least that of half of the last printed place.
    pub fn logarithm(&self, value: f64) -> f64 {
        value.max(self.half_place).max(f64::MIN_POSITIVE).ln()
    }

    /// The logarithm of the printed value.
    pub fn printed_logarithm(&self) -> f64 {
        self.logarithm(self.printed)
    }

    /// The mean of the logarithms of our runs; none without a run.
    pub fn ours(&self) -> Option<f64> {
        let sum: f64 = self.runs.iter().map(|run| self.logarithm(*run)).sum();
        (!self.runs.is_empty()).then(|| sum / self.runs.len() as f64)
    }

    /// Sum of the squared distances of our runs from their mean.
    fn squares(&self) -> f64 {
        let mean = self.ours().unwrap_or(0.0);
        self.runs.iter().map(|run| (self.logarithm(*run) - mean).powi(2)).sum()
    }
}

/// The cells of one quantity of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// `PAPER/FIGURE`.
    pub figure: String,
    /// Its name in the figure.
    pub name: String,
    /// Its cells, row by row.
    pub cells: Vec<Cell>,
}

impl Quantity {
    /// Returns the quantities of all tables whose figures were run.
    ///
    /// # Errors
    /// A figure that cannot be read.
    pub fn all(library: &Library, stores: &Stores) -> Result<Vec<Quantity>, PaperError> {
        let mut all = Vec::new();
        for paper in library.papers() {
            for name in paper.figures() {
                let figure = format!("{}/{name}", paper.name);
                let found = stores.found.of(&figure);
                if found.is_empty() {
                    continue;
                }
                let repeated = stores.repeated.of(&figure);
                let mut quantities: Vec<Quantity> = Vec::new();
                for (quantity, cells) in paper.tables(&name)? {
                    let cells = cells.into_iter().filter_map(|named| cell(named, found, repeated));
                    match quantities.iter_mut().find(|known| known.name == quantity) {
                        // Some printed tables are written in several parts.
                        Some(known) => known.cells.extend(cells),
                        None => {
                            quantities.push(Quantity { figure: figure.clone(), name: quantity, cells: cells.collect() })
                        }
                    }
                }
                all.extend(quantities);
            }
        }
        Ok(all)
    }

    /// Logarithms of the printed value and of ours, for the cells that have both.
    pub fn pairs(&self) -> Vec<(f64, f64)> {
        self.cells.iter().filter_map(|cell| Some((cell.printed_logarithm(), cell.ours()?))).collect()
    }

    /// Degrees of freedom of [`Quantity::noise`].
    pub fn degrees(&self) -> usize {
        self.cells.iter().map(|cell| cell.runs.len().saturating_sub(1)).sum()
    }

    /// Standard deviation of the logarithm of one run, pooled over the cells; none if no cell was repeated.
    pub fn noise(&self) -> Option<f64> {
        let degrees = self.degrees();
        (degrees > 0).then(|| (self.cells.iter().map(Cell::squares).sum::<f64>() / degrees as f64).sqrt())
    }
}

/// The cell of this name with its runs; none if the figure was stored without it.
fn cell(NamedCell { what, row, column }: NamedCell, found: &[Outcome], repeated: &[Outcome]) -> Option<Cell> {
    let named = |outcome: &&Outcome| outcome.cell == what && outcome.published.is_some();
    let outcome = found.iter().find(named)?;
    let again = repeated.iter().find(named).and_then(|outcome| outcome.ours);
    Some(Cell {
        row,
        column,
        printed: outcome.published?,
        half_place: outcome.half_place,
        // A repetition of what has no value is no value.
        runs: outcome.ours.map_or(Vec::new(), |ours| std::iter::once(ours).chain(again).collect()),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A table of one column: each cell is a printed value and our runs.
    pub(crate) fn table(cells: &[(f64, &[f64])]) -> Quantity {
        let cell = |(at, (printed, runs)): (usize, &(f64, &[f64]))| Cell {
            row: at.to_string(),
            column: String::new(),
            printed: *printed,
            half_place: 0.005,
            runs: runs.to_vec(),
        };
        Quantity { figure: "a/b".into(), name: String::new(), cells: cells.iter().enumerate().map(cell).collect() }
    }

    #[test]
    fn values_below_half_place_are_equal() {
        let zero = &table(&[(0.0, &[0.001])]).cells[0];
        assert_eq!(zero.ours(), Some(zero.printed_logarithm()));
    }

    /// Variances of two runs a factor of 4 apart, ln(4)^2 / 2, and of two equal runs: the mean of both.
    #[test]
    fn noise_pools_cells() {
        let noise = table(&[(1.0, &[1.0, 4.0]), (1.0, &[2.0, 2.0])]).noise().unwrap();
        assert!((noise - 4f64.ln() / 2.0).abs() < 1e-12);
        assert_eq!(table(&[(1.0, &[1.0])]).noise(), None);
    }
}
