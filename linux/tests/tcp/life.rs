//! What load, replace, unload and the switch do to the machine, to other people's settings and to connections.

use super::connection::{connected, listen, set_control};
use super::killed::foreign_filter;
use super::namespaces::{MANY_SEGMENTS, Path as Route, RECEIVER, inside, run, said};
use super::{Loaded, SECOND, alone, drained, few, own_name};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter};
use libbpf_rs::{TC_EGRESS, TC_INGRESS};
use linux::tcp::{self, Drained, Error, Options, Reason, Source};
use nix::libc;
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Of include/uapi/linux/tcp.h.
const TCP_SAVE_SYN: libc::c_int = 27;
const TCP_SAVED_SYN: libc::c_int = 28;

fn route(test: &str) -> Route {
    let route = Route::new(test, 20, 100_000);
    route.segments(MANY_SEGMENTS);
    route
}

/// Few connections, and a device of the sender's.
fn with_device(name: &str, device: &str) -> Options {
    Options { devices: vec![device.to_string()], ..few(name, 4) }
}

/// Loads for the sender's device.
fn loaded(route: &Route, what: &str, together: u16) -> Loaded {
    route.inside("a", || Loaded::new(what, Options { together, ..with_device("", "out") }))
}

fn egress(route: &Route) -> String {
    said(&format!("tc -n {} filter show dev out egress", route.host("a")))
}

/// Identities of all maps and programs.
fn inventory() -> BTreeSet<(char, u32)> {
    let maps = MapInfoIter::default().map(|map| ('m', map.id));
    maps.chain(ProgInfoIter::default().map(|program| ('p', program.id))).collect()
}

