//! What the path, the kernel and the application say beside arrivals: marks, a smaller packet, a limit, reordering.

use super::flow::Flow;
use super::namespaces::{Path, run};
use super::{Loaded, SECOND, alone, judge};
use linux::tcp::{Reason, Source};
use std::time::Duration;

/// Both ends ask for marks.
fn agree_on_marks(path: &Path) {
    for host in ["a", "b"] {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_ecn=1", path.host(host)));
    }
}

/// Marks every packet that may be marked (RFC 3168), by a queue that marks what it was to drop; or no more. Retransmissions
/// may not be marked (6.1.5): they pass beside it, where it would drop them all.
fn mark(path: &Path, every: bool) {
    let host = path.host("a");
    if !every {
        return run(&format!("tc -n {host} qdisc del dev out root"));
    }
    let all_in_the_second = ["1"; 16].join(" ");
    run(&format!("tc -n {host} qdisc add dev out root handle 1: prio bands 2 priomap {all_in_the_second}"));
    run(&format!("tc -n {host} qdisc add dev out parent 1:1 netem loss 100% ecn limit 10000"));
    // ECT(0), which is what TCP sets.
    run(&format!("tc -n {host} filter add dev out parent 1: protocol ip u32 match ip tos 0x2 0x3 flowid 1:1"));
}

#[test]
#[ignore = "long: make test-long"]
fn rate_falls_while_every_packet_is_marked() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("marks");
    agree_on_marks(&path);
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control);
        flow.bulk(SECOND);
        mark(&path, true);
        flow.bulk(SECOND);
        let rate = flow.mbps(2 * SECOND);
        mark(&path, false);
        rate
    });
    // 0.6 Mbit/s are two packets per round trip, the law's floor; CUBIC's is a packet or two.
    let found = format!("while every packet was marked: cubic {cubic:.1}, rapid {steered:.1} Mbit/s");
    judge(steered < 2.0 && steered > cubic / 4.0, found);
}

#[test]
fn marks_on_the_first_window_are_heeded_once() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("first");
    agree_on_marks(&path);
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control);
        mark(&path, true);
        flow.bulk(Duration::from_millis(30));
        mark(&path, false);
        flow.bulk(SECOND);
        flow.mbps(SECOND)
    });
    let found = format!("in the second after one: cubic {cubic:.1}, rapid {steered:.1} Mbit/s");
    judge(steered > cubic / 2.0, found);
}

/// Hosts that send packets of 9000 B.
fn jumbo_hosts(path: &Path) {
    for (host, device) in [("a", "out"), ("r", "left"), ("b", "in")] {
        run(&format!("ip -n {} link set {device} mtu 9000", path.host(host)));
    }
}

#[test]
fn path_of_smaller_packets_than_the_hosts_is_filled() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("mtu", 20, 100_000);
    // The receiver's first window, 64 kB, must not bound the rate.
    path.delay(10);
    jumbo_hosts(&path);
    let rate = rapid.begun(&path).mbps(2 * SECOND);
    let (seen, steered) = (rapid.report(), rapid.rate());
    let found = format!("{rate:.1} Mbit/s of 20, R {steered:.1}, unusable {} of {}", seen.unusable, seen.streams);
    judge(rate > 17.0 && 2 * seen.unusable < seen.streams, found);
}

/// Hosts of 9000 B over 50 Mbit/s and 100 ms; and so the router's link.
fn jumbo(test: &str) -> (Loaded, Path) {
    let (rapid, path) = Loaded::over(test, 50, 600_000);
    path.delay(100);
    jumbo_hosts(&path);
    // The window that a receiver begins with, 64 kB, would bound the rate.
    path.lend("4096 3000000 6000000");
    set_link(&path, 9000, 20_000);
    (rapid, path)
}

/// The router's link takes packets of so many bytes, through a bucket of so many.
fn set_link(path: &Path, mtu: u32, bucket: u32) {
    let r = path.host("r");
    run(&format!("ip -n {r} link set right mtu {mtu}"));
    run(&format!("tc -n {r} qdisc change dev right root tbf rate 50mbit burst {bucket} limit 600000"));
}

/// Mbit/s of a connection over a path that changes.
struct Rates {
    /// The second after the change, and the five after that.
    first: f64,
    later: f64,
    /// The highest R seen in these five.
    steered: f64,
}

