//! Why there is no machine, or no run on it.

use std::fmt::Display;

/// What is missing or failed, in one line.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct VirtualError(pub(crate) String);

impl VirtualError {
    /// Returns an error that says what failed and what the system reported.
    pub(crate) fn doing<E: Display>(what: impl Display) -> impl FnOnce(E) -> VirtualError {
        move |error| VirtualError(format!("{what}: {error}"))
    }
}
