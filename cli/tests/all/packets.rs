//! Single packets in other tools: tshark and tcptrace must see in a capture what the tables say; traces and logs must
//! have the form and the sums that they should.

mod programs;
mod tables;

use crate::support::{Place, blocks};
use programs::{printed, tcptrace, there, tshark};
use serde_json::Value;
use std::fs;
use tables::{flows, table};

/// What tools may differ by from the tables.
const TOLERANCE: f64 = 0.01;

/// Two flows, one with ECN, over a queue that fills, a wire that loses, and a receiver that delays acknowledgments.
const SCENARIO: &str = r#"
run = { duration = "30 s", warmup = "0 s" }
path = { rate = "20 Mbit/s", delay = "20 ms", buffer = "1 bdp", loss = 0.0002 }
flow = [{ controller = "newreno" }, { controller = "cubic", start = "1 s", packet = "1000 B" }]

[record]
links = true
"#;

/// The same where windows are limited by receivers and losses are short: tools and tables measure the same round trips.
/// In a recovery they do not: tools take none from selective acknowledgments, the tables take one from each.
fn calm() -> String {
    SCENARIO.replace("0.0002", "0.001").replace("[record]", "[receiver]\nwindow = \"50 packets\"\n\n[record]")
}

/// Runs a scenario with these further arguments.
fn run(scenario: &str, arguments: &str) -> Place {
    let place = Place::with(scenario);
    place.done(&format!("run small.toml --out out {arguments}"));
    place
}

#[track_caller]
fn assert_near(what: &str, found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() <= TOLERANCE, "{what}: found {found}, the table says {expected}");
}

/// Round trips are compared in calm runs only.
fn captured(compare: impl Fn(&Place, bool)) {
    for (scenario, round_trips) in [(SCENARIO, false), (&calm(), true)] {
        compare(&run(scenario, "--pcap x.pcapng"), round_trips);
    }
}

#[test]
fn tshark_sees_the_throughput_retransmissions_and_round_trips_of_the_tables() {
    if there("tshark", "--version") {
        captured(compare_with_tshark);
    }
}

fn compare_with_tshark(place: &Place, round_trips: bool) {
    let fields = ["ip.src", "tcp.len", "frame.len", "tcp.analysis.retransmission", "tcp.analysis.ack_rtt"];
    let packets = tshark(&place.at("x.pcapng"), "tcp", &fields);
    for (number, flow) in flows(place).iter().enumerate() {
        let sender = format!("10.0.0.{}", number + 1);
        let receiver = format!("10.128.0.{}", number + 1);
        let sent: Vec<_> = packets.iter().filter(|packet| packet[0] == sender && packet[1] != "0").collect();
        let (again, new): (Vec<&Vec<String>>, Vec<&Vec<String>>) =
            sent.into_iter().partition(|packet| !packet[3].is_empty());
        assert_eq!((again.len() + new.len()) as f64, flow["sent_packets"]);
        assert_eq!(again.len() as f64, flow["retransmitted_packets"], "flow {number}");
        assert!(again.len() > 10, "only {}: nothing is compared", again.len());
        let bytes: f64 = new.iter().map(|packet| packet[2].parse::<f64>().expect("a length")).sum();
        assert_near("throughput", bytes * 8.0 / (30.0 - flow["start_s"]), flow["throughput_bps"]);
        let answers = packets.iter().filter(|packet| packet[0] == receiver);
        let rtts: Vec<f64> = answers.filter_map(|packet| packet[4].parse().ok()).collect();
        if round_trips {
            assert_near("round-trip time", rtts.iter().sum::<f64>() / rtts.len() as f64, flow["rtt_mean_s"]);
        }
    }
}

#[test]
fn tcptrace_sees_the_same() {
    if there("tcptrace", "-v") {
        captured(compare_with_tcptrace);
    }
}

fn compare_with_tcptrace(place: &Place, round_trips: bool) {
    let connections = tcptrace(&place.at("x.pcapng"));
    let flows = flows(place);
    assert_eq!(connections.len(), flows.len());
    for (connection, flow) in connections.iter().zip(&flows) {
        assert_eq!(connection["rexmt data pkts"], flow["retransmitted_packets"]);
        // Its throughput is in bytes of data, without the 52 bytes of headers.
        let full = connection["max segm size"];
        assert_near("throughput", connection["throughput"] * 8.0 * (full + 52.0) / full, flow["throughput_bps"]);
        if round_trips {
            assert_near("round-trip time", connection["RTT avg"] / 1000.0, flow["rtt_mean_s"]);
        }
    }
}

