//! One message per mistake, on one line: the file, the line, what was found, what is expected.

/// Why a paper or figure cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PaperError(String);

impl PaperError {
    /// About a file as a whole.
    pub(crate) fn about(file: &str, what: impl std::fmt::Display) -> PaperError {
        PaperError(format!("{file}: {what}"))
    }

    /// At a byte of a file's text.
    pub(crate) fn at(file: &str, text: &str, offset: usize, what: impl std::fmt::Display) -> PaperError {
        PaperError(format!("{file}:{}: {what}", line(text, offset)))
    }

    /// TOML that cannot be read as what it should be.
    pub(crate) fn toml(file: &str, text: &str, error: &toml::de::Error) -> PaperError {
        let what = error.message().lines().collect::<Vec<_>>().join(", ");
        PaperError::at(file, text, error.span().map_or(0, |span| span.start), what)
    }
}

/// The line, from 1, that a byte of `text` stands on.
pub(crate) fn line(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
