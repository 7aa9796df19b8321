//! The C headers compile where they are meant to: as strict C11, and for BPF.

use std::path::{Path, PathBuf};
use std::process::Command;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a compiler; `None` when this machine has none of that name.
fn compile(compiler: &str, flags: &[&str], source: &str, object: &str) -> Option<(bool, String)> {
    let object = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(object);
    let output = Command::new(compiler)
        .args(flags)
        .arg("-I")
        .arg(here().join("include"))
        .arg("-c")
        .arg(here().join(source))
        .arg("-o")
        .arg(&object)
        .output()
        .ok()?;
    Some((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn the_headers_are_clean_c11() {
    let flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"];
    for source in ["src/face.c", "src/thesis_face.c", "src/queueing_face.c"] {
        let Some((compiled, said)) = compile("gcc", &flags, source, "face.o") else {
            eprintln!("skipped: gcc is not installed");
            return;
        };
        assert!(compiled, "{said}");
    }
}

#[test]
fn the_headers_compile_for_bpf() {
    compiles_for_bpf("host", &[], "host.bpf.o");
}

#[test]
fn those_of_the_dissertations_law_compile_for_bpf() {
    compiles_for_bpf("host", &["-DHOST_THESIS"], "host-thesis.bpf.o");
}

#[test]
fn so_they_do_with_the_learnt_estimator() {
    compiles_for_bpf("host", &["-DHOST_THESIS", "-DRAPID_WITH_LEARNT"], "host-learnt.bpf.o");
}

#[test]
fn those_of_queues_compile_for_bpf() {
    compiles_for_bpf("queues", &[], "queues.bpf.o");
}

fn compiles_for_bpf(host: &str, definitions: &[&str], object: &str) {
    let flags = [&["-std=c11", "-target", "bpf", "-O2", "-Wall", "-Werror"], definitions].concat();
    let Some((compiled, said)) = compile("clang", &flags, &format!("tests/bpf/{host}.bpf.c"), object) else {
        eprintln!("skipped: clang is not installed");
        return;
    };
    if said.contains("No available targets") || said.contains("unknown target") {
        eprintln!("skipped: this clang has no BPF target");
        return;
    }
    assert!(compiled, "{said}");
}

#[test]
fn the_headers_use_no_wide_or_floating_arithmetic() {
    let folder = |name: &str| std::fs::read_dir(here().join("include").join(name)).expect("the headers");
    for header in folder("rapid").chain(folder("queueing")) {
        let path = header.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a header");
        assert!(text.lines().count() < 500, "{} is too long", path.display());
        assert!(
            text.starts_with("/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */"),
            "{}",
            path.display()
        );
        for word in ["__int128", "double ", "float ", "#include <"] {
            assert!(!text.contains(word), "{} has {word}", path.display());
        }
    }
}
