//! Reading the values that a scenario sets.

use crate::registry::{Setting, SettingError, Settings};
use core::ops::RangeInclusive;
use units::{Ratio, Span};

pub(crate) fn integer(
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

pub(crate) fn switch(settings: &Settings, name: &'static str, default: bool) -> Result<bool, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Switch(on)) => Ok(*on),
        Some(_) => Err(SettingError::Invalid { name, expected: "true or false" }),
    }
}

/// A fraction above 0 and below 1.
pub(crate) fn proper_fraction(settings: &Settings, name: &'static str, default: Ratio) -> Result<Ratio, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Ratio(ratio)) if *ratio > Ratio::ZERO && *ratio < Ratio::ONE => Ok(*ratio),
        Some(_) => Err(SettingError::Invalid { name, expected: "a fraction between 0 and 1" }),
    }
}

pub(crate) fn positive_span(settings: &Settings, name: &'static str, default: Span) -> Result<Span, SettingError> {
    match settings.get(name) {
        None => Ok(default),
        Some(Setting::Span(span)) if *span > Span::ZERO => Ok(*span),
        Some(_) => Err(SettingError::Invalid { name, expected: "a time above 0" }),
    }
}
