//! Effects of load, replace, unload and the switch on the machine, on foreign settings and on connections.

use super::flow::{Flow, Set, set_control};
use super::killed::foreign_filter;
use super::namespaces::{Bottleneck, MANY_SEGMENTS, Path as Route, inside, printed, run};
use super::{Loaded, able, alone};
use libbpf_rs::{TC_EGRESS, TC_INGRESS};
use linux::tcp::{self, Error, Options, Reason, Source};
use nix::libc;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
/// Of include/uapi/linux/tcp.h.
const TCP_SAVE_SYN: libc::c_int = 27;
const TCP_SAVED_SYN: libc::c_int = 28;

fn route(test: &str) -> Route {
    let route = Route::new(test, &Bottleneck { mbit: 20, limit: 100_000 });
    route.segments(MANY_SEGMENTS);
    route
}

fn name(what: &str) -> String {
    format!("r_{what}_{}", std::process::id() % 10_000)
}

/// Few connections, and the sender's device.
fn with_device(name: &str) -> Options {
    Options { name: name.to_string(), flows: 4, devices: vec!["out".to_string()], ..Options::default() }
}

/// Unregisters the load of this name, as an interrupted load leaves it.
fn unregister(name: &str) {
    let pinned = Path::new("/run/packetscale").join(name).join("rapid");
    let control = libbpf_rs::MapHandle::from_pinned_path(pinned).expect("the pin");
    libbpf_rs::MapCore::delete(&control, &0u32.to_ne_bytes()).expect("unregisters");
}

fn egress(route: &Route) -> String {
    printed(&format!("tc -n {} filter show dev out egress", route.host("a")))
}

#[test]
fn foreign_filters_survive_unload() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("foreign");
    let rapid = route.inside("a", || Loaded::new("foreign", with_device("")));
    route.inside("a", || [TC_INGRESS, TC_EGRESS].map(|point| foreign_filter(point, 1, 7)));
    drop(rapid);
    let (segments, filters) = route.device();
    assert_eq!(segments, MANY_SEGMENTS);
    assert!(filters.contains(" pass ") && !filters.contains("stamp_arrival"), "{filters}");
    assert!(egress(&route).contains(" pass "), "{}", egress(&route));
}

#[test]
fn does_not_overwrite_foreign_filter() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("place");
    // 0x5241 is ours.
    route.inside("a", || foreign_filter(TC_INGRESS, 0x5241, 0x5241));
    let before = route.device();
    let refused = route.inside("a", || tcp::load(&with_device(&name("place"))));
    assert!(matches!(refused, Err(Error::Machine(_))), "{refused:?}");
    assert_eq!(route.device(), before);
}

#[test]
fn load_after_killed_one_knows_original_device() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("again");
    let (was, name) = (route.device(), name("again"));
    route.inside("a", || {
        tcp::load(&with_device(&name)).expect("loads");
        unregister(&name);
        tcp::load(&with_device(&name)).expect("repairs");
    });
    assert!(tcp::unload(&name).expect("unloads"));
    assert_eq!(route.device(), was);
    assert!(!printed(&format!("tc -n {} qdisc show dev out", route.host("a"))).contains("clsact"));
}

#[test]
fn second_load_gets_arrivals_after_first_unload() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("two");
    let was = route.device();
    let first = route.inside("a", || Loaded::new("first", with_device("")));
    let second = route.inside("a", || Loaded::new("second", with_device("")));
    route.inside("b", || tcp::note_arrivals(&second.name, "in").expect("tc"));
    drop(first);
    assert_eq!(route.device().0, 1, "the second has prepared it, too");
    let mut flow = Flow::open(&route, &second.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    assert_eq!(second.report().source(), Source::Option);
    drop(flow);
    drop(second);
    assert_eq!(route.device(), was);
}

/// The programs that report arrivals stay for the other name, so none of its connections falls back.
#[test]
#[ignore = "long: make test-long"]
fn unload_hands_its_connections_to_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("goes");
    let first = route.inside("a", || Loaded::new("first", with_device("")));
    let second = route.inside("a", || Loaded::new("second", with_device("")));
    route.inside("b", || tcp::note_arrivals(&second.name, "in").expect("tc"));
    let mut flow = Flow::open(&route, &first.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    assert_eq!(steered_by(&flow), first.name);
    drop(first);
    flow.bulk(SECOND);
    assert_eq!(steered_by(&flow), "cubic");
    drop(second);
}

