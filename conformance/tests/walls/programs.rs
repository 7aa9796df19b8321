//! Programs of tests of several files.

/// Whether this is the first file of such a program: `tests/NAME/main.rs`.
pub fn is_one(path: &str) -> bool {
    path.contains("/tests/") && path.ends_with("/main.rs")
}

/// The files of a test program that its first file, at `path`, does not name.
pub fn unnamed(path: &str, text: &str, files: &[(String, String)]) -> Vec<String> {
    let folder = path.strip_suffix("main.rs").expect("the first file of a program");
    let beside = files.iter().filter_map(|(file, _)| file.strip_prefix(folder)?.strip_suffix(".rs"));
    let module = |name: &str| text.lines().any(|line| line.trim().trim_start_matches("pub ") == format!("mod {name};"));
    let forgotten = beside.filter(|name| !name.contains('/') && *name != "main" && !module(name));
    forgotten.map(|name| format!("{folder}{name}.rs: never compiled: name it in {path}")).collect()
}
