//! Why the lab cannot make a run.

use harness::runner::Unfit;
use std::fmt::Display;

/// A limitation of this machine, this kernel or this lab, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LabError(pub(crate) String);

impl LabError {
    /// An error with the failed operation and the system's report.
    pub(crate) fn doing(what: impl Display) -> impl FnOnce(std::io::Error) -> LabError {
        move |error| LabError(format!("{what}: {error}"))
    }
}

impl From<nix::Error> for LabError {
    fn from(error: nix::Error) -> LabError {
        LabError(error.to_string())
    }
}

/// Refuses a value.
pub(crate) fn unfit<T>(key: impl Into<String>, found: impl Display, expected: impl Display) -> Result<T, Unfit> {
    Err(Unfit { key: key.into(), found: found.to_string(), expected: expected.to_string() })
}
