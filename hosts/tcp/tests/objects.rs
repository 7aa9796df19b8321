//! The compiled programs that users get are those of the sources.

use std::path::Path;
use std::process::Command;

/// The version that compiled the objects kept; another makes other code of the same source.
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
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (host, programs) in [("tcp", 4), ("lab", 1)] {
        let fresh = tempfile::tempdir().expect("a folder");
        let mut build = Command::new(hosts.join("build-programs.sh"));
        let built = build.arg(host).arg(fresh.path()).output().expect("build-programs.sh starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let objects: Vec<_> = std::fs::read_dir(fresh.path()).expect("the folder").flatten().collect();
        assert_eq!(objects.len(), programs, "objects of {host}");
        for object in objects {
            let kept = hosts.join(host).join("objects").join(object.file_name());
            let same = std::fs::read(object.path()).expect("an object") == std::fs::read(&kept).unwrap_or_default();
            assert!(
                same,
                "{} is not what hosts/build-programs.sh {host} makes: run it, and keep the result",
                kept.display()
            );
        }
    }
}
