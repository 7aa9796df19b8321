//! Why something could not be done.

/// What went wrong, in one sentence that names it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Input(String),
    /// This machine, or the state it is in, does not allow it.
    #[error("{0}")]
    Machine(String),
}

impl Error {
    /// A failure of this machine: what was tried, and what it said.
    pub(crate) fn machine(tried: &str, said: impl std::fmt::Display) -> Error {
        Error::Machine(format!("{tried}: {said}"))
    }
}
