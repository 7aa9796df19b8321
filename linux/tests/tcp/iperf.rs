//! iperf3 itself between two namespaces: it connects first and selects the controller afterwards, at both ends.
//!
//! 20 Mbit/s and 40 ms, the same in both directions. Every pattern runs with CUBIC, `-C rapid`, and Rapid as the default of
//! both namespaces; long runs add BBR, for information.

use super::namespaces::{Bottleneck, Path, run};
use super::{Loaded, able, alone, long};
use linux::tcp::{self, Options};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const MBIT: u32 = 20;
const RTT_MS: u32 = 40;
/// Packets that the way back holds: those under way, and as many in its buffer.
const PACKETS: u32 = 2 * MBIT * RTT_MS * 125 / 1514;
const SECONDS: u32 = 6;
/// Address of the server.
const V4: &str = "10.88.2.1";
const V6: &str = "fd88:2::1";
/// The least of CUBIC's rate: 1 / 1.1, as its times are not to be more than 1.1 times CUBIC's.
const LEAST: f64 = 1.0 / 1.1;

/// A path with both families and a bottleneck each way, and Rapid with arrivals at both ends.
fn path(test: &str) -> (Loaded, Path) {
    let bottleneck = Bottleneck { mbit: MBIT, limit: MBIT * RTT_MS * 125 };
    let (rapid, path) = Loaded::with(test, Options { flows: 256, ..Options::default() }, &bottleneck);
    let [a, r, b] = ["a", "r", "b"].map(|host| path.host(host));
    run(&format!("tc -n {r} qdisc replace dev left root netem delay {RTT_MS}ms rate {MBIT}mbit limit {PACKETS}"));
    run(&format!("ip netns exec {r} sysctl -qw net.ipv6.conf.all.forwarding=1"));
    let addresses = [(&a, "out", "fd88:1::1"), (&r, "left", "fd88:1::2"), (&r, "right", "fd88:2::2"), (&b, "in", V6)];
    for (host, device, address) in addresses {
        run(&format!("ip -n {host} addr add {address}/64 dev {device} nodad"));
    }
    run(&format!("ip -n {a} route add fd88:2::/64 via fd88:1::2"));
    run(&format!("ip -n {b} route add fd88:1::/64 via fd88:2::2"));
    path.inside("a", || tcp::note_arrivals(&rapid.name, "out").expect("tc"));
    (rapid, path)
}

fn within(host: &str, line: &str) -> Child {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", host]).args(line.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("ip")
}

/// Runs iperf3; returns the Mbit/s that arrived: of its usual direction, and of the other with `--bidir`.
fn iperf3(path: &Path, words: &str) -> Vec<f64> {
    let server = within(&path.host("b"), "iperf3 -s -1");
    std::thread::sleep(Duration::from_millis(500));
    let client = within(&path.host("a"), &format!("iperf3 -J -t {SECONDS} {words}")).wait_with_output().expect("ends");
    let printed = String::from_utf8_lossy(&client.stdout).into_owned();
    server.wait_with_output().expect("ends");
    let report: serde_json::Value = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    assert!(report["error"].is_null(), "{words}: {}", report["error"]);
    let sums = ["sum_received", "sum_received_bidir_reverse"];
    sums.iter().filter_map(|sum| Some(report["end"][sum]["bits_per_second"].as_f64()? / 1e6)).collect()
}

fn set_default(path: &Path, control: &str) {
    for host in ["a", "b"] {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_congestion_control={control}", path.host(host)));
    }
}

/// `connections`: as many must be steered by Rapid, chosen and by default.
fn compare(test: &str, words: &str, connections: u64) {
    let (rapid, path) = path(test);
    let chosen = |control: &str| {
        let rates = iperf3(&path, &format!("{words} -C {control}"));
        eprintln!("iperf3 {words} -C {control}: {rates:.2?} Mbit/s");
        rates
    };
    let (cubic, steered) = (chosen("cubic"), chosen(&rapid.name));
    if long() {
        chosen("bbr");
    }
    let after_choice = tcp::counters(&rapid.name).expect("loaded");
    set_default(&path, &rapid.name);
    let default = iperf3(&path, words);
    eprintln!("iperf3 {words}, rapid by default: {default:.2?} Mbit/s");
    let counters = tcp::counters(&rapid.name).expect("loaded");
    set_default(&path, "cubic");
    eprintln!("{counters:?}");
    // It is Rapid that ran, for each connection with data at least, chosen or by default.
    assert!(after_choice.steered >= connections && counters.steered >= 2 * connections, "{counters:?}");
    for rates in [steered, default] {
        let ratios: Vec<f64> = rates.iter().zip(&cubic).map(|(rate, cubic)| rate / cubic).collect();
        assert_eq!(ratios.len(), cubic.len());
        assert!(ratios.iter().all(|ratio| *ratio > LEAST), "iperf3 {words}: {ratios:.3?} times CUBIC's rate");
    }
}

#[test]
#[ignore = "long: make test-long"]
fn one_connection() {
    if able() {
        let _alone = alone();
        compare("ip_one", &format!("-c {V4}"), 1);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn one_connection_of_ipv6() {
    if able() {
        let _alone = alone();
        compare("ip_six", &format!("-c {V6} -6"), 1);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn the_server_sends() {
    if able() {
        let _alone = alone();
        compare("ip_rev", &format!("-c {V4} -R"), 1);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn both_send() {
    if able() {
        let _alone = alone();
        compare("ip_both", &format!("-c {V4} --bidir"), 2);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn fifty_connections() {
    if able() {
        let _alone = alone();
        compare("ip_50", &format!("-c {V4} -P 50"), 50);
    }
}
