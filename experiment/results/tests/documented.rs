//! The data dictionary in the documentation is that of the code.

use packetscale_results::dictionary::tables;

#[test]
fn every_column_stands_in_the_documentation_with_its_unit_and_meaning() {
    let page = include_str!("../../../docs/results.md");
    for (table, columns) in tables() {
        let (_, section) = page.split_once(&format!("\n## {table}\n")).expect("a section for every table");
        let section = section.split("\n## ").next().unwrap_or_default();
        for column in &columns {
            let row = format!("| `{}` | {} | {} |\n", column.name, column.unit, column.meaning);
            assert!(section.contains(&row), "{table}: {row}");
        }
        assert_eq!(section.matches("\n| `").count(), columns.len(), "{table} has a row too many");
    }
}
