//! `packetscale live serve`, `probe`, `send` and `receive`, and `run --on live`, over the loopback device: words, files and exit codes,
//! not figures.
#![cfg(target_os = "linux")]

#[path = "all/support.rs"]
mod support;

use live::pace::Gaps;
use live::probe::{Answer, Found, Observations, Seen, scenario};
use live::wire::{Ordered, Source, Stamp};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use packetscale_models::units::{Bytes, Rate};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Stdio};
use support::Place;

/// A program that listens, and the rest of what it says.
struct Server(Child, BufReader<ChildStdout>);

impl Server {
    /// It listens on a port of 127.0.0.1; this, and the port.
    fn start(place: &Place, line: &str) -> (Server, String, String) {
        let mut command = place.command(&format!("live {line} --listen 127.0.0.1:0"));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the command starts");
        let mut said = BufReader::new(child.stdout.take().expect("its output"));
        let mut first = String::new();
        said.read_line(&mut first).expect("a line");
        let address = first.trim().strip_prefix("listening on ").expect("an address").to_string();
        let port = address.rsplit_once(':').expect("a port").1.to_string();
        (Server(child, said), address, port)
    }

    /// Ends it as Ctrl-C would, or at once. Returns its exit code.
    fn end(mut self, signal: Signal) -> Option<i32> {
        kill(Pid::from_raw(self.0.id() as i32), signal).expect("sent");
        self.0.wait().expect("its end").code()
    }
}

/// A key in the file `keys`, which only its owner may read.
fn with_key(place: &Place) {
    place.write("keys", format!("3 {}\n", "0f".repeat(32)));
    fs::set_permissions(place.at("keys"), fs::Permissions::from_mode(0o600)).expect("ours");
}

#[test]
fn a_probe_says_what_it_found_and_the_server_ends_at_a_signal() {
    let place = Place::empty();
    with_key(&place);
    let (server, address, _) = Server::start(&place, "serve --key keys --metrics metrics");
    for way in ["", " --reverse"] {
        let probe = format!("live probe {address} --key keys --bytes '400 kB' --json --save gaps.csv --replace{way}");
        let ended = place.says(&probe);
        let said = ended.json();
        // 400 kB are too few to prove anything. A busy machine says that it is, and what to do.
        let reason = said["abstain"].as_str().unwrap_or_default();
        let busy = reason.starts_with("this machine could not make") && way.is_empty();
        assert_eq!((ended.code, ended.err.contains("chrt")), (Some(if busy { 3 } else { 0 }), busy), "{ended:?}");
        assert_eq!((&said["available_bps"], said["abstain"].is_string()), (&Value::Null, true), "{said}");
        let sent = said["sent_bytes"].as_u64().expect("a number");
        assert!((96_000..=400_000).contains(&sent) && said["base_rtt_ns"].as_u64() > Some(0), "{said}");
        assert!(place.read("gaps.csv").starts_with("stream_id,pkt,send_gap_ns,recv_gap_ns"));
    }
    assert_eq!(server.end(Signal::SIGTERM), Some(0));
    let metrics = place.read("metrics");
    let scrape =
        prometheus_parse::Scrape::parse(metrics.lines().map(|line| Ok(line.to_string()))).expect("text format");
    let begun = scrape.samples.iter().find(|one| one.metric == "packetscale_serve_sessions_begun_total");
    assert_eq!(begun.expect("a counter").value, prometheus_parse::Value::Counter(2.0));
}

#[test]
fn counters_replace_another_file_only_if_asked() {
    let place = Place::empty();
    with_key(&place);
    place.write("metrics", "mine");
    let serve = "live serve --listen 127.0.0.1:0 --key keys --metrics metrics";
    assert_eq!(place.refused(serve), "metrics: found a file; expected none, or --replace to overwrite it\n");
    assert_eq!(place.read("metrics"), "mine");
    for options in [" --replace", ""] {
        // The second time there are counters of the first.
        let (server, ..) = Server::start(&place, &format!("serve --key keys --metrics metrics{options}"));
        assert_eq!(server.end(Signal::SIGTERM), Some(0));
        assert!(place.read("metrics").contains("packetscale_serve_sessions 0"));
    }
}

#[test]
fn counters_never_replace_the_keys() {
    let place = Place::empty();
    with_key(&place);
    let keys = place.read("keys");
    std::fs::hard_link(place.at("keys"), place.at("same")).expect("a link");
    for name in ["keys", "./keys", "same"] {
        let serve = format!("live serve --listen 127.0.0.1:0 --key keys --metrics {name} --replace");
        let message = format!("--metrics: found {name}, the key file; expected another file\n");
        assert_eq!(place.refused(&serve), message);
        assert_eq!(place.read("keys"), keys);
    }
}

