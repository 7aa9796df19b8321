//! State of the machine after loading and unloading.

use super::killed::machine;
use super::namespaces::{Bottleneck, MANY_SEGMENTS, Path as Route};
use super::{Loaded, able, alone};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use linux::tcp::{self, Error, Options};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// Identities of all maps and programs.
fn inventory() -> BTreeSet<(char, u32)> {
    let maps = MapInfoIter::default().map(|map| ('m', map.id));
    maps.chain(ProgInfoIter::default().map(|program| ('p', program.id))).collect()
}

/// Whether everything in `new` disappears within some seconds; the kernel frees it after grace periods.
fn gone(before: &BTreeSet<(char, u32)>, new: &BTreeSet<(char, u32)>) -> bool {
    let deadline = Instant::now() + Duration::from_secs(5);
    while Instant::now() < deadline {
        if inventory().intersection(new).all(|entry| before.contains(entry)) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

#[test]
fn unload_removes_everything() {
    if !able() {
        return;
    }
    let _alone = alone();
    let before = inventory();
    let others = Path::new("/run/packetscale").exists();
    let rapid = Loaded::new("trace", Options { flows: 4, ..Options::default() });
    let new = inventory().difference(&before).copied().collect::<BTreeSet<_>>();
    let name = rapid.name.clone();
    assert!(tcp::is_registered(&name));
    assert!(new.len() >= 10, "maps and programs: {new:?}");
    drop(rapid);
    assert!(!tcp::is_registered(&name));
    assert!(!Path::new("/run/packetscale").join(&name).exists());
    assert_eq!(Path::new("/run/packetscale").exists(), others);
    assert!(gone(&before, &new), "left: {:?}", inventory().intersection(&new).collect::<Vec<_>>());
}

#[test]
fn refuses_second_load_of_same_name() {
    if !able() {
        return;
    }
    let _alone = alone();
    let rapid = Loaded::new("twice", Options { flows: 4, ..Options::default() });
    match tcp::load(&Options { name: rapid.name.clone(), ..Options::default() }) {
        Err(Error::Machine(message)) => assert!(message.contains("already loaded"), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(tcp::status(&rapid.name).expect("still loaded").flows, 4);
}

#[test]
fn next_load_repairs_killed_one() {
    if !able() {
        return;
    }
    let _alone = alone();
    let rapid = Loaded::new("half", Options { flows: 4, ..Options::default() });
    // The state that a load leaves if it is killed before it registers: pins, and no congestion control.
    let pinned = Path::new("/run/packetscale").join(&rapid.name).join("rapid");
    let control = libbpf_rs::MapHandle::from_pinned_path(&pinned).expect("the pin");
    libbpf_rs::MapCore::delete(&control, &0u32.to_ne_bytes()).expect("unregisters");
    drop(control);
    assert!(!tcp::is_registered(&rapid.name) && pinned.exists());
    tcp::load(&Options { name: rapid.name.clone(), flows: 5, ..Options::default() }).expect("repairs");
    assert_eq!(tcp::status(&rapid.name).expect("loaded").flows, 5);
}

#[test]
fn device_sends_single_packets_until_unload() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = Route::new("device", &Bottleneck { mbit: 100, limit: 100_000 });
    route.segments(MANY_SEGMENTS);
    let was = route.device();
    let rapid = route.inside("a", || {
        Loaded::new("device", Options { flows: 4, devices: vec!["out".to_string()], ..Options::default() })
    });
    let (segments, filters) = route.device();
    assert_eq!(segments, 1);
    assert!(filters.contains("stamp_arrival"), "{filters:?}");
    // From another network namespace than the device's.
    drop(rapid);
    assert_eq!(route.device(), was);
}

/// A device shared by two loads gets the other's settings once one is unloaded, and foreign settings stay.
#[test]
fn unload_restores_only_its_settings() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = Route::new("set", &Bottleneck { mbit: 100, limit: 100_000 });
    route.segments(MANY_SEGMENTS);
    let load = |name: &str, together: u16| {
        let options = Options { flows: 4, devices: vec!["out".to_string()], together, ..Options::default() };
        route.inside("a", || Loaded::new(name, options))
    };
    let (one, four) = (load("one", 1), load("four", 4));
    assert_eq!(route.device().0, 4);
    drop(four);
    assert_eq!(route.device().0, 1, "the other load's");
    route.segments(5);
    drop(one);
    assert_eq!(route.device().0, 5, "somebody else's");
}

#[test]
fn refuses_invalid_options_by_name() {
    let cases = [
        (Options { name: String::new(), ..Options::default() }, "name"),
        (Options { name: "a name".to_string(), ..Options::default() }, "name"),
        (Options { name: "sixteen_letters_".to_string(), ..Options::default() }, "name"),
        (Options { flows: 0, ..Options::default() }, "flows"),
        (Options { flows: u32::MAX, ..Options::default() }, "flows"),
        (Options { spin: packetscale_models::units::Span::from_secs(1), ..Options::default() }, "spin"),
    ];
    for (options, word) in cases {
        match tcp::load(&options) {
            Err(Error::Input(message)) => assert!(message.starts_with(word), "{message}"),
            other => panic!("{options:?}: {other:?}"),
        }
    }
}

/// Its pins go with the mounts that hold them, as when a container ends.
#[test]
fn unload_undoes_load_whose_pins_are_gone() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = Route::new("lost", &Bottleneck { mbit: 100, limit: 100_000 });
    route.segments(MANY_SEGMENTS);
    let was = machine(&route);
    let options =
        Options { name: "r_lost".to_string(), flows: 2, devices: vec!["out".to_string()], ..Options::default() };
    for _ in 0..2 {
        route.inside("a", || tcp::load(&options).unwrap_or_else(|error| panic!("{error}")));
        nix::mount::umount2("/run/packetscale", nix::mount::MntFlags::MNT_DETACH).expect("unmounts");
        assert_eq!(route.device().0, 1);
        assert!(tcp::unload("r_lost").unwrap_or_else(|error| panic!("{error}")));
        assert_eq!(machine(&route), was);
        assert!(!tcp::unload("r_lost").unwrap_or_else(|error| panic!("{error}")), "something was left");
    }
}
