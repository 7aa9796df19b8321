//! The compiled programs that users get match their sources.

use std::path::Path;
use std::process::Command;

/// The version that compiled the committed objects; another version makes different code from the same source.
const CLANG: &str = "clang version 14.";

#[test]
fn the_objects_kept_are_what_the_sources_compile_to() {
    let said = match Command::new("clang").arg("--version").output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(_) => return eprintln!("skipped: clang is not installed"),
    };
    if !said.contains(CLANG) {
        return eprintln!(
            "skipped: the objects were compiled by {CLANG}x, this is {}",
            said.lines().next().unwrap_or("")
        );
    }
    let room = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fresh = tempfile::tempdir().expect("a folder");
    let built = Command::new(room.join("bpf/build.sh")).arg(fresh.path()).output().expect("build.sh starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut compared = 0;
    for entry in std::fs::read_dir(fresh.path()).expect("the folder") {
        let path = entry.expect("an object").path();
        let kept = room.join("objects").join(path.file_name().expect("a name"));
        let same = std::fs::read(&path).expect("an object") == std::fs::read(&kept).unwrap_or_default();
        assert!(same, "{} is not what bpf/build.sh makes: run it, and keep the result", kept.display());
        compared += 1;
    }
    assert!(compared >= 3, "{compared} objects");
}
