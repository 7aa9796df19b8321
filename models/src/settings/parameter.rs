//! Parameters: the only definition of a setting's key, kind, default and range.

use crate::settings::value::range_text;
use crate::settings::{Kind, SettingError, Settings, Value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Debug;
use core::ops::RangeInclusive;

/// The description of a parameter, whatever the type of its values.
pub trait Described: Debug + Sync {
    /// Its key.
    fn name(&self) -> &'static str;
    /// The kind of its values.
    fn kind(&self) -> Kind;
    /// Its default, as a scenario writes it without quotes; of a derived one, what it is derived from.
    fn default(&self) -> String;
    /// The values that it accepts, in words; empty where every value of the kind fits.
    fn range(&self) -> String;
    /// Its meaning, in one line.
    fn doc(&self) -> &'static str;
}

/// The parameters of one algorithm.
pub type Parameters = &'static [&'static dyn Described];

/// A parameter with a fixed default.
#[derive(Clone, Debug)]
pub struct Parameter<T> {
    name: &'static str,
    default: T,
    range: RangeInclusive<T>,
    doc: &'static str,
}

impl<T: Value> Parameter<T> {
    /// Declares it.
    pub const fn new(name: &'static str, default: T, range: RangeInclusive<T>, doc: &'static str) -> Parameter<T> {
        Parameter { name, default, range, doc }
    }

    /// Returns what is set, or the default.
    ///
    /// Errors: a value of another kind, or out of range.
    pub fn read(&self, settings: &Settings) -> Result<T, SettingError> {
        Ok(given(self.name, &self.range, settings)?.unwrap_or(self.default))
    }

    /// The same, at least `least`: a smaller default rises to it.
    ///
    /// Errors: as [`Parameter::read`], and a setting below `least`.
    pub fn read_from(&self, settings: &Settings, least: T) -> Result<T, SettingError> {
        match given(self.name, &self.range, settings)? {
            Some(value) if value < least => Err(self.refuse(format!("{} from {}", T::NOUN, least.text()))),
            Some(value) => Ok(value),
            None if self.default < least => Ok(least),
            None => Ok(self.default),
        }
    }

    /// The refusal of a value that conflicts with others.
    pub fn refuse(&self, expected: impl Into<String>) -> SettingError {
        SettingError::invalid(self.name, expected)
    }
}

impl Parameter<bool> {
    /// Declares a switch.
    pub const fn switch(name: &'static str, default: bool, doc: &'static str) -> Parameter<bool> {
        Parameter::new(name, default, false..=true, doc)
    }
}

impl<T: Value> Described for Parameter<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> Kind {
        T::KIND
    }

    fn default(&self) -> String {
        self.default.text()
    }

    fn range(&self) -> String {
        range_text(&self.range)
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}

/// A parameter with a default that follows from something else: the link, another setting.
#[derive(Clone, Debug)]
pub struct Derived<T> {
    name: &'static str,
    /// The default, in words.
    default: &'static str,
    range: RangeInclusive<T>,
    doc: &'static str,
}

impl<T: Value> Derived<T> {
    /// Declares it.
    pub const fn new(
        name: &'static str,
        default: &'static str,
        range: RangeInclusive<T>,
        doc: &'static str,
    ) -> Derived<T> {
        Derived { name, default, range, doc }
    }

    /// Returns what is set, if anything.
    ///
    /// Errors: a value of another kind, or out of range.
    pub fn read(&self, settings: &Settings) -> Result<Option<T>, SettingError> {
        given(self.name, &self.range, settings)
    }

    /// The refusal of a value that conflicts with others.
    pub fn refuse(&self, expected: impl Into<String>) -> SettingError {
        SettingError::invalid(self.name, expected)
    }
}

impl<T: Value> Described for Derived<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> Kind {
        T::KIND
    }

    fn default(&self) -> String {
        self.default.to_string()
    }

    fn range(&self) -> String {
        range_text(&self.range)
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}

/// A parameter that takes one of some words. The first is the default.
#[derive(Clone, Debug)]
pub struct OneOf {
    name: &'static str,
    words: &'static [&'static str],
    doc: &'static str,
}

