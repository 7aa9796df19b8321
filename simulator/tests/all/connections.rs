//! Traffic made of connections, against schedules worked out by hand.

use super::*;
use crate::support::packets as buffer;
use experiment::scenario::Scenario;
use std::fs;

/// Two links of 8 Mbit/s and 10 ms, one for each direction, and connections from a file.
fn experiment(name: &str, vectors: &str, rest: &str) -> Experiment {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join(format!("{name}.cvec")), vectors).expect("a file");
    let text = format!(
        r#"
        run = {{ duration = "20 s" }}
        receiver = {{ delayed_ack = 1 }}
        link = [
          {{ name = "there", rate = "8 Mbit/s", delay = "10 ms", buffer = "unlimited" }},
          {{ name = "back", rate = "8 Mbit/s", delay = "10 ms", buffer = "unlimited" }},
        ]
        [[traffic]]
        kind = "tmix"
        file = "{name}.cvec"
        route = ["there"]
        back = ["back"]
        packet = "1000 B"
        {rest}
        "#
    );
    let scenario = Scenario::parse(&text, &folder.join("connections.toml"), &[]);
    scenario.unwrap_or_else(|error| panic!("{error}")).plan().remove(0)
}

/// Link, arrival in microseconds, and time on the wire, packet by packet.
fn packets(experiment: &Experiment) -> Vec<(usize, u64, u64)> {
    let us = |nanos: u64| nanos / 1000;
    let mut packets: Vec<_> = log(experiment, Mode::Fused)
        .iter()
        .map(|one| (one.link, us(one.arrival.nanos()), us(one.departure.since(one.arrival).nanos())))
        .collect();
    packets.sort_by_key(|packet| packet.1);
    packets
}

/// A round trip of 100 ms: 40 ms to the link, 10 ms over it, 50 ms back. The connection begins at 1 s; its request of
/// 245 B (285 with headers, 285 us on the wire) leaves at 1.1 s, is at the link at 1.14 s and at the acceptor at
/// 1.150285 s. 30 ms later 510 B (550 us) leave, are at the link at 1.220285 s and at the initiator at 1.230835 s. After
/// another 20 ms 100 B: at the link at 1.290835 s.
#[test]
fn messages_take_turns_with_waits_between_them() {
    let vectors =
        "SEQ 1000000 2 1 1\nw 65535 65535\nr 100000\nl 0 0\n> 245\nt 30000\n< 510\nt 20000\n> 100\nt 5000000\n";
    let found = packets(&experiment("turns", vectors, ""));
    assert_eq!(found, [(0, 1_140_000, 285), (1, 1_220_285, 550), (0, 1_290_835, 140)]);
}

/// Both ends begin when the connection is established, at 1.1 s; waits count from sending to sending.
#[test]
fn independent_ends_do_not_wait_for_each_other() {
    let vectors = "C 1000000 2 1 1 1\nr 100000\nl 0 0\nI 0 0 60\nA 7000 0 160\nI 2000 0 260\n";
    let found = packets(&experiment("alone", vectors, ""));
    assert_eq!(found, [(0, 1_140_000, 100), (0, 1_142_000, 300), (1, 1_147_000, 200)]);
}

/// 4800 B are five full packets of 960 B of data. The receive window holds two: two per round trip, which is 100 ms and
/// a packet's millisecond.
#[test]
fn a_receive_window_holds_a_message_back() {
    let vectors = "SEQ 0 1 1 1\nw 65535 2000\nr 100000\n> 4800\n";
    let found = packets(&experiment("window", vectors, ""));
    assert_eq!(
        found,
        [(0, 140_000, 1000), (0, 140_000, 2000), (0, 241_000, 1000), (0, 242_000, 1000), (0, 342_000, 1000)]
    );
}

#[test]
fn a_lossy_message_is_complete_before_its_answer() {
    let vectors = "SEQ 0 1 1 1\nr 100000\n> 19200\nt 1000\n< 100\n";
    let mut lossy = experiment("lossy", vectors, "");
    lossy.links[0].buffer = buffer(5);
    let run = run(&lossy);
    assert!(run.traffic[0].dropped_packets > 0, "nothing was dropped");
    let found = packets(&lossy);
    let answer = found.iter().find(|packet| packet.0 == 1).expect("an answer");
    let last = found.iter().filter(|packet| packet.0 == 0).map(|packet| packet.1).max().expect("packets");
    assert!(answer.1 > last + 11_000, "answered at {} us, the last packet came at {last} us", answer.1);
    assert_eq!(run.traffic[0].packets as usize, found.len(), "drops are in both counts");
}

#[test]
fn connections_are_traffic_and_no_flow() {
    let vectors = "SEQ 0 1 1 1\nr 100000\n> 9600\nt 1000\n< 960\n";
    let run = run(&experiment("traffic", vectors, "start = \"2 s\""));
    assert!(run.flows.is_empty());
    assert_eq!((run.summary.packets_delivered, run.summary.throughput_bps), (0, None));
    assert_eq!((run.traffic[0].kind.as_str(), run.traffic[0].packets), ("tmix", 11));
    assert!((run.traffic[0].mean_rate_bps.unwrap() - 11_000.0 * 8.0 / 20.0).abs() < 1.0);
}

/// More connections, one after the other, than slots: each takes the slot of one that ended ten seconds before.
#[test]
fn connection_slots_are_reused() {
    let many: String = (0..200).map(|i| format!("SEQ {} 1 1 1\nr 20000\n> 100\nt 10\n< 200\n", i * 90_000)).collect();
    assert_eq!(run(&experiment("many", &many, "")).traffic[0].packets, 400);
}

#[test]
fn refuses_a_malformed_file_with_its_line() {
    let error = simulator::run(&experiment("wrong", "SEQ 0 1 1 1\nr 10\n> many\n", "")).expect_err("no number");
    let message = error.to_string();
    assert!(message.ends_with("wrong.cvec:3: found \"> many\"; expected 1 whole number"), "{message}");
}

#[test]
fn connections_are_the_same_fused_and_stepped() {
    let vectors: String = (0..50)
        .map(|i| format!("SEQ {} 1 1 1\nw 9000 9000\nr {}\n> 300\nt 10\n< 20000\n", i * 7000, 30_000 + 1000 * i))
        .collect();
    let experiment = experiment("stepped", &vectors, "");
    let log = same_in_both_modes(&experiment, 1001);
    assert!(log.iter().all(|served| served.departure < Time::ZERO + Span::from_secs(20)));
}
