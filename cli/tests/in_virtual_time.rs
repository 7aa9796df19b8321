//! The smallest run of a real kernel in virtual time, twice. Needs the emulator and Debian's kernel 6.1, which `setup.sh
//! test` fetches; without them the test says that it is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// 400 ms of a path of 20 Mbit/s with a round trip of 10 ms.
const SCENARIO: &str = r#"
    run = { duration = "400 ms", warmup = "100 ms" }
    path = { rate = "20 Mbit/s", delay = "5 ms", buffer = "50 kB" }
    receiver = { delayed_ack = 1 }
    flow = [{ controller = "newreno", packet = "1514 B" }]
"#;

/// The folder with a kernel and its modules; `None`, with a message, where the test cannot run.
fn kernel() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debian-6.1");
    let missing = ["qemu-system-x86_64", "qemu-img"]
        .into_iter()
        .find(|program| Command::new(program).arg("--version").output().is_err());
    match missing {
        Some(program) => eprintln!("skipped: {program} is missing"),
        None if !folder.join("vmlinuz").is_file() => eprintln!("skipped: {} has no kernel", folder.display()),
        None => return Some(folder),
    }
    None
}

fn run(kernel: &Path, place: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(["run", "small.toml", "--on", "kernel", "--clock", "virtual"]).args(words).current_dir(place);
    command.arg("--kernel").arg(kernel.join("vmlinuz")).arg("--modules").arg(kernel);
    command.env("PACKETSCALE_CACHE", place.join("cache"));
    command.output().expect("the command starts")
}

#[test]
fn a_run_of_a_real_kernel_is_the_same_bytes_twice_and_fills_its_path() {
    let Some(kernel) = kernel() else { return };
    let place = tempfile::tempdir().expect("a temporary folder");
    fs::write(place.path().join("small.toml"), SCENARIO).expect("written");
    for out in ["first", "second"] {
        let output = run(&kernel, place.path(), &["--out", out]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let read = |out: &str, file: &str| fs::read(place.path().join(out).join(file)).expect(file);
    for file in ["runs.csv", "flows.csv", "manifest.json", "report.html"] {
        assert!(read("first", file) == read("second", file), "{file} differs between two runs");
    }
    // From 10 packets, slow start fills the path (25 kB) within one round trip. The buffer holds two such products: when it
    // overflows the window is three of them, and half of that still fills the path.
    let runs = String::from_utf8(read("first", "runs.csv")).expect("text");
    let mut lines = runs.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("a header");
    let at = names.iter().position(|name| *name == "utilisation").expect("the column");
    let utilisation: f64 = lines.next().expect("a run")[at].parse().expect("a number");
    assert!((0.99..1.01).contains(&utilisation), "{utilisation}");
}

#[test]
fn a_kernel_that_is_no_file_is_refused_and_so_is_one_for_another_clock() {
    let place = tempfile::tempdir().expect("a temporary folder");
    fs::write(place.path().join("small.toml"), SCENARIO).expect("written");
    let command = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
        command.arg("run").arg("small.toml").args(words).current_dir(place.path());
        let output = command.output().expect("the command starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = command(&["--on", "kernel", "--clock", "virtual", "--kernel", "nowhere"]);
    assert!(code == Some(3) && said.contains("--kernel: found nowhere"), "{said}");
    let (code, said) = command(&["--on", "kernel", "--kernel", "nowhere"]);
    assert!(code == Some(2) && said.contains("expected --on kernel --clock virtual"), "{said}");
}