#[test]
fn nothing_is_malformed_and_no_checksum_is_wrong() {
    if !there("tshark", "--version") {
        return;
    }
    let ecn = r#"
run = { duration = "3 s", warmup = "0 s" }
path = { rate = "20 Mbit/s", delay = "10 ms", buffer = "1 bdp", queue = "codel" }
sender = { ecn = true }
receiver = { window = "30 packets", ack_loss = 0.01 }
flow = [
    { controller = "cubic" },
    { controller = "prague" },
    { controller = "newreno", packet = "40 B", size = "30 kB" },
    { controller = "newreno", packet = "9000 B", size = "100 kB", start = "1 s" },
]
"#;
    for scenario in [SCENARIO, ecn] {
        let place = run(scenario, "--pcap x.pcapng");
        let file = place.at("x.pcapng");
        let wrong =
            "_ws.malformed || _ws.expert.severity == error || ip.checksum.status == 0 || tcp.checksum.status == 0";
        let options = ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE"];
        let found = printed("tshark", &file, wrong, &options);
        assert_eq!(found, "");
        assert!(printed("tshark", &file, "tcp.checksum.status == 1", &options).lines().count() > 100);
    }
}

#[test]
fn sequence_numbers_have_no_holes_to_the_end_of_a_file() {
    if !there("tshark", "--version") {
        return;
    }
    let scenario = SCENARIO.replace("controller = \"newreno\"", "controller = \"newreno\", size = \"1234567 B\"");
    let place = run(&scenario, "--pcap x.pcapng");
    let file = place.at("x.pcapng");
    // 823 full packets of 1448 bytes of data, and one of 67 bytes on the wire: 15.
    let acknowledged = tshark(&file, "ip.src == 10.128.0.1", &["tcp.ack"]);
    assert_eq!(acknowledged.last().expect("one")[0], format!("{}", 1 + 823 * 1448 + 15));
    for (what, filter) in [("lost", "tcp.analysis.lost_segment"), ("unseen", "tcp.analysis.ack_lost_segment")] {
        assert_eq!(tshark(&file, filter, &["frame.number"]).len(), 0, "{what}");
    }
}

#[test]
fn a_capture_needs_a_name_for_each_run_and_replaces_nothing_unasked() {
    let place = Place::with(&SCENARIO.replace("\"30 s\"", "\"1100 ms\", replications = 2"));
    let one = place.refused("run small.toml --no-page --pcap x.pcapng");
    let expected = "--pcap: found x.pcapng for a plan of 2 runs; expected one run, or {run} in the name\n";
    assert_eq!(one, expected);
    let each = "run small.toml --no-page --pcap x-{run}.pcapng";
    assert_eq!(place.done(each).err, "");
    let capture = |name: &str| fs::read(place.at(name)).expect("a capture");
    let first = capture("x-0.pcapng");
    assert_ne!(first, capture("x-1.pcapng"));
    let there = "--pcap: found x-0.pcapng, which exists; expected a new name, or --replace\n";
    assert_eq!(place.refused(each), there);
    assert_eq!(place.done(&format!("{each} --replace")).err, "");
    assert_eq!(first, capture("x-0.pcapng"));
    assert_eq!(place.names("."), ["out", "small.toml", "x-0.pcapng", "x-1.pcapng"]);
}

/// An empty file would say that nothing was sent.
#[test]
fn a_run_whose_flows_all_arrive_has_no_capture_and_no_log() {
    let place = Place::with(
        "run = { duration = \"1 s\" }\npath = { rate = \"20 Mbit/s\", delay = \"20 ms\" }\n\
         [[flow]]\ncontroller = \"cubic\"\nsize = \"30 kB\"\narrivals = { kind = \"poisson\", load = 0.5 }\n",
    );
    for (option, file) in [("--pcap", "x.pcapng"), ("--qlog", "x")] {
        let expected = "found a run whose flows all arrive; expected a flow without \"arrivals\": arriving flows are not \
            recorded one by one\n";
        let refused = place.refused(&format!("run small.toml --no-page {option} {file}"));
        assert_eq!((refused, place.has(file)), (format!("{option}: {expected}"), false));
    }
    place.done("run small.toml --no-page --perfetto x.json"); // links are there
}