/// Sends for two seconds; then `change` happens. Afterwards no host knows what packets the path takes.
fn around(rapid: &Loaded, path: &Path, control: &str, change: impl Fn()) -> Rates {
    let mut flow = Flow::open(path, control);
    flow.bulk(2 * SECOND);
    change();
    let first = flow.mbps(SECOND);
    let (mut rates, mut steered) = ([0.0; 5], 0.0f64);
    for rate in &mut rates {
        let before = flow.look();
        for _ in 0..10 {
            flow.bulk(SECOND / 10);
            if control != "cubic" {
                steered = steered.max(rapid.rate());
            }
        }
        let after = flow.look();
        *rate = (after.bytes_acked - before.bytes_acked) as f64 * 8.0 / 1e6 / (after.at - before.at).as_secs_f64();
    }
    let retransmitted = flow.look().retransmitted;
    eprintln!("{control}: {first:.1}, {rates:.1?} Mbit/s, R up to {steered:.1}, {retransmitted} retransmitted");
    run(&format!("ip -n {} route flush cache", path.host("a")));
    Rates { first, later: rates.iter().sum::<f64>() / 5.0, steered }
}

/// The bucket that a packet of 9000 B needs hides what is sent too fast: 13 packets of 1500 B. One of two packets does not.
#[test]
#[ignore = "long: make test-long"]
fn packets_that_become_smaller_are_as_fast_as_before() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = jumbo("smaller");
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        set_link(&path, 9000, 20_000);
        // Packets of 9000 B that still wait would never leave by the smaller bucket.
        let change = || {
            set_link(&path, 1500, 20_000);
            std::thread::sleep(SECOND / 4);
            set_link(&path, 1500, 4000);
        };
        around(&rapid, &path, control, change)
    });
    assert!(steered.later > 0.9 * cubic.later, "rapid {:.1}, cubic {:.1} Mbit/s", steered.later, cubic.later);
    assert!(steered.first > 35.0, "{:.1} of 50 Mbit/s in the second after the change", steered.first);
    assert!(steered.steered < 55.0, "R up to {:.1} where the path has 50 Mbit/s", steered.steered);
}

/// The first window is lost, since it is too large; the second connection knows what the path takes, the third does not.
#[test]
#[ignore = "long: make test-long"]
fn link_of_smaller_packets_is_as_fast_from_the_start() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = jumbo("small");
    run(&format!("ip -n {} link set right mtu 1500", path.host("r")));
    let [cubic, known, unknown] =
        ["cubic", &rapid.name, &rapid.name].map(|control| around(&rapid, &path, control, || ()));
    for (what, rates) in [("known", known), ("unknown", unknown)] {
        let enough = rates.first > 0.9 * cubic.first && rates.later > 0.9 * cubic.later;
        assert!(enough, "{what}: {:.1}, then {:.1} Mbit/s", rates.first, rates.later);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn limit_of_the_application_is_kept() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("limit");
    let mut flow = rapid.flow(&path);
    flow.limit(500_000);
    flow.bulk(SECOND);
    let rate = flow.mbps(2 * SECOND);
    judge(rate < 4.1 && rate > 3.4, format_args!("a limit of 4 Mbit/s: {rate:.2} Mbit/s"));
}

#[test]
fn packets_that_overtake_each_other_are_not_lost() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("order");
    // One in fifty is 6 ms ahead of its place: ten packets.
    run(&format!("tc -n {} qdisc add dev out root netem delay 6ms reorder 2% limit 10000", path.host("a")));
    let mut flow = rapid.flow(&path);
    let rate = flow.mbps(4 * SECOND);
    let (seen, retransmitted) = (rapid.report(), flow.look().retransmitted);
    let found = format!("{rate:.1} Mbit/s, {} lost to the law, {retransmitted} retransmitted", seen.lost);
    judge(seen.lost <= u64::from(retransmitted), found);
}

/// A connection whose handshake took a delay on the way back, and whose later packets take 40 ms; once data is acknowledged.
fn after_a_long_handshake(path: &Path, control: &str, delay_ms: u32) -> Flow {
    path.delay(delay_ms);
    let mut flow = Flow::open(path, control);
    path.delay(40);
    // What came back while the delay was long keeps its place.
    while flow.look().bytes_acked <= 1 {
        flow.bulk(SECOND / 50);
    }
    flow
}