#[test]
#[ignore = "long: make test-long"]
fn replacement_sets_devices_and_unload_restores_them() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("groups");
    let was = route.device();
    let fours = Options { together: 4, ..with_device("") };
    let rapid = route.inside("a", || Loaded::new("groups", fours));
    assert_eq!(route.device().0, 4);
    let ones = with_device(&rapid.name);
    let ones = Options { devices: Vec::new(), ..ones };
    route.inside("a", || tcp::replace(&ones).map(drop).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(route.device().0, 1, "the device of the version before");
    drop(rapid);
    assert_eq!(route.device(), was);
}

#[test]
fn does_not_restore_device_with_reused_index() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("index");
    let a = route.host("a");
    run(&format!("ip -n {a} link add first index 77 type veth peer name first_peer"));
    let options = Options { devices: vec!["first".to_string()], ..with_device("") };
    let rapid = route.inside("a", || Loaded::new("index", options));
    run(&format!("ip -n {a} link del first"));
    run(&format!("ip -n {a} link add second index 77 gso_max_segs 1 type veth peer name second_peer"));
    run(&format!("tc -n {a} qdisc add dev second clsact"));
    drop(rapid);
    assert!(printed(&format!("tc -n {a} qdisc show dev second")).contains("clsact"));
    assert!(printed(&format!("ip -n {a} -d link show dev second")).contains("gso_max_segs 1 "));
}

#[test]
fn concurrent_loads_of_one_name_yield_one() {
    if !able() {
        return;
    }
    let _alone = alone();
    let name = name("race");
    let options = Options { name: name.clone(), flows: 4, ..Options::default() };
    let results = std::thread::scope(|scope| {
        let load = || scope.spawn(|| tcp::load(&options).map(drop));
        let both = [load(), load()];
        both.map(|worker| worker.join().expect("no panic"))
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
    assert_eq!(tcp::status(&name).expect("loaded").flows, 4);
    assert!(tcp::unload(&name).expect("unloads") && !tcp::is_registered(&name));
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

/// A listener with TCP_SAVE_SYN: headers from IP on (1), from the link layer on (2), or none (0).
fn listener_that_keeps(wanted: libc::c_int) -> TcpListener {
    use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, listen, socket};
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None).expect("a socket");
    if wanted != 0 {
        set(socket.as_raw_fd(), TCP_SAVE_SYN, wanted);
    }
    bind(socket.as_raw_fd(), &SockaddrIn::from(std::net::SocketAddrV4::new(super::namespaces::RECEIVER, 0)))
        .expect("a port");
    listen(&socket, Backlog::new(4).expect("a backlog")).expect("listens");
    TcpListener::from(socket)
}

#[test]
fn saved_syns_stay_unchanged() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, route) = Loaded::over("syn", &Bottleneck { mbit: 20, limit: 100_000 });
    for wanted in [0, 2] {
        let listener = route.inside("b", || listener_that_keeps(wanted));
        let to = listener.local_addr().expect("an address").port();
        let stream = super::connection::open(&route, &rapid.name, to).expect("connects");
        let (accepted, _) = listener.accept().expect("a connection");
        let kept = got(accepted.as_raw_fd(), TCP_SAVED_SYN).len();
        assert_eq!(got(listener.as_raw_fd(), TCP_SAVE_SYN), i32::to_ne_bytes(wanted));
        // 14 B of Ethernet, 20 of IPv4, 40 of TCP with at least 8 of the option; or none.
        assert!(if wanted == 2 { kept > 14 + 20 + 40 } else { kept == 0 }, "{wanted}: {kept} B of the SYN");
        drop(stream);
    }
    let mut flow = Flow::open(&route, &rapid.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    assert_eq!(rapid.report().source(), Source::Option);
}