// ---- Perfetto ------------------------------------------------------------------------------------------------------

fn trace(place: &Place) -> Value {
    serde_json::from_str(&place.read("x.json")).expect("JSON")
}

/// The events of a trace of one kind and name, in one process.
fn events<'a>(trace: &'a Value, kind: &'a str, process: &'a str, name: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = || trace["traceEvents"].as_array().expect("events").iter();
    let named = move |event: &&Value| event["name"] == "process_name" && event["args"]["name"] == process;
    let id = all().find(named).map(|event| event["pid"].clone()).expect("the process");
    all().filter(move |event| event["ph"] == kind && event["name"] == name && event["pid"] == id)
}

/// The mean of a counter over the run, as Perfetto draws it: from each value to the next.
fn mean(trace: &Value, process: &str, name: &str, unit: &str, end_s: f64) -> f64 {
    let point = |event: &Value| (event["ts"].as_f64().expect("a time"), event["args"][unit].as_f64().expect("a value"));
    let points: Vec<(f64, f64)> = events(trace, "C", process, name).map(point).collect();
    assert!(points.len() > 10, "{process}, {name}: only {} values", points.len());
    let ends = points.iter().skip(1).map(|(ts, _)| *ts).chain([end_s * 1e6]);
    points.iter().zip(ends).map(|((ts, value), end)| value * (end - ts)).sum::<f64>() / (end_s * 1e6)
}

#[test]
fn counters_of_a_trace_have_the_integrals_of_the_tables() {
    let place = run(SCENARIO, "--perfetto x.json");
    let trace = trace(&place);
    for (flow, name) in flows(&place).iter().zip(["flow 0: newreno", "flow 1: cubic"]) {
        let found = mean(&trace, name, "throughput (bit/s)", "bit/s", 30.0);
        assert_near(name, found * 30.0 / (30.0 - flow["start_s"]), flow["throughput_bps"]);
        let recoveries = events(&trace, "X", name, "recovery").count() + events(&trace, "X", name, "timeout").count();
        assert_eq!(recoveries as f64, flow["recoveries"] + flow["timeouts"]);
    }
    let bottleneck = &table(&place, "links.csv")[0];
    let cell = |name: &str| bottleneck[name];
    let link = "link 0: bottleneck";
    assert_near("throughput", mean(&trace, link, "link throughput (bit/s)", "bit/s", 30.0), cell("throughput_bps"));
    assert_near("queue", mean(&trace, link, "link queue (packet)", "packet", 30.0), cell("queue_mean_packets"));
    let drops = events(&trace, "C", link, "link drops (packet)").map(|event| event["args"]["packet"].as_f64());
    assert_eq!(drops.map(|value| value.expect("a number")).sum::<f64>(), cell("dropped_packets"));
}

#[test]
fn slices_of_a_trace_are_outages_and_probe_streams() {
    let scenario = r#"
run = { duration = "4 s", warmup = "0 s" }
path = { rate = "50 Mbit/s", delay = "5 ms", buffer = "1 bdp", outages = [["2 s", "2.5 s"]] }
flow = [{ controller = "rapid-thesis" }]
record = { detail = false, streams = 4 }
"#;
    let trace = trace(&run(scenario, "--perfetto x.json"));
    let outages: Vec<_> = events(&trace, "X", "link 0: bottleneck", "outage").collect();
    assert_eq!((outages.len(), &outages[0]["ts"], &outages[0]["dur"]), (1, &Value::from(2e6), &Value::from(5e5)));
    let streams: Vec<_> = events(&trace, "X", "flow 0: rapid-thesis", "probe stream").collect();
    assert!(!streams.is_empty());
    assert!(streams.iter().all(|stream| stream["dur"].as_f64().expect("a length") > 0.0));
}

// ---- qlog ----------------------------------------------------------------------------------------------------------

/// The records of a JSON text sequence (RFC 7464).
fn records(text: &str) -> Vec<Value> {
    let mut parts = text.split('\u{1e}');
    assert_eq!(parts.next(), Some(""), "a record begins with a separator");
    parts.map(|record| serde_json::from_str(record.strip_suffix('\n').expect("a whole line")).expect("JSON")).collect()
}

