//! Files of results and their columns.

use super::{assert_documented, code, table};
use experiment::results::figures::{CURVES, Definition, GAP, SEQUENCE, STREAM, tables};

const ABOUT: &str = "# Columns of results

A file of this name with the ending `.csv`, and one with `.parquet`, has each of the first tables. `dictionary.csv` has the same
definitions. [Results](../results.md) explains the files, the windows of time, and how figures are defined.
";

/// Lists of `runs.ndjson` that are no table of their own: heading, key, fields.
const LISTS: [(&str, &str, &[Definition]); 4] = [
    ("curves", "Values of `metric` in `series` and in `runs.ndjson`.", CURVES),
    ("probe streams", "Entries of `streams` in `runs.ndjson`.", STREAM),
    ("gaps of a probe stream", "Entries of `gaps`.", GAP),
    (
        "packets of a flow",
        "Entries of `sequences` in `runs.ndjson`, with `record.packets`, from the simulator. Each list has at most 2000 pairs.",
        SEQUENCE,
    ),
];

fn section(heading: &str, about: &str, figures: &[Definition]) -> String {
    let row = |figure: &Definition| [code(figure.name), figure.unit.symbol().to_string(), figure.meaning.to_string()];
    let about = if about.is_empty() { String::new() } else { format!("{about}\n\n") };
    format!("\n## {heading}\n\n{about}{}", table(["column", "unit", "meaning"], figures.iter().map(row)))
}

#[test]
fn columns() {
    let files: String = tables().iter().map(|(name, columns)| section(name, "", columns)).collect();
    let lists: String = LISTS.iter().map(|(heading, about, fields)| section(heading, about, fields)).collect();
    assert_documented("columns.md", &format!("{ABOUT}{files}{lists}"));
}
