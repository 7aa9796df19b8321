//! `packetscale serve` and `packetscale probe`, over the loopback device: words, files and exit codes, not figures.
#![cfg(target_os = "linux")]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};

fn packetscale(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_packetscale")).args(words).output().expect("the command starts")
}

/// A server, and the address that it says.
fn serve(words: &[&str]) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let mut child = command.arg("serve").args(words).stdout(Stdio::piped()).spawn().expect("the command starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let address = line.trim().strip_prefix("listening on ").expect("an address").to_string();
    (child, address)
}

#[test]
fn a_probe_says_what_it_found_and_the_server_ends_at_a_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    fs::write(file("keys"), format!("3 {}\n", "0f".repeat(32))).expect("written");
    fs::set_permissions(file("keys"), fs::Permissions::from_mode(0o600)).expect("ours");
    let (key, metrics, gaps) = (file("keys"), file("metrics"), file("gaps.csv"));
    let (mut server, address) = serve(&["--listen", "127.0.0.1:0", "--key", &key, "--metrics", &metrics]);
    for way in [&[][..], &["--reverse"]] {
        let words = ["probe", &address, "--key", &key, "--bytes", "400 kB", "--json", "--save", &gaps];
        let output = packetscale(&[&words, way].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
        // 400 kB are too few to prove anything.
        assert_eq!((&said["available_bps"], said["abstain"].is_string()), (&Value::Null, true), "{said}");
        let sent = said["sent_bytes"].as_u64().expect("a number");
        assert!((96_000..=400_000).contains(&sent) && said["base_rtt_ns"].as_u64() > Some(0), "{said}");
        assert!(fs::read_to_string(&gaps).expect("written").starts_with("stream_id,pkt,send_gap_ns,recv_gap_ns"));
    }
    kill(Pid::from_raw(server.id() as i32), Signal::SIGTERM).expect("sent");
    assert_eq!(server.wait().expect("its end").code(), Some(0));
    let text = fs::read_to_string(&metrics).expect("written");
    let scrape = prometheus_parse::Scrape::parse(text.lines().map(|line| Ok(line.to_string()))).expect("text format");
    let begun = scrape.samples.iter().find(|one| one.metric == "packetscale_serve_sessions_begun_total");
    assert_eq!(begun.expect("a counter").value, prometheus_parse::Value::Counter(2.0));
}

#[test]
fn what_cannot_be_done_is_said() {
    let refused = |words: &[&str], code: i32, expected: &str| {
        let output = packetscale(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    refused(&["serve", "--listen", "0.0.0.0:0"], 3, "give --key FILE, or --open");
    refused(&["serve", "--key", "/nonexistent/keys"], 2, "/nonexistent/keys: cannot be read");
    refused(&["probe", "no such host"], 2, "HOST: found \"no such host\"");
}
