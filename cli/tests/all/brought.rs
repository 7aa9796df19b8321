//! Controllers of users, from the template to the table.

use std::path::Path;
use std::process::{Command, Output};

fn packetscale(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    command.args(arguments).current_dir(folder).output().expect("the command starts")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether `make` is there; the reason is told if not.
fn can_compile(compiler: &str) -> bool {
    let there = Command::new(compiler).arg("--version").output();
    if let Err(error) = &there {
        eprintln!("skipped: {compiler}: {error}");
    }
    there.is_ok()
}

/// Runs the template's scenario beside the built-in controllers.
fn runs(folder: &Path) {
    let output = packetscale(folder, &["run", "mine.toml", "--no-page", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\"mine\"") && text.contains("\"newreno\""), "{text}");
}

#[test]
fn the_template_in_c_compiles_and_runs() {
    if !can_compile("make") || !can_compile("cc") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let output = packetscale(folder.path(), &["new", "controller", "mine"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let folder = folder.path().join("mine");
    let made =
        Command::new("make").arg("CFLAGS=-std=c11 -O2 -Wall -Wextra -Werror -fPIC").current_dir(&folder).output();
    let made = made.expect("make starts");
    assert!(made.status.success(), "{}", told(&made));
    runs(&folder);
    let listed = told(&packetscale(&folder, &["list", "controllers", "mine.so"]));
    assert!(listed.contains("newreno") && listed.contains("\nmine ") && listed.contains("increase"), "{listed}");
    let refused = packetscale(&folder, &["list", "queues", "mine.so"]);
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    // A setting of another name is refused with the place and the names that there are.
    let refused = packetscale(
        &folder,
        &["run", "mine.toml", "--set", "compare.controllers=[{ kind = \"c\", file = \"mine.so\", up = 1 }]"],
    );
    assert_eq!(refused.status.code(), Some(2), "{}", told(&refused));
    assert!(told(&refused).contains("increase"), "{}", told(&refused));
}

#[test]
fn the_template_in_rust_compiles_and_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = packetscale(folder.path(), &["new", "controller", "mine", "--language", "rust"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let folder = folder.path().join("mine");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--offline"]).env_remove("CARGO_TARGET_DIR").current_dir(&folder);
    let built = cargo.output().expect("cargo starts");
    assert!(built.status.success(), "{}", told(&built));
    runs(&folder);
}

/// That it runs is a test of the Python module: the command has no Python.
#[test]
fn a_new_controller_in_python_is_named_by_its_scenario_and_unknown_to_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = packetscale(folder.path(), &["new", "controller", "mine", "--language", "python"]);
    assert!(made.status.success() && told(&made).contains("python3 mine.py"), "{}", told(&made));
    let folder = folder.path().join("mine");
    let text = std::fs::read_to_string(folder.join("mine.py")).expect("a file");
    assert!(text.contains("@ps.controller(\"mine\")") && !text.contains("@NAME@"), "{text}");
    let run = packetscale(&folder, &["run", "mine.toml"]);
    assert_eq!(run.status.code(), Some(2), "{}", told(&run));
    assert!(
        told(&run).contains("mine.toml:17") && told(&run).contains("unknown controller \"mine\""),
        "{}",
        told(&run)
    );
}

#[test]
fn what_cannot_be_begun_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |arguments: &[&str], why: &str| {
        let output = packetscale(folder.path(), &[&["new", "controller"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(why), "{}", told(&output));
    };
    refused(&["Mine"], "found \"Mine\"");
    refused(&["cubic"], "found \"cubic\"");
    std::fs::create_dir(folder.path().join("mine")).expect("made");
    refused(&["mine"], "found a file or folder");
}

#[test]
fn a_file_that_is_no_controller_is_refused_with_the_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = r#"
run = { duration = "1 s" }
path = { rate = "10 Mbit/s", delay = "5 ms", buffer = "1 bdp" }
[[flow]]
controller = { kind = "c", file = "mine.so" }
"#;
    std::fs::write(folder.path().join("it.toml"), scenario).expect("written");
    let absent = packetscale(folder.path(), &["run", "it.toml"]);
    assert!(told(&absent).contains("flow.0.controller.file") && told(&absent).contains("there is no file"));
    std::fs::write(folder.path().join("mine.so"), "text").expect("written");
    let text = packetscale(folder.path(), &["run", "it.toml"]);
    assert!(told(&text).contains("it.toml:5") && told(&text).contains("another kind of file"), "{}", told(&text));
    assert_eq!((absent.status.code(), text.status.code()), (Some(2), Some(2)));
}
