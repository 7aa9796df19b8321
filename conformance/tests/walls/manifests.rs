//! What the registry of crates and docs.rs show of a crate that can be published.

use toml::{Table, Value};

/// Keys of a package, beside its name.
const METADATA: [&str; 7] = ["description", "version", "edition", "rust-version", "license", "keywords", "categories"];

/// What the manifest and the first file of the crate in `folder` lack. A crate that is not published needs none of it.
pub fn lacking(folder: &str, manifest: &str, text: &str) -> Vec<String> {
    let manifest: Table = manifest.parse().unwrap_or_else(|error| panic!("{folder}/Cargo.toml: {error}"));
    let package = manifest.get("package").and_then(Value::as_table).expect("a package");
    if package.get("publish") == Some(&Value::Boolean(false)) {
        return Vec::new();
    }
    let keys = METADATA.iter().filter(|key| !package.contains_key(**key));
    let mut lacking: Vec<String> = keys.map(|key| format!("{folder}/Cargo.toml: found no {key}")).collect();
    if !text.starts_with("//! ") {
        lacking.push(format!("{folder}/src: found no text for docs.rs; expected //! at the top"));
    }
    lacking
}
