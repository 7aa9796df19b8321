//! Why there is no machine, or no run on it.

use std::fmt::Display;

/// A failure or missing requirement, in one line.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct VirtualError(pub(crate) String);

impl VirtualError {
    /// An error with the failed operation and the system's report.
    pub(crate) fn doing<E: Display>(what: impl Display) -> impl FnOnce(E) -> VirtualError {
        move |error| VirtualError(format!("{what}: {error}"))
    }
}
