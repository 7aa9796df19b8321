//! Gaps of connections on this machine's own kernel, by the way of choosing Rapid. All of them run at the same time over one
//! path, and each is compared with the best of them: a busy machine makes all of them late. Needs root.
//!
//! Virtual time has Linux 6.1. What a later kernel does between the calls of a congestion control shows only here.

#[path = "tcp/namespaces.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod namespaces;

use linux::tcp::{self, Options, Report};
use namespaces::{Bottleneck, Path, run};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt};
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const NAME: &str = "r_gaps";
/// What every network namespace may have as its default.
const OTHER: &str = "reno";
/// Gaps of some 1.2 ms for each.
const BOTTLENECK: Bottleneck = Bottleneck { mbit: 70, limit: 200_000 };
/// Addresses of the sender and of the receiver.
const HOSTS: [(&str, &str); 2] = [("a", "10.88.1.1"), ("b", "10.88.2.1")];
const BEFORE_CHANGE: Duration = Duration::from_millis(500);
const LASTS: Duration = Duration::from_secs(4);
/// A gap error may be this many times the best way's, and this much more: two buckets of the histogram.
const TIMES: f64 = 2.0;
const SLACK_NS: f64 = 40_000.0;
/// Percentiles that are compared, and the packets that they need.
const PARTS: [f64; 3] = [0.5, 0.75, 0.9];
const PACKETS: u64 = 1000;

/// How the sender comes to use Rapid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    BeforeConnect,
    AfterConnect,
    ByDefault,
    /// The listener chose it, and the accepted socket sends.
    Listener,
    /// The accepted socket chose it, and sends.
    Accepted,
    ChangedTwice,
    /// Both ends use it. The receiver sends little: where all acknowledgments are on full packets, there is no space for arrivals.
    BothDirections,
}

const WAYS: [Way; 7] = [
    Way::BeforeConnect,
    Way::AfterConnect,
    Way::ByDefault,
    Way::Listener,
    Way::Accepted,
    Way::ChangedTwice,
    Way::BothDirections,
];

fn choose(socket: &impl AsFd, name: &str) {
    setsockopt(socket, sockopt::TcpCongestion, &OsString::from(name)).expect("a controller");
}

fn default(name: &str) {
    fs::write("/proc/sys/net/ipv4/tcp_congestion_control", name).expect("a setting");
}

/// Both ends of a connection that came to use Rapid in this way, the sender's first.
fn open(path: &Path, way: Way) -> [TcpStream; 2] {
    let opens_at_sender = !matches!(way, Way::Listener | Way::Accepted);
    let [(near_host, _), (far_host, far_address)] = if opens_at_sender { HOSTS } else { [HOSTS[1], HOSTS[0]] };
    let listener = path.inside(far_host, || {
        let listener = TcpListener::bind((far_address, 0)).expect("a port");
        if way == Way::Listener {
            choose(&listener, NAME);
        }
        listener
    });
    let SocketAddr::V4(to) = listener.local_addr().expect("an address") else { panic!("no IPv4") };
    let near = path.inside(near_host, || {
        default(if way == Way::ByDefault { NAME } else { OTHER });
        connected(to, matches!(way, Way::BeforeConnect | Way::BothDirections).then_some(NAME))
    });
    let (far, _) = listener.accept().expect("a connection");
    match way {
        Way::AfterConnect => choose(&near, NAME),
        Way::ChangedTwice => [NAME, OTHER, NAME].iter().for_each(|name| choose(&near, name)),
        Way::Accepted | Way::BothDirections => choose(&far, NAME),
        Way::BeforeConnect | Way::ByDefault | Way::Listener => {}
    }
    if opens_at_sender { [near, far] } else { [far, near] }
}

fn connected(to: SocketAddrV4, chosen: Option<&str>) -> TcpStream {
    let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).expect("a socket");
    if let Some(name) = chosen {
        choose(&socket, name);
    }
    connect(socket.as_raw_fd(), &SockaddrIn::from(to)).expect("connects");
    TcpStream::from(socket)
}

