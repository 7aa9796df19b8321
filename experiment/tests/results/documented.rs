//! The tables in the documentation are those of the code. They are written, not typed:
//!
//! ```text
//! WRITE_DOCS=1 cargo test -p experiment --test results documented
//! ```

use experiment::results::figures::{CURVES, Definition, GAP, SEQUENCE, STREAM, tables};
use std::fs;
use std::path::Path;

const HEAD: &str = "| column | unit | meaning |\n|---|---|---|\n";

/// Headings of the page, and what stands in the table under each.
fn sections() -> Vec<(&'static str, Vec<Definition>)> {
    let lists = [
        ("curves", CURVES),
        ("probe streams", STREAM),
        ("gaps of a probe stream", GAP),
        ("packets of a flow", SEQUENCE),
    ];
    tables().into_iter().chain(lists.map(|(heading, list)| (heading, list.to_vec()))).collect()
}

fn table(figures: &[Definition]) -> String {
    let row = |figure: &Definition| format!("| `{}` | {} | {} |\n", figure.name, figure.unit.symbol(), figure.meaning);
    HEAD.to_string() + &figures.iter().map(row).collect::<String>()
}

/// The page with its tables as the code has them; the words between them stay.
fn generated(page: &str) -> String {
    sections().iter().fold(page.to_string(), |page, (heading, figures)| {
        let heading = format!("\n## {heading}\n");
        let section = page.find(&heading).unwrap_or_else(|| panic!("there is no section {heading}")) + heading.len();
        let start = section + page[section..].find(HEAD).expect("a table in every section");
        let rows = page[start..].split_inclusive('\n').take_while(|line| line.starts_with('|'));
        let end = start + rows.map(str::len).sum::<usize>();
        format!("{}{}{}", &page[..start], table(figures), &page[end..])
    })
}

#[test]
fn the_tables_in_the_documentation_are_those_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results.md");
    let page = fs::read_to_string(&path).expect("the page");
    let generated = generated(&page);
    if std::env::var_os("WRITE_DOCS").is_some() {
        return fs::write(&path, generated).expect("a page that can be written");
    }
    let stale = generated.lines().zip(page.lines()).find(|(ours, theirs)| ours != theirs);
    assert!(
        generated == page,
        "docs/results.md differs from the table of figures, first at {stale:?}; write it with \
         WRITE_DOCS=1 cargo test -p experiment --test results documented"
    );
}
