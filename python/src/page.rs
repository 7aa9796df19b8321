//! Pages as files.

use crate::fault::{Fault, input, unwritable};
use std::path::Path;

/// Writes a page completely or not at all.
pub fn write(file: &Path, text: &str) -> Result<(), Fault> {
    let Some(leaf) = file.file_name() else {
        return Err(input(format!("out: found {}; expected the name of a file", file.display())));
    };
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .and_then(|()| {
            experiment::results::write_file(folder, &leaf.to_string_lossy(), |out| out.write_all(text.as_bytes()))
        })
        .map_err(unwritable(file))
}
