//! Text files that a scenario names: one value a line. Empty lines, and those that begin with `#`, are ignored.

use crate::scenario::files::text_of;
use std::path::Path;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Place in the file, and its text.
    pub found: String,
    pub expected: String,
}

impl Fault {
    pub fn at(line: usize, text: &str, expected: impl Into<String>) -> Fault {
        let shown: String = text.chars().take(60).collect();
        Fault { found: format!("line {line}, \"{shown}\""), expected: expected.into() }
    }

    pub fn missing(found: &str, expected: impl Into<String>) -> Fault {
        Fault { found: found.to_string(), expected: expected.into() }
    }
}

pub(crate) fn read(file: &Path) -> Result<String, Fault> {
    text_of(file).map_err(|error| Fault::missing(&error.to_string(), "a text file that can be read"))
}

/// Lines with their numbers.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The number of the first line, which has to be `header`, and the lines after it.
pub(crate) fn below<'a>(
    header: &str,
    text: &'a str,
) -> Result<(usize, impl Iterator<Item = (usize, &'a str)> + use<'a>), Fault> {
    let mut lines = lines(text);
    match lines.next().unwrap_or((1, "")) {
        (number, line) if line == header => Ok((number, lines)),
        (number, line) => Err(Fault::at(number, line, format!("the line \"{header}\""))),
    }
}
