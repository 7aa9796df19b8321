//! From loading to unloading: the controller, the option and the stamps together, for a short connection.

use std::thread;
use std::time::Duration;

use linux::tcp;

use super::alone;
use super::net::{Cgroup, Pair};
use super::transfer::{Plan, send};

/// Sends a few hundred packets under Rapid, and judges what its connection saw.
fn judge_a_life(pair: &Pair, what: &str, family: usize) {
    let name = format!("r{what}_{}", std::process::id());
    let cgroup = Cgroup::new("life").expect("a cgroup");
    let options =
        tcp::Options { name: name.clone(), flows: 2, cgroup: Some(cgroup.path().into()), ..Default::default() };
    tcp::load(&options).expect("loads");
    pair.right.inside(|| tcp::note_arrivals(&name, "wire")).expect("attaches");
    let (bytes, limit) = (600_000, Duration::from_secs(60));
    let plan = Plan { bytes, limit, family, control: Some(name.clone()), ..Plan::default() };
    let mut seen = None;
    send(pair, &plan, Some(&cgroup), Some(&cgroup), |_| {
        // The socket has taken data that the wire has not carried yet.
        for _ in 0..400 {
            let status = tcp::status(&name).expect("the state of connections");
            seen = status.connections.first().map(|c| (c.source(), c.delivered, c.stamped));
            if seen.is_some_and(|(_, delivered, _)| delivered >= 300) {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(tcp::unload(&name).expect("unloads"), "there was something to unload");
    assert!(!tcp::is_registered(&name), "nothing stays");
    let (source, delivered, stamped) = seen.expect("the connection is Rapid's");
    assert_eq!(source, tcp::Source::Option, "{what}");
    let found = format!("{what}: {stamped} of {delivered} packets have an arrival time");
    assert!(stamped * 10 >= delivered * 8 && stamped >= 240, "{found}");
}

#[test]
fn rapid_loads_negotiates_stamps_and_unloads() {
    let Some(_alone) = alone() else { return };
    for (what, family) in [("v4", 0), ("v6", 1)] {
        judge_a_life(&Pair::behind_bottleneck(20, 100_000).expect("namespaces"), what, family);
    }
}

#[test]
fn rapid_runs_through_fq_and_netem_where_the_kernel_has_them() {
    let Some(_alone) = alone() else { return };
    let pair = Pair::new().expect("namespaces");
    if pair.left.command("tc", "qdisc add dev wire root fq").is_err() {
        eprintln!("this kernel has no fq: not tried");
        return;
    }
    pair.right.command("tc", "qdisc add dev wire root netem delay 5ms").expect("netem");
    judge_a_life(&pair, "fq", 0);
}
