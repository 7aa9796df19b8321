//! Why a theory has no result.

use alloc::string::String;
use core::fmt;

/// Why a theory has no result for an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// An input outside the domain of the formulas.
    Input {
        /// The input, by the name of its field.
        key: &'static str,
        /// The input.
        found: String,
        /// The valid input.
        expected: String,
    },
    /// The queue grows without bound: at no phase does the burst delay the sender enough to keep the load at capacity.
    Unstable {
        /// The load in units of the capacity that the formulas would give at the phase with the lowest load.
        load: f64,
    },
    /// A period did not repeat the previous one: the method does not apply.
    NotPeriodic {
        /// Unfinished work at the end of the first period, packets.
        first: f64,
        /// Unfinished work at the end of the second period, packets.
        second: f64,
    },
}

impl Error {
    pub(crate) fn input(key: &'static str, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Input { key, found: found.into(), expected: expected.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input { key, found, expected } => write!(f, "{key}: found {found}, expected {expected}"),
            Error::Unstable { load } => write!(
                f,
                "unstable: even the best phase offers {load:.6} of the capacity, so the queue grows without bound; \
                 a shorter decrease or a longer increase is stable"
            ),
            Error::NotPeriodic { first, second } => {
                write!(f, "the second period ends with {second} packets of work and the first with {first}")
            }
        }
    }
}

impl core::error::Error for Error {}