#[test]
fn unload_frees_every_map_and_program_of_the_load() {
    let Some(_alone) = alone() else { return };
    let before = inventory();
    let others = Path::new("/run/packetscale").exists();
    let rapid = Loaded::new("trace", few("", 4));
    let new: BTreeSet<_> = inventory().difference(&before).copied().collect();
    let name = rapid.name.clone();
    assert!(tcp::is_registered(&name));
    assert!(new.len() >= 10, "maps and programs: {new:?}");
    drop(rapid);
    assert!(!tcp::is_registered(&name));
    assert!(!Path::new("/run/packetscale").join(&name).exists());
    assert_eq!(Path::new("/run/packetscale").exists(), others);
    // The kernel frees them after grace periods.
    let (began, left) = (Instant::now(), || inventory().intersection(&new).copied().collect::<Vec<_>>());
    while !left().is_empty() {
        assert!(began.elapsed() < 5 * SECOND, "left: {:?}", left());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn second_load_of_a_name_is_refused_and_changes_nothing() {
    let Some(_alone) = alone() else { return };
    let rapid = Loaded::new("twice", few("", 4));
    let refused = tcp::load(&few(&rapid.name, 5));
    assert!(matches!(&refused, Err(Error::Machine(words)) if words.contains("loaded already")), "{refused:?}");
    assert_eq!(rapid.status().flows, 4);
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    for (options, word) in [
        (few("", 16), "name"),
        (few("a name", 16), "name"),
        (few("sixteen_letters_", 16), "name"),
        (Options { flows: 0, ..Options::default() }, "flows"),
        (Options { flows: u32::MAX, ..Options::default() }, "flows"),
        (Options { spin: packetscale_models::units::Span::from_secs(1), ..Options::default() }, "spin"),
    ] {
        let refused = tcp::load(&options);
        assert!(matches!(&refused, Err(Error::Input(words)) if words.starts_with(word)), "{word}: {refused:?}");
    }
}

#[test]
fn load_repairs_a_killed_load_and_knows_how_its_device_was() {
    let Some(_alone) = alone() else { return };
    let route = route("again");
    let (was, name) = (route.device(), own_name("again"));
    route.inside("a", || {
        tcp::load(&with_device(&name, "out")).expect("loads");
        // What a load leaves that is killed before it registers: pins, and no congestion control.
        let pinned = Path::new("/run/packetscale").join(&name).join("rapid");
        let control = libbpf_rs::MapHandle::from_pinned_path(&pinned).expect("the pin");
        libbpf_rs::MapCore::delete(&control, &0u32.to_ne_bytes()).expect("unregisters");
        assert!(!tcp::is_registered(&name) && pinned.exists());
        tcp::load(&Options { flows: 5, ..with_device(&name, "out") }).expect("repairs");
    });
    assert_eq!(tcp::status(&name).expect("loaded").flows, 5);
    assert!(tcp::unload(&name).expect("unloads"));
    assert_eq!(route.device(), was);
    assert!(!said(&format!("tc -n {} qdisc show dev out", route.host("a"))).contains("clsact"));
}

#[test]
fn unload_keeps_other_peoples_filters() {
    let Some(_alone) = alone() else { return };
    let route = route("foreign");
    let rapid = loaded(&route, "foreign", 1);
    route.inside("a", || [TC_INGRESS, TC_EGRESS].map(|point| foreign_filter(point, 1, 7)));
    drop(rapid);
    let (segments, filters) = route.device();
    assert_eq!(segments, MANY_SEGMENTS);
    assert!(filters.contains(" pass ") && !filters.contains("stamp_arrival"), "{filters}");
    assert!(egress(&route).contains(" pass "), "{}", egress(&route));
}

#[test]
fn load_does_not_overwrite_a_filter_at_its_place() {
    let Some(_alone) = alone() else { return };
    let route = route("place");
    // 0x5241 is ours.
    route.inside("a", || foreign_filter(TC_INGRESS, 0x5241, 0x5241));
    let before = route.device();
    let refused = route.inside("a", || tcp::load(&with_device(&own_name("place"), "out")));
    assert!(matches!(refused, Err(Error::Machine(_))), "{refused:?}");
    assert_eq!(route.device(), before);
}

/// The device stays prepared for the other name; what the first steered goes to CUBIC, though the programs stay.
#[test]
#[ignore = "long: make test-long"]
fn unload_of_one_of_two_names_leaves_the_other_its_device_and_arrivals() {
    let Some(_alone) = alone() else { return };
    let route = route("two");
    let was = route.device();
    let [first, second] = ["first", "second"].map(|name| loaded(&route, name, 1));
    second.note_arrivals(&route);
    let mut old = first.begun(&route);
    assert_eq!(old.steered_by(), first.name);
    drop(first);
    let (segments, filters) = route.device();
    assert!(segments == 1 && filters.contains("stamp_arrival"), "{segments}: {filters}");
    old.bulk(SECOND);
    assert_eq!(old.steered_by(), "cubic");
    drop(old);
    let new = second.begun(&route);
    assert_eq!(second.report().source(), Source::Option);
    drop((new, second));
    assert_eq!(route.device(), was);
}

#[test]
fn unload_restores_what_its_load_has_set_and_nothing_else() {
    let Some(_alone) = alone() else { return };
    let route = route("set");
    let (one, four) = (loaded(&route, "one", 1), loaded(&route, "four", 4));
    assert_eq!(route.device().0, 4);
    drop(four);
    assert_eq!(route.device().0, 1, "the other load's");
    route.segments(5);
    drop(one);
    assert_eq!(route.device().0, 5, "somebody else's");
}

#[test]
#[ignore = "long: make test-long"]
fn replacement_of_other_groups_sets_the_devices_of_the_version_before() {
    let Some(_alone) = alone() else { return };
    let route = route("groups");
    let was = route.device();
    let rapid = loaded(&route, "groups", 4);
    assert_eq!(route.device().0, 4);
    route.inside("a", || tcp::replace(&few(&rapid.name, 4)).map(drop).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(route.device().0, 1);
    drop(rapid);
    assert_eq!(route.device(), was);
}

#[test]
fn unload_leaves_a_device_alone_that_has_the_index_of_a_deleted_one() {
    let Some(_alone) = alone() else { return };
    let route = route("index");
    let a = route.host("a");
    run(&format!("ip -n {a} link add first index 77 type veth peer name first_peer"));
    let rapid = route.inside("a", || Loaded::new("index", with_device("", "first")));
    run(&format!("ip -n {a} link del first"));
    run(&format!("ip -n {a} link add second index 77 gso_max_segs 1 type veth peer name second_peer"));
    run(&format!("tc -n {a} qdisc add dev second clsact"));
    drop(rapid);
    assert!(said(&format!("tc -n {a} qdisc show dev second")).contains("clsact"));
    assert!(said(&format!("ip -n {a} -d link show dev second")).contains("gso_max_segs 1 "));
}

#[test]
fn one_of_two_loads_of_a_name_at_once_succeeds() {
    let Some(_alone) = alone() else { return };
    let options = few(&own_name("race"), 4);
    let results = std::thread::scope(|scope| {
        let load = || scope.spawn(|| tcp::load(&options).map(drop));
        [load(), load()].map(|worker| worker.join().expect("no panic"))
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(tcp::status(&options.name).expect("loaded").flows, 4);
    assert!(tcp::unload(&options.name).expect("unloads") && !tcp::is_registered(&options.name));
    assert!(!Path::new("/run/packetscale.lock").exists());
}

fn set(socket: RawFd, option: libc::c_int, value: libc::c_int) {
    let (place, size) = ((&raw const value).cast(), size_of_val(&value) as libc::socklen_t);
    // SAFETY: the kernel reads one integer.
    assert_eq!(unsafe { libc::setsockopt(socket, libc::IPPROTO_TCP, option, place, size) }, 0);
}

fn got(socket: RawFd, option: libc::c_int) -> Vec<u8> {
    let mut bytes = [0u8; 256];
    let mut size = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes.
    let failed = unsafe { libc::getsockopt(socket, libc::IPPROTO_TCP, option, bytes.as_mut_ptr().cast(), &mut size) };
    assert_eq!(failed, 0);
    bytes[..size as usize].to_vec()
}

/// A listener whose application asks TCP to keep headers of SYNs (1: from the IP header on, 2: from the link's), or not (0).
fn listener_that_keeps(wanted: libc::c_int) -> TcpListener {
    use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, listen, socket};
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None).expect("a socket");
    if wanted != 0 {
        set(socket.as_raw_fd(), TCP_SAVE_SYN, wanted);
    }
    bind(socket.as_raw_fd(), &SockaddrIn::from(std::net::SocketAddrV4::new(RECEIVER, 0))).expect("a port");
    listen(&socket, Backlog::new(4).expect("a backlog")).expect("listens");
    TcpListener::from(socket)
}

#[test]
fn listeners_keep_of_syns_what_their_applications_ask_for() {
    let Some(_alone) = alone() else { return };
    let (rapid, route) = Loaded::over("syn", 20, 100_000);
    for wanted in [0, 2] {
        let listener = route.inside("b", || listener_that_keeps(wanted));
        let to = listener.local_addr().expect("an address").port();
        let _stream = super::connection::open(&route, &rapid.name, to).expect("connects");
        let (accepted, _) = listener.accept().expect("a connection");
        let kept = got(accepted.as_raw_fd(), TCP_SAVED_SYN).len();
        assert_eq!(got(listener.as_raw_fd(), TCP_SAVE_SYN), i32::to_ne_bytes(wanted));
        // 14 B of Ethernet, 20 of IPv4, 40 of TCP with the option's 8 at least; or nothing.
        assert!(if wanted == 2 { kept > 14 + 20 + 40 } else { kept == 0 }, "{wanted}: {kept} B of the SYN");
    }
    let _flow = rapid.begun(&route);
    assert_eq!(rapid.report().source(), Source::Option);
}

/// What connections of the namespace use, unless told otherwise.
fn default_of(host: &str) -> String {
    inside(host, || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").expect("a setting"))
}

/// How many sockets chose the controller until `stop`, and how many were refused.
fn chosen(name: &str, stop: &AtomicBool) -> (u32, u32) {
    let (mut tries, mut refused) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a socket");
        tries += 1;
        refused += u32::from(set_control(&socket, name).is_err());
        std::thread::sleep(Duration::from_micros(200));
    }
    (tries, refused)
}

/// The namespace's default is what it replaces, and goes back to what others use with the unload.
#[test]
fn replacement_serves_new_connections_and_the_old_version_those_that_it_has() {
    let Some(_alone) = alone() else { return };
    let route = route("replace");
    let (was, default) = (route.device(), default_of(&route.host("a")));
    let rapid = loaded(&route, "replace", 1);
    let name = rapid.name.clone();
    rapid.note_arrivals(&route);
    route.inside("a", || std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", &name).expect("a setting"));
    let mut old = rapid.begun(&route);
    let stop = AtomicBool::new(false);
    let ((tries, refused), replaced) = std::thread::scope(|scope| {
        let chooser = scope.spawn(|| chosen(&name, &stop));
        let replaced = tcp::replace(&few(&name, 5)).unwrap_or_else(|error| panic!("{error}"));
        stop.store(true, Ordering::Relaxed);
        (chooser.join().expect("no panic"), replaced)
    });
    eprintln!("{refused} of {tries} sockets that chose it meanwhile were refused; {replaced:?}");
    assert_eq!(replaced.old, 1);
    assert_eq!(route.device().0, 1, "the device stays prepared");
    assert_eq!(rapid.status().flows, 5);
    let new = rapid.begun(&route);
    let rate = old.mbps(2 * SECOND);
    assert_eq!((old.steered_by(), new.steered_by()), (name.clone(), name.clone()));
    let seen = rapid.status().connections;
    assert_eq!(seen.iter().map(|report| report.source()).collect::<Vec<_>>(), [Source::Option], "only the new one");
    assert!(rate > 1.0, "the old one goes on: {rate:.1} Mbit/s");
    assert_eq!(default_of(&route.host("a")).trim(), name);
    drop((old, new, rapid));
    assert_eq!((route.device(), default_of(&route.host("a"))), (was, default));
    assert!(!Path::new("/run/packetscale").exists());
}

#[test]
#[ignore = "long: make test-long"]
fn drain_waits_for_connections_and_admits_none() {
    let Some(_alone) = alone() else { return };
    let (rapid, route) = Loaded::over("drain", 20, 100_000);
    let flow = rapid.begun(&route);
    let late = tcp::drain(&rapid.name, Some(Duration::ZERO));
    // Nothing was waited for, so CUBIC has it; the same with time:
    assert_eq!(late.expect("unloads"), Drained { there: true, left: 1, again: false });
    drop((flow, rapid));
    let rapid = Loaded::new("drains", few("", 4));
    rapid.note_arrivals(&route);
    let mut flow = rapid.begun(&route);
    let done = drained(&rapid.name, 30 * SECOND, |_| {
        flow.bulk(2 * SECOND);
        let status = rapid.status();
        assert_eq!(status.connections.len(), 1, "it is steered to its end: {:?}", status.fallen);
        assert_eq!(status.connections[0].source(), Source::Option);
        drop(flow);
    });
    assert_eq!(done, Drained { there: true, left: 0, again: false });
    assert!(!Path::new("/run/packetscale").exists());
}

#[test]
fn switch_gives_every_connection_to_cubic_and_new_ones_back() {
    let Some(_alone) = alone() else { return };
    let (rapid, route) = Loaded::over("switch", 20, 100_000);
    let mut flow = rapid.begun(&route);
    assert_eq!(flow.steered_by(), rapid.name);
    tcp::switch(&rapid.name, false).expect("loaded");
    flow.bulk(SECOND);
    let other = rapid.flow(&route);
    assert_eq!([&flow, &other].map(|flow| flow.steered_by()), ["cubic", "cubic"]);
    assert_eq!((rapid.reasons(), rapid.status().connections.len()), (vec![Reason::SwitchedOff; 2], 0));
    tcp::switch(&rapid.name, true).expect("loaded");
    assert_eq!(rapid.begun(&route).steered_by(), rapid.name);
}

#[test]
fn user_with_many_connections_leaves_slots_to_others() {
    let Some(_alone) = alone() else { return };
    let (rapid, route) = Loaded::over("quota", 20, 100_000);
    let open = |user: libc::uid_t| {
        let listener = listen(&route);
        let port = listener.local_addr().expect("an address").port();
        let stream = route.inside("a", || {
            // SAFETY: only this thread's own identity; the library's call would change all threads.
            assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, -1i32, user, -1i32) }, 0);
            connected(&rapid.name, port).expect("connects")
        });
        (stream, listener)
    };
    const SLEEPER: libc::uid_t = 1000;
    // Four slots: a user may have two.
    let sleeping: Vec<_> = (0..6).map(|_| open(SLEEPER)).collect();
    let refused = rapid.reasons().into_iter().filter(|why| *why == Reason::TooManyOfUser).count();
    assert_eq!((rapid.status().connections.len(), refused), (2, 4));
    let others = [open(1001), open(0)];
    assert_eq!(rapid.status().connections.len(), 4);
    drop((sleeping, others));
    std::thread::sleep(SECOND);
    let _again: Vec<_> = (0..3).map(|_| open(SLEEPER)).collect();
    assert_eq!(rapid.status().connections.len(), 2, "given back");
}
