//! What operators get beside the command: a manual page, and units for systemd.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = "docs/man/packetscale-tcp.8";
const UNIT: &str = "linux/systemd/packetscale-tcp.service";
const SERVER: &str = "live/systemd/packetscale-serve.service";
/// Where the units expect the command.
const INSTALLED: &str = "/usr/local/bin/packetscale";

fn text(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).expect("the file")
}

fn is_installed(program: &str) -> bool {
    let installed = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !installed {
        eprintln!("skipped: {program} is not installed");
    }
    installed
}

/// A file of this content in a folder of its own.
fn file(folder: &tempfile::TempDir, name: &str, content: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, content).expect("written");
    path
}

/// What a program finds fault with, in words.
fn faults(command: &mut Command) -> String {
    let output = command.env("LC_ALL", "C.UTF-8").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() || !said.is_empty() { said } else { output.status.to_string() }
}

fn rendered(page: &Path) -> String {
    faults(Command::new("man").args(["--warnings=w", "-l"]).arg(page).env("MANWIDTH", "80"))
}

#[test]
fn the_manual_page_is_rendered_without_a_warning() {
    if !is_installed("man") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let page = text(PAGE);
    assert_eq!(rendered(&file(&folder, "good.8", &page)), "");
    let wrong = page.replace(".SH LIMITS", ".SH LIMITS\n.NOSUCHMACRO");
    assert!(rendered(&file(&folder, "wrong.8", &wrong)).contains("NOSUCHMACRO"));
}

/// The commands that a help text lists: each begins a line, two columns from its left.
fn listed(help: &str) -> Vec<&str> {
    let section = help.split_once("Commands:\n").map(|(_, rest)| rest).unwrap_or_default();
    let section = section.split("\n\n").next().unwrap_or_default();
    let words = section.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    words.filter(|word| !word.is_empty() && *word != "help").collect()
}

#[test]
fn the_manual_page_has_every_command_and_begins_with_the_limits() {
    let help = Command::new(env!("CARGO_BIN_EXE_packetscale")).args(["tcp", "--help"]).output().expect("it starts");
    let help = String::from_utf8(help.stdout).expect("text");
    let commands = listed(&help);
    assert!(commands.len() >= 6, "{commands:?}");
    let page = text(PAGE);
    for command in &commands {
        assert!(page.contains(&format!("\n.TP\n.B {command}\n")), "{PAGE} does not tell of tcp {command}");
    }
    let at = |title: &str| page.find(&format!("\n.SH {title}\n")).unwrap_or_else(|| panic!("{PAGE} has no {title}"));
    assert!(at("SYNOPSIS") < at("LIMITS") && at("LIMITS") < at("DESCRIPTION"));
}

/// What systemd finds wrong with a unit, in a folder of its own.
fn verified(folder: &tempfile::TempDir, name: &str, unit: &str) -> String {
    let path = file(folder, &format!("{name}.service"), unit);
    faults(Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(path))
}

#[test]
fn systemd_understands_the_servers_unit() {
    if !is_installed("systemd-analyze") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let unit = text(SERVER);
    assert_eq!(unit.matches(INSTALLED).count(), 2, "in the head, and where it starts");
    let unit = unit.replace(INSTALLED, env!("CARGO_BIN_EXE_packetscale"));
    assert_eq!(verified(&folder, "serve", &unit), "");
    assert!(verified(&folder, "wrong", &unit.replace("DynamicUser", "DynamicUsers")).contains("DynamicUsers"));
}

#[test]
fn the_servers_unit_has_options_that_the_command_has() {
    let help =
        Command::new(env!("CARGO_BIN_EXE_packetscale")).args(["live", "serve", "--help"]).output().expect("it starts");
    let help = String::from_utf8(help.stdout).expect("text");
    let unit = text(SERVER);
    let lines = unit.lines().filter(|line| line.contains("SERVE_OPTIONS=") || line.starts_with("ExecStart="));
    let words = lines.flat_map(str::split_whitespace).map(|word| word.trim_start_matches("SERVE_OPTIONS=\""));
    let options: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert!(options.len() >= 5, "{options:?}");
    for option in options {
        assert!(help.contains(&format!("{option} <")), "{option}");
    }
}

#[test]
fn systemd_understands_the_unit() {
    if !is_installed("systemd-analyze") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let unit = text(UNIT);
    assert_eq!(unit.matches(INSTALLED).count(), 3, "in the head, and where it starts and stops");
    let unit = unit.replace(INSTALLED, env!("CARGO_BIN_EXE_packetscale"));
    assert_eq!(verified(&folder, "shipped", &unit), "");
    let with_default = unit.replace("# ExecSt", "ExecSt");
    assert_eq!(with_default.matches("\nExecSt").count(), 4);
    assert_eq!(verified(&folder, "default", &with_default), "");
    assert!(verified(&folder, "wrong", &unit.replace("NoNewPrivileges", "NoNewPrivilege")).contains("NoNewPrivilege"));
}
