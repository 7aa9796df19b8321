//! Finished results: their page, their table, and whether expectations were met.

use crate::outcome::Failure;
use crate::output::say;
use experiment::results::{Print, Results, colours_wanted, to_table};
use report::PAGE;
use std::path::Path;

/// Prints the table; `wide` with all its columns.
pub fn shown(results: &Results, folder: &Path, wide: bool) -> Result<(), Failure> {
    let table = to_table(results, Print { colours: colours_wanted(), wide });
    let page = folder.join(PAGE);
    let page = if page.is_file() { format!("\nThe page: {}", page.display()) } else { String::new() };
    say(&format!("{table}\nWritten to {}{page}\n", folder.display()))
}

/// Whether every expectation was.
pub fn met(results: &Results) -> Result<(), Failure> {
    if results.expectations.iter().all(|expectation| expectation.met) { Ok(()) } else { Err(Failure::Missed) }
}

/// Writes the page, or removes that of an earlier run.
pub fn write_page(results: &Results, folder: &Path, page: bool) -> std::io::Result<()> {
    if page {
        return experiment::results::write_file(folder, PAGE, |file| file.write_all(report::page(results).as_bytes()));
    }
    match std::fs::remove_file(folder.join(PAGE)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
