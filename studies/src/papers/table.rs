//! Printed tables of values: many cells of one metric, identified by two keys, and the order of the rows in each
//! column.
//!
//! A table is equivalent to a `[[value]]` per cell, so cells are judged like single values. If a paper shows an order, the
//! columns are judged too, by Spearman's coefficient: the linear correlation of the ranks of our values with the ranks
//! of the published values. Equal values share the mean of their ranks.

use crate::papers::file::{Exception, Keys, Table, Value, plain};
use crate::papers::point::same;
use crate::papers::reading::Reading;
use std::ops::Range;
use toml::Spanned;

/// A cell of a printed table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCell {
    /// The name of its value.
    pub what: String,
    /// Name of its row.
    pub row: String,
    /// Name of its column.
    pub column: String,
}

impl Table {
    /// The names of its cells, row by row.
    pub fn names(&self) -> Vec<NamedCell> {
        let row = |row: &String| {
            let named = |column: &toml::Value| NamedCell {
                what: self.named(row, column),
                row: row.clone(),
                column: plain(column),
            };
            self.columns.iter().map(named).collect::<Vec<NamedCell>>()
        };
        self.rows.keys().flat_map(row).collect()
    }

    /// The name of a cell's value.
    fn named(&self, row: &str, column: &toml::Value) -> String {
        let named = format!("{row}, {} = {}", self.column, plain(column));
        if self.what.is_empty() { named } else { format!("{}: {named}", self.what) }
    }

    /// Its cells, row by row, as values. Each is named after its row and column.
    ///
    /// # Errors
    /// A row of the wrong length, or an exception for an unknown cell.
    pub fn cells(&self, at: Range<usize>) -> Result<Vec<Spanned<Value>>, String> {
        if let Some((row, values)) = self.rows.iter().find(|(_, values)| values.len() != self.columns.len()) {
            return Err(format!("rows.\"{row}\": found {} values, expected {}", values.len(), self.columns.len()));
        }
        for exception in &self.except {
            self.known(exception)?;
        }
        let cells = self.rows.iter().flat_map(|(row, values)| {
            self.columns.iter().zip(values).map(move |(column, published)| self.cell(row, column, published))
        });
        Ok(cells.map(|value| Spanned::new(at.clone(), value)).collect())
    }

    /// Returns the selection of a column: the table's selection and the column's own value.
    pub fn in_column(&self, column: &toml::Value) -> Keys {
        let mut selection = self.selection.clone();
        selection.insert(self.column.clone(), column.clone());
        selection
    }

    /// The reading of a column with this selection.
    pub fn reading<'a>(&'a self, selection: &'a Keys) -> Reading<'a> {
        let Table { from, metric, times, .. } = self;
        Reading { from, metric, selection, against: None, during: None, times: *times }
    }

    /// Returns why the order in this column is known to differ, if it is.
    pub fn order_differs(&self, column: &toml::Value) -> Option<&Exception> {
        let named = |listed: &toml::Value| same(&plain(listed), &plain(column));
        self.order_except.iter().find(|e| e.columns.is_empty() || e.columns.iter().any(named))
    }

    fn cell(&self, row: &str, column: &toml::Value, published: &Spanned<f64>) -> Value {
        let mut selection = self.in_column(column);
        selection.insert(self.row.clone(), toml::Value::String(row.to_string()));
        let differs = self.except.iter().find(|exception| covers(exception, row, column));
        Value {
            what: self.named(row, column),
            published: published.clone(),
            last_place: 0.0,
            unit: self.unit.clone(),
            place: self.place.clone(),
            from: self.from.clone(),
            metric: self.metric.clone(),
            selection,
            divided_by: None,
            less: None,
            during_s: None,
            times: self.times,
            differs: differs.map_or(String::new(), |exception| exception.because.clone()),
            shown_by: differs.map(|exception| exception.shown_by.clone()).unwrap_or_default(),
        }
    }

    /// Refuses an exception with unknown rows or columns.
    fn known(&self, exception: &Exception) -> Result<(), String> {
        if let Some(row) = exception.rows.iter().find(|row| !self.rows.contains_key(*row)) {
            return Err(format!("except.rows: found \"{row}\", which is no row"));
        }
        let is_column = |column: &&toml::Value| self.columns.iter().any(|known| same(&plain(known), &plain(column)));
        match exception.columns.iter().find(|column| !is_column(column)) {
            Some(column) => Err(format!("except.columns: found \"{}\", which is no column", plain(column))),
            None => Ok(()),
        }
    }
}

