//! Reads one table of the scenario, key by key: checks each value, writes defaults back into the table, and at the
//! end refuses unknown keys.

use crate::scenario::document::{KeyValue, Node, Table, Value};
use crate::scenario::error::{Place, ScenarioError, listed, perhaps};
use crate::scenario::files::amiss;
use crate::scenario::keys::{declared, elsewhere};
use packetscale_models::units::{Bytes, Packets, ParseError, Rate, Ratio, Span, Time};
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A quantity that is written as text with a unit.
pub(crate) trait Quantity: FromStr<Err = ParseError> + PartialEq + Default + Display {
    /// Its name in messages.
    const NAME: &'static str;
    /// An example of a valid value.
    const EXAMPLE: &'static str;
    /// What is wrong with a value that a plan cannot use.
    fn excess(&self) -> Option<&'static str> {
        None
    }
}

macro_rules! quantity {
    ($($type:ty, $name:literal, $example:literal;)*) => {
        $(impl Quantity for $type {
            const NAME: &'static str = $name;
            const EXAMPLE: &'static str = $example;
        })*
    };
}

quantity! {
    Span, "a time", "30 ms";
    Bytes, "an amount of data", "1500 B";
    Packets, "a number of packets", "100 packets";
}

/// Times are whole picoseconds: at this rate one is 0.8 % of a packet of 1500 B.
const MOST_RATE: Rate = Rate::from_bps(100_000_000_000_000);

impl Quantity for Rate {
    const NAME: &'static str = "a rate";
    const EXAMPLE: &'static str = "10 Gbit/s";
    fn excess(&self) -> Option<&'static str> {
        (*self > MOST_RATE).then_some("above 100 Tbit/s, where a packet takes too few picoseconds to be timed")
    }
}

/// Whether zero is a valid value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zero {
    Allowed,
    Refused,
}

/// Reads `node` as a quantity.
pub(crate) fn quantity<T: Quantity>(node: &Node, key: &str, zero: Zero) -> Result<T, ScenarioError> {
    let positive = if zero == Zero::Refused { " above zero" } else { "" };
    let expected = format!("{}{positive} like \"{}\"", T::NAME, T::EXAMPLE);
    let refuse = |found: String| ScenarioError::at(&node.place, key, found, &expected);
    let Value::Text(text) = &node.value else {
        let bare = matches!(node.value, Value::Integer(_) | Value::Float(_));
        let found = node.value.described();
        return Err(refuse(if bare { format!("{found}, a bare number") } else { found }));
    };
    let value: T = text.parse().map_err(|error: ParseError| refuse(format!("{} ({})", node.value, error.problem)))?;
    if zero == Zero::Refused && value == T::default() {
        return Err(refuse(node.value.to_string()));
    }
    if let Some(problem) = value.excess() {
        return Err(refuse(format!("{} ({problem})", node.value)));
    }
    Ok(value)
}

/// Reads `node` as a number, whole or not.
pub(crate) fn number(node: &Node, key: &str, expected: &str) -> Result<f64, ScenarioError> {
    let read = match &node.value {
        Value::Integer(n) => Some(*n as f64),
        Value::Float(x) => x.parse().ok().filter(|x: &f64| x.is_finite()),
        _ => None,
    };
    read.ok_or_else(|| ScenarioError::at(&node.place, key, node.value.described(), expected))
}

/// Reads `node` as a fraction of `range`: a number, or a percentage in text.
pub(crate) fn ratio(node: &Node, key: &str, range: RangeInclusive<f64>) -> Result<Ratio, ScenarioError> {
    ratio_like(node, key, range, "0.01 or \"1 %\"")
}

/// The same, with an example of the range.
pub(crate) fn ratio_like(
    node: &Node,
    key: &str,
    range: RangeInclusive<f64>,
    example: &str,
) -> Result<Ratio, ScenarioError> {
    let expected = format!("a fraction from {} to {} like {example}", range.start(), range.end());
    let refuse = || ScenarioError::at(&node.place, key, node.value.described(), &expected);
    let ratio = match &node.value {
        Value::Text(text) => text.parse().map_err(|_| refuse())?,
        _ => {
            let x = number(node, key, &expected)?;
            if !range.contains(&x) {
                return Err(refuse());
            }
            if x > 0.0 && Ratio::from_f64(x) == Ratio::ZERO {
                let expected = if *range.start() > 0.0 { "at least 2.4e-10" } else { "zero or at least 2.4e-10" };
                return Err(ScenarioError::at(&node.place, key, node.value.described(), expected));
            }
            Ratio::from_f64(x)
        }
    };
    if !range.contains(&ratio.as_f64()) {
        return Err(refuse());
    }
    Ok(ratio)
}

