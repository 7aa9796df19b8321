//! What the path, the kernel and the application say beside arrivals: marks, a smaller packet, a limit, reordering.

use super::flow::{Flow, Set};
use super::namespaces::{Path, run};
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
