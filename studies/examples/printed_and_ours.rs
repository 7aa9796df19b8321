//! Draws the stored outcomes of the papers' tables: print across, ours up. Writes SVG to standard output.
//!
//!     cargo run --package studies --example printed_and_ours > docs/images/printed-and-ours.svg

use std::path::Path;
use studies::agreement::picture::picture;
use studies::agreement::quantity::Quantity;
use studies::papers::{Library, PaperError, REPEATED, STORE, Store, Stores};

fn main() -> Result<(), PaperError> {
    let stores = Stores { found: Store::read(Path::new(STORE))?, repeated: Store::read(Path::new(REPEATED))? };
    print!("{}", picture(&Quantity::all(&Library::embedded()?, &stores)?));
    Ok(())
}
