//! Examples in the documentation of code. `cargo test` compiles a whole crate anew to look for them, so a crate without
//! any says that it has none.

use toml::{Table, Value};

/// Whether rustdoc would run something of this text.
pub fn has_examples(text: &str) -> bool {
    let comments = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let mut inside = false;
    for fence in comments.filter_map(|line| line.trim_start().strip_prefix("```")) {
        // Fences come in pairs. Code without a word, or of Rust, is run.
        if !inside && !NOT_RUN.contains(&fence.trim()) {
            return true;
        }
        inside = !inside;
    }
    false
}

/// What is not Rust.
const NOT_RUN: [&str; 5] = ["text", "toml", "sh", "c", "python"];

/// What is wrong with the manifest of the library in `folder`.
pub fn offence(folder: &str, manifest: &str, has_examples: bool) -> Option<String> {
    let manifest: Table = manifest.parse().unwrap_or_else(|error| panic!("{folder}/Cargo.toml: {error}"));
    let says = manifest.get("lib").and_then(|lib| lib.get("doctest")).and_then(Value::as_bool);
    match (has_examples, says != Some(false)) {
        (true, false) => Some(format!("{folder}: its examples are not run: take doctest = false out of Cargo.toml")),
        (false, true) => Some(format!("{folder}/Cargo.toml: there are no examples: [lib] doctest = false")),
        _ => None,
    }
}
