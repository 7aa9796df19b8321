//! Questions as TOML writes them. Quantities are read from the same text as on the command line.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Reads the parameters of a question. The message of a mistake begins with the key.
pub(crate) fn question<Q: DeserializeOwned>(parameters: &toml::Table) -> Result<Q, String> {
    serde_path_to_error::deserialize(parameters.clone()).map_err(|error| {
        let (path, what) = (error.path().to_string(), error.inner().message().to_string());
        // The path of the question itself is a dot: a parameter is missing, or there is no such parameter.
        if path == "." { what } else { format!("{path}: {what}") }
    })
}

/// A value from a text or a number: `"10 ms"`, `"pareto:2.1"`, `20`.
pub(crate) fn written<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(value: D) -> Result<T, D::Error> {
    let text = match toml::Value::deserialize(value)? {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    text.parse().map_err(|error: T::Err| {
        let what = error.to_string();
        // Quantities report what they found; for other parameters it is added here.
        D::Error::custom(if what.starts_with("found ") { what } else { format!("found \"{text}\", {what}") })
    })
}

/// The same, where it may be left out.
pub(crate) fn optional<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(value: D) -> Result<Option<T>, D::Error> {
    written(value).map(Some)
}

/// A whole number in a range.
pub(crate) fn within<'de, D: Deserializer<'de>>(value: D, range: RangeInclusive<i64>) -> Result<u32, D::Error> {
    let number = i64::deserialize(value)?;
    let (least, most) = (range.start(), range.end());
    match u32::try_from(number).ok().filter(|_| range.contains(&number)) {
        Some(number) => Ok(number),
        None => Err(D::Error::custom(format!("found {number}, expected a whole number from {least} to {most}"))),
    }
}
