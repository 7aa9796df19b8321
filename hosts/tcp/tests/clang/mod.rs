//! Compiles an eBPF program for a test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether there is a compiler.
pub fn is_installed() -> bool {
    Command::new("clang").arg("--version").output().is_ok()
}

/// Compiles `source`, a path in this crate, to an object of this process. `extra`: more arguments of the compiler.
pub fn compile(source: &str, extra: &[&str]) -> PathBuf {
    let room = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = Path::new(source).file_stem().expect("a file").to_str().expect("plain");
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.o", std::process::id()));
    let output = Command::new("clang")
        .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
        .args(extra)
        .arg("-I")
        .arg(room.join("bpf"))
        .arg("-I")
        .arg(room.join("../../algorithms/rapid/include"))
        .arg("-idirafter")
        .arg(format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH))
        .arg("-c")
        .arg(room.join(source))
        .arg("-o")
        .arg(&object)
        .output()
        .expect("clang");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    object
}

/// The bytes of that object, of which no file is left.
pub fn compiled(source: &str, extra: &[&str]) -> Vec<u8> {
    let object = compile(source, extra);
    let bytes = std::fs::read(&object).expect("what was just compiled");
    let _ = std::fs::remove_file(object);
    bytes
}