#[test]
fn a_server_that_grants_too_slow_a_rate_is_not_probed() {
    let place = Place::empty();
    let (server, address, _) = Server::start(&place, "serve --rate '500 kbit/s'");
    let said = place.says(&format!("live probe {address}"));
    server.end(Signal::SIGTERM);
    let expected = "the fastest stream that --rate and the server allow has 500 kbit/s; expected at least 600 kbit/s";
    assert!(said.code == Some(3) && said.err.contains(expected), "{said:?}");
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
    let place = Place::with(SCENARIO);
    let (server, address, _) = Server::start(&place, "serve");
    let said = place.done(&format!("run small.toml --on live --to {address} --json --out out")).json();
    server.end(Signal::SIGTERM);
    let run = &said["runs"][0];
    assert_eq!(said["host"], "live");
    assert!(run["throughput_bps"].as_f64() > Some(1e6) && run["rtt_mean_s"].as_f64() > Some(0.0), "{run}");
    assert!(run["queue_delay_mean_s"].is_f64() && run["loss_ratio"].is_f64(), "{run}");
    for unknown in ["utilisation", "available_share", "drop_ratio", "queue_mean_packets"] {
        assert!(run[unknown].is_null(), "{unknown}: {run}");
    }
    assert!(place.read("out/report.html").contains("measured: a real path"));
    assert_eq!(place.read("out/flows.csv").lines().count(), 3);
}