/// Sends from the first to the second, and some data back, until `over`.
fn send(way: Way, [from, to]: &[TcpStream; 2], over: &AtomicBool) {
    let writes = |mut stream: &TcpStream| {
        while !over.load(Ordering::Relaxed) && stream.write_all(&[0; 16_384]).is_ok() {}
        stream.shutdown(std::net::Shutdown::Both).ok();
    };
    let answers = |mut stream: &TcpStream| {
        while !over.load(Ordering::Relaxed) && stream.write_all(&[0; 100]).is_ok() {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let reads = |mut stream: &TcpStream| {
        let mut block = [0; 65_536];
        while matches!(stream.read(&mut block), Ok(n) if n > 0) {}
    };
    std::thread::scope(|scope| {
        scope.spawn(|| reads(to));
        if way == Way::BothDirections {
            scope.spawn(|| reads(from));
            scope.spawn(|| answers(to));
        }
        writes(from);
    });
}

/// The report of each way's sender. The first begins to send after `change`.
fn reports(path: &Path, change: fn(&Path)) -> Vec<(Way, Report)> {
    for (host, device) in [("a", "out"), ("b", "in")] {
        path.inside(host, || tcp::note_arrivals(NAME, device).expect("tc"));
    }
    let flows = WAYS.map(|way| (way, open(path, way)));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (at, (way, ends)) in flows.iter().enumerate().rev() {
            if at == 0 {
                std::thread::sleep(BEFORE_CHANGE);
                change(path);
            }
            scope.spawn(|| send(*way, ends, &over));
        }
        std::thread::sleep(LASTS);
        let status = tcp::status(NAME);
        over.store(true, Ordering::Relaxed);
        let status = status.expect("loaded");
        let of = |(way, [from, _]): &(Way, [TcpStream; 2])| {
            let local = from.local_addr().expect("an address");
            let found = status.connections.iter().find(|report| report.address.local() == local);
            (*way, *found.unwrap_or_else(|| panic!("{way:?}: CUBIC has it: {:?}", status.fallen)))
        };
        flows.iter().map(of).collect()
    })
}

/// Compares the gaps of all ways, with `change` meanwhile.
fn compare(change: fn(&Path)) {
    if !nix::unistd::geteuid().is_root() || !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        eprintln!("skipped: Rapid needs root and a kernel with type information (BTF)");
        return;
    }
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = tcp::unload(NAME);
    tcp::load(&Options { name: NAME.to_string(), flows: 32, flows_per_user: Some(32), ..Options::default() })
        .unwrap_or_else(|error| panic!("{error}"));
    let path = Path::new("gaps", &BOTTLENECK);
    let found = std::panic::catch_unwind(|| reports(&path, change));
    tcp::unload(NAME).expect("unloads");
    let found = found.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let errors = |report: &Report| PARTS.map(|part| report.gap_error_ns(part).unwrap_or(u64::MAX) as f64);
    for (way, report) in &found {
        eprintln!("{way:?}: {} packets, gap errors {:?} ns", report.packets, errors(report));
    }
    let all: Vec<_> = found.iter().map(|(_, report)| errors(report)).collect();
    let best = [0, 1, 2].map(|part| all.iter().map(|errors| errors[part]).fold(f64::INFINITY, f64::min));
    for (way, report) in &found {
        assert!(report.packets > PACKETS, "{way:?}: {} packets", report.packets);
        for (own, compared) in errors(report).into_iter().zip(best) {
            assert!(own <= TIMES * compared + SLACK_NS, "{way:?}: {:?} ns beside {best:?}", errors(report));
        }
    }
}

#[test]
#[ignore = "long: make test-long"]
fn gaps_are_the_same_however_rapid_is_chosen() {
    compare(|_| ());
}

/// What waits in the send queue then has another size than a packet.
#[test]
#[ignore = "long: make test-long"]
fn gaps_are_the_same_after_a_smaller_mtu() {
    compare(|path| run(&format!("ip -n {} route replace 10.88.2.0/24 via 10.88.1.2 mtu lock 1400", path.host("a"))));
}
