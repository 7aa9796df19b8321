//! What the command says of what is wrong.

use crate::command::SCENARIO;
use crate::support::Place;
use std::process::Command;

/// U+202E turns the direction of writing, and a terminal takes commands that begin with ESC.
#[test]
fn messages_escape_terminal_control_characters() {
    let place = Place::with("[run]\nduration = \"\u{202e}1 s\"\n");
    let (name, shown) = ("no\u{202e}ne\u{1b}[31m", "no\\u{202e}ne\\u{1b}[31m: ");
    for (line, shown) in [
        ("run small.toml", "found \"\\u{202e}1 s\""),
        (&format!("run {name}"), shown),
        (&format!("estimate {name}"), shown),
        ("no\u{202e}ne", "unrecognized subcommand 'no\\u{202e}ne'"),
    ] {
        let said = place.refused(line);
        assert!(said.contains(shown) && !said.contains(['\u{202e}', '\u{1b}']), "{said:?}");
    }
}

/// A pipe that nobody writes to is waited for, and a device has no end.
#[test]
fn a_file_that_is_not_regular_is_refused() {
    let traced = SCENARIO.replace("rate = \"10 Mbit/s\"", "rate_trace = { file = \"pipe\", format = \"csv\" }");
    let place = Place::with(&traced);
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().expect("mkfifo").success());
    for (file, found) in [("pipe", "not a regular file"), ("/dev/zero", "not a regular file"), (".", "a folder")] {
        let message = format!("{file}: found {found}; expected a scenario file in TOML\n");
        assert_eq!(place.refused(&format!("run {file}")), message);
    }
    let named = place.refused("run small.toml");
    assert!(named.contains("found \"pipe\", but pipe is not a regular file; expected"), "{named}");
}

/// As the shell makes them of `<(...)`.
#[test]
fn a_pipe_without_a_name_is_read() {
    let printed = Place::with(SCENARIO).shell("cat small.toml | packetscale run /dev/stdin --print").out;
    assert!(printed.contains("delay = \"5 ms\""), "{printed}");
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    let traffic = "[[traffic]]\nkind = \"trace\"\nfile = \"trace.csv\"\n";
    let place = Place::with(&format!("\u{feff}{SCENARIO}\n{traffic}"));
    place.write("trace.csv", "\u{feff}time_ns,size_bytes\n0,100\n1000000,200\n");
    place.done("run small.toml --no-page");
}

#[test]
fn the_help_has_every_exit_code() {
    let help = Place::empty().done("--help").out.replace('\n', " ");
    for code in ["0 done", "1 an expectation", "2 the input or an argument", "3 this machine", "130 ended by Ctrl-C"] {
        assert!(help.contains(code), "{code}: {help}");
    }
}