/// The namespace's default controller.
fn default_of(host: &str) -> String {
    inside(host, || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").expect("a setting"))
}

fn set_default(host: &str, control: &str) {
    inside(host, || std::fs::write("/proc/sys/net/ipv4/tcp_congestion_control", control).expect("a setting"));
}

/// The connection's controller as the kernel reports it.
pub fn steered_by(flow: &Flow) -> String {
    let name = got(flow.stream.as_raw_fd(), libc::TCP_CONGESTION);
    String::from_utf8_lossy(&name).trim_end_matches('\0').to_string()
}

#[test]
fn restores_default_of_namespace_after_unload() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, route) = Loaded::over("default", &Bottleneck { mbit: 20, limit: 100_000 });
    let was = default_of(&route.host("a"));
    set_default(&route.host("a"), &rapid.name);
    drop(rapid);
    assert_eq!(default_of(&route.host("a")), was);
}

#[test]
fn old_version_keeps_its_connections() {
    if !able() {
        return;
    }
    let _alone = alone();
    let route = route("replace");
    let was = route.device();
    let rapid = route.inside("a", || Loaded::new("replace", with_device("")));
    let name = rapid.name.clone();
    route.inside("b", || tcp::note_arrivals(&name, "in").expect("tc"));
    set_default(&route.host("a"), &name);
    let mut old = Flow::open(&route, &name, Set::BeforeConnect);
    old.bulk(SECOND);
    // Applications that go on choosing it meanwhile.
    let stop = std::sync::atomic::AtomicBool::new(false);
    let (tries, refused, replaced) = std::thread::scope(|scope| {
        let chooser = scope.spawn(|| {
            let (mut tries, mut refused) = (0, 0);
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
                let place = name.as_ptr().cast();
                // SAFETY: the kernel reads the name.
                let failed = unsafe {
                    let size = name.len() as libc::socklen_t;
                    libc::setsockopt(listener.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, place, size)
                };
                tries += 1;
                refused += u32::from(failed != 0);
                std::thread::sleep(Duration::from_micros(200));
            }
            (tries, refused)
        });
        let options = Options { name: name.clone(), flows: 5, ..Options::default() };
        let replaced = tcp::replace(&options).unwrap_or_else(|error| panic!("{error}"));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let (tries, refused) = chooser.join().expect("no panic");
        (tries, refused, replaced)
    });
    eprintln!("{refused} of {tries} sockets that chose it meanwhile were refused; {replaced:?}");
    assert_eq!(replaced.old, 1);
    assert_eq!(route.device().0, 1, "the device stays prepared");
    assert_eq!(tcp::status(&name).expect("the new one").flows, 5);
    let mut new = Flow::open(&route, &name, Set::BeforeConnect);
    new.bulk(SECOND);
    let rate = old.bulk(2 * SECOND) * 8.0 / 1e6;
    assert_eq!((steered_by(&old), steered_by(&new)), (name.clone(), name.clone()));
    let seen = tcp::status(&name).expect("the new one").connections;
    assert_eq!(seen.iter().map(|report| report.source()).collect::<Vec<_>>(), [Source::Option], "only the new one");
    assert!(rate > 1.0, "the old one goes on: {rate:.1} Mbit/s");
    assert_eq!(default_of(&route.host("a")).trim(), name);
    drop((old, new, rapid));
    assert_eq!(route.device(), was);
    assert!(!Path::new("/run/packetscale").exists());
}

#[test]
#[ignore = "long: make test-long"]
fn draining_unload_waits_and_admits_none() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, route) = Loaded::over("drain", &Bottleneck { mbit: 20, limit: 100_000 });
    let name = rapid.name.clone();
    let mut flow = Flow::open(&route, &name, Set::BeforeConnect);
    flow.bulk(SECOND);
    let late = tcp::drain(&name, Some(Duration::ZERO));
    // Without waiting, CUBIC takes over; with a deadline:
    assert_eq!(late.expect("unloads"), tcp::Drained { there: true, left: 1, again: false });
    drop((flow, rapid));
    let rapid = Loaded::new("drains", Options { flows: 4, ..Options::default() });
    let name = rapid.name.clone();
    route.inside("b", || tcp::note_arrivals(&name, "in").expect("tc"));
    let mut flow = Flow::open(&route, &name, Set::BeforeConnect);
    flow.bulk(SECOND);
    std::thread::scope(|scope| {
        let drainer = scope.spawn(|| tcp::drain(&name, Some(30 * SECOND)));
        while tcp::is_registered(&name) {
            std::thread::sleep(Duration::from_millis(10));
        }
        flow.bulk(2 * SECOND);
        let status = tcp::status(&name).expect("not unloaded yet");
        assert_eq!(status.connections.len(), 1, "it is steered to its end: {:?}", status.fallen);
        assert_eq!(status.connections[0].source(), Source::Option);
        drop(flow);
        assert_eq!(
            drainer.join().expect("no panic").expect("unloads"),
            tcp::Drained { there: true, left: 0, again: false }
        );
    });
    assert!(!Path::new("/run/packetscale").exists());
}

