//! Signals other than arrivals from path, kernel and application: marks, a smaller MTU, a limit, reordering.

use super::flow::{Flow, Set};
use super::namespaces::{Bottleneck, Path, run};
use super::{Loaded, able, alone};
use linux::tcp::{self, Reason, Source};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Both ends ask for marks.
fn agree_on_marks(path: &Path) {
    for host in ["a", "b"] {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_ecn=1", path.host(host)));
    }
}

/// Marks every ECN-capable packet (RFC 3168), by a queue that marks instead of dropping; or stops marking. Retransmissions are
/// not ECN-capable (6.1.5): they bypass the queue, which would drop them all.
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
fn rate_falls_when_every_packet_is_marked() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("marks");
    agree_on_marks(&path);
    let rates = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control, Set::BeforeConnect);
        flow.bulk(SECOND);
        mark(&path, true);
        flow.bulk(SECOND);
        let rate = flow.bulk(2 * SECOND) * 8.0 / 1e6;
        mark(&path, false);
        (rate, flow.bulk(2 * SECOND) * 8.0 / 1e6)
    });
    eprintln!("marked, and then no more: cubic {:.1?}, rapid {:.1?} Mbit/s", rates[0], rates[1]);
    // 0.6 Mbit/s are two packets per round trip, the law's floor; CUBIC's is a packet or two.
    assert!(rates[1].0 < 2.0, "{:.1?} Mbit/s while every packet was marked", rates[1]);
    assert!(rates[1].0 > rates[0].0 / 4.0, "{:.1?} Mbit/s where CUBIC has {:.1?}", rates[1], rates[0]);
}

#[test]
fn marks_on_first_window_reduce_once() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("first");
    agree_on_marks(&path);
    let rates = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control, Set::BeforeConnect);
        mark(&path, true);
        flow.bulk(Duration::from_millis(30));
        mark(&path, false);
        flow.bulk(SECOND);
        flow.bulk(SECOND) * 8.0 / 1e6
    });
    eprintln!("in the second after one: cubic {:.1}, rapid {:.1} Mbit/s", rates[0], rates[1]);
    assert!(rates[1] > rates[0] / 2.0, "cubic {:.1}, rapid {:.1} Mbit/s", rates[0], rates[1]);
}

#[test]
fn fills_path_with_smaller_mtu() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("mtu");
    // The receiver's first window, 64 kB, must not bound the rate.
    path.delay(10);
    for (host, device) in [("a", "out"), ("r", "left"), ("b", "in")] {
        run(&format!("ip -n {} link set {device} mtu 9000", path.host(host)));
    }
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    let rate = flow.bulk(2 * SECOND) * 8.0 / 1e6;
    let seen = rapid.report();
    let steered = seen.rate as f64 * 8.0 / 1e6;
    eprintln!("{rate:.1} Mbit/s of 20, R {steered:.1}, unusable {} of {}", seen.unusable, seen.streams);
    assert!(rate > 17.0, "{rate:.1} Mbit/s");
    assert!(2 * seen.unusable < seen.streams, "{} of {} streams tell nothing", seen.unusable, seen.streams);
}

/// Hosts of 9000 B over 50 Mbit/s and 100 ms; and so the router's link.
fn jumbo(test: &str) -> (Loaded, Path) {
    let (rapid, path) = Loaded::over(test, &Bottleneck { mbit: 50, limit: 600_000 });
    path.delay(100);
    for (host, device) in [("a", "out"), ("r", "left"), ("b", "in")] {
        run(&format!("ip -n {} link set {device} mtu 9000", path.host(host)));
    }
    // The window that a receiver begins with, 64 kB, would bound the rate.
    for (host, memory) in [("a", "wmem"), ("b", "rmem")] {
        let file = format!("/proc/sys/net/ipv4/tcp_{memory}");
        path.inside(host, || std::fs::write(file, "4096 3000000 6000000").expect("a setting"));
    }
    let r = path.host("r");
    run(&format!("tc -n {r} qdisc change dev right root tbf rate 50mbit burst 20000 limit 600000"));
    run(&format!("ip -n {r} link set right mtu 9000"));
    (rapid, path)
}

/// Mbit/s of a connection over a path that changes.
struct Rates {
    /// The second after the change, and the five after that.
    first: f64,
    later: f64,
    /// The highest R seen in these five.
    steered: f64,
}

