//! Digests of the code that decides what a figure finds: one for each thing that its sources may do.
//!
//! The digest covers the rooms that do it and all rooms that these depend on, as their `Cargo.toml` say. A dependency counts
//! whether or not a run reaches it. Comments, empty lines and tests do not count.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::hash::{DefaultHasher, Hasher};
use std::io::Result;
use std::path::{Path, PathBuf};

/// What judges all figures, by itself: figures that compute run no scenario, though the reader of figures can.
pub const JUDGES: &[&str] =
    &["studies/src/papers", "experiment/src/results", "models/src/units", "cli/src/reproduce.rs"];

/// The tables of a figure's file, and the rooms that do what each asks for. `recorded` asks for nothing.
pub const DOES: &[(&str, &[&str])] = &[
    ("compute", &["studies/src/analysis", "models/src/theory", "models/src/units"]),
    ("simulate", &["harness", "simulator"]),
    ("probe", &["harness", "simulator", "cli/src/probing.rs"]),
];

/// Returns these rooms and those that they depend on. What is no crate, such as a single source, stands for itself.
pub fn with_dependencies(root: &Path, rooms: &[&str]) -> Result<BTreeSet<String>> {
    let folders = folders(&read_to_string(root.join("Cargo.toml"))?);
    let mut all = BTreeSet::new();
    let mut left: Vec<String> = rooms.iter().map(|room| room.to_string()).collect();
    while let Some(room) = left.pop() {
        let manifest = root.join(&room).join("Cargo.toml");
        if all.insert(room) && manifest.is_file() {
            let names = dependencies(&read_to_string(manifest)?);
            left.extend(folders.iter().filter(|(name, _)| names.contains(name)).map(|(_, folder)| folder.clone()));
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

/// What a manifest depends on beside its tests, optional or not: `units.workspace = true`, `units = { workspace = true }`.
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

/// Returns a digest of the code in these rooms.
pub fn digest<'a>(root: &Path, rooms: impl IntoIterator<Item = &'a str>) -> Result<u64> {
    let mut files = Vec::new();
    for room in rooms {
        sources(&root.join(room), &mut files)?;
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        let text = read_to_string(&file)?;
        let says =
            |line: &&str| !line.is_empty() && !["//", "/*", "* ", "*/"].iter().any(|sign| line.starts_with(sign));
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in code.lines().map(str::trim).filter(says).chain([""]) {
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
