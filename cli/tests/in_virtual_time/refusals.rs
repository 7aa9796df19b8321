//! What a kernel host does not do is refused by file, line and key, before anything starts. No emulator is needed.

use super::{SMALL, packetscale};
use std::fs;
use std::path::Path;

/// Exit code and message of a run, or of `--print`.
fn said(text: &str, words: &[&str]) -> (Option<i32>, String) {
    let place = tempfile::tempdir().expect("a temporary folder");
    fs::write(place.path().join("small.toml"), text).expect("written");
    let output = packetscale(place.path(), &[&["run", "small.toml"], words].concat());
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_refused_key_has_own_text() {
    let keys = [
        ("path.aggregation={period=\"2 ms\"}", "service in bursts"),
        (
            "path.queue=\"tdqm\"",
            "\"tdqm\" with --on linux-6.12; expected one of \"fifo\", \"codel\", \"fq-codel\", \"pie\", \"red\"",
        ),
        ("path.access=\"1 Gbit/s\"", "\"1 Gbit/s\""),
        ("sender.pacing=\"100 %\"", "\"100 %\""),
        ("sender.gaps={kind=\"batch\",packets=4}", "a model of gaps"),
        ("receiver.window=\"100 packets\"", "100 packets"),
        ("receiver.ack_loss=0.5", "0.5"),
        ("receiver.stamps=false", "false"),
        ("receiver.clock=\"104 %\"", "\"104 %\""),
        ("record.links=true", "true"),
        ("flow.0.controller=\"dctcp\"", "false"),
    ];
    for (set, found) in keys {
        let key = match set.split_once('=').expect("a key").0 {
            "flow.0.controller" => "sender.ecn",
            key => key,
        };
        let (code, said) = said(SMALL, &["--print", "--on", "linux-6.12", "--set", set]);
        assert_eq!(code, Some(2), "{set}: {said}");
        assert!(said.contains(&format!("{key}: found {found}")), "{said}");
        assert!(said.contains(" with --on linux-6.12; expected "), "{said}");
    }
}

#[test]
fn a_refusal_names_the_line_the_key_in_the_file_and_the_host_that_was_typed() {
    // The third flow, counts unfolded, is that of the second table.
    let text = "[run]\nduration = \"1 s\"\n[path]\nrate = \"1 Mbit/s\"\ndelay = \"100 ms\"\n\
                [[flow]]\ncount = 2\ncontroller = \"cubic\"\n[[flow]]\ncontroller = \"cubic\"\npacket = \"100 B\"\n";
    let (code, message) = said(text, &["--on", "linux-6.12"]);
    assert_eq!(code, Some(2));
    let expected = "small.toml:11: flow.1.packet: found \"100 B\" with --on linux-6.12; expected 142 B and more";
    assert_eq!(message.trim_end(), expected);
    let (_, message) = said(&text.replace("rate =", "queue = \"dualpi2\"\nrate ="), &["--on", "linux"]);
    let start = "small.toml:4: path.queue: found \"dualpi2\" with --on linux; expected one of \"fifo\", \"codel\"";
    assert!(message.starts_with(start) && message.contains("from 6.17 on"), "{message}");
    // The simulator does all of it.
    assert_eq!(said(text, &["--print"]).0, Some(0));
}

#[test]
fn refuses_conflicting_options() {
    let path = "[run]\nduration = \"1 s\"\n[path]\nrate = \"1 Mbit/s\"\ndelay = \"10 ms\"\n";
    let flow = "[[flow]]\ncontroller = \"cubic\"\n";
    let shaped = "rate_steps = [[\"1 ms\", \"2 Mbit/s\"]]\nshaper = { rate = \"1 Mbit/s\", bucket = \"9 kB\" }\n";
    let users = "[[traffic]]\nkind = \"web\"\nusers = 2\n";
    for (text, found) in [
        (format!("{path}{shaped}{flow}"), "small.toml:6: path.rate_steps: found a changing rate and a shaper"),
        (format!("{path}{flow}{users}"), "traffic.0.responsive: found true"),
    ] {
        for host in ["linux", "linux-6.12"] {
            let (code, message) = said(&text, &["--print", "--on", host]);
            assert!(code == Some(2) && message.contains(found), "{message}");
        }
    }
}

/// The mirror of it: a queue that only a kernel has.
#[test]
fn the_simulator_refuses_a_kernels_queue_and_says_who_has_it() {
    let text = "[run]\nduration = \"1 s\"\n[path]\nrate = \"1 Mbit/s\"\ndelay = \"100 ms\"\n\
                [path.return]\nrate = \"1 Mbit/s\"\nqueue = \"fq\"\n[[flow]]\ncontroller = \"cubic\"\n";
    let (code, message) = said(text, &[]);
    let start = "small.toml:8: path.return.queue: found \"fq\" with --on simulator; expected a queue that it has";
    assert!(code == Some(2) && message.starts_with(start) && message.contains("--on linux-6.12"), "{message}");
    let cake = SMALL.replace("buffer = ", "queue = \"cake\", buffer = ");
    let (code, message) = said(&cake, &["--print"]);
    assert!(
        code == Some(2) && message.contains("path.queue: found \"cake\" with --on simulator; expected"),
        "{message}"
    );
    assert_eq!(said(&cake, &["--print", "--on", "linux-6.12"]).0, Some(0));
}

#[test]
fn a_kernel_that_is_no_file_is_refused_and_so_is_one_for_another_clock() {
    let (code, message) = said(SMALL, &["--kernel", "nowhere"]);
    assert!(code == Some(3) && message.contains("--kernel: found nowhere"), "{message}");
    let (code, message) = said(SMALL, &["--on", "linux", "--kernel", "nowhere"]);
    assert!(code == Some(2) && message.contains("expected no --on"), "{message}");
    assert!(!Path::new("nowhere").exists());
}

#[test]
fn a_kernel_that_is_not_here_is_refused_with_the_command_that_fetches_it() {
    let (code, message) = said(SMALL, &["--on", "linux-7.3"]);
    let expected = "--on: found linux-7.3, which is not here; expected a host, or first `packetscale fetch kernel 7.3`";
    assert!(code == Some(2) && message.contains(expected), "{message}");
}

/// As 0.2 said it: what is resolved and refused is the same, with a line that says the new words.
#[test]
fn a_virtual_clock_on_the_kernel_is_linux_6_12() {
    let set = ["--print", "--set", "path.access=\"1 Gbit/s\""];
    let (code, new) = said(SMALL, &[&["--on", "linux-6.12"], &set[..]].concat());
    let (old_code, old) = said(SMALL, &[&["--on", "kernel", "--clock", "virtual"], &set[..]].concat());
    let note = "--on kernel --clock virtual: renamed to \"--on linux-6.12\"; the old name goes in 0.3\n";
    assert_eq!((old_code, old), (code, format!("{note}{new}")));
    let (code, message) = said(SMALL, &["--on", "kernel", "--clock", "virtual", "--kernel", "nowhere"]);
    assert!(code == Some(3) && message.contains("--kernel: found nowhere"), "{message}");
}