/// Sends for two seconds; then `change` happens.
fn around(rapid: &Loaded, path: &Path, control: &str, change: impl Fn()) -> Rates {
    let mut flow = Flow::open(path, control, Set::BeforeConnect);
    flow.bulk(2 * SECOND);
    change();
    let first = flow.bulk(SECOND) * 8.0 / 1e6;
    let (mut rates, mut steered) = ([0.0; 5], 0.0f64);
    for rate in &mut rates {
        let before = flow.sample();
        for _ in 0..10 {
            flow.bulk(SECOND / 10);
            if control != "cubic" {
                steered = steered.max(rapid.report().rate as f64 * 8.0 / 1e6);
            }
        }
        let after = flow.sample();
        *rate = (after.bytes_acked - before.bytes_acked) as f64 * 8.0 / 1e6 / (after.at - before.at).as_secs_f64();
    }
    let retransmitted = flow.sample().retransmitted;
    eprintln!("{control}: {first:.1}, {rates:.1?} Mbit/s, R up to {steered:.1}, {retransmitted} retransmitted");
    Rates { first, later: rates.iter().sum::<f64>() / 5.0, steered }
}

/// The bucket needed for a packet of 9000 B hides bursts: 13 packets of 1500 B. One of two packets does not.
#[test]
#[ignore = "long: make test-long"]
fn smaller_packets_keep_speed() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = jumbo("smaller");
    let r = path.host("r");
    let link = |mtu: u32, bucket: u32| {
        run(&format!("ip -n {r} link set right mtu {mtu}"));
        run(&format!("tc -n {r} qdisc change dev right root tbf rate 50mbit burst {bucket} limit 600000"));
    };
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        link(9000, 20_000);
        run(&format!("ip -n {} route flush cache", path.host("a")));
        // Packets of 9000 B that still wait would never leave by the smaller bucket.
        let change = || {
            link(1500, 20_000);
            std::thread::sleep(SECOND / 4);
            link(1500, 4000);
        };
        around(&rapid, &path, control, change)
    });
    assert!(steered.later > 0.9 * cubic.later, "rapid {:.1}, cubic {:.1} Mbit/s", steered.later, cubic.later);
    assert!(steered.first > 35.0, "{:.1} of 50 Mbit/s in the second after the change", steered.first);
    assert!(steered.steered < 55.0, "R up to {:.1} where the path has 50 Mbit/s", steered.steered);
}

/// The first window is lost, since its packets are too large; the second connection knows the MTU, the third does not.
#[test]
#[ignore = "long: make test-long"]
fn small_mtu_path_is_fast_from_start() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = jumbo("small");
    run(&format!("ip -n {} link set right mtu 1500", path.host("r")));
    let [cubic, known, unknown] = ["cubic", &rapid.name, &rapid.name].map(|control| {
        let rates = around(&rapid, &path, control, || ());
        run(&format!("ip -n {} route flush cache", path.host("a")));
        rates
    });
    for (what, rates) in [("known", known), ("unknown", unknown)] {
        assert!(rates.first > 0.9 * cubic.first, "{what}: {:.1}, cubic {:.1} Mbit/s", rates.first, cubic.first);
        assert!(rates.later > 0.9 * cubic.later, "{what}: {:.1}, cubic {:.1} Mbit/s", rates.later, cubic.later);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn respects_applications_pacing_limit() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("limit");
    let rates = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control, Set::BeforeConnect);
        flow.limit(500_000);
        flow.bulk(SECOND);
        flow.bulk(2 * SECOND) * 8.0 / 1e6
    });
    eprintln!("a limit of 4 Mbit/s: cubic {:.2}, rapid {:.2} Mbit/s", rates[0], rates[1]);
    assert!(rates[1] < 4.1 && rates[1] > 3.4, "{:.2} Mbit/s, the limit is 4.00", rates[1]);
}

#[test]
fn reordered_packets_are_not_lost() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("order");
    // One in fifty is 6 ms ahead of its place: ten packets.
    run(&format!("tc -n {} qdisc add dev out root netem delay 6ms reorder 2% limit 10000", path.host("a")));
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    let rate = flow.bulk(4 * SECOND) * 8.0 / 1e6;
    let (seen, retransmitted) = (rapid.report(), flow.sample().retransmitted);
    eprintln!("{rate:.1} Mbit/s, {} of {} lost to the law, {retransmitted} retransmitted", seen.lost, seen.packets);
    assert!(seen.lost <= u64::from(retransmitted), "{} lost to the law, {retransmitted} retransmitted", seen.lost);
}

