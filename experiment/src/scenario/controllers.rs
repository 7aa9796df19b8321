//! Checks controllers against the registry, or against the file or the program that brings one: their names, their
//! settings, and whether they can be built from these.

use crate::plugins::Own;
use crate::scenario::choice::{Choice, Registry};
use crate::scenario::document::{Node, Table, Value};
use crate::scenario::error::ScenarioError;
use crate::scenario::fields::text;
use crate::scenario::files::amiss;
use crate::scenario::model::{ControllerSpec, FlowSpec};
use packetscale_models::congestion::Setup;
use packetscale_models::settings::Parameters;
use packetscale_models::units::Time;
use std::path::{Path, PathBuf};

/// With these begins what spreadsheets take for a formula in a table of CSV.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// A controller and its label in tables and pictures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    /// Its `label`. Without one: its name, followed by its settings in brackets, if it has any.
    pub label: String,
    pub spec: ControllerSpec,
}

/// What brings a controller that is not of the registry.
enum Bringer {
    Nobody,
    File(PathBuf),
    Program(Own),
}

/// Of what a program brings, nothing is set by a scenario.
const NO_SETTINGS: Parameters = &[];

/// Reads `"rapid"`, `{ kind = "rapid", setting = value, ... }` or `{ kind = "c", file = "mine.so", ... }`, and builds it
/// once for each of `setups`. `folder` is where the file is looked for.
pub(crate) fn controller(node: &Node, key: &str, setups: &[Setup], folder: &Path) -> Result<Named, ScenarioError> {
    if let Value::Table(table) = &node.value
        && table.get("kind").is_some_and(|kind| kind.node.value == Value::Text(crate::plugins::KIND.to_string()))
    {
        return of_file(node, table, key, setups, folder);
    }
    listed(node, key, setups)
}

/// One of the registry, or one that the program brings by its name, without settings.
fn listed(node: &Node, key: &str, setups: &[Setup]) -> Result<Named, ScenarioError> {
    let own = crate::plugins::registered();
    let listed = packetscale_models::congestion::registry().iter().map(|entry| (entry.name, entry.parameters));
    let entries: Vec<_> = listed.chain(own.iter().map(|own| (own.name, NO_SETTINGS))).collect();
    let registry = Registry {
        noun: "controller",
        expected: "a controller like \"rapid\" or { kind = \"rapid\", ... }",
        entries: &entries,
        others: &["label"],
        former: &[(
            "preset",
            "kind = \"rapid-thesis\" for the law of the dissertation, kind = \"rapid\" for the default law",
        )],
    };
    let choice = registry.choose(node, key)?;
    if let Some(own) = own.into_iter().find(|own| own.name == choice.kind) {
        return named(node, key, choice, Bringer::Program(own));
    }
    let entry = packetscale_models::congestion::find(&choice.kind).expect("chosen from the registry");
    for setup in setups {
        (entry.build)(setup, &choice.settings).map_err(|error| registry.refused(node, key, &error))?;
    }
    named(node, key, choice, Bringer::Nobody)
}

/// A user's controller, with the settings that its file declares.
fn of_file(node: &Node, table: &Table, key: &str, setups: &[Setup], folder: &Path) -> Result<Named, ScenarioError> {
    const EXPECTED: &str = "the path of a shared object like \"mine.so\", relative to the scenario's folder";
    let name = format!("{key}.file");
    let written = table.get("file").ok_or_else(|| ScenarioError::at(&node.place, &name, "nothing", EXPECTED))?;
    let written = &written.node;
    let path = text(written, &name, EXPECTED)?;
    let file = folder.join(&path);
    if let Some(found) = amiss(&path, &file) {
        return Err(ScenarioError::at(&written.place, name, found, EXPECTED));
    }
    let object = crate::plugins::open(&file).map_err(|error| {
        let found = format!("{}, in {}", error.found, error.file.display());
        ScenarioError::at(&written.place, name, found, error.expected)
    })?;
    let registry = Registry {
        noun: "controller",
        expected: "a controller like { kind = \"c\", file = \"mine.so\", ... }",
        entries: &[(crate::plugins::KIND, object.parameters)],
        others: &["file", "label"],
        former: &[],
    };
    let choice = registry.choose(node, key)?;
    for setup in setups {
        object.build(setup, &choice.settings).map_err(|error| registry.refused(node, key, &error))?;
    }
    named(node, key, Choice { kind: object.name.to_string(), ..choice }, Bringer::File(file))
}

fn named(node: &Node, key: &str, choice: Choice, bringer: Bringer) -> Result<Named, ScenarioError> {
    let Choice { kind, settings, written } = choice;
    let label = match label(node, key)? {
        Some(label) => label,
        None if written.is_empty() => kind.clone(),
        None => format!("{kind} ({})", written.join(", ")),
    };
    let (file, own) = match bringer {
        Bringer::Nobody => (None, None),
        Bringer::File(file) => (Some(file), None),
        Bringer::Program(own) => (None, Some(own)),
    };
    let spec = ControllerSpec { kind, file, own, label: label.clone(), settings };
    Ok(Named { label, spec })
}

/// Returns a name for each of these controllers: its label, with the name of its file where another has the same label.
pub fn names(controllers: &[&ControllerSpec]) -> Vec<String> {
    let same = |one: &&ControllerSpec| controllers.iter().filter(|other| other.label == one.label).count() > 1;
    let file = |one: &ControllerSpec| Some(one.file.as_ref()?.file_name()?.to_string_lossy().into_owned());
    let name = |one: &&ControllerSpec| match file(one).filter(|_| same(one)) {
        Some(file) => format!("{}, {file}", one.label),
        None => one.label.clone(),
    };
    controllers.iter().map(name).collect()
}

fn label(node: &Node, key: &str) -> Result<Option<String>, ScenarioError> {
    let Value::Table(table) = &node.value else { return Ok(None) };
    let Some(entry) = table.get("label") else { return Ok(None) };
    let name = format!("{key}.label");
    let label = text(&entry.node, &name, "a name for tables and pictures")?;
    if label.starts_with(FORMULA) || label.contains(char::is_control) {
        let expected = "one line that does not begin with = + - or @, which spreadsheets read as a formula";
        return Err(ScenarioError::at(&entry.node.place, name, format!("{label:?}"), expected));
    }
    Ok(Some(label))
}

/// The different setups of these flows.
pub(crate) fn setups<'a>(specs: impl Iterator<Item = &'a FlowSpec>) -> Vec<Setup> {
    let mut different: Vec<_> = specs.collect();
    different.sort_by_key(|spec| (spec.packet, spec.rtt, spec.initial_window));
    different.dedup_by_key(|spec| (spec.packet, spec.rtt, spec.initial_window));
    different.into_iter().map(|flow| flow.setup(Time::ZERO, 0)).collect()
}

impl FlowSpec {
    /// What its controller is built from when it begins at `now`, as far as the scenario knows it.
    pub fn setup(&self, now: Time, seed: u64) -> Setup {
        let FlowSpec { packet, rtt, initial_window, .. } = *self;
        Setup { now, packet, handshake_rtt: rtt, initial_window, seed }
    }
}
