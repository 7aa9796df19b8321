//! What a scenario can set of an algorithm: named parameters, each of one kind, each with a default.
//!
//! Every registry describes its entries with [`Parameter`]s and builds them from [`Settings`]. The readers below take
//! one setting each and refuse what is of another kind or out of bounds.
#![no_std]

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use core::ops::RangeInclusive;
use units::{Bytes, Packets, Rate, Ratio, Span};

/// What kind of value a parameter takes.
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

/// A parameter that a scenario can set.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its key.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its default, as a scenario would write it.
    pub default: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
}

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
        /// What is expected.
        expected: &'static str,
    },
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
pub fn check_names(settings: &Settings, parameters: &[Parameter]) -> Result<(), SettingError> {
    match settings.keys().find(|name| !parameters.iter().any(|p| p.name == name.as_str())) {
        Some(name) => Err(SettingError::Unknown { name: name.clone() }),
        None => Ok(()),
    }
}

/// A whole number in `range`.
pub fn integer(
    settings: &Settings,
    name: &'static str,
    default: u32,
    range: RangeInclusive<u32>,
    expected: &'static str,
) -> Result<u32, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Integer(n)) => match u32::try_from(*n) {
            Ok(n) if range.contains(&n) => Ok(n),
            _ => Err(SettingError::Invalid { name, expected }),
        },
        Some(_) => Err(SettingError::Invalid { name, expected }),
    }
}

/// Yes or no.
pub fn switch(settings: &Settings, name: &'static str, default: bool) -> Result<bool, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Switch(on)) => Ok(*on),
        Some(_) => Err(SettingError::Invalid { name, expected: "true or false" }),
    }
}

/// A fraction in `range`.
pub fn ratio(
    settings: &Settings,
    name: &'static str,
    default: Ratio,
    range: RangeInclusive<Ratio>,
    expected: &'static str,
) -> Result<Ratio, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Ratio(ratio)) if range.contains(ratio) => Ok(*ratio),
        Some(_) => Err(SettingError::Invalid { name, expected }),
    }
}

/// A fraction above 0 and below 1.
pub fn proper_fraction(settings: &Settings, name: &'static str, default: Ratio) -> Result<Ratio, SettingError> {
    let above_zero = Ratio::from_q32(1);
    let below_one = Ratio::from_q32(Ratio::ONE.q32() - 1);
    ratio(settings, name, default, above_zero..=below_one, "a fraction between 0 and 1")
}

/// A time above zero; `None` where the scenario does not say.
pub fn positive_span_if(settings: &Settings, name: &'static str) -> Result<Option<Span>, SettingError> {
    match settings.get(name) {
        None => Ok(None),
        Some(Setting::Span(span)) if *span > Span::ZERO => Ok(Some(*span)),
        Some(_) => Err(SettingError::Invalid { name, expected: "a time above 0" }),
    }
}

/// A time above zero.
pub fn positive_span(settings: &Settings, name: &'static str, default: Span) -> Result<Span, SettingError> {
    Ok(positive_span_if(settings, name)?.unwrap_or(default))
}

/// A rate above zero.
pub fn positive_rate(settings: &Settings, name: &'static str, default: Rate) -> Result<Rate, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Rate(rate)) if *rate > Rate::ZERO => Ok(*rate),
        Some(_) => Err(SettingError::Invalid { name, expected: "a rate above 0" }),
    }
}

/// A number of packets above zero; `None` where the scenario does not say.
pub fn positive_packets_if(settings: &Settings, name: &'static str) -> Result<Option<Packets>, SettingError> {
    match settings.get(name) {
        None => Ok(None),
        Some(Setting::Packets(packets)) if *packets > Packets::ZERO => Ok(Some(*packets)),
        Some(_) => Err(SettingError::Invalid { name, expected: "a number of packets above 0" }),
    }
}

/// One of the words of a [`Kind::Word`].
pub fn word<'a>(settings: &'a Settings, name: &'static str, default: &'a str) -> Result<&'a str, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Word(word)) => Ok(word),
        Some(_) => Err(SettingError::Invalid { name, expected: "one of its words" }),
    }
}