#[test]
fn a_log_has_the_fields_that_the_schema_requires_and_the_figures_of_the_table() {
    let place = run(&format!("{SCENARIO}packets = true\n"), "--qlog logs");
    for (number, flow) in flows(&place).iter().enumerate() {
        let log = records(&place.read(&format!("logs/flow-{number}.sqlog")));
        let (header, events) = log.split_first().expect("a header");
        // draft-ietf-quic-qlog-main-schema: QlogFileSeq, TraceSeq, VantagePoint, CommonFields, ReferenceTime.
        assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
        assert_eq!(header["serialization_format"], "application/qlog+json-seq");
        let trace = &header["trace"];
        assert!(trace["event_schemas"].as_array().is_some_and(|schemas| !schemas.is_empty()));
        assert!(
            ["client", "server", "network", "unknown"].contains(&trace["vantage_point"]["type"].as_str().expect("one"))
        );
        let clock = &trace["common_fields"]["reference_time"];
        assert_eq!((clock["clock_type"].as_str(), clock["epoch"].as_str()), (Some("monotonic"), Some("unknown")));
        assert_eq!(trace["common_fields"]["time_format"], "relative_to_epoch");
        let times: Vec<f64> = events.iter().map(|event| event["time"].as_f64().expect("a time")).collect();
        assert!(times.is_sorted() && times[0] >= flow["start_s"] * 1e3 && *times.last().expect("one") <= 30_000.0);
        assert!(events.iter().all(|event| event["name"].is_string() && event["data"].is_object()));

        let named = |name: &'static str| events.iter().filter(move |event| event["name"] == name);
        let sent = named("transport:packet_sent");
        let numbers: Vec<u64> =
            sent.map(|event| event["data"]["header"]["packet_number"].as_u64().expect("one")).collect();
        assert!(numbers.iter().copied().eq(0..flow["sent_packets"] as u64));
        let latest = named("recovery:metrics_updated").filter_map(|event| event["data"]["latest_rtt"].as_f64());
        let latest: Vec<f64> = latest.collect();
        assert!(latest.iter().all(|rtt_ms| *rtt_ms >= 40.0) && latest.len() > 1000);
        let entered = named("recovery:congestion_state_updated").filter(|event| event["data"]["new"] == "recovery");
        assert_eq!(entered.count() as f64, flow["recoveries"] + flow["timeouts"]);
        // Each transmission is acknowledged once at most.
        let mut acknowledged = vec![false; numbers.len()];
        for event in named("transport:packet_received") {
            for range in event["data"]["frames"][0]["acked_ranges"].as_array().expect("ranges") {
                let [from, to] = [0, 1].map(|end| range[end].as_u64().expect("a number") as usize);
                assert!(from <= to);
                acknowledged[from..=to].iter_mut().for_each(|once| assert!(!std::mem::replace(once, true)));
            }
        }
        assert!(acknowledged.iter().filter(|once| **once).count() as f64 > 0.95 * flow["sent_packets"]);
    }
}

#[test]
fn a_folder_that_holds_something_else_is_never_replaced() {
    let place = Place::with(SCENARIO);
    place.write("mine/thesis.tex", "years of work");
    let refused = place.refused("run small.toml --no-page --qlog mine --replace");
    assert_eq!(refused, "--qlog: found mine, which holds other content; expected a new name\n");
    assert_eq!(place.read("mine/thesis.tex"), "years of work");
}

#[test]
fn a_partial_file_is_removed_on_ctrl_c_and_sigterm() {
    for signal in ["INT", "TERM"] {
        let place = Place::with(&SCENARIO.replace("\"30 s\"", "\"400 s\""));
        let line = "run small.toml --no-page --pcap x.pcapng --qlog logs";
        let said = place.interrupted(line, signal, || place.has(".x.pcapng.partial"));
        assert_eq!(said.code, Some(130), "{signal}");
        assert_eq!(place.names("."), ["out", "small.toml"], "{signal}");
    }
}

#[test]
fn the_commands_of_the_page_run() {
    let place = Place::empty();
    place.write("two.toml", &blocks("packets.md", "toml")[0]);
    let commands = blocks("packets.md", "sh").concat();
    assert!(commands.lines().count() >= 6, "{commands}");
    for command in commands.lines() {
        let asked = |program: &str, version: &str| !command.starts_with(program) || there(program, version);
        if asked("tshark", "--version") && asked("tcptrace", "-v") {
            place.shell(command);
        }
    }
}
