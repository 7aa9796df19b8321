//! The compiled programs that users get are those of the sources.

use std::path::Path;
use std::process::Command;

/// The version that compiled the committed objects; other versions generate other code.
const CLANG: &str = "clang version 14.";

/// Programs of Rapid (two senders, option, stamps), the lab's bottleneck, and QLBP.
const PROGRAMS: usize = 6;

#[test]
fn committed_objects_match_sources() {
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
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fresh = tempfile::tempdir().expect("a folder");
    let built =
        Command::new(here.join("build-programs.sh")).arg(fresh.path()).output().expect("build-programs.sh starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let objects: Vec<_> = std::fs::read_dir(fresh.path()).expect("the folder").flatten().collect();
    assert_eq!(objects.len(), PROGRAMS);
    for object in objects {
        let kept = here.join("objects").join(object.file_name());
        let same = std::fs::read(object.path()).expect("an object") == std::fs::read(&kept).unwrap_or_default();
        assert!(same, "{} is not what linux/build-programs.sh makes: run it, and keep the result", kept.display());
    }
}
