//! Why traffic cannot be made.

use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Why a traffic source cannot be opened, or stopped early.
#[derive(Debug, thiserror::Error)]
pub enum TrafficError {
    /// A setting that no source can follow.
    #[error("traffic: {key} is {found}; expected {expected}")]
    Setting {
        /// The scenario's key.
        key: &'static str,
        /// Its value.
        found: String,
        /// The values that are allowed.
        expected: String,
    },
    /// A trace file that cannot be opened or read.
    #[error("{}: cannot be read: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A malformed file of connection vectors.
    #[error("{}:{line}: found {found}; expected {expected}", file.display())]
    Vectors {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The input.
        found: String,
        /// The expected input.
        expected: String,
    },
    /// More connections or flows at a time than the simulator holds.
    #[error("{key}: found more than {most} {what} at a time; expected fewer, or shorter ones")]
    TooMany {
        /// The scenario's key.
        key: String,
        /// Connections, or flows.
        what: &'static str,
        /// The most that it holds.
        most: usize,
    },
    /// A malformed trace file.
    #[error("{}: packet {packet}, byte {offset}: found {found}; expected {expected}", file.display())]
    Trace {
        /// The file.
        file: PathBuf,
        /// Number of the packet that is wrong or missing, from 1.
        packet: u64,
        /// The place in the file, in bytes from its beginning.
        offset: u64,
        /// The input.
        found: String,
        /// The expected input.
        expected: String,
    },
}

impl TrafficError {
    pub(super) fn setting(key: &'static str, found: impl Display, expected: impl Display) -> TrafficError {
        TrafficError::Setting { key, found: found.to_string(), expected: expected.to_string() }
    }

    pub(super) fn vectors(file: &Path, line: usize, found: String, expected: String) -> TrafficError {
        TrafficError::Vectors { file: file.into(), line, found, expected }
    }

    pub(super) fn trace(file: &Path, packet: u64, fault: Fault) -> TrafficError {
        match fault {
            Fault::Io(source) => TrafficError::Io { file: file.into(), source },
            Fault::Bad { offset, found, expected } | Fault::Packet { offset, found, expected } => {
                TrafficError::Trace { file: file.into(), packet, offset, found, expected }
            }
        }
    }
}

/// The error at one place of a trace file. Callers add the file's name and the packet's number.
#[derive(Debug)]
pub(super) enum Fault {
    Io(std::io::Error),
    Bad {
        offset: u64,
        found: String,
        expected: String,
    },
    /// A packet that cannot be read, before others that can.
    Packet {
        offset: u64,
        found: String,
        expected: String,
    },
}

impl Fault {
    /// The same for a fault of one packet: the next record can be read.
    pub(super) fn of_packet(self) -> Fault {
        match self {
            Fault::Bad { offset, found, expected } => Fault::Packet { offset, found, expected },
            other => other,
        }
    }

    pub(super) fn bad(offset: u64, found: impl Display, expected: impl Display) -> Fault {
        Fault::Bad { offset, found: found.to_string(), expected: expected.to_string() }
    }
}
