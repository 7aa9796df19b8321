//! Checks controllers against the registry: their names, their settings, and whether they can be built from these.

use crate::choice::Registry;
use crate::document::{Node, Value};
use crate::error::ScenarioError;
use crate::fields::text;
use crate::model::{ControllerSpec, FlowSpec};
use congestion::Setup;
use units::Time;

/// A controller and its label in tables and pictures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    /// Its `label`. Without one: its name, followed by its settings in brackets, if it has any.
    pub label: String,
    pub spec: ControllerSpec,
}

/// Reads `"rapid"` or `{ kind = "rapid", setting = value, ... }`, and builds it once for each of `setups`.
pub(crate) fn controller(node: &Node, key: &str, setups: &[Setup]) -> Result<Named, ScenarioError> {
    let entries: Vec<_> = congestion::registry().iter().map(|entry| (entry.name, entry.parameters)).collect();
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
    let entry = congestion::find(&choice.kind).expect("chosen from the registry");
    for setup in setups {
        (entry.build)(setup, &choice.settings).map_err(|error| registry.refused(node, key, &error))?;
    }
    let label = match label(node, key)? {
        Some(label) => label,
        None if choice.written.is_empty() => choice.kind.clone(),
        None => format!("{} ({})", choice.kind, choice.written.join(", ")),
    };
    let spec = ControllerSpec { kind: choice.kind, label: label.clone(), settings: choice.settings };
    Ok(Named { label, spec })
}

fn label(node: &Node, key: &str) -> Result<Option<String>, ScenarioError> {
    let Value::Table(table) = &node.value else { return Ok(None) };
    let label = table.get("label");
    label.map(|entry| text(&entry.node, &format!("{key}.label"), "a name for tables and pictures")).transpose()
}

/// The different setups of these flows.
pub(crate) fn setups<'a>(specs: impl Iterator<Item = &'a FlowSpec>) -> Vec<Setup> {
    let mut different: Vec<_> = specs.collect();
    different.sort_by_key(|spec| (spec.packet, spec.rtt, spec.initial_window));
    different.dedup_by_key(|spec| (spec.packet, spec.rtt, spec.initial_window));
    different.into_iter().map(setup).collect()
}

/// What a controller of this flow is built from.
fn setup(flow: &FlowSpec) -> Setup {
    Setup {
        now: Time::ZERO,
        packet: flow.packet,
        handshake_rtt: flow.rtt,
        initial_window: flow.initial_window,
        seed: 0,
    }
}
