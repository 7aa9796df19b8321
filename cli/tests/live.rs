//! `packetscale live serve`, `probe`, `send` and `receive`, and `run --on live`, over the loopback device: words, files and exit codes,
//! not figures.
#![cfg(target_os = "linux")]

use live::pace::Gaps;
use live::probe::{Answer, Found, Learnt, Seen, scenario};
use live::wire::{Ordered, Source, Stamp};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use packetscale_models::units::{Bytes, Rate};
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
    listening(&[&["live", "serve"], words].concat())
}

fn listening(words: &[&str]) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let mut child = command.args(words).stdout(Stdio::piped()).spawn().expect("the command starts");
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
        let words =
            ["live", "probe", &address, "--key", &key, "--bytes", "400 kB", "--json", "--save", &gaps, "--replace"];
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
fn a_server_that_grants_too_slow_a_rate_is_not_probed() {
    let (server, address) = serve(&["--listen", "127.0.0.1:0", "--rate", "500 kbit/s"]);
    let output = packetscale(&["live", "probe", &address]);
    end(server, Signal::SIGTERM);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "the fastest stream that --rate and the server allow has 500 kbit/s; expected at least 600 kbit/s";
    assert_eq!((output.status.code(), said.contains(expected)), (Some(3), true), "{said}");
}

/// Ends a server as Ctrl-C would, or at once.
fn end(mut server: Child, signal: Signal) {
    kill(Pid::from_raw(server.id() as i32), signal).expect("sent");
    server.wait().expect("its end");
}

/// Two flows for a second, one of them with a size and the other with an application.
const SCENARIO: &str = r#"
run = { duration = "1 s", warmup = "200 ms" }
path = { rate = "50 Mbit/s", delay = "5 ms", buffer = "1 bdp" }

[[flow]]
controller = "rapid"
size = "100 kB"

[[flow]]
controller = "cubic"
start = "100 ms"
application = { kind = "cbr", rate = "2 Mbit/s" }
"#;

#[test]
fn a_scenario_runs_over_a_real_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    fs::write(file("scenario.toml"), SCENARIO).expect("written");
    let (server, address) = serve(&["--listen", "127.0.0.1:0"]);
    let (scenario, out) = (file("scenario.toml"), file("out"));
    let words = ["run", &scenario, "--on", "live", "--to", &address, "--json", "--out", &out];
    let output = packetscale(&words);
    end(server, Signal::SIGTERM);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let run = &said["runs"][0];
    assert_eq!(said["host"], "live");
    assert!(run["throughput_bps"].as_f64() > Some(1e6) && run["rtt_mean_s"].as_f64() > Some(0.0), "{run}");
    assert!(run["queue_delay_mean_s"].is_f64() && run["loss_ratio"].is_f64(), "{run}");
    for unknown in ["utilisation", "available_share", "drop_ratio", "queue_mean_packets"] {
        assert!(run[unknown].is_null(), "{unknown}: {run}");
    }
    let page = fs::read_to_string(folder.path().join("out/report.html")).expect("a page");
    assert!(page.contains("measured: a real path"));
    let flows = fs::read_to_string(folder.path().join("out/flows.csv")).expect("flows");
    assert_eq!(flows.lines().count(), 3, "{flows}");
}

