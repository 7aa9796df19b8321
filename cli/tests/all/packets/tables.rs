//! What the tables say.

use crate::support::Place;
use std::collections::BTreeMap;

/// The numbers of each row of a table of `out`, by their columns.
pub fn table(place: &Place, name: &str) -> Vec<BTreeMap<String, f64>> {
    let mut reader = csv::Reader::from_path(place.at("out").join(name)).expect("a table");
    let head = reader.headers().expect("a header").clone();
    let row = |row: csv::StringRecord| {
        let cells = head.iter().zip(row.iter());
        cells.filter_map(|(column, cell)| Some((column.to_string(), cell.parse().ok()?))).collect()
    };
    reader.records().map(|record| row(record.expect("a row"))).collect()
}

pub fn flows(place: &Place) -> Vec<BTreeMap<String, f64>> {
    table(place, "flows.csv")
}
