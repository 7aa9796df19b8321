//! The command on real Linux TCP. Needs root; elsewhere each test says that it is skipped.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"
run = { duration = "500 ms", replications = 2 }
path = { rate = "10 Mbit/s", delay = "5 ms" }
flow = [{ controller = "cubic" }]
sweep = { "path.buffer" = ["10 packets", "20 packets"] }
record = { detail = false }
"#;

fn packetscale(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(arguments).current_dir(folder).output().expect("the command starts")
}

/// Whether this machine can make a run in real time; says so if not.
fn can_run_on_kernel() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    if !root {
        eprintln!("skipped: network namespaces need root");
    }
    root
}

#[test]
fn a_run_on_the_kernel_writes_the_same_files_and_says_what_the_host_did() {
    if !can_run_on_kernel() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("small.toml"), SCENARIO).expect("written");
    let output = packetscale(folder.path(), &["run", "small.toml", "--on", "linux", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    assert_eq!(object["host"], "kernel");
    let out = folder.path().join("out/small");
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("a manifest");
    assert!(manifest.contains("gso_max_segs 1") && manifest.contains("and the delay line carried"), "{manifest}");
    assert!(fs::read_to_string(out.join("report.html")).expect("a page").contains("measured: Linux kernel TCP"));
}
