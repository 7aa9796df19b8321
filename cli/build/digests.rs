//! Digests of the code that a figure's values depend on: one for each table of its file.
//!
//! A digest covers the crates that answer the table and their dependencies, by their `Cargo.toml`. A dependency counts
//! whether or not a run reaches it. Comments, empty lines and tests do not count.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::hash::{DefaultHasher, Hasher};
use std::io::Result;
use std::path::{Path, PathBuf};

/// Code that judges all figures, without its dependencies: figures that compute run no scenario, though their reader can.
pub const JUDGES: &[&str] =
    &["studies/src/papers", "experiment/src/results", "models/src/units", "cli/src/reproduce.rs"];

/// The tables of a figure's file, and the crates that answer each. `recorded` needs none.
pub const DOES: &[(&str, &[&str])] = &[
    ("compute", &["studies/src/analysis", "models/src/theory", "models/src/units"]),
    ("simulate", &["harness", "simulator"]),
    ("probe", &["harness", "simulator", "cli/src/probing.rs"]),
];

/// Returns these crates and their dependencies. Other paths, such as a single source, are returned as they are.
pub fn with_dependencies(root: &Path, crates: &[&str]) -> Result<BTreeSet<String>> {
    let folders = folders(&read_to_string(root.join("Cargo.toml"))?);
    let mut all = BTreeSet::new();
    let mut pending: Vec<String> = crates.iter().map(|member| member.to_string()).collect();
    while let Some(member) = pending.pop() {
        let manifest = root.join(&member).join("Cargo.toml");
        if all.insert(member) && manifest.is_file() {
            let names = dependencies(&read_to_string(manifest)?);
            pending.extend(folders.iter().filter(|(name, _)| names.contains(name)).map(|(_, folder)| folder.clone()));
        }
    }
    Ok(all)
}

/// The crates of a workspace, and their folders: `units = { package = "...", path = "models/src/units" }`.
fn folders(manifest: &str) -> Vec<(String, String)> {
    let of = |line: &str| {
        let folder = line.split_once("path = \"")?.1.split('"').next()?;
        Some((line.split(' ').next()?.to_string(), folder.to_string()))
    };
    manifest.lines().filter_map(of).collect()
}

/// The dependencies of a manifest without those of tests, optional or not: `units.workspace = true`, `units = { workspace = true }`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut counts = false;
    let mut names = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-dependencies");
        } else if counts {
            names.extend(line.split(['.', ' ', '=']).next().map(str::to_string));
        }
    }
    names
}

/// Returns a digest of the code in these crates.
pub fn digest<'a>(root: &Path, crates: impl IntoIterator<Item = &'a str>) -> Result<u64> {
    let mut files = Vec::new();
    for member in crates {
        sources(&root.join(member), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        let text = read_to_string(&file)?;
        let is_code =
            |line: &&str| !line.is_empty() && !["//", "/*", "* ", "*/"].iter().any(|sign| line.starts_with(sign));
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in code.lines().map(str::trim).filter(is_code).chain([""]) {
            hasher.write(line.as_bytes());
            hasher.write_u8(b'\n');
        }
    }
    Ok(hasher.finish())
}

/// Adds a source, or those below a folder.
fn sources(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.ends_with("tests") || path.ends_with("tests.rs") {
        return Ok(());
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            sources(&entry?.path(), files)?;
        }
    } else if path.extension().is_some_and(|ending| ["rs", "c", "h"].iter().any(|known| ending == *known)) {
        files.push(path.to_path_buf());
    }
    Ok(())
}
