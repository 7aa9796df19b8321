//! Commands that meet: a load while another drains, the switch while it drains and after a replacement.

use super::flow::{Flow, Set};
use super::namespaces::{Bottleneck, run};
use super::{Loaded, able, alone};
use linux::tcp::{self, Drained, Options, Reason};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs;
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn few(name: &str, flows: u32) -> Options {
    Options { name: name.to_string(), flows, ..Options::default() }
}

/// Waits until a drain has taken the name from new connections.
fn wait_until_it_drains(name: &str) {
    while tcp::is_registered(name) {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[ignore = "long: make test-long"]
fn load_during_drain_leaves_one() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("meet", &Bottleneck { mbit: 20, limit: 100_000 });
    let name = rapid.name.as_str();
    let mut flow = Flow::open(&path, name, Set::BeforeConnect);
    flow.bulk(SECOND);
    std::thread::scope(|scope| {
        let drainer = scope.spawn(|| tcp::drain(name, Some(30 * SECOND)));
        wait_until_it_drains(name);
        // A draining load has no new connections to switch on.
        let refused = tcp::switch(name, true).expect_err("it drains").to_string();
        assert!(refused.contains("is being unloaded"), "{refused}");
        assert_eq!(tcp::switched(name).expect("loaded"), (false, true));
        tcp::load(&few(name, 5)).unwrap_or_else(|error| panic!("{error}"));
        flow.bulk(SECOND);
        assert!(!drainer.is_finished(), "the old connection has not ended");
        drop(flow);
        let done = drainer.join().expect("no panic").expect("drains");
        assert_eq!(done, Drained { there: true, left: 0, again: true });
    });
    assert_eq!(tcp::status(name).expect("the new one").flows, 5);
    assert_eq!(tcp::switched(name).expect("the new one"), (false, false));
    assert!(!Path::new("/run/packetscale").join(format!("{name}-1")).exists(), "the old one is gone");
}

#[test]
#[ignore = "long: make test-long"]
fn drain_timeout_hands_over_despite_reload() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("over", &Bottleneck { mbit: 20, limit: 100_000 });
    let name = rapid.name.as_str();
    let mut flow = Flow::open(&path, name, Set::BeforeConnect);
    flow.bulk(SECOND);
    std::thread::scope(|scope| {
        let drainer = scope.spawn(|| tcp::drain(name, Some(3 * SECOND)));
        wait_until_it_drains(name);
        tcp::load(&few(name, 5)).unwrap_or_else(|error| panic!("{error}"));
        flow.bulk(4 * SECOND);
        let done = drainer.join().expect("no panic").expect("drains");
        assert_eq!(done, Drained { there: true, left: 1, again: true });
    });
    assert_eq!(super::life::steered_by(&flow), "cubic");
    assert!(tcp::is_registered(name));
}

#[test]
fn switched_off_state_survives_replacement() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("stays", &Bottleneck { mbit: 20, limit: 100_000 });
    let name = rapid.name.as_str();
    tcp::switch(name, false).expect("loaded");
    tcp::replace(&few(name, 5)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(tcp::switched(name).expect("loaded"), (true, false));
    let flow = Flow::open(&path, name, Set::BeforeConnect);
    assert_eq!(super::life::steered_by(&flow), "cubic");
    let status = tcp::status(name).expect("loaded");
    let reasons: Vec<Reason> = status.fallen.iter().map(|(_, fallen)| fallen.why()).collect();
    assert_eq!((status.flows, reasons), (5, vec![Reason::SwitchedOff]));
    tcp::switch(name, true).expect("loaded");
    let mut new = Flow::open(&path, name, Set::BeforeConnect);
    new.bulk(SECOND);
    assert_eq!(super::life::steered_by(&new), name);
}

/// Each of them is within its handshake for 0.9 s, and some are when the new version takes the place.
#[test]
#[ignore = "long: make test-long"]
fn handshakes_survive_replacement() {
    const EACH: Duration = Duration::from_millis(200);
    if !able() {
        return;
    }
    let _alone = alone();
    let options = Options { volunteer: false, ..few("", 10) };
    let (rapid, path) = Loaded::with("shakes", options.clone(), &Bottleneck { mbit: 20, limit: 100_000 });
    let (name, path) = (rapid.name.as_str(), &path);
    drop(Flow::open(path, name, Set::BeforeConnect)); // the hosts know each other's addresses now
    path.delay(900);
    let flows: Vec<Flow> = std::thread::scope(|scope| {
        let replaces = scope.spawn(|| tcp::replace(&Options { name: name.to_string(), ..options }));
        let opens = (0..8).map(|turn| {
            scope.spawn(move || {
                std::thread::sleep(turn * EACH);
                Flow::open(path, name, Set::BeforeConnect)
            })
        });
        let opens: Vec<_> = opens.collect();
        replaces.join().expect("no panic").unwrap_or_else(|error| panic!("{error}"));
        opens.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    path.delay(1);
    for mut flow in flows {
        flow.bulk(SECOND);
        // Without arrivals CUBIC would have it.
        assert_eq!(super::life::steered_by(&flow), name);
    }
}

#[test]
fn error_names_missing_load() {
    if !able() {
        return;
    }
    let requested = [tcp::status("nobody").map(drop), tcp::flows("nobody").map(drop), tcp::switch("nobody", true)];
    for refused in requested {
        let words = refused.expect_err("not loaded").to_string();
        assert_eq!(words, "nobody is not loaded; `packetscale tcp load` loads it");
    }
    for name in ["../run", "", "a-b"] {
        assert!(matches!(tcp::status(name), Err(tcp::Error::Input(_))), "{name:?}");
    }
}

#[test]
fn restores_default_of_namespace_mounted_elsewhere() {
    const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
    if !able() {
        return;
    }
    let _alone = alone();
    let rapid = Loaded::new("pods", few("", 4));
    let (named, elsewhere) = ("/run/netns/rt_pods", std::env::temp_dir().join("rt pods"));
    run("ip netns add rt_pods");
    fs::File::create(&elsewhere).expect("a file");
    mount(Some(named), &elsewhere, None::<&str>, MsFlags::MS_BIND, None::<&str>).expect("mounts");
    umount2(named, MntFlags::MNT_DETACH).expect("unmounts");
    fs::remove_file(named).expect("removes");
    let inside = |work: &(dyn Fn() + Sync)| {
        std::thread::scope(|scope| {
            let enters = || {
                let file = fs::File::open(&elsewhere).expect("the namespace");
                nix::sched::setns(file, nix::sched::CloneFlags::CLONE_NEWNET).expect("enters");
                work();
            };
            scope.spawn(enters).join().expect("no panic");
        });
    };
    inside(&|| fs::write(DEFAULT, &rapid.name).expect("a setting"));
    drop(rapid);
    inside(&|| assert_eq!(fs::read_to_string(DEFAULT).expect("a setting").trim(), "cubic"));
    umount2(&elsewhere, MntFlags::MNT_DETACH).expect("unmounts");
}
