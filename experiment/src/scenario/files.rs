//! Files: that of a scenario, and those that it names.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Most bytes read from a pipe: it may have no end.
const MOST_BYTES: u64 = 64 << 20;
/// What some editors put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';
const IRREGULAR: &str = "not a regular file";

/// Reads a text, without its byte order mark. A pipe that has a name, and a device, are refused: opening one may wait for
/// ever. Those without a name, as the shell makes them of `<(...)`, are read.
///
/// # Errors
/// What is no text file.
pub fn text_of(file: &Path) -> io::Result<String> {
    let found = fs::metadata(file)?;
    if found.is_dir() {
        return Err(io::Error::other("a folder"));
    }
    if !found.is_file() && file.canonicalize().is_ok() {
        return Err(io::Error::other(IRREGULAR));
    }
    let most = if found.is_file() { u64::MAX } else { MOST_BYTES };
    let mut text = String::new();
    File::open(file)?.take(most.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("more than {} MiB", MOST_BYTES >> 20)));
    }
    if text.starts_with(BYTE_ORDER_MARK) {
        text.remove(0);
    }
    Ok(text)
}

/// The reason why a file that a scenario names as `written` is no regular file; `None`: it is one.
pub(crate) fn amiss(written: &str, file: &Path) -> Option<String> {
    let shown = file.display();
    let what = match fs::metadata(file) {
        Ok(found) if found.is_file() => return None,
        Ok(found) if found.is_dir() => format!("{shown} is a folder"),
        Ok(_) => format!("{shown} is {IRREGULAR}"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => format!("there is no file {shown}"),
        Err(error) => format!("{shown} cannot be read: {error}"),
    };
    Some(format!("\"{written}\", but {what}"))
}
