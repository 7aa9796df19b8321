//! Errors of loading, reading and unloading.

/// What went wrong, in one sentence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller's request is not valid.
    #[error("{0}")]
    Input(String),
    /// This machine, or its present state, does not allow the request.
    #[error("{0}")]
    Machine(String),
}

impl Error {
    /// Returns a failure of this machine: what was tried, and what the system reported.
    pub(crate) fn machine(tried: &str, said: impl std::fmt::Display) -> Error {
        Error::Machine(format!("{tried}: {said}"))
    }
}
