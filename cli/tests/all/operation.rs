//! What operators get beside the command: a manual page, and units for systemd.

use crate::support::{PROGRAM, Place, Said, repository};
use std::fs;
use std::process::Command;

const PAGE: &str = "docs/man/packetscale-tcp.8";
const UNIT: &str = "linux/systemd/packetscale-tcp.service";
const SERVER: &str = "live/systemd/packetscale-serve.service";
/// Where the units expect the command.
const INSTALLED: &str = "/usr/local/bin/packetscale";

fn text(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect("the file")
}

fn help(command: &str) -> String {
    Place::empty().done(&format!("{command} --help")).out
}

fn is_installed(program: &str) -> bool {
    let installed = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !installed {
        eprintln!("skipped: {program} is not installed");
    }
    installed
}

/// What a program finds fault with in a file of this content.
fn faults(command: &str, name: &str, content: &str) -> String {
    let place = Place::empty();
    place.write(name, content);
    let mut words = command.split(' ');
    let mut program = Command::new(words.next().expect("a program"));
    let said = Said::of(program.args(words).arg(place.at(name)).env("LC_ALL", "C.UTF-8").env("MANWIDTH", "80"));
    if said.code == Some(0) || !said.err.is_empty() { said.err } else { format!("{:?}", said.code) }
}

#[test]
fn the_manual_page_is_rendered_without_a_warning() {
    if !is_installed("man") {
        return;
    }
    let rendered = |page: &str| faults("man --warnings=w -l", "packetscale-tcp.8", page);
    let page = text(PAGE);
    assert_eq!(rendered(&page), "");
    assert!(rendered(&page.replace(".SH LIMITS", ".SH LIMITS\n.NOSUCHMACRO")).contains("NOSUCHMACRO"));
}

/// The commands that a help text lists: each begins a line, two columns from its left.
#[cfg(feature = "kernel")]
fn listed(help: &str) -> Vec<&str> {
    let section = help.split_once("Commands:\n").map(|(_, rest)| rest).unwrap_or_default();
    let section = section.split("\n\n").next().unwrap_or_default();
    let words = section.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    words.filter(|word| !word.is_empty() && *word != "help").collect()
}

#[cfg(feature = "kernel")]
#[test]
fn the_manual_page_has_every_command_and_begins_with_the_limits() {
    let help = help("tcp");
    let commands = listed(&help);
    assert!(commands.len() >= 6, "{commands:?}");
    let page = text(PAGE);
    for command in &commands {
        assert!(page.contains(&format!("\n.TP\n.B {command}\n")), "{PAGE} does not tell of tcp {command}");
    }
    let at = |title: &str| page.find(&format!("\n.SH {title}\n")).unwrap_or_else(|| panic!("{PAGE} has no {title}"));
    assert!(at("SYNOPSIS") < at("LIMITS") && at("LIMITS") < at("DESCRIPTION"));
}

/// A unit has this many places of the command; what systemd finds wrong with it, changed in one word, contains that word.
fn assert_is_understood(unit: &str, places: usize, word: &str) {
    let verified = |unit: &str| faults("systemd-analyze verify --man=no", "unit.service", unit);
    assert_eq!(unit.matches(INSTALLED).count(), places, "in the head, and where it starts and stops");
    let unit = unit.replace(INSTALLED, PROGRAM);
    assert_eq!(verified(&unit), "");
    let wrong = format!("{word}Wrong");
    assert!(verified(&unit.replace(word, &wrong)).contains(&wrong), "{wrong}");
}

#[test]
fn systemd_understands_the_units() {
    if !is_installed("systemd-analyze") {
        return;
    }
    assert_is_understood(&text(SERVER), 2, "DynamicUser");
    let unit = text(UNIT);
    assert_is_understood(&unit, 3, "NoNewPrivileges");
    let with_default = unit.replace("# ExecSt", "ExecSt");
    assert_eq!(with_default.matches("\nExecSt").count(), 4);
    assert_is_understood(&with_default, 3, "NoNewPrivileges");
}

#[test]
fn the_servers_unit_has_options_that_the_command_has() {
    let (help, unit) = (help("live serve"), text(SERVER));
    let lines = unit.lines().filter(|line| line.contains("SERVE_OPTIONS=") || line.starts_with("ExecStart="));
    let words = lines.flat_map(str::split_whitespace).map(|word| word.trim_start_matches("SERVE_OPTIONS=\""));
    let options: Vec<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert!(options.len() >= 5, "{options:?}");
    for option in options {
        assert!(help.contains(&format!("{option} <")), "{option}");
    }
}