impl OneOf {
    /// Declares it.
    pub const fn new(name: &'static str, words: &'static [&'static str], doc: &'static str) -> OneOf {
        assert!(!words.is_empty(), "the first word is the default");
        OneOf { name, words, doc }
    }

    /// Returns the word that is set, or the default.
    ///
    /// Errors: another word, or no word.
    pub fn read(&self, settings: &Settings) -> Result<&'static str, SettingError> {
        let Some(setting) = settings.get(self.name) else { return Ok(self.words[0]) };
        let word = match setting {
            crate::settings::Setting::Word(word) => self.words.iter().copied().find(|known| *known == word.as_str()),
            _ => None,
        };
        word.ok_or_else(|| SettingError::invalid(self.name, format!("one of {}", quoted(self.words))))
    }
}

impl Described for OneOf {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> Kind {
        Kind::Word(self.words)
    }

    fn default(&self) -> String {
        self.words[0].to_string()
    }

    fn range(&self) -> String {
        self.words.join(", ")
    }

    fn doc(&self) -> &'static str {
        self.doc
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<String>>().join(", ")
}

/// The setting of this name, if any, within the range.
fn given<T: Value>(
    name: &'static str,
    range: &RangeInclusive<T>,
    settings: &Settings,
) -> Result<Option<T>, SettingError> {
    let Some(setting) = settings.get(name) else { return Ok(None) };
    match T::of(setting) {
        Some(value) if range.contains(&value) => Ok(Some(value)),
        _ => Err(SettingError::invalid(name, format!("{} {}", T::NOUN, range_text(range)).trim_end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Setting;
    use crate::units::Span;

    const LEVELS: Parameter<u32> = Parameter::new("levels", 4, 2..=16, "rates in a stream");
    const TAU: Derived<Span> = Derived::new("tau", "a round trip", crate::settings::above_zero(), "time constant");
    const HEAD: OneOf = OneOf::new("head", &["drop", "keep"], "gaps before the first spike");

    fn set(name: &str, setting: Setting) -> Settings {
        Settings::from([(name.to_string(), setting)])
    }

    #[test]
    fn unset_parameter_has_its_default() {
        let none = Settings::new();
        assert_eq!((LEVELS.read(&none), TAU.read(&none), HEAD.read(&none)), (Ok(4), Ok(None), Ok("drop")));
        assert_eq!(
            (LEVELS.default(), TAU.default(), HEAD.default()),
            ("4".into(), "a round trip".into(), "drop".into())
        );
    }

    #[test]
    fn reads_a_set_value_within_range() {
        assert_eq!(LEVELS.read(&set("levels", Setting::Integer(16))), Ok(16));
        assert_eq!(TAU.read(&set("tau", Setting::Span(Span::from_millis(5)))), Ok(Some(Span::from_millis(5))));
        assert_eq!(HEAD.read(&set("head", Setting::Word("keep".into()))), Ok("keep"));
    }

    #[test]
    fn a_default_rises_to_the_least_allowed() {
        assert_eq!(LEVELS.read_from(&Settings::new(), 3), Ok(4));
        assert_eq!(LEVELS.read_from(&Settings::new(), 5), Ok(5));
        let refused = SettingError::invalid("levels", "a whole number from 5");
        assert_eq!(LEVELS.read_from(&set("levels", Setting::Integer(4)), 5), Err(refused));
    }

    #[test]
    fn refuses_values_with_the_displayed_range() {
        for setting in [Setting::Integer(17), Setting::Integer(1 << 40), Setting::Switch(true)] {
            let expected = SettingError::invalid("levels", "a whole number from 2 to 16");
            assert_eq!(LEVELS.read(&set("levels", setting)), Err(expected));
        }
        assert_eq!(
            TAU.read(&set("tau", Setting::Span(Span::ZERO))),
            Err(SettingError::invalid("tau", "a time above 0"))
        );
        let words = SettingError::invalid("head", "one of \"drop\", \"keep\"");
        assert_eq!(HEAD.read(&set("head", Setting::Word("maybe".into()))), Err(words));
    }
}
