//! What the command says of what is wrong.

use crate::command::{SCENARIO, folder, packetscale, stderr, stdout};
use std::fs;
use std::process::Command;

/// U+202E turns the direction of writing, and a terminal takes commands that begin with ESC.
#[test]
fn what_a_message_quotes_changes_nothing_on_a_terminal() {
    let folder = folder("[run]\nduration = \"\u{202e}1 s\"\n");
    let name = "no\u{202e}ne\u{1b}[31m";
    for (arguments, shown) in [
        (&["run", "small.toml"][..], "found \"\\u{202e}1 s\""),
        (&["run", name], "no\\u{202e}ne\\u{1b}[31m: "),
        (&["estimate", name], "no\\u{202e}ne\\u{1b}[31m: "),
        (&["no\u{202e}ne"], "unrecognized subcommand 'no\\u{202e}ne'"),
    ] {
        let output = packetscale(folder.path(), arguments);
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(shown), "{said:?}");
        assert!(!said.contains(['\u{202e}', '\u{1b}']), "{said:?}");
    }
}

/// A pipe that nobody writes to is waited for, and a device has no end.
#[test]
fn what_is_no_regular_file_is_said_to_be_none() {
    let folder = folder(
        &SCENARIO
            .replace("delay = \"5 ms\"", "rate_trace = { file = \"pipe\", format = \"csv\" }\ndelay = \"5 ms\"")
            .replace("rate = \"10 Mbit/s\"\n", ""),
    );
    let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("mkfifo");
    assert!(made.success());
    let said = |file: &str| stderr(&packetscale(folder.path(), &["run", file]));
    let expected = "expected a scenario file in TOML\n";
    assert_eq!(said("pipe"), format!("pipe: found not a regular file; {expected}"));
    assert_eq!(said("/dev/zero"), format!("/dev/zero: found not a regular file; {expected}"));
    assert_eq!(said("."), format!(".: found a folder; {expected}"));
    let named = said("small.toml");
    assert!(named.contains("found \"pipe\", but pipe is not a regular file; expected"), "{named}");
}

/// As the shell makes them of `<(...)`.
#[test]
fn a_pipe_without_a_name_is_read() {
    let folder = folder(SCENARIO);
    let command = "cat small.toml | \"$0\" run /dev/stdin --print";
    let program = env!("CARGO_BIN_EXE_packetscale");
    let output =
        Command::new("sh").args(["-c", command, program]).current_dir(folder.path()).output().expect("a shell");
    assert!(stdout(&output).contains("delay = \"5 ms\""), "{}", stderr(&output));
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    let traffic = "[[traffic]]\nkind = \"trace\"\nfile = \"trace.csv\"\n";
    let folder = folder(&format!("\u{feff}{SCENARIO}\n{traffic}"));
    fs::write(folder.path().join("trace.csv"), "\u{feff}time_ns,size_bytes\n0,100\n1000000,200\n").expect("written");
    let output = packetscale(folder.path(), &["run", "small.toml", "--no-page"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn the_help_tells_every_exit_code() {
    let help = stdout(&packetscale(folder(SCENARIO).path(), &["--help"])).replace('\n', " ");
    for code in ["0 done", "1 an expectation", "2 the input or an argument", "3 this machine", "130 ended by Ctrl-C"] {
        assert!(help.contains(code), "{code}: {help}");
    }
}
