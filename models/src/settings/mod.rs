//! The settings of an algorithm: named parameters, each with a kind, a default and a range.
//!
//! A [`Parameter`] declares all of this once. Registries show it, and the algorithm reads its setting with it, so that the
//! documentation cannot differ from the code:
//!
//! ```
//! use packetscale_models::settings::{Parameter, Parameters, SettingError, Settings, check_names};
//!
//! const ALPHA: Parameter<u32> = Parameter::new("alpha", 2, 0..=1_000_000, "grow below this many packets queued");
//! pub const PARAMETERS: Parameters = &[&ALPHA];
//!
//! fn build(settings: &Settings) -> Result<u32, SettingError> {
//!     check_names(settings, PARAMETERS)?;
//!     ALPHA.read(settings)
//! }
//!
//! assert_eq!(build(&Settings::new()), Ok(2));
//! ```
//!
//! [`Derived`] is a parameter whose default follows from something else, [`OneOf`] one that takes one of some words.
mod parameter;
mod value;

pub use parameter::{Derived, Described, OneOf, Parameter, Parameters};
pub use value::{PROPER, Value, above_zero, any};

use crate::units::{Bytes, Packets, Rate, Ratio, Span};
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;

/// The kind of a parameter's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A length of time, `"50 ms"`.
    Span,
    /// A fraction, `0.25`.
    Ratio,
    /// A rate, `"1 Mbit/s"`.
    Rate,
    /// A number of packets, `"160 packets"`.
    Packets,
    /// An amount of data, `"1500 B"`.
    Bytes,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A value set in a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// See [`Kind::Span`].
    Span(Span),
    /// See [`Kind::Ratio`].
    Ratio(Ratio),
    /// See [`Kind::Rate`].
    Rate(Rate),
    /// See [`Kind::Packets`].
    Packets(Packets),
    /// See [`Kind::Bytes`].
    Bytes(Bytes),
    /// See [`Kind::Integer`].
    Integer(u64),
    /// See [`Kind::Switch`].
    Switch(bool),
    /// See [`Kind::Word`].
    Word(String),
}

/// The values set for one algorithm, by parameter name.
pub type Settings = BTreeMap<String, Setting>;

/// Settings that do not fit an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingError {
    /// The algorithm has no parameter of this name.
    Unknown {
        /// The name that was used.
        name: String,
    },
    /// The value is of another kind, or outside what the algorithm accepts.
    Invalid {
        /// The parameter.
        name: &'static str,
        /// The expected value.
        expected: String,
    },
}

impl SettingError {
    /// A value that does not fit, by itself or with others.
    pub fn invalid(name: &'static str, expected: impl Into<String>) -> SettingError {
        SettingError::Invalid { name, expected: expected.into() }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::Unknown { name } => write!(f, "there is no parameter \"{name}\""),
            SettingError::Invalid { name, expected } => write!(f, "\"{name}\" must be {expected}"),
        }
    }
}

impl core::error::Error for SettingError {}

/// Refuses settings that name no parameter.
///
/// Errors: the first name that is unknown.
pub fn check_names(settings: &Settings, parameters: Parameters) -> Result<(), SettingError> {
    match settings.keys().find(|name| !parameters.iter().any(|p| p.name() == name.as_str())) {
        Some(name) => Err(SettingError::Unknown { name: name.clone() }),
        None => Ok(()),
    }
}
