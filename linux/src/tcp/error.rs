//! Errors of loading, reading and unloading.

/// A failure, in one sentence.
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
    /// A failure of this machine: the attempted operation, and the system's error.
    pub(crate) fn machine(tried: &str, output: impl std::fmt::Display) -> Error {
        Error::Machine(format!("{tried}: {output}"))
    }
}
