//! The files of the repository.

use std::path::{Path, PathBuf};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is a folder of the repository").to_path_buf()
}

/// Returns the files with one of these endings that are not build output, sorted, relative to the root.
pub fn sources(endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    walk(&root(), &mut found);
    let mut paths: Vec<String> = found
        .iter()
        .filter_map(|path| path.strip_prefix(root()).ok())
        .map(|path| path.to_string_lossy().into_owned())
        .filter(|path| endings.iter().any(|ending| path.ends_with(ending)))
        .collect();
    paths.sort();
    paths
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let skipped = [".git", "target", "out", "node_modules", ".venv"].iter().any(|skip| name == *skip);
        match path.is_dir() {
            true if !skipped => walk(&path, found),
            false => found.push(path),
            _ => {}
        }
    }
}