#[test]
fn transfer_resumes_after_kill_and_is_renamed_when_complete() {
    let place = Place::empty();
    with_key(&place);
    fs::create_dir(place.at("there")).expect("made");
    let data: Vec<u8> = (0..3_000_000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
    place.write("data", &data);
    // So slow that it is killed in the middle: 12 MB take 10 s.
    let slow = "receive there --key keys --rate '10 Mbit/s' --clients 1";
    let (server, address, _) = Server::start(&place, slow);
    let mut command = place.command(&format!("live send data {address} --clear --key keys --controller cubic"));
    let mut sender = command.stderr(Stdio::null()).spawn().expect("the command starts");
    let has = || fs::metadata(place.at("there/.data.part")).map_or(0, |found| found.len());
    while has() < 100_000 {
        assert!(sender.try_wait().expect("its state").is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    server.end(Signal::SIGKILL);
    sender.kill().expect("killed");
    sender.wait().expect("its end");
    let before = has();
    assert!((100_000..12_000_000).contains(&before) && !place.has("there/data"), "{before}");
    let (server, address, _) = Server::start(&place, "receive there --key keys");
    let send = format!("live send data {address} --clear --key keys --json");
    let said = place.done(&send).json();
    assert_eq!((&said["bytes"], &said["bytes_before"]), (&Value::from(12_000_000), &Value::from(before)), "{said}");
    let arrived = |name: &str| fs::read(place.at("there").join(name)).expect("there") == data;
    assert!(arrived("data"));
    // And not again.
    let again = place.says(&send);
    assert!(again.code == Some(3) && again.err.contains("it exists"), "{again:?}");
    // What a program writes, of unknown length.
    let mut command = place.command(&format!("live send - {address} --clear --key keys --name ../../piped"));
    let piped = support::Said::of(command.stdin(fs::File::open(place.at("data")).expect("ours")));
    assert_eq!(piped.code, Some(0), "{}", piped.err);
    server.end(Signal::SIGTERM);
    assert!(arrived("piped"));
}

/// It listens at one of the addresses that the name has.
#[test]
fn a_receiver_says_what_it_has_and_is_found_by_name() {
    let place = Place::empty();
    place.write("data", "some data");
    fs::create_dir(place.at("there")).expect("made");
    let (mut server, _, port) = Server::start(&place, "receive there");
    let said = place.done(&format!("live send data localhost:{port} --clear --json")).json();
    let mut line = String::new();
    server.1.read_line(&mut line).expect("a line");
    assert_eq!(line, format!("data  9 B  BLAKE3 {}\n", said["blake3"].as_str().expect("a hash")));
    server.end(Signal::SIGTERM);
}

#[test]
fn refuses_unsupported_keys_on_real_path_with_line() {
    for (scenario, expected) in [
        (
            format!("{SCENARIO}[[traffic]]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n"),
            "traffic: found traffic of kind \"cbr\" with --on live",
        ),
        (format!("{SCENARIO}[receiver]\nack_loss = 0.1\n"), "small.toml:14: receiver.ack_loss"),
        (format!("{SCENARIO}[[flow]]\ncontroller = \"rcp\"\n"), "routers"),
        (SCENARIO.replace("1 bdp\"", "1 bdp\", loss = 0.01"), "small.toml:3: path.loss"),
    ] {
        let said = Place::with(&scenario).refused("run small.toml --on live --to 127.0.0.1:9");
        assert!(said.contains(expected), "{said}");
    }
}

/// 8 Mbit/s, 10 ms, a queue that dropped, and a card that holds packets.
fn answer() -> Answer {
    let mut observed = Observations::default();
    let asked = Ordered { first: 0, count: 9, lowest_bps: 12_000_000, highest_bps: 12_000_000, levels: 1, size: 1472 };
    let stamp = |sequence: u64, ns| Stamp { sequence, ns };
    let left: Vec<Stamp> = (0..9).map(|packet| stamp(packet, packet * 1_000_400)).collect();
    // Three by three, but the last.
    let came = (0..8).map(|packet: u64| stamp(packet, (packet / 3 + 1) * 3_000_000)).collect();
    observed.note(
        &asked,
        28,
        &Seen { first: 0, left, came, sources: (Source::Kernel, Source::Kernel), stepped: false },
    );
    let [low, value, high] = [7_200_000, 8_000_000, 8_800_000].map(Rate::from_bps);
    Answer {
        found: Ok(Found { value, low, high }),
        base_rtt_ns: 10_000_000,
        sources: Some((Source::Kernel, Source::Kernel)),
        observed,
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
    let place = Place::with(&scenario(&answer(), "An answer made by hand.").expect("an answer"));
    let said = place.done("run small.toml --json --no-page").json();
    let run = &said["runs"][0];
    // Base round trip and rate are those of the answer; Rapid uses more than half of an empty path.
    let throughput = run["summary"]["throughput_bps"].as_f64().or(run["throughput_bps"].as_f64());
    assert!((4e6..=8e6).contains(&throughput.unwrap_or_default()), "{said}");
}

/// Over 12 us no packet fits into a product of bandwidth and delay; and the longest wait, 34 ms at 8 Mbit/s, is 34 000 bytes.
#[test]
fn scenario_of_short_path_has_buffer_for_observed_queue() {
    let mut short = answer();
    (short.base_rtt_ns, short.observed.lost) = (12_000, 0);
    for (queue_ns, bytes) in [(0, 1500), (34_000_000, 34_000)] {
        short.observed.queue_ns = queue_ns;
        let text = scenario(&short, "By hand.").expect("an answer");
        assert!(text.contains(&format!("\nbuffer = \"{bytes} B\"\n")), "{text}");
        Place::with(&text).done("run small.toml --print");
    }
}

#[test]
fn without_an_answer_no_scenario_is_written() {
    let place = Place::empty();
    let (server, address, _) = Server::start(&place, "serve");
    let said = place.says(&format!("live probe {address} --bytes '200 kB' --as-scenario path.toml --gaps timer"));
    assert_eq!((said.code, server.end(Signal::SIGINT)), (Some(3), Some(0)));
    assert!(said.out.contains("available         not known, "), "{said:?}");
    assert_eq!(said.err, "path.toml: not written: no estimate of the available bandwidth\n");
    assert!(!place.has("path.toml"));
}

/// Nobody is asked: the address leads nowhere.
#[test]
fn a_probe_overwrites_nothing_unasked() {
    let place = Place::empty();
    place.write("mine", "kept");
    for option in ["--save", "--as-scenario"] {
        let said = place.refused(&format!("live probe 127.0.0.1:9 {option} mine"));
        assert_eq!(said, "mine: found a file; expected none, or --replace to overwrite it\n");
        assert_eq!(place.read("mine"), "kept");
    }
}

#[test]
fn doctor_lists_which_gaps_this_machine_can_make() {
    let said = Place::empty().done("doctor --json").json();
    let gaps = said["gaps"]["gaps"].as_array().expect("gaps");
    let of = |by: &str| gaps.iter().filter(|gap| gap["by"] == by).filter_map(|gap| gap["gap_ns"].as_u64()).collect();
    let (busy, timer): (Vec<u64>, Vec<u64>) = (of("busy"), of("timer"));
    assert_eq!((busy.first(), busy.last(), &busy), (Some(&10_000), Some(&1_000_000), &timer));
    for gap in gaps {
        let [p50, p90, p99] = ["p50_ns", "p90_ns", "p99_ns"].map(|key| gap["off"][key].as_u64().expect("a quantile"));
        assert!(p50 <= p90 && p90 <= p99, "{gap}");
        // Nine of ten within a tenth.
        assert_eq!(gap["able"], 10 * p90 <= gap["gap_ns"].as_u64().expect("a gap"), "{gap}");
    }
    assert!(said["findings"].as_array().expect("findings").iter().any(|one| one["name"] == "live Rapid"));
}

#[test]
fn refuses_impossible_requests() {
    let place = Place::empty();
    place.write("file", "some data");
    for (line, code, expected) in [
        ("serve --listen 0.0.0.0:0", 2, "give --key FILE, or --open"),
        ("serve --key absent", 2, "absent: cannot be read"),
        ("send file 127.0.0.1:9", 2, "transfers are not encrypted"),
        ("send absent 127.0.0.1:9 --clear", 2, "absent: cannot be read"),
        ("send file 127.0.0.1:9 --clear", 3, "does not answer: is packetscale live receive running"),
        ("receive absent", 2, "absent: No such"),
        ("receive . --listen 0.0.0.0:0", 2, "give --key FILE, or --open"),
        ("serve --rate '0 Mbit/s'", 2, "found \"0 Mbit/s\"; expected more than 0"),
        ("probe 'no such host'", 2, "HOST: found \"no such host\""),
    ] {
        let said = place.says(&format!("live {line}"));
        assert!(said.code == Some(code) && said.err.contains(expected), "{line}: {said:?}");
    }
}
