//! Who may use whom, checked against the workspace's manifests as cargo reads them.

use super::tree::root;
use serde_json::Value;
use std::process::Command;

/// One crate uses another. Crates of the workspace are named by their folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    from: String,
    to: String,
}

pub fn arrow(from: &str, to: &str) -> Arrow {
    Arrow { from: from.to_string(), to: to.to_string() }
}

/// What each folder may use, tests included. A folder that ends in `/` stands for everything inside.
///
/// Two arrows are not in the first sketch of the house, because the alternatives are worse. The transport uses the
/// controllers' contract; otherwise every host would join the two again. Hosts use the experiment's two schemas;
/// otherwise each would have its own idea of a run. They implement the runner's contract. The scenario uses the
/// registries, so that a setting that a controller does not have is an error with a line number, before anything runs.
/// It uses the results' groups to check expectations.
const ALLOWED: &[(&str, &[&str])] = &[
    ("algorithms/units", &[]),
    ("algorithms/settings", &["algorithms/units"]),
    ("algorithms/rapid", &["algorithms/units"]),
    ("algorithms/congestion", &["algorithms/units", "algorithms/settings", "algorithms/rapid"]),
    // Users compile it alone.
    ("algorithms/controller", &[]),
    // What is learnt beside a law has the law inside.
    ("algorithms/steered", &["algorithms/units", "algorithms/settings", "algorithms/congestion"]),
    ("algorithms/queueing", &["algorithms/units", "algorithms/settings"]),
    ("algorithms/estimation", &["algorithms/units", "algorithms/settings", "algorithms/rapid"]),
    ("algorithms/transport", &["algorithms/units", "algorithms/settings", "algorithms/congestion"]),
    ("algorithms/theory", &["algorithms/units"]),
    // The lab measures what users load into their TCP, so it uses another host, `hosts/tcp`.
    (
        "hosts/lab",
        &[
            "algorithms/",
            "experiment/scenario",
            "experiment/traffic",
            "experiment/measure",
            "experiment/results",
            "experiment/runner",
            "hosts/realtime",
            "hosts/tcp",
        ],
    ),
    ("hosts/realtime", &[]),
    (
        "hosts/live",
        &[
            "algorithms/",
            "experiment/brought",
            "experiment/measure",
            "experiment/probing",
            "experiment/results",
            "experiment/runner",
            "experiment/scenario",
            "experiment/traffic",
            "hosts/realtime",
        ],
    ),
    // The lab's own code, inside an emulated machine.
    (
        "hosts/virtual",
        &[
            "algorithms/units",
            "experiment/scenario",
            "experiment/results",
            "experiment/runner",
            "hosts/lab",
            "hosts/realtime",
            "hosts/tcp",
        ],
    ),
    ("hosts/tcp", &["algorithms/rapid", "algorithms/units", "hosts/realtime"]),
    (
        "hosts/simulator",
        &[
            "algorithms/",
            "experiment/brought",
            "experiment/scenario",
            "experiment/traffic",
            "experiment/probing",
            "experiment/measure",
            "experiment/packets",
            "experiment/results",
            "experiment/runner",
        ],
    ),
    ("training/streams", &["algorithms/", "experiment/scenario", "experiment/probing", "hosts/simulator"]),
    (
        "experiment/brought",
        &["algorithms/units", "algorithms/settings", "algorithms/congestion", "algorithms/controller"],
    ),
    ("experiment/traffic", &["algorithms/units", "experiment/scenario"]),
    ("experiment/measure", &["algorithms/", "experiment/scenario", "experiment/traffic", "experiment/results"]),
    ("experiment/packets", &["algorithms/units", "algorithms/transport", "experiment/results", "experiment/traffic"]),
    ("experiment/results", &[]),
    (
        "experiment/scenario",
        &[
            "algorithms/units",
            "algorithms/settings",
            "algorithms/congestion",
            "algorithms/queueing",
            "experiment/brought",
            "experiment/results",
        ],
    ),
    (
        "experiment/report",
        &[
            "experiment/results",
            "experiment/probing",
            "algorithms/congestion",
            "algorithms/estimation",
            "algorithms/theory",
            "algorithms/units",
        ],
    ),
    (
        "experiment/probing",
        &[
            "experiment/scenario",
            "experiment/results",
            "experiment/traffic",
            "algorithms/estimation",
            "algorithms/units",
        ],
    ),
    ("experiment/analysis", &["algorithms/theory", "algorithms/units"]),
    ("experiment/papers", &["experiment/analysis", "experiment/scenario", "experiment/results", "algorithms/units"]),
    ("experiment/runner", &["algorithms/units", "experiment/scenario", "experiment/results"]),
    (
        "experiment/evaluation",
        &[
            "experiment/scenario",
            "experiment/results",
            "experiment/runner",
            "experiment/report",
            "algorithms/congestion",
        ],
    ),
    (
        "experiment/matrix",
        &[
            "algorithms/congestion",
            "experiment/scenario",
            "experiment/results",
            "experiment/runner",
            "experiment/report",
            "hosts/simulator",
        ],
    ),
    (
        "experiment/attack",
        &["experiment/results", "experiment/runner", "experiment/scenario", "experiment/traffic", "hosts/simulator"],
    ),
    ("cli", &["algorithms/", "hosts/", "experiment/"]),
    // The wheel has the command inside, and reproduces figures as the command does.
    (
        "python",
        &[
            "algorithms/congestion",
            "algorithms/estimation",
            "algorithms/steered",
            "algorithms/units",
            "hosts/simulator",
            "experiment/",
            "cli",
            "training/streams",
        ],
    ),
    ("conformance", &["algorithms/", "hosts/", "experiment/"]),
    ("benches", &["algorithms/", "hosts/", "experiment/"]),
];

/// What the tests of any folder may use. It is not published: what is published cannot use it otherwise.
const OF_TESTS: &str = "fuzz";

/// External crates that the pure crates may use: they need no `std`, or not with the features that are asked for.
const PURE: &[&str] = &["libm", "serde"];

fn inside(folder: &str, pattern: &str) -> bool {
    folder == pattern || (pattern.ends_with('/') && folder.starts_with(pattern))
}

/// Returns the arrows that are not allowed.
pub fn refused(arrows: &[Arrow]) -> Vec<String> {
    let allowed = |arrow: &Arrow| {
        let rule = ALLOWED.iter().find(|(from, _)| inside(&arrow.from, from));
        arrow.to == OF_TESTS || rule.is_some_and(|(_, to)| to.iter().any(|to| inside(&arrow.to, to)))
    };
    arrows.iter().filter(|arrow| !allowed(arrow)).map(|a| format!("{} must not use {}", a.from, a.to)).collect()
}

/// Returns the pure crates that use an external crate which may need `std`.
pub fn impure(arrows: &[Arrow]) -> Vec<String> {
    let bad = |arrow: &&Arrow| arrow.from.starts_with("algorithms/") && !PURE.contains(&arrow.to.as_str());
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
