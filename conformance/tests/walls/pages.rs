//! Settings, as the pages of the documentation show them, against the registries.

use packetscale_models::settings::{Described, Parameters};

/// The cells of a row of a table, without the marks of code and of text. `None`: the line is not a row.
fn cells(line: &str) -> Option<Vec<String>> {
    let inside = line.strip_prefix('|')?.strip_suffix('|')?;
    let plain = |cell: &str| cell.replace(['`', '"'], "").trim().to_string();
    Some(inside.split('|').map(plain).collect())
}

/// The first cells of the row that a setting must have: of which entry, where a page has several; name, default, range.
fn row(entry: Option<&str>, parameter: &dyn Described) -> Vec<String> {
    let own = [parameter.name().to_string(), parameter.default(), parameter.range()];
    entry.map(str::to_string).into_iter().chain(own).collect()
}

/// Settings without a row on a page, or with another default or range. `entry` precedes them in each row where
/// a page has several.
pub fn missing_rows(path: &str, page: &str, entry: Option<&str>, parameters: Parameters) -> Vec<String> {
    let rows: Vec<Vec<String>> = page.lines().filter_map(cells).collect();
    let lacks = |parameter: &&&dyn Described| !rows.iter().any(|cells| cells.starts_with(&row(entry, **parameter)));
    let offence = |parameter: &&dyn Described| {
        let first = row(entry, *parameter).join(" | ");
        format!("{path}: expected the row | {first} | {} |", parameter.doc())
    };
    parameters.iter().filter(lacks).map(offence).collect()
}
