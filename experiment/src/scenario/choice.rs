//! An entry of a registry and its settings: `"rapid"`, or `{ kind = "rapid", setting = value, ... }`.

use crate::scenario::document::{KeyValue, Node, Table, Value};
use crate::scenario::error::{ScenarioError, listed, perhaps};
use crate::scenario::fields::{Zero, integer, quantity, ratio, switch, text};
use packetscale_models::settings::{Described, Kind, Parameters, Setting, SettingError, Settings};

/// A registry, as messages describe it.
pub(crate) struct Registry<'a> {
    /// What its entries are: `controller`.
    pub noun: &'static str,
    /// An example of a valid entry.
    pub expected: &'static str,
    /// Names and parameters.
    pub entries: &'a [(&'static str, Parameters)],
    /// Keys in addition to `kind` and the settings, which the caller reads.
    pub others: &'static [&'static str],
    /// Former settings, and their replacements.
    pub former: &'static [(&'static str, &'static str)],
}

/// An entry that a scenario chose.
pub(crate) struct Choice {
    pub kind: String,
    pub settings: Settings,
    /// The settings as they were written.
    pub written: Vec<String>,
}

impl Registry<'_> {
    /// Reads a choice.
    pub fn choose(&self, node: &Node, key: &str) -> Result<Choice, ScenarioError> {
        let expected = self.expected;
        let (kind_node, options): (&Node, Vec<&KeyValue>) = match &node.value {
            Value::Text(_) => (node, Vec::new()),
            Value::Table(table) => (self.kind_of(table, node, key)?, self.options(table)),
            other => return Err(ScenarioError::at(&node.place, key, other.described(), expected)),
        };
        let kind = text(kind_node, key, expected)?;
        let names = || self.entries.iter().map(|(name, _)| *name);
        let parameters = self.entries.iter().find(|(name, _)| *name == kind).map(|(_, parameters)| *parameters);
        let parameters = parameters.ok_or_else(|| {
            let found = format!("the unknown {} \"{kind}\"{}", self.noun, perhaps(&kind, names()));
            ScenarioError::at(&kind_node.place, key, found, format!("one of {}", listed(names())))
        })?;
        let (mut settings, mut written) = (Settings::new(), Vec::new());
        for option in options {
            let name = format!("{key}.{}", option.key);
            let parameter = parameters.iter().find(|parameter| parameter.name() == option.key);
            let parameter = parameter.ok_or_else(|| self.unknown(option, &name, &kind, parameters))?;
            settings.insert(option.key.clone(), setting(&option.node, &name, *parameter)?);
            written.push(format!("{} = {}", option.key, option.node.value.plain()));
        }
        Ok(Choice { kind, settings, written })
    }

    fn kind_of<'n>(&self, table: &'n Table, node: &Node, key: &str) -> Result<&'n Node, ScenarioError> {
        let missing = || ScenarioError::at(&node.place, key, "a table without \"kind\"", self.expected);
        table.get("kind").map(|entry| &entry.node).ok_or_else(missing)
    }

    fn options<'n>(&self, table: &'n Table) -> Vec<&'n KeyValue> {
        let is_setting = |entry: &&KeyValue| entry.key != "kind" && !self.others.contains(&entry.key.as_str());
        table.entries.iter().filter(is_setting).collect()
    }

    fn unknown(&self, option: &KeyValue, name: &str, kind: &str, parameters: Parameters) -> ScenarioError {
        let names = || parameters.iter().map(|parameter| parameter.name()).chain(self.others.iter().copied());
        if let Some((_, instead)) = self.former.iter().find(|(former, _)| *former == option.key) {
            return ScenarioError::at(&option.key_place, name, "a setting of earlier versions", *instead);
        }
        let found = match self.only_owner(&option.key) {
            Some(owner) => format!("a setting of {owner}, which {kind} does not have"),
            None => format!("an unknown setting of {kind}{}", perhaps(&option.key, names())),
        };
        let expected = match names().next() {
            Some(_) => format!("one of {}", listed(names())),
            None => format!("no settings: {kind} has none"),
        };
        ScenarioError::at(&option.key_place, name, found, expected)
    }

    /// The only entry that has a setting of this name.
    fn only_owner(&self, setting: &str) -> Option<&'static str> {
        let has = |parameters: Parameters| parameters.iter().any(|parameter| parameter.name() == setting);
        let mut owners = self.entries.iter().filter(|(_, parameters)| has(parameters)).map(|(name, _)| *name);
        owners.next().filter(|_| owners.next().is_none())
    }

    /// The refusal of the algorithm itself, put at the setting it is about.
    pub fn refused(&self, node: &Node, key: &str, error: &SettingError) -> ScenarioError {
        let SettingError::Invalid { name, expected } = error else {
            let expected = format!("a setting of this {}", self.noun);
            return ScenarioError::at(&node.place, key, error.to_string(), expected);
        };
        let option = match &node.value {
            Value::Table(table) => table.get(name),
            _ => None,
        };
        let (place, found) = match option {
            Some(option) => (&option.node.place, option.node.value.described()),
            None => (&node.place, "the default, which does not fit the other settings".to_string()),
        };
        ScenarioError::at(place, format!("{key}.{name}"), found, expected.as_str())
    }
}

fn setting(node: &Node, key: &str, parameter: &dyn Described) -> Result<Setting, ScenarioError> {
    Ok(match parameter.kind() {
        Kind::Span => Setting::Span(quantity(node, key, Zero::Allowed)?),
        Kind::Rate => Setting::Rate(quantity(node, key, Zero::Allowed)?),
        Kind::Packets => Setting::Packets(quantity(node, key, Zero::Allowed)?),
        Kind::Bytes => Setting::Bytes(quantity(node, key, Zero::Allowed)?),
        Kind::Ratio => Setting::Ratio(ratio(node, key, 0.0..=1000.0)?),
        Kind::Integer => Setting::Integer(integer(node, key, 0..=u64::MAX)?),
        Kind::Switch => Setting::Switch(switch(node, key)?),
        Kind::Word(words) => {
            let expected = format!("one of {}", listed(words.iter().copied()));
            let word = text(node, key, &expected)?;
            if !words.contains(&word.as_str()) {
                let found = format!("\"{word}\"{}", perhaps(&word, words.iter().copied()));
                return Err(ScenarioError::at(&node.place, key, found, expected));
            }
            Setting::Word(word)
        }
    })
}
