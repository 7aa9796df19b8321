//! What the path, the kernel and the application say beside arrivals: marks, a smaller packet, a limit, reordering.

use super::flow::{Flow, Set};
use super::namespaces::{Bottleneck, Path, run};
use super::{Loaded, able, alone};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Both ends ask for marks.
fn agree_on_marks(path: &Path) {
    for host in ["a", "b"] {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_ecn=1", path.host(host)));
    }
}

/// Marks every packet (RFC 3168), by a queue that marks what it was to drop; or no more.
fn mark(path: &Path, every: bool) {
    let change = if every { "replace dev out root netem loss 100% ecn limit 10000" } else { "del dev out root" };
    run(&format!("tc -n {} qdisc {change}", path.host("a")));
}

#[test]
fn a_path_that_marks_every_packet_is_heeded() {
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
fn marks_on_the_first_window_are_heeded_once() {
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
fn a_path_that_takes_smaller_packets_than_the_hosts_is_filled() {
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

/// Mbit/s of five seconds, and the highest R seen; `change` happens after the first two, which do not count.
fn around(rapid: &Loaded, path: &Path, control: &str, change: impl Fn()) -> (f64, f64) {
    let mut flow = Flow::open(path, control, Set::BeforeConnect);
    flow.bulk(2 * SECOND);
    change();
    flow.bulk(SECOND);
    let (mut rates, mut highest) = ([0.0; 5], 0.0f64);
    for rate in &mut rates {
        *rate = flow.bulk(SECOND) * 8.0 / 1e6;
        if control != "cubic" {
            let seen = rapid.report();
            let steered = seen.rate as f64 * 8.0 / 1e6;
            highest = highest.max(steered);
            eprintln!("R {steered:.1}, unusable {} of {}, lost {}", seen.unusable, seen.streams, seen.lost);
        }
    }
    eprintln!("{control}: {rates:.1?} Mbit/s, {} retransmitted", flow.look().retransmitted);
    (rates.iter().sum::<f64>() / 5.0, highest)
}

#[test]
fn packets_that_become_smaller_are_as_fast_as_before() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = jumbo("smaller");
    let mtu = |mtu: u32| run(&format!("ip -n {} link set right mtu {mtu}", path.host("r")));
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        mtu(9000);
        run(&format!("ip -n {} route flush cache", path.host("a")));
        around(&rapid, &path, control, || mtu(1500))
    });
    assert!(steered.0 > 0.9 * cubic.0, "rapid {:.1}, cubic {:.1} Mbit/s", steered.0, cubic.0);
}

#[test]
fn an_application_s_own_limit_is_kept() {
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
fn packets_that_overtake_each_other_are_not_lost() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("order");
    // One in fifty is 6 ms ahead of its place: ten packets.
    run(&format!("tc -n {} qdisc add dev out root netem delay 6ms reorder 2% limit 10000", path.host("a")));
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    let rate = flow.bulk(4 * SECOND) * 8.0 / 1e6;
    let (seen, retransmitted) = (rapid.report(), flow.look().retransmitted);
    eprintln!("{rate:.1} Mbit/s, {} of {} lost to the law, {retransmitted} retransmitted", seen.lost, seen.packets);
    assert!(seen.lost <= u64::from(retransmitted), "{} lost to the law, {retransmitted} retransmitted", seen.lost);
}

/// What comes back takes longer than TCP's first timer, so the SYN goes out twice; without timestamps nobody knows which
/// one was answered.
#[test]
fn a_round_trip_that_the_handshake_did_not_measure_is_not_zero() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("unmeasured");
    for host in ["a", "b"] {
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_timestamps=0", path.host(host)));
    }
    path.delay(1100);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    path.delay(40);
    flow.bulk(2 * SECOND);
    let (rate, rtt_ns) = (flow.bulk(2 * SECOND) * 8.0 / 1e6, rapid.report().rtt_ns);
    eprintln!("{rate:.1} Mbit/s of 20, least round trip {:.1} ms", rtt_ns as f64 / 1e6);
    assert!(rtt_ns >= 40_000_000, "a least round trip of {rtt_ns} ns over 40 ms");
}

/// At two packets per round trip the window has room for more than a second of them, and each puts TCP's timer off.
#[test]
fn a_slow_connection_finds_out_that_its_path_is_silent() {
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
    let (before, rate) = (flow.look().bytes_acked, rapid.report().rate as f64 * 8.0 / 1e6);
    mark(&path, false);
    path.cut(true);
    let mut waits = Duration::ZERO;
    while packetscale_tcp::status(&rapid.name).expect("loaded").counters.timeouts == 0 && waits < 3 * SECOND {
        flow.bulk(SECOND / 50);
        waits += SECOND / 50;
    }
    path.cut(false);
    eprintln!("at {rate:.2} Mbit/s: {waits:?} until the timer expired; {before} B acknowledged before");
    assert!(rate < 1.0, "{rate} Mbit/s: the connection was to be slow");
    // The timer, 0.25 s, before nothing more leaves; a probe after two round trips; and the timer again.
    assert!(waits < SECOND, "{waits:?} until the timer expired");
}