/// Reads `node` as a whole number.
pub(crate) fn integer(node: &Node, key: &str, range: RangeInclusive<u64>) -> Result<u64, ScenarioError> {
    match node.value {
        Value::Integer(n) if n >= 0 && range.contains(&(n as u64)) => Ok(n as u64),
        _ => {
            let expected = match (*range.start(), *range.end()) {
                (start, end) if end >= i64::MAX as u64 => format!("a whole number of at least {start}"),
                (start, end) => format!("a whole number from {start} to {end}"),
            };
            Err(ScenarioError::at(&node.place, key, node.value.described(), expected))
        }
    }
}

/// Reads `node` as text.
pub(crate) fn text(node: &Node, key: &str, expected: &str) -> Result<String, ScenarioError> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        other => Err(ScenarioError::at(&node.place, key, other.described(), expected)),
    }
}

/// Reads `node` as `true` or `false`.
pub(crate) fn switch(node: &Node, key: &str) -> Result<bool, ScenarioError> {
    match node.value {
        Value::Switch(switch) => Ok(switch),
        ref other => Err(ScenarioError::at(&node.place, key, other.described(), "true or false")),
    }
}

/// One table being read.
pub(crate) struct Fields<'a> {
    table: &'a mut Table,
    name: String,
    place: Place,
    known: Vec<&'static str>,
    /// The first key that is required and not there.
    missing: Option<ScenarioError>,
}

impl<'a> Fields<'a> {
    /// Starts reading `node`, called `name` in messages.
    pub fn of(node: &'a mut Node, name: &str, expected: &str) -> Result<Fields<'a>, ScenarioError> {
        let place = node.place.clone();
        match &mut node.value {
            Value::Table(table) => {
                Ok(Fields { table, name: name.to_string(), place, known: Vec::new(), missing: None })
            }
            other => Err(ScenarioError::at(&place, name, other.described(), expected)),
        }
    }

    /// Returns the dotted name of a key of this table.
    pub fn key(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_string() } else { format!("{}.{key}", self.name) }
    }

    /// Returns where the value of `key` is written, or the place of the table if it is absent.
    pub fn place(&self, key: &str) -> Place {
        self.table.get(key).map_or(self.place.clone(), |entry| entry.node.place.clone())
    }

    /// Returns a refusal of the value of `key`; of missing keys, if any: the values may be meant for those.
    pub fn refuse(&self, key: &str, found: impl Into<String>, expected: impl Into<String>) -> ScenarioError {
        let refusal = ScenarioError::at(&self.place(key), self.key(key), found, expected);
        self.missing.clone().unwrap_or(refusal)
    }

    /// Whether `key` is present. It stays unknown unless it is read.
    pub fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    fn know(&mut self, key: &'static str) {
        debug_assert!(declared(&self.name, key), "scenario/keys.rs has no {}", self.key(key));
        if !self.known.contains(&key) {
            self.known.push(key);
        }
    }

    /// Reads `key`, if it is present.
    pub fn get(&mut self, key: &'static str) -> Option<&mut Node> {
        self.know(key);
        self.table.node_mut(key)
    }

    /// Reads `key`. Its default is this value, which is then written into the table.
    pub fn or(&mut self, key: &'static str, default: Value) -> &mut Node {
        self.know(key);
        if self.table.get(key).is_none() {
            let node = Node { value: default, place: self.place.clone() };
            self.table.entries.push(KeyValue { key: key.to_string(), key_place: self.place.clone(), node });
        }
        self.table.node_mut(key).expect("it was there or has just been put there")
    }

    /// Reads `key`, which must be present.
    pub fn required(&mut self, key: &'static str, expected: &str) -> Result<&mut Node, ScenarioError> {
        self.know(key);
        if self.table.get(key).is_none() {
            return Err(ScenarioError::at(&self.place, self.key(key), "nothing", expected));
        }
        Ok(self.table.node_mut(key).expect("it was there a line above"))
    }

    /// Reads the key `kind`, which must be present.
    pub fn kind(&mut self, expected: &str) -> Result<String, ScenarioError> {
        let key = self.key("kind");
        text(self.required("kind", expected)?, &key, expected)
    }

