//! What a file may contain. Each wall returns its offences, named so that an editor can jump to them.

use toml::{Table, Value};

/// The most lines of a source file.
pub const MOST_LINES: usize = 520;

/// The crates whose manifests define where `unsafe` is allowed: they call foreign code.
const OWN_LINTS: &[&str] = &["law/", "controller/", "models/", "experiment/", "harness/", "linux/"];

const LICENCE: &str = "SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)";

/// Returns the lines of Rust with their numbers, without line comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line.split("//").next().unwrap_or_default()))
}

pub fn lacks_no_std(path: &str, text: &str) -> Vec<String> {
    let says = code(text).any(|(_, line)| line.trim() == "#![no_std]");
    if says { Vec::new() } else { vec![format!("{path}: #![no_std] is missing")] }
}

/// A pure crate can reach `std` only by naming it, which only tests may do.
pub fn links_std(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("models/src/") {
        return Vec::new();
    }
    let lines: Vec<(usize, &str)> = code(text).collect();
    let linked = lines.iter().enumerate().filter(|(at, (_, line))| {
        // Test modules come last in a file.
        let for_tests = lines[..*at].iter().any(|(_, earlier)| earlier.trim() == "#[cfg(test)]");
        line.trim() == "extern crate std;" && !for_tests
    });
    linked.map(|(_, (number, _))| format!("{path}:{number}: links std")).collect()
}

pub fn lints_not_inherited(path: &str, text: &str) -> Vec<String> {
    let own = OWN_LINTS.iter().any(|folder| path.starts_with(folder));
    let manifest: Table = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    let inherits = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(Value::as_bool);
    if own || inherits == Some(true) || manifest.contains_key("workspace") {
        return Vec::new();
    }
    vec![format!("{path}: [lints] workspace = true is missing")]
}

pub fn forbids_unsafe(workspace: &str) -> bool {
    let manifest: Table = workspace.parse().expect("the workspace's manifest is TOML");
    let lints = manifest.get("workspace").and_then(|workspace| workspace.get("lints"));
    let level = lints.and_then(|lints| lints.get("rust")).and_then(|rust| rust.get("unsafe_code"));
    level.and_then(Value::as_str) == Some("forbid")
}

pub fn too_long(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().count();
    if lines > MOST_LINES { vec![format!("{path}: {lines} lines, at most {MOST_LINES}")] } else { Vec::new() }
}

pub fn lacks_licence(path: &str, text: &str) -> Vec<String> {
    let says = text.lines().next().is_some_and(|line| line.contains(LICENCE));
    if says { Vec::new() } else { vec![format!("{path}:1: found no licence; expected \"{LICENCE}\"")] }
}
