//! Dependencies between crates, checked against the workspace's manifests as cargo reads them.

use super::tree::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// One crate uses another. Crates of the workspace are named by their folder, modules by crate and name.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    from: String,
    to: String,
}

pub fn arrow(from: &str, to: &str) -> Arrow {
    Arrow { from: from.to_string(), to: to.to_string() }
}

/// What each crate may use, tests included: they may use `conformance`, which mutates inputs.
const CRATES: &[(&str, &[&str])] = &[
    ("law", &[]),
    // Users compile it alone.
    ("controller", &[]),
    ("models", &["law"]),
    ("experiment", &["models", "controller", "conformance"]),
    ("harness", &["models", "experiment", "conformance"]),
    ("report", &["models", "experiment", "harness"]),
    ("simulator", &["models", "experiment", "harness"]),
    ("linux", &["models", "experiment", "harness", "conformance"]),
    ("live", &["models", "experiment", "harness", "conformance"]),
    // Its tests need a host.
    ("studies", &["models", "experiment", "harness", "report", "simulator"]),
    ("cli", &["models", "experiment", "harness", "report", "studies", "simulator", "linux", "live"]),
    ("python", &["models", "experiment", "harness", "report", "studies", "simulator", "cli"]),
    ("conformance", &["models", "experiment", "harness", "simulator", "linux"]),
];

/// What each module of a crate of several parts may use.
///
/// The transport uses the controllers' contract; otherwise every host would join the two again. The scenario uses the results'
/// figures, so that an expectation of an unknown figure is an error with a line number before anything runs. The lab
/// measures what users load into their TCP; in virtual time the same lab runs inside an emulated machine.
const MODULES: &[(&str, &[&str])] = &[
    ("models/units", &[]),
    ("models/settings", &["units"]),
    ("models/rapid", &["units"]),
    ("models/congestion", &["units", "settings", "rapid"]),
    ("models/queueing", &["units", "settings"]),
    ("models/transport", &["units", "settings", "congestion"]),
    ("models/steered", &["units", "settings", "congestion"]),
    ("models/estimation", &["units", "settings", "rapid"]),
    ("models/theory", &["units"]),
    ("experiment/results", &[]),
    ("experiment/plugins", &[]),
    ("experiment/scenario", &["results", "plugins"]),
    ("experiment/traffic", &["scenario"]),
    ("harness/realtime", &[]),
    ("harness/packets", &[]),
    ("harness/measure", &[]),
    ("harness/runner", &[]),
    ("harness/probing", &[]),
    ("linux/tcp", &[]),
    ("linux/qdisc", &["tcp"]),
    ("linux/lab", &["tcp"]),
    ("linux/virtual_time", &["lab", "tcp"]),
    ("studies/analysis", &[]),
    ("studies/papers", &["analysis"]),
    ("studies/agreement", &["papers"]),
    ("studies/scoreboard", &["papers", "agreement"]),
    ("studies/evaluation", &[]),
    ("studies/matrix", &[]),
    ("studies/attack", &[]),
];

/// External crates that `models` may use: they need no `std`, at least with the selected features.
const PURE: &[&str] = &["libm", "serde"];

/// Returns the arrows that `allowed` does not list.
fn outside_of(allowed: &[(&str, &[&str])], arrows: &[Arrow]) -> Vec<String> {
    let listed = |arrow: &&Arrow| {
        let rule = allowed.iter().find(|(from, _)| arrow.from == *from);
        !rule.is_some_and(|(_, to)| to.contains(&arrow.to.as_str()))
    };
    arrows.iter().filter(listed).map(|a| format!("{} must not use {}", a.from, a.to)).collect()
}

/// Returns the arrows between crates that are not allowed.
pub fn refused(arrows: &[Arrow]) -> Vec<String> {
    outside_of(CRATES, arrows)
}

/// Returns the arrows between modules that are not allowed, of the crates that have such a list.
pub fn refused_inside(arrows: &[Arrow]) -> Vec<String> {
    outside_of(MODULES, arrows)
}

/// The crates with a list of modules.
pub fn of_parts() -> BTreeSet<&'static str> {
    MODULES.iter().filter_map(|(module, _)| module.split('/').next()).collect()
}

/// Those modules, by crate and name.
pub fn modules() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(module, _)| *module)
}

/// Returns the external crates of `models` that may need `std`.
pub fn impure(arrows: &[Arrow]) -> Vec<String> {
    let bad = |arrow: &&Arrow| arrow.from == "models" && !PURE.contains(&arrow.to.as_str());
    arrows.iter().filter(bad).map(|a| format!("{} must not use {}", a.from, a.to)).collect()
}

/// Returns the arrows between crates of the workspace, those of tests and build scripts included.
pub fn of_workspace() -> Vec<Arrow> {
    dependencies().filter_map(|(from, dependency)| Some(arrow(&from, &folder(dependency["path"].as_str()?)))).collect()
}

/// Returns the arrows to external crates, without those of tests and build scripts.
pub fn outside_of_workspace() -> Vec<Arrow> {
    let shipped = |dependency: &Value| dependency["path"].is_null() && dependency["kind"].is_null();
    dependencies()
        .filter(|(_, dependency)| shipped(dependency))
        .filter_map(|(from, dependency)| Some(arrow(&from, dependency["name"].as_str()?)))
        .collect()
}

fn dependencies() -> impl Iterator<Item = (String, Value)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let packages = metadata["packages"].as_array().expect("packages").clone();
    packages.into_iter().flat_map(|package| {
        let manifest = package["manifest_path"].as_str().expect("a manifest").to_string();
        let from = folder(manifest.trim_end_matches("/Cargo.toml"));
        let dependencies = package["dependencies"].as_array().expect("dependencies").clone();
        dependencies.into_iter().map(move |dependency| (from.clone(), dependency))
    })
}

/// Returns the folder of a crate, for a path.
fn folder(path: &str) -> String {
    let root = root();
    let inside = std::path::Path::new(path).strip_prefix(&root).unwrap_or_else(|_| panic!("{path} is outside"));
    inside.to_string_lossy().into_owned()
}