    /// Reads `key`, which must be present. If it is missing, reading continues with an example: a misspelt key, which is only
    /// known at the end of reading, is named before the one that it should have been ([`Fields::finish`]).
    pub fn expected(&mut self, key: &'static str, expected: &str, example: Value) -> &mut Node {
        if self.table.get(key).is_none() {
            let missing = ScenarioError::at(&self.place, self.key(key), "nothing", expected);
            self.missing.get_or_insert(missing);
        }
        self.or(key, example)
    }

    /// Reads a quantity that must be given.
    pub fn quantity<T: Quantity>(&mut self, key: &'static str, zero: Zero) -> Result<T, ScenarioError> {
        let (name, expected) = (self.key(key), format!("{} like \"{}\"", T::NAME, T::EXAMPLE));
        quantity(self.expected(key, &expected, Value::Text(T::EXAMPLE.to_string())), &name, zero)
    }

    /// Reads a quantity with a default.
    pub fn quantity_or<T: Quantity>(
        &mut self,
        key: &'static str,
        default: &str,
        zero: Zero,
    ) -> Result<T, ScenarioError> {
        let name = self.key(key);
        quantity(self.or(key, Value::Text(default.to_string())), &name, zero)
    }

    /// Reads a quantity that may be left out.
    pub fn quantity_if<T: Quantity>(&mut self, key: &'static str, zero: Zero) -> Result<Option<T>, ScenarioError> {
        let name = self.key(key);
        self.get(key).map(|node| quantity(node, &name, zero)).transpose()
    }

    /// Reads a whole number with a default.
    pub fn integer_or(
        &mut self,
        key: &'static str,
        default: i64,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ScenarioError> {
        let name = self.key(key);
        integer(self.or(key, Value::Integer(default)), &name, range)
    }

    /// Reads a whole number of 32 bits with a default.
    pub fn count_or(&mut self, key: &'static str, default: u32, least: u32) -> Result<u32, ScenarioError> {
        let n = self.integer_or(key, i64::from(default), u64::from(least)..=u64::from(u32::MAX))?;
        Ok(u32::try_from(n).unwrap_or(u32::MAX))
    }

    /// Reads a switch with a default.
    pub fn switch_or(&mut self, key: &'static str, default: bool) -> Result<bool, ScenarioError> {
        let name = self.key(key);
        switch(self.or(key, Value::Switch(default)), &name)
    }

    /// Reads a switch that may be left out.
    pub fn switch_if(&mut self, key: &'static str) -> Result<Option<bool>, ScenarioError> {
        let name = self.key(key);
        self.get(key).map(|node| switch(node, &name)).transpose()
    }

    /// Refuses the keys that nothing has read, and then what is missing.
    pub fn finish(self) -> Result<(), ScenarioError> {
        let unknown = self.table.entries.iter().find(|entry| !self.known.contains(&entry.key.as_str()));
        unknown.map_or(self.missing.clone().map_or(Ok(()), Err), |entry| {
            let near = perhaps(&entry.key, self.known.iter().copied());
            let other = elsewhere(&self.name, &entry.key).filter(|_| near.is_empty());
            let other = other.map_or(String::new(), |section| format!(", a key of {section}"));
            let found = format!("an unknown key{near}{other}");
            let expected = format!("one of {}", listed(self.known.iter().copied()));
            Err(ScenarioError::at(&entry.key_place, self.key(&entry.key), found, expected))
        })
    }
}

/// A point of time within the run.
pub(crate) fn instant(node: &Node, key: &str, duration: Span) -> Result<Time, ScenarioError> {
    let after: Span = quantity(node, key, Zero::Allowed)?;
    if after >= duration {
        let expected = format!("{} before the end of the run at {duration}", Span::NAME);
        return Err(ScenarioError::at(&node.place, key, node.value.to_string(), expected));
    }
    Ok(Time::ZERO + after)
}

/// A file, named from the folder of the scenario.
pub(crate) fn file(fields: &mut Fields<'_>, folder: &Path) -> Result<PathBuf, ScenarioError> {
    const EXPECTED: &str = "the path of a file, relative to the scenario's folder";
    let key = fields.key("file");
    let written = text(fields.required("file", EXPECTED)?, &key, EXPECTED)?;
    let file = folder.join(&written);
    if let Some(found) = amiss(&written, &file) {
        return Err(fields.refuse("file", found, EXPECTED));
    }
    Ok(file)
}
