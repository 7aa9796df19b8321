//! Why there is no run.

use std::fmt::Display;

/// What this machine, this kernel or this lab cannot do: one line for the person who asked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LabError(pub(crate) String);

impl LabError {
    /// What was being done, and what the system said to it.
    pub(crate) fn doing(what: impl Display) -> impl FnOnce(std::io::Error) -> LabError {
        move |error| LabError(format!("{what}: {error}"))
    }
}

impl From<nix::Error> for LabError {
    fn from(error: nix::Error) -> LabError {
        LabError(error.to_string())
    }
}
