//! `packetscale report`: makes the page of finished results again, or one page of several.

use crate::args::Report as Arguments;
use crate::create::taken;
use crate::outcome::{Failure, unwritable};
use crate::output::say;
use experiment::results::{ReadError, Results, read, write_file};
use report::PAGE;
use std::path::{Path, PathBuf};

pub fn report(arguments: &Arguments) -> Result<(), Failure> {
    let page = page_of(&arguments.folders).map_err(|error| Failure::Input(error.to_string()))?;
    let given = arguments.out.clone().map(|out| if is_folder(&out) { out.join(PAGE) } else { out });
    let file = given.unwrap_or_else(|| match &arguments.folders[..] {
        [folder] => folder.join(PAGE),
        _ => Path::new("out").join(PAGE),
    });
    // A folder's own page is only made again; a pipe or a link of that name is none.
    let is_own = matches!(&arguments.folders[..], [folder] if file == folder.join(PAGE));
    let there = file.symlink_metadata().ok();
    if !arguments.output.replace && there.is_some_and(|there| !is_own || !there.is_file()) {
        return Err(taken(&file));
    }
    let folder =
        file.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(PathBuf::from("."), Path::to_path_buf);
    let Some(leaf) = file.file_name() else {
        return Err(Failure::Input(format!("--out: found {}; expected the name of a file", file.display())));
    };
    let written = std::fs::create_dir_all(&folder)
        .and_then(|()| write_file(&folder, &leaf.to_string_lossy(), |out| out.write_all(page.as_bytes())));
    written.map_err(|error| unwritable(&folder, &error))?;
    say(&format!("Written to {}\n", file.display()))
}

/// A browser shows as a page only what ends in `.html`; another name is that of a folder for it.
fn is_folder(out: &Path) -> bool {
    out.is_dir() || !out.extension().is_some_and(|end| end == "html" || end == "htm")
}

/// The page of the results in these folders: of one, or of several over each other.
///
/// # Errors
/// A folder whose results cannot be read.
pub fn page_of(folders: &[PathBuf]) -> Result<String, ReadError> {
    let mut all: Vec<(String, Results)> = Vec::new();
    for folder in folders {
        let results = read(folder)?;
        all.push((name(folder, &all), results));
    }
    Ok(match &all[..] {
        [(_, results)] => report::page(results),
        several => report::overlaid_page(several),
    })
}

/// What results are called on a page: by their folder, or by its whole path where another folder has the same name.
fn name(folder: &Path, others: &[(String, Results)]) -> String {
    let leaf = folder.file_name().map(|leaf| leaf.to_string_lossy().into_owned());
    leaf.filter(|leaf| others.iter().all(|(other, _)| other != leaf)).unwrap_or_else(|| folder.display().to_string())
}
