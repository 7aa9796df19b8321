//! Compiles the tests' eBPF and C programs. A machine without compilers gets them in a folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that names the folder of what was compiled before.
const COMPILED: &str = "PACKETSCALE_COMPILED";

/// Whether programs can be had here.
pub fn is_installed() -> bool {
    folder().is_some() || Command::new("clang").arg("--version").output().is_ok()
}

fn folder() -> Option<PathBuf> {
    std::env::var_os(COMPILED).map(PathBuf::from)
}

/// The place of what `source`, a path in this crate, is compiled to: in the folder of what was compiled before, or else
/// in one of this process.
fn place(source: &str, extra: &[&str]) -> PathBuf {
    let name = format!("{}{}", Path::new(source).file_stem().expect("a file").to_str().expect("plain"), extra.concat());
    folder().map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id())),
        |folder| folder.join(&name),
    )
}

/// The bytes of the object of an eBPF program. `extra`: more arguments of the compiler.
pub fn compiled(source: &str, extra: &[&str]) -> Vec<u8> {
    let (room, object) = (Path::new(env!("CARGO_MANIFEST_DIR")), place(source, extra));
    if !object.exists() {
        let output = Command::new("clang")
            .args(["-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"])
            .args(extra)
            .arg("-I")
            .arg(room.join("bpf"))
            .arg("-I")
            .arg(room.join("../law/include"))
            .arg("-idirafter")
            .arg(format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH))
            .arg("-c")
            .arg(room.join(source))
            .arg("-o")
            .arg(&object)
            .output()
            .expect("clang");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let bytes = std::fs::read(&object).expect("what was just compiled");
    if folder().is_none() {
        let _ = std::fs::remove_file(object);
    }
    bytes
}

/// A C program with these warnings on, and with the sanitizers where the compiler has them; `None` where there is no
/// compiler.
pub fn program(source: &str, warnings: &[&str]) -> Option<PathBuf> {
    let (room, program) = (Path::new(env!("CARGO_MANIFEST_DIR")), place(source, &[]));
    if program.exists() {
        return Some(program);
    }
    let build = |sanitizers: &[&str]| {
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O1", "-g", "-Wall", "-Werror"]).args(warnings).args(sanitizers);
        compiler.arg("-I").arg(room.join("../law/include")).arg("-I").arg(room.join("bpf"));
        compiler.arg(room.join(source)).arg("-o").arg(&program).output().ok()
    };
    if !build(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])?.status.success() {
        eprintln!("without sanitizers: this compiler has none");
        let output = build(&[])?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    Some(program)
}
