//! Files that the command makes: one that is there is not overwritten unless that is asked for.

use crate::outcome::{Failure, unwritable};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// Opens a new file; with `replace`, overwrites one that is there.
pub fn create(file: &Path, replace: bool) -> Result<File, Failure> {
    let mut open = File::options();
    open.write(true);
    let open = if replace { open.create(true).truncate(true) } else { open.create_new(true) };
    open.open(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => taken(file),
        _ => unwritable(file, &error),
    })
}

/// There is a file of this name.
pub fn taken(file: &Path) -> Failure {
    Failure::Input(format!("{}: found a file; expected none, or --replace to overwrite it", file.display()))
}
