//! Controllers, checked against the registry: their names, their settings, and whether they can be built from them.

use crate::document::{Node, Value};
use crate::error::{ScenarioError, listed, perhaps};
use crate::fields::{Zero, integer, quantity, ratio, switch, text};
use crate::model::ControllerSpec;
use congestion::{Kind, Parameter, Setting, SettingError, Settings, Setup};

/// A controller and what tables and pictures call it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    /// Its `label`; without one its name, and its settings in brackets when there are any.
    pub label: String,
    pub spec: ControllerSpec,
}

const EXPECTED: &str = "a controller like \"rapid\" or { kind = \"rapid\", ... }";

/// Reads `"rapid"` or `{ kind = "rapid", setting = value, ... }`, and builds it once for each of `setups`.
pub(crate) fn controller(node: &Node, key: &str, setups: &[Setup]) -> Result<Named, ScenarioError> {
    let (kind_node, options) = match &node.value {
        Value::Text(_) => (node, Vec::new()),
        Value::Table(table) => {
            let kind = table.get("kind");
            let kind = kind.ok_or_else(|| ScenarioError::at(&node.place, key, "a table without \"kind\"", EXPECTED))?;
            (&kind.node, table.entries.iter().filter(|entry| entry.key != "kind").collect())
        }
        other => return Err(ScenarioError::at(&node.place, key, other.described(), EXPECTED)),
    };
    let kind = text(kind_node, key, EXPECTED)?;
    let entry = congestion::find(&kind).ok_or_else(|| {
        let names = || congestion::registry().iter().map(|entry| entry.name);
        let found = format!("the unknown controller \"{kind}\"{}", perhaps(&kind, names()));
        ScenarioError::at(&kind_node.place, key, found, format!("one of {}", listed(names())))
    })?;
    let (mut settings, mut label, mut written) = (Settings::new(), None, Vec::new());
    for option in options {
        let name = format!("{key}.{}", option.key);
        if option.key == "label" {
            label = Some(text(&option.node, &name, "a name for tables and pictures")?);
            continue;
        }
        let parameter = entry.parameters.iter().find(|parameter| parameter.name == option.key).ok_or_else(|| {
            let names = || entry.parameters.iter().map(|parameter| parameter.name).chain(["label"]);
            let found = format!("an unknown setting of {kind}{}", perhaps(&option.key, names()));
            ScenarioError::at(&option.key_place, &name, found, format!("one of {}", listed(names())))
        })?;
        settings.insert(option.key.clone(), setting(&option.node, &name, parameter)?);
        written.push(format!("{} = {}", option.key, option.node.value.plain()));
    }
    for setup in setups {
        (entry.build)(setup, &settings).map_err(|error| refused(node, key, &error))?;
    }
    let described = if written.is_empty() { kind.clone() } else { format!("{kind} ({})", written.join(", ")) };
    Ok(Named { label: label.unwrap_or(described), spec: ControllerSpec { kind, settings } })
}

fn setting(node: &Node, key: &str, parameter: &Parameter) -> Result<Setting, ScenarioError> {
    Ok(match parameter.kind {
        Kind::Span => Setting::Span(quantity(node, key, Zero::Allowed)?),
        Kind::Rate => Setting::Rate(quantity(node, key, Zero::Allowed)?),
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

/// The refusal of the controller itself, put at the setting it is about.
fn refused(node: &Node, key: &str, error: &SettingError) -> ScenarioError {
    let SettingError::Invalid { name, expected } = error else {
        return ScenarioError::at(&node.place, key, error.to_string(), "settings that this controller has");
    };
    let option = match &node.value {
        Value::Table(table) => table.get(name),
        _ => None,
    };
    let (place, found) = match option {
        Some(option) => (&option.node.place, option.node.value.described()),
        None => (&node.place, "no value that fits the others".to_string()),
    };
    ScenarioError::at(place, format!("{key}.{name}"), found, *expected)
}
