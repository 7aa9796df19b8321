//! One message per mistake, on one line: file, line, found, expected.

/// Why a paper or figure cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PaperError(String);

impl PaperError {
    /// Returns an error about a whole file.
    pub(crate) fn about(file: &str, what: impl std::fmt::Display) -> PaperError {
        PaperError(format!("{file}: {what}"))
    }

    /// Returns an error at a byte of a file's text.
    pub(crate) fn at(file: &str, text: &str, offset: usize, what: impl std::fmt::Display) -> PaperError {
        PaperError(format!("{file}:{}: {what}", line(text, offset)))
    }

    /// Returns the error of a TOML text that cannot be read.
    pub(crate) fn toml(file: &str, text: &str, error: &toml::de::Error) -> PaperError {
        let what = error.message().lines().collect::<Vec<_>>().join(", ");
        PaperError::at(file, text, error.span().map_or(0, |span| span.start), what)
    }
}

/// Returns the line of a byte of `text`, from 1.
pub(crate) fn line(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