/// The round trip exceeds TCP's first timer: the first handshake takes 2.2 s, including address resolution, which is not a
/// round trip. The last one's SYN is sent twice; without timestamps it is ambiguous which one was answered. A repeated SYN and
/// the answerer's own timer, both a second old, may cause three SYN-ACKs, of which the third has no option: then the
/// answerer does not negotiate it (option.bpf.c, `on_accepted`), CUBIC has that connection, and there is nothing to measure.
#[test]
#[ignore = "long: make test-long"]
fn finds_round_trip_that_handshake_missed() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("late_rtt");
    for host in ["a", "b"] {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_timestamps=0", path.host(host)));
    }
    for (k, control) in [&rapid.name, "cubic", &rapid.name].into_iter().enumerate() {
        path.delay(1100);
        let mut flow = Flow::open(&path, control, Set::BeforeConnect);
        path.delay(40);
        // Packets from the time of the long delay are still in order.
        while flow.sample().bytes_acked <= 1 {
            flow.bulk(SECOND / 50);
        }
        flow.bulk(SECOND / 5);
        let status = tcp::status(&rapid.name).expect("loaded");
        let seen = status.connections.first().filter(|_| control != "cubic").copied();
        let agreed_on_nothing = k == 2
            && matches!(&status.fallen[..], [(_, fallen)] if fallen.why() == Reason::NoStamps && fallen.packets == 0);
        assert!(control == "cubic" || seen.is_some() || agreed_on_nothing, "CUBIC has it: {:?}", status.fallen);
        flow.bulk(SECOND);
        let rate = flow.bulk(2 * SECOND) * 8.0 / 1e6;
        eprintln!("{control}: {rate:.1} of 20 Mbit/s between 1.2 and 3.2 s");
        let Some(seen) = seen else { continue };
        let steered = seen.rate as f64 * 8.0 / 1e6;
        assert!(seen.rtt_ns >= 40_000_000, "a least round trip of {} ns over 40 ms", seen.rtt_ns);
        // Ten packets per 40 ms are 3 Mbit/s.
        assert!(steered > 2.9, "R {steered:.1} Mbit/s after five round trips");
    }
}

/// As above, with echoed timestamps: after three SYN-ACKs, the last without the option, the answerer still knows that its
/// first one arrived, and reports arrivals.
#[test]
#[ignore = "long: make test-long"]
fn negotiation_works_beyond_syn_timeout() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("far");
    // Below 2 s the SYN goes out once more, and so does the SYN-ACK by its timer: three answers, in the order of chance.
    for delay_ms in [1_100, 1_400, 1_900] {
        path.delay(delay_ms);
        let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
        path.delay(40);
        while flow.sample().bytes_acked <= 1 {
            flow.bulk(SECOND / 50);
        }
        flow.bulk(SECOND);
        let status = tcp::status(&rapid.name).expect("loaded");
        let sources: Vec<Source> = status.connections.iter().map(|one| one.source()).collect();
        assert!(sources.contains(&Source::Option), "{delay_ms} ms on the way back: {sources:?}, {:?}", status.fallen);
        assert!(sources.iter().all(|source| *source == Source::Option), "{delay_ms} ms on the way back: {sources:?}");
    }
}

/// At two packets per round trip the window holds more than a second of them, and each restarts TCP's timer.
#[test]
#[ignore = "long: make test-long"]
fn slow_connection_detects_missing_arrivals() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("silent");
    agree_on_marks(&path);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    mark(&path, true);
    flow.bulk(3 * SECOND);
    let (before, rate) = (flow.sample().bytes_acked, rapid.report().rate as f64 * 8.0 / 1e6);
    mark(&path, false);
    path.cut(true);
    let mut waits = Duration::ZERO;
    while tcp::status(&rapid.name).expect("loaded").counters.timeouts == 0 && waits < 3 * SECOND {
        flow.bulk(SECOND / 50);
        waits += SECOND / 50;
    }
    path.cut(false);
    eprintln!("at {rate:.2} Mbit/s: {waits:?} until the timer expired; {before} B acknowledged before");
    assert!(rate < 1.0, "{rate} Mbit/s: the connection was to be slow");
    // The timer, 0.25 s, before transmission ends; a probe after two round trips; and the timer again.
    assert!(waits < SECOND, "{waits:?} until the timer expired");
}

/// The forward path dies, the return path does not: the peer's data and their acknowledgments are no evidence for our direction.
#[test]
#[ignore = "long: make test-long"]
fn peers_data_does_not_hide_missing_arrivals() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("oneway");
    agree_on_marks(&path);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    mark(&path, true);
    flow.bulk(3 * SECOND);
    let rate = rapid.report().rate as f64 * 8.0 / 1e6;
    flow.answer(true);
    flow.bulk(SECOND / 5);
    // Packets of 1024 to 2047 B are lost: data, and no acknowledgment.
    let a = path.host("a");
    let zeros = "0 ".repeat(16);
    run(&format!("tc -n {a} qdisc replace dev out root handle 1: prio bands 2 priomap {zeros}"));
    run(&format!("tc -n {a} qdisc add dev out parent 1:2 netem loss 100%"));
    run(&format!("tc -n {a} filter add dev out parent 1: protocol ip u32 match u16 0x0400 0x0400 at 2 flowid 1:2"));
    let mut waits = Duration::ZERO;
    while tcp::status(&rapid.name).expect("loaded").counters.timeouts == 0 && waits < 3 * SECOND {
        flow.bulk(SECOND / 50);
        waits += SECOND / 50;
    }
    eprintln!("at {rate:.2} Mbit/s: {waits:?} until the timer expired");
    assert!(rate < 1.0, "{rate} Mbit/s: the connection was to be slow");
    assert!(waits < SECOND, "{waits:?} until the timer expired");
}