/// What comes back takes longer than TCP's first timer: the first handshake takes 2.2 s, with the router's address, and that is
/// no round trip. The last one's SYN goes out twice; without timestamps nobody knows which one was answered. A repeated SYN and the
/// answerer's own timer, both a second old, may make three answers of it, of which the third has no option: then the
/// answerer agrees on nothing (option.bpf.c, `on_accepted`), CUBIC has that connection, and there is nothing to find.
#[test]
#[ignore = "long: make test-long"]
fn round_trip_that_the_handshake_did_not_measure_is_found() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("unmeasured");
    for host in ["a", "b"] {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_timestamps=0", path.host(host)));
    }
    for is_first in [true, false] {
        let mut flow = after_a_long_handshake(&path, &rapid.name, 1100);
        flow.bulk(SECOND / 5);
        let status = rapid.status();
        let Some(seen) = status.connections.first() else {
            let fallen: Vec<_> = status.fallen.iter().map(|(_, fallen)| (fallen.why(), fallen.packets)).collect();
            assert!(!is_first && fallen == [(Reason::NoStamps, 0)], "CUBIC has it: {fallen:?}");
            continue;
        };
        assert!(seen.rtt_ns >= 40_000_000, "a least round trip of {} ns over 40 ms", seen.rtt_ns);
        // Ten packets per 40 ms are 3 Mbit/s.
        let steered = seen.rate as f64 * 8.0 / 1e6;
        assert!(steered > 2.9, "R {steered:.1} Mbit/s after five round trips");
    }
}

/// As above, where the peer echoes timestamps: after three answers, the last without the option, the answerer still knows that
/// its first one arrived, and tells arrivals.
#[test]
#[ignore = "long: make test-long"]
fn ends_that_are_farther_apart_than_a_timer_agree() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("far");
    // Below 2 s the SYN goes out once more, and so does the SYN-ACK by its timer: three answers, in the order of chance.
    for delay_ms in [1_100, 1_400, 1_900] {
        let mut flow = after_a_long_handshake(&path, &rapid.name, delay_ms);
        flow.bulk(SECOND);
        let status = rapid.status();
        let sources: Vec<Source> = status.connections.iter().map(|one| one.source()).collect();
        let agree = !sources.is_empty() && sources.iter().all(|source| *source == Source::Option);
        assert!(agree, "{delay_ms} ms on the way back: {sources:?}, {:?}", status.fallen);
    }
}

/// Silences the path of a slow connection. At two packets per round trip the window has room for more than a second of them,
/// and each puts TCP's timer off.
fn judge_silence(test: &str, silence: impl Fn(&Path, &mut Flow)) {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms(test);
    agree_on_marks(&path);
    let mut flow = rapid.begun(&path);
    mark(&path, true);
    flow.bulk(3 * SECOND);
    let rate = rapid.rate();
    silence(&path, &mut flow);
    let mut waits = Duration::ZERO;
    while rapid.counters().timeouts == 0 && waits < 3 * SECOND {
        flow.bulk(SECOND / 50);
        waits += SECOND / 50;
    }
    // The timer, 0.25 s, before nothing more leaves; a probe after two round trips; and the timer again.
    judge(rate < 1.0 && waits < SECOND, format_args!("at {rate:.2} Mbit/s: {waits:?} until the timer expired"));
}

#[test]
#[ignore = "long: make test-long"]
fn slow_connection_finds_out_that_its_path_is_silent() {
    judge_silence("silent", |path, _| {
        mark(path, false);
        path.cut(true);
    });
}

/// The path forth dies, the path back does not.
#[test]
#[ignore = "long: make test-long"]
fn data_of_the_peer_does_not_hide_that_the_path_is_silent() {
    judge_silence("oneway", |path, flow| {
        flow.answer(true);
        flow.bulk(SECOND / 5);
        // Packets of 1024 to 2047 B are lost: data, and no acknowledgment.
        let a = path.host("a");
        let zeros = "0 ".repeat(16);
        run(&format!("tc -n {a} qdisc replace dev out root handle 1: prio bands 2 priomap {zeros}"));
        run(&format!("tc -n {a} qdisc add dev out parent 1:2 netem loss 100%"));
        run(&format!("tc -n {a} filter add dev out parent 1: protocol ip u32 match u16 0x0400 0x0400 at 2 flowid 1:2"));
    });
}
