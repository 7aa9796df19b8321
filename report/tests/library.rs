//! The library in the pages is made from what its lock file pins.

use std::path::Path;
use std::process::Command;

/// The files that npm needs, and those that it must give again.
const FILES: [&str; 6] = ["package.json", "package-lock.json", "make.mjs", "plot.entry.js", "plot.min.js", "LICENSES"];

#[test]
#[ignore = "downloads packages"]
fn committed_library_matches_lock_file() {
    let npm = |folder: &Path, arguments: &[&str]| Command::new("npm").args(arguments).current_dir(folder).output();
    let folder = tempfile::tempdir().unwrap();
    if npm(folder.path(), &["--version"]).is_err() {
        eprintln!("skipped: npm is not installed");
        return;
    }
    let vendor = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/vendor");
    FILES.iter().for_each(|name| _ = std::fs::copy(vendor.join(name), folder.path().join(name)).unwrap());
    for arguments in [&["ci", "--ignore-scripts"][..], &["run", "check"]] {
        let done = npm(folder.path(), arguments).unwrap();
        assert!(done.status.success(), "npm {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}
