//! Programs of tests. Where a manifest lists them (`autotests = false`), cargo compiles no other file of `tests/`: a file that
//! nobody names would be judged by nobody.

use toml::{Table, Value};

/// The files directly in `tests/` that neither the manifest nor `tests/all.rs` names, where cargo does not look for itself.
/// `files` are their names without `.rs`.
pub fn unheard(folder: &str, manifest: &str, all: &str, files: &[&str]) -> Vec<String> {
    let manifest: Table = manifest.parse().unwrap_or_else(|error| panic!("{folder}/Cargo.toml: {error}"));
    if manifest.get("package").and_then(|package| package.get("autotests")).and_then(Value::as_bool) != Some(false) {
        return Vec::new();
    }
    let programs = manifest.get("test").and_then(Value::as_array).into_iter().flatten();
    let programs: Vec<&str> = programs.filter_map(|test| test.get("name")?.as_str()).collect();
    let module = |name: &str| all.lines().any(|line| line.trim() == format!("mod {name};"));
    let heard = |name: &&&str| programs.contains(*name) || module(name);
    let offence = |name: &&str| format!("{folder}/tests/{name}.rs: nobody compiles it: name it in tests/all.rs");
    files.iter().filter(|name| !heard(name)).map(offence).collect()
}
