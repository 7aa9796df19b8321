//! Commands that meet: a load while another drains, the switch while it drains and after a replacement.

use super::flow::Flow;
use super::namespaces::run;
use super::{Loaded, SECOND, alone, drained, few};
use linux::tcp::{self, Drained, Options, Reason};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn load(options: &Options) {
    tcp::load(options).unwrap_or_else(|error| panic!("{error}"));
}

fn replace(options: &Options) {
    tcp::replace(options).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
#[ignore = "long: make test-long"]
fn load_while_another_drains_leaves_one() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("meet", 20, 100_000);
    let name = rapid.name.as_str();
    let mut flow = rapid.begun(&path);
    let done = drained(name, 30 * SECOND, |drainer| {
        // What drains has no new connections to switch on.
        let refused = tcp::switch(name, true).expect_err("it drains").to_string();
        assert!(refused.contains("is being unloaded"), "{refused}");
        assert_eq!(tcp::switched(name).expect("loaded"), (false, true));
        load(&few(name, 5));
        flow.bulk(SECOND);
        assert!(!drainer.is_finished(), "the old connection has not ended");
        drop(flow);
    });
    assert_eq!(done, Drained { there: true, left: 0, again: true });
    assert_eq!(rapid.status().flows, 5);
    assert_eq!(tcp::switched(name).expect("the new one"), (false, false));
    assert!(!Path::new("/run/packetscale").join(format!("{name}-1")).exists(), "the old one is gone");
}

#[test]
#[ignore = "long: make test-long"]
fn connections_left_at_the_end_of_a_drain_go_to_cubic_though_the_name_is_loaded_again() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("over", 20, 100_000);
    let mut flow = rapid.begun(&path);
    let done = drained(&rapid.name, 3 * SECOND, |_| {
        load(&few(&rapid.name, 5));
        flow.bulk(4 * SECOND);
    });
    assert_eq!(done, Drained { there: true, left: 1, again: true });
    assert_eq!(flow.steered_by(), "cubic");
    assert!(tcp::is_registered(&rapid.name));
}

#[test]
fn switch_outlives_a_replacement() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("stays", 20, 100_000);
    let name = rapid.name.as_str();
    tcp::switch(name, false).expect("loaded");
    replace(&few(name, 5));
    assert_eq!(tcp::switched(name).expect("loaded"), (true, false));
    assert_eq!(rapid.flow(&path).steered_by(), "cubic");
    assert_eq!((rapid.status().flows, rapid.reasons()), (5, vec![Reason::SwitchedOff]));
    tcp::switch(name, true).expect("loaded");
    assert_eq!(rapid.begun(&path).steered_by(), name);
}

/// Each of them is within its handshake for 0.9 s, and some are when the new version takes the place.
#[test]
#[ignore = "long: make test-long"]
fn connections_within_their_handshake_outlive_a_replacement() {
    const EACH: Duration = Duration::from_millis(200);
    let Some(_alone) = alone() else { return };
    let options = |name: &str| Options { volunteer: false, ..few(name, 10) };
    let (rapid, path) = Loaded::with("shakes", options(""), 20, 100_000);
    drop(rapid.flow(&path)); // the hosts know each other's addresses now
    path.delay(900);
    let flows: Vec<Flow> = std::thread::scope(|scope| {
        let replaces = scope.spawn(|| replace(&options(&rapid.name)));
        let open = |turn| {
            std::thread::sleep(turn * EACH);
            rapid.flow(&path)
        };
        let opens: Vec<_> = (0..8).map(|turn| scope.spawn(move || open(turn))).collect();
        replaces.join().expect("no panic");
        opens.into_iter().map(|one| one.join().expect("no panic")).collect()
    });
    path.delay(1);
    for mut flow in flows {
        flow.bulk(SECOND);
        // Without arrivals CUBIC would have it.
        assert_eq!(flow.steered_by(), rapid.name);
    }
}

#[test]
fn name_that_is_not_loaded_is_refused() {
    let Some(_alone) = alone() else { return };
    for asked in [tcp::status("nobody").map(drop), tcp::flows("nobody").map(drop), tcp::switch("nobody", true)] {
        let words = asked.expect_err("not loaded").to_string();
        assert_eq!(words, "nobody is not loaded; `packetscale tcp load` loads it");
    }
    for name in ["../run", "", "a-b"] {
        assert!(matches!(tcp::status(name), Err(tcp::Error::Input(_))), "{name:?}");
    }
}

#[test]
fn unload_resets_the_default_of_a_namespace_that_is_only_mounted_elsewhere() {
    const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
    let Some(_alone) = alone() else { return };
    let rapid = Loaded::new("pods", few("", 4));
    let (named, elsewhere) = ("/run/netns/rt_pods", std::env::temp_dir().join("rt pods"));
    run("ip netns add rt_pods");
    fs::File::create(&elsewhere).expect("a file");
    mount(Some(named), &elsewhere, None::<&str>, MsFlags::MS_BIND, None::<&str>).expect("mounts");
    umount2(named, MntFlags::MNT_DETACH).expect("unmounts");
    fs::remove_file(named).expect("removes");
    let inside = |work: &(dyn Fn() + Sync)| super::namespaces::inside_of(&elsewhere, work);
    inside(&|| fs::write(DEFAULT, &rapid.name).expect("a setting"));
    drop(rapid);
    inside(&|| assert_eq!(fs::read_to_string(DEFAULT).expect("a setting").trim(), "cubic"));
    umount2(&elsewhere, MntFlags::MNT_DETACH).expect("unmounts");
}
