//! `packetscale tcp qdisc` on a kernel that takes queue disciplines in BPF. Needs root.

use serde_json::Value;
use std::net::UdpSocket;
use std::process::Command;

/// Exit code and standard output of the command.
fn said(words: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_packetscale"));
    let output = command.args(["tcp", "qdisc"]).args(words.split(' ')).output().expect("it starts");
    (output.status.code(), String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn the_command_paces_a_device_counts_its_packets_and_leaves_it() {
    if !nix::unistd::geteuid().is_root() {
        return eprintln!("skipped: queue disciplines need root");
    }
    assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().expect("ip starts").success());
    let load = "load qlbp --device lo --rate-min 8kbit/s --rate-max 16kbit/s --q-max 60packets --json";
    let (code, answer) = said(load);
    assert_eq!((code, answer.contains("\"loaded\":\"qlbp\"")), (Some(0), true), "{answer}");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = socket.local_addr().expect("its address");
    for _ in 0..20 {
        socket.send_to(&[0; 1000], address).expect("sent");
    }
    let (_, text) = said("status --json");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let queue = &found["queues"][0];
    assert_eq!((queue["device"].as_str(), queue["dropped"].as_u64()), (Some("lo"), Some(0)), "{text}");
    assert!(queue["waiting"].as_u64() >= Some(18) && queue["queued"].as_u64() >= Some(20), "{text}");
    let (_, text) = said("status --prometheus");
    assert!(text.contains("packetscale_qdisc_dropped_packets_total{discipline=\"qlbp\",device=\"lo\"} 0\n"), "{text}");
    assert_eq!(said("unload --device lo"), (Some(0), "unloaded\n".to_string()));
    assert_eq!(said("status"), (Some(0), "nothing is loaded\n".to_string()));
    assert_eq!(said("load qlbp --device nowhere --rate-max 1Mbit/s").0, Some(2));
}
