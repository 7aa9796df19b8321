//! From loading to unloading: the controller, the option and the stamps together, for a short connection.

use std::thread;
use std::time::Duration;

use linux::tcp;

use super::net::{Cgroup, Pair};
use super::transfer::{Plan, send};
use super::{alone, needs_programs};

/// Sends a few hundred packets under Rapid. Returns what its connection saw: the source of arrival times, packets
/// delivered, and packets with an arrival time.
fn a_life(pair: &Pair, name: &str, family: usize) -> (tcp::Source, u64, u64) {
    let cgroup = Cgroup::new("life").expect("a cgroup");
    let options =
        tcp::Options { name: name.into(), flows: 2, cgroup: Some(cgroup.path().into()), ..Default::default() };
    tcp::load(&options).expect("loads");
    let refused = tcp::load(&options).expect_err("a second load is refused");
    assert!(refused.to_string().contains("already loaded"), "{refused}");
    pair.right.inside(|| tcp::note_arrivals(name, "wire")).expect("attaches");
    let (bytes, limit) = (600_000, Duration::from_secs(60));
    let plan = Plan { bytes, limit, family, control: Some(name.into()), ..Plan::default() };
    let mut seen = None;
    send(pair, &plan, Some(&cgroup), Some(&cgroup), |_| {
        // The socket has taken data that the wire has not carried yet.
        for _ in 0..400 {
            let status = tcp::status(name).expect("the state of connections");
            seen = status.connections.first().map(|c| (c.source(), c.delivered, c.stamped));
            if seen.is_some_and(|(_, delivered, _)| delivered >= 300) {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(tcp::unload(name).expect("unloads"), "there was something to unload");
    assert!(!tcp::is_registered(name), "nothing stays");
    seen.expect("the connection is Rapid's")
}

#[test]
fn rapid_loads_negotiates_and_unloads() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::behind_bottleneck(20, 100_000).expect("namespaces");
    let (source, delivered, stamped) = a_life(&pair, &format!("rl_{}", std::process::id()), 0);
    assert_eq!(source, tcp::Source::Option);
    assert!(stamped * 10 >= delivered * 8 && stamped >= 240, "{stamped} of {delivered} packets have an arrival time");
}

#[test]
fn rapid_gets_arrivals_over_ipv6() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::behind_bottleneck(20, 100_000).expect("namespaces");
    let (source, delivered, stamped) = a_life(&pair, &format!("r6_{}", std::process::id()), 1);
    assert_eq!(source, tcp::Source::Option);
    assert!(stamped * 10 >= delivered * 8 && stamped >= 240, "{stamped} of {delivered} packets have an arrival time");
}

#[test]
fn rapid_runs_through_fq_and_netem() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    let pair = Pair::new().expect("namespaces");
    if pair.left.command("tc", "qdisc add dev wire root fq").is_err() {
        eprintln!("this kernel has no fq: not tried");
        return;
    }
    pair.right.command("tc", "qdisc add dev wire root netem delay 5ms").expect("netem");
    let (source, delivered, stamped) = a_life(&pair, &format!("rq_{}", std::process::id()), 0);
    assert_eq!(source, tcp::Source::Option);
    assert!(stamped * 10 >= delivered * 8 && stamped >= 240, "{stamped} of {delivered} packets have an arrival time");
}