#[test]
fn a_file_goes_on_where_its_receiver_was_killed_and_has_its_name_only_in_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(file("there")).expect("made");
    let data: Vec<u8> = (0..3_000_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    fs::write(file("data"), &data).expect("written");
    fs::write(file("keys"), format!("3 {}\n", "0f".repeat(32))).expect("written");
    fs::set_permissions(file("keys"), fs::Permissions::from_mode(0o600)).expect("ours");
    let (key, there, name) = (file("keys"), file("there"), file("data"));
    // So slow that it is killed in the middle: 12 MB take 10 s.
    let slow =
        ["live", "receive", &there, "--listen", "127.0.0.1:0", "--key", &key, "--rate", "10 Mbit/s", "--clients", "1"];
    let (server, address) = listening(&slow);
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let words = ["live", "send", &name, &address, "--clear", "--key", &key, "--controller", "cubic"];
    let mut sender = command.args(words).stderr(Stdio::null()).spawn().expect("the command starts");
    let part = folder.path().join("there/.data.part");
    let has = || fs::metadata(&part).map_or(0, |found| found.len());
    while has() < 100_000 {
        assert!(sender.try_wait().expect("its state").is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    end(server, Signal::SIGKILL);
    sender.kill().expect("killed");
    sender.wait().expect("its end");
    let before = has();
    assert!((100_000..12_000_000).contains(&before) && !folder.path().join("there/data").exists(), "{before}");
    let (server, address) = listening(&["live", "receive", &there, "--listen", "127.0.0.1:0", "--key", &key]);
    let words = ["live", "send", &name, &address, "--clear", "--key", &key, "--json"];
    let output = packetscale(&words);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    assert_eq!((&said["bytes"], &said["bytes_before"]), (&Value::from(12_000_000), &Value::from(before)), "{said}");
    assert!(fs::read(folder.path().join("there/data")).expect("there") == data);
    // And not again.
    let output = packetscale(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(3) && said.contains("it is there already"), "{said}");
    // What a program writes, of unknown length.
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let words = ["live", "send", "-", &address, "--clear", "--key", &key, "--name", "../../piped"];
    let piped = command.args(words).stdin(fs::File::open(&name).expect("ours")).output().expect("it starts");
    assert_eq!(piped.status.code(), Some(0), "{}", String::from_utf8_lossy(&piped.stderr));
    end(server, Signal::SIGTERM);
    assert!(fs::read(folder.path().join("there/piped")).expect("there") == data);
}

/// It listens at one of the addresses that the name has.
#[test]
fn a_receiver_says_what_it_has_and_is_found_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    fs::write(file("data"), b"some data").expect("written");
    fs::create_dir(file("there")).expect("made");
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let command = command.args(["live", "receive", &file("there"), "--listen", "127.0.0.1:0"]).stdout(Stdio::piped());
    let mut server = command.spawn().expect("the command starts");
    let mut lines = BufReader::new(server.stdout.take().expect("its output")).lines().map_while(Result::ok);
    let port = lines.next().and_then(|line| Some(line.rsplit_once(':')?.1.to_string())).expect("a port");
    let output = packetscale(&["live", "send", &file("data"), &format!("localhost:{port}"), "--clear", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let hash = said["blake3"].as_str().expect("a hash");
    assert_eq!(lines.next().expect("a line"), format!("data  9 B  BLAKE3 {hash}"));
    end(server, Signal::SIGTERM);
}

#[test]
fn what_a_real_path_does_not_do_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("scenario.toml");
    let name = file.display().to_string();
    let refused = |more: &str, expected: &str| {
        fs::write(&file, format!("{SCENARIO}{more}")).expect("written");
        let output = packetscale(&["run", &name, "--on", "live", "--to", "127.0.0.1:9"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    refused(
        "[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n",
        "traffic: found traffic of kind \"cbr\" with --on live",
    );
    refused("[receiver]\nack_loss = 0.1\n", "scenario.toml:14: receiver.ack_loss");
    refused("[[flow]]\ncontroller = \"rcp\"\n", "routers");
    fs::write(&file, SCENARIO.replace("1 bdp\"", "1 bdp\", loss = 0.01")).expect("written");
    let output = packetscale(&["run", &name, "--on", "live", "--to", "127.0.0.1:9"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("scenario.toml:3: path.loss"));
}

/// 8 Mbit/s, 10 ms, a queue that dropped, and a card that holds packets.
fn answer() -> Answer {
    let mut learnt = Learnt::default();
    let asked = Ordered { first: 0, count: 9, lowest_bps: 12_000_000, highest_bps: 12_000_000, levels: 1, size: 1472 };
    let stamp = |sequence: u64, ns| Stamp { sequence, ns };
    let left: Vec<Stamp> = (0..9).map(|packet| stamp(packet, packet * 1_000_400)).collect();
    // Three by three, but the last.
    let came = (0..8).map(|packet: u64| stamp(packet, (packet / 3 + 1) * 3_000_000)).collect();
    learnt.note(&asked, 28, &Seen { first: 0, left, came, sources: (Source::Kernel, Source::Kernel), stepped: false });
    let [low, value, high] = [7_200_000, 8_000_000, 8_800_000].map(Rate::from_bps);
    Answer {
        found: Ok(Found { value, low, high }),
        base_rtt_ns: 10_000_000,
        sources: Some((Source::Kernel, Source::Kernel)),
        learnt,
        gaps: Gaps::Busy,
        marks: None,
        margin_ns: 0,
        packet: 1500,
        streams: 1,
        sent: Bytes::new(13_500),
        rows: Vec::new(),
    }
}

#[test]
fn the_simulator_runs_the_scenario_of_an_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("path.toml");
    let text = scenario(&answer(), "An answer made by hand.").expect("an answer");
    fs::write(&file, &text).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let output = command.current_dir(folder.path()).args(["run", "path.toml", "--json", "--no-page"]).output();
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).expect("one JSON value");
    let run = &said["runs"][0];
    // Base round trip and rate are those of the answer; Rapid uses more than half of an empty path.
    let throughput = run["summary"]["throughput_bps"].as_f64().or(run["throughput_bps"].as_f64());
    assert!((4e6..=8e6).contains(&throughput.unwrap_or_default()), "{said}");
}

/// Over 12 us no packet fits into a product of bandwidth and delay; and the longest wait, 34 ms at 8 Mbit/s, is 34 000 bytes.
#[test]
fn the_scenario_of_a_short_path_has_a_buffer_that_holds_what_waited() {
    let mut short = answer();
    short.base_rtt_ns = 12_000;
    (short.learnt.lost, short.learnt.queue_ns) = (0, 0);
    assert!(scenario(&short, "By hand.").expect("an answer").contains("\nbuffer = \"1500 B\"\n"));
    short.learnt.queue_ns = 34_000_000;
    let text = scenario(&short, "By hand.").expect("an answer");
    assert!(text.contains("\nbuffer = \"34000 B\"\n"), "{text}");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("path.toml"), &text).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let output = command.current_dir(folder.path()).args(["run", "path.toml", "--print"]).output();
    let output = output.expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_an_answer_no_scenario_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("path.toml").display().to_string();
    let (mut server, address) = serve(&["--listen", "127.0.0.1:0"]);
    let output =
        packetscale(&["live", "probe", &address, "--bytes", "200 kB", "--as-scenario", &file, "--gaps", "timer"]);
    kill(Pid::from_raw(server.id() as i32), Signal::SIGINT).expect("sent");
    assert_eq!((output.status.code(), server.wait().expect("its end").code()), (Some(3), Some(0)));
    assert!(String::from_utf8_lossy(&output.stdout).contains("not known: "), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, format!("{file}: not written: what is free is not known\n"));
    assert!(!std::path::Path::new(&file).exists());
}

/// Nobody is asked: the address leads nowhere.
#[test]
fn a_probe_overwrites_nothing_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine").display().to_string();
    for option in ["--save", "--as-scenario"] {
        fs::write(&file, "kept").expect("written");
        let output = packetscale(&["live", "probe", "127.0.0.1:9", option, &file]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert_eq!(said, format!("{file}: found a file; expected none, or --replace to overwrite it\n"));
        assert_eq!(fs::read_to_string(&file).expect("there"), "kept");
    }
}

#[test]
fn doctor_tells_which_gaps_this_machine_can_make() {
    let said: Value = serde_json::from_slice(&packetscale(&["doctor", "--json"]).stdout).expect("one JSON value");
    let gaps = said["gaps"]["gaps"].as_array().expect("gaps");
    let of = |by: &str| gaps.iter().filter(|gap| gap["by"] == by).filter_map(|gap| gap["gap_ns"].as_u64()).collect();
    let (busy, timer): (Vec<u64>, Vec<u64>) = (of("busy"), of("timer"));
    assert_eq!((busy.first(), busy.last(), &busy), (Some(&10_000), Some(&1_000_000), &timer));
    for gap in gaps {
        let [p50, p90, p99] = ["p50_ns", "p90_ns", "p99_ns"].map(|key| gap["off"][key].as_u64().expect("told"));
        assert!(p50 <= p90 && p90 <= p99, "{gap}");
        // Nine of ten within a tenth.
        assert_eq!(gap["able"], 10 * p90 <= gap["gap_ns"].as_u64().expect("a gap"), "{gap}");
    }
    assert!(said["findings"].as_array().expect("findings").iter().any(|one| one["name"] == "live Rapid"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let refused = |words: &[&str], code: i32, expected: &str| {
        let output = packetscale(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let absent = folder.path().join("absent").to_str().expect("text").to_string();
    refused(&["live", "serve", "--listen", "0.0.0.0:0"], 2, "give --key FILE, or --open");
    refused(&["live", "serve", "--key", &absent], 2, &format!("{absent}: cannot be read"));
    refused(&["live", "send", "Cargo.toml", "127.0.0.1:9"], 2, "transfers are not encrypted");
    refused(&["live", "send", &absent, "127.0.0.1:9", "--clear"], 2, &format!("{absent}: cannot be read"));
    refused(
        &["live", "send", "Cargo.toml", "127.0.0.1:9", "--clear"],
        3,
        "does not answer: is packetscale live receive running",
    );
    refused(&["live", "receive", &absent], 2, &format!("{absent}: No such"));
    refused(&["live", "receive", ".", "--listen", "0.0.0.0:0"], 2, "give --key FILE, or --open");
    refused(&["live", "serve", "--rate", "0 Mbit/s"], 2, "found \"0 Mbit/s\"; expected more than 0");
    refused(&["live", "probe", "no such host"], 2, "HOST: found \"no such host\"");
}