/// Whether an exception covers a cell. An exception without rows covers all rows; the same holds for columns.
fn covers(exception: &Exception, row: &str, column: &toml::Value) -> bool {
    (exception.rows.is_empty() || exception.rows.iter().any(|named| named == row))
        && (exception.columns.is_empty() || exception.columns.iter().any(|named| same(&plain(named), &plain(column))))
}

/// Returns Spearman's rank correlation of pairs; `None` for fewer than three pairs, or if all values of one side are
/// equal.
pub(crate) fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let a = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<f64>>());
    let b = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<f64>>());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let sum = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    let scale = (sum(&a, &a) * sum(&b, &b)).sqrt();
    (scale > 0.0).then(|| sum(&a, &b) / scale)
}

/// Returns the rank of each value, from 1. Equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |x: f64| values.iter().filter(|&&y| y < x).count() as f64;
    let equal = |x: f64| values.iter().filter(|&&y| y == x).count() as f64;
    values.iter().map(|&x| below(x) + (equal(x) + 1.0) / 2.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(more: &str) -> Table {
        let text = format!(
            "place = \"table 1\"\nfrom = \"runs\"\nmetric = \"throughput_bps\"\nrow = \"controller\"\n\
             column = \"path.loss\"\ncolumns = [1e-3, 1e-2]\n{more}\n\
             [rows]\na = [3.0, 1.0]\nb = [2.0, 4.0]\n"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn cell_selects_its_row_and_column() {
        let cells = table("").cells(0..0).unwrap();
        assert_eq!(
            cells.iter().map(|cell| *cell.as_ref().published.as_ref()).collect::<Vec<_>>(),
            [3.0, 1.0, 2.0, 4.0]
        );
        let cell = cells[2].as_ref();
        assert_eq!(plain(&cell.selection["controller"]), "b");
        assert_eq!(cell.selection["path.loss"].as_float(), Some(1e-3));
    }

    #[test]
    fn exception_applies_only_to_its_cells() {
        let cells = table("except = [{ rows = [\"a\"], columns = [1e-2], because = \"so\" }]").cells(0..0).unwrap();
        assert_eq!(cells.iter().map(|cell| cell.as_ref().differs.as_str()).collect::<Vec<_>>(), ["", "so", "", ""]);
        let whole_column = table("except = [{ columns = [1e-3], because = \"so\" }]").cells(0..0).unwrap();
        assert_eq!(
            whole_column.iter().map(|cell| cell.as_ref().differs.as_str()).collect::<Vec<_>>(),
            ["so", "", "so", ""]
        );
    }

    #[test]
    fn refuses_exception_for_unknown_cell() {
        assert!(table("except = [{ rows = [\"c\"], because = \"so\" }]").cells(0..0).unwrap_err().contains("\"c\""));
        assert!(table("except = [{ columns = [0.5], because = \"so\" }]").cells(0..0).unwrap_err().contains("0.5"));
    }

    #[test]
    fn refuses_row_of_wrong_length() {
        let mut short = table("");
        short.rows.insert("a".to_string(), vec![Spanned::new(0..0, 1.0)]);
        assert_eq!(short.cells(0..0).unwrap_err(), "rows.\"a\": found 1 values, expected 2");
    }

    #[test]
    fn rank_correlation_matches_textbook() {
        // IQ against hours of television, ten persons: 1 - 6 * 194 / (10 * 99) = -29/165.
        let pairs = [
            (106.0, 7.0),
            (100.0, 27.0),
            (86.0, 2.0),
            (101.0, 50.0),
            (99.0, 28.0),
            (103.0, 29.0),
            (97.0, 20.0),
            (113.0, 12.0),
            (112.0, 6.0),
            (110.0, 17.0),
        ];
        assert!((rank_correlation(&pairs).unwrap() + 29.0 / 165.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_share_mean_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0]), [2.5, 1.0, 2.5, 4.0]);
        // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance 4.5, variances 4.5 and 5.
        let found = rank_correlation(&[(1.0, 1.0), (5.0, 2.0), (5.0, 3.0), (9.0, 4.0)]).unwrap();
        assert!((found - (4.5f64 / 5.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn constant_values_have_no_correlation() {
        assert_eq!(rank_correlation(&[(1.0, 2.0), (1.0, 3.0), (1.0, 4.0)]), None);
        assert_eq!(rank_correlation(&[(1.0, 2.0), (2.0, 3.0)]), None);
    }
}