#[test]
fn switch_hands_connections_to_cubic_and_back() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, route) = Loaded::over("switch", &Bottleneck { mbit: 20, limit: 100_000 });
    let mut flow = Flow::open(&route, &rapid.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    assert_eq!(steered_by(&flow), rapid.name);
    tcp::switch(&rapid.name, false).expect("loaded");
    flow.bulk(SECOND);
    assert_eq!(steered_by(&flow), "cubic");
    let other = Flow::open(&route, &rapid.name, Set::BeforeConnect);
    assert_eq!(steered_by(&other), "cubic");
    let status = tcp::status(&rapid.name).expect("loaded");
    let reasons: Vec<Reason> = status.fallen.iter().map(|(_, fallen)| fallen.why()).collect();
    assert_eq!((reasons, status.connections.len()), (vec![Reason::SwitchedOff; 2], 0));
    tcp::switch(&rapid.name, true).expect("loaded");
    let mut new = Flow::open(&route, &rapid.name, Set::BeforeConnect);
    new.bulk(SECOND);
    assert_eq!(steered_by(&new), rapid.name);
}

#[test]
fn limits_connections_per_user() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, route) = Loaded::over("quota", &Bottleneck { mbit: 20, limit: 100_000 });
    let open = |user: libc::uid_t| {
        let listener = super::connection::listen(&route);
        let port = listener.local_addr().expect("an address").port();
        // SAFETY: only this thread's own identity; the library's call would change all threads.
        let become_ = |user: libc::uid_t| unsafe { libc::syscall(libc::SYS_setresuid, -1i32, user, -1i32) };
        let stream = route.inside("a", || {
            use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
            assert_eq!(become_(user), 0);
            let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::empty(), None).expect("a socket");
            set_control(&socket, &rapid.name);
            let to = nix::sys::socket::SockaddrIn::from(std::net::SocketAddrV4::new(super::namespaces::RECEIVER, port));
            nix::sys::socket::connect(socket.as_raw_fd(), &to).expect("connects");
            std::net::TcpStream::from(socket)
        });
        (stream, listener)
    };
    const SLEEPER: libc::uid_t = 1000;
    // Four slots: a user may have two.
    let sleeping: Vec<_> = (0..6).map(|_| open(SLEEPER)).collect();
    let status = tcp::status(&rapid.name).expect("loaded");
    let refused = status.fallen.iter().filter(|(_, fallen)| fallen.why() == Reason::TooManyOfUser).count();
    assert_eq!((status.connections.len(), refused), (2, 4));
    let others = [open(1001), open(0)];
    assert_eq!(tcp::status(&rapid.name).expect("loaded").connections.len(), 4);
    drop((sleeping, others));
    std::thread::sleep(SECOND);
    let again: Vec<_> = (0..3).map(|_| open(SLEEPER)).collect();
    assert_eq!(tcp::status(&rapid.name).expect("loaded").connections.len(), 2, "given back");
    drop(again);
}

#[test]
fn load_window_limits_packets_in_flight() {
    if !able() {
        return;
    }
    let _alone = alone();
    let options = Options { flows: 4, window: 20, ..Options::default() };
    let (rapid, route) = Loaded::with("window", options, &Bottleneck { mbit: 50, limit: 100_000 });
    route.delay(40);
    let mut flow = Flow::open(&route, &rapid.name, Set::BeforeConnect);
    flow.bulk(SECOND);
    let rate = flow.bulk(2 * SECOND) * 8.0 / 1e6;
    // 20 packets of 1448 B in 40 ms are 5.8 Mbit/s.
    eprintln!("{rate:.2} Mbit/s");
    assert!(rate > 4.0 && rate < 6.0, "{rate:.2} Mbit/s");
}
