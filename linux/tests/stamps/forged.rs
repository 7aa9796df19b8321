//! Segments forged by an off-path attacker that knows only a sequence number inside the connection's window.
//!
//! The kernel decides whether an acknowledgment is acceptable (RFC 5961, 5.2), and counts those that are too old. Anyone may
//! have sent one that it rejects, so the option in it is no evidence about the peer.

use std::fs;
use std::net::{SocketAddr, SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, sendto, socket};

use super::hostile::feedback;
use super::net::{Cgroup, Pair};
use super::programs::{Programs, STAMPS, WANTS};
use super::sequence::{self, Queue};
use super::transfer::{Plan, send};
use super::{alone, needs_programs};

/// Arrivals for a SACK block, in a segment without one: no honest peer sends it.
const UNREADABLE: [u8; 8] = [254, 8, 0x52, 0x41, 0x80, 0, 0, 0];
/// Number in a row from which on a peer is distrusted.
const SEGMENTS: u64 = 4;

/// The question for arrivals, and two bytes of no option.
const QUESTION: [u8; 8] = [254, 6, 0x52, 0x41, 1, 2, 1, 1];

const BYTES: u32 = 400_000;
/// The most that the receiver may hold, so its largest window, too.
const WINDOW: u32 = 65_536;
/// The largest window that any TCP has (RFC 7323, 2.3).
const LARGEST_WINDOW: u32 = 1 << 30;
const HALF_THE_NUMBERS: u32 = 1 << 31;

const TCP: u8 = 6;
/// Without options.
const TCP_HEADER: usize = 20;
const ACK: u8 = 0x10;
const TTL: u8 = 64;

/// RFC 1071, over an even number of bytes.
fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2)).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
    let sum: u32 = words.sum();
    let folded = (sum >> 16) + (sum & 0xffff);
    !((folded >> 16) + folded) as u16
}

/// An acknowledgment with an option, and its IPv4 header, of which the kernel fills in length and checksum.
fn packet(from: SocketAddrV4, to: SocketAddrV4, seq: u32, ack: u32, option: &[u8; 8]) -> Vec<u8> {
    let addresses = [from.ip().octets(), to.ip().octets()].concat();
    let mut tcp = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    tcp.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
    let words = (TCP_HEADER + option.len()) / 4;
    tcp.extend([(words as u8) << 4, ACK, 1, 0, 0, 0, 0, 0]);
    tcp.extend(option);
    let sum = checksum(&[&addresses, &[0, TCP], &(tcp.len() as u16).to_be_bytes(), &tcp]);
    tcp[16..18].copy_from_slice(&sum.to_be_bytes());
    let ip = [0x45, 0, 0, 0, 0, 0, 0, 0, TTL, TCP, 0, 0];
    [ip.to_vec(), addresses, tcp].concat()
}

/// How many acknowledgments TCP found too old, in this thread's namespace: each is challenged, or there were too many.
fn too_old() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/netstat").expect("the kernel's counters");
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let all = names.split(' ').zip(values.split(' '));
    let ours = all.filter(|(name, _)| ["TCPChallengeACK", "TCPACKSkippedChallenge"].contains(name));
    ours.map(|(_, value)| value.parse::<u64>().expect("a number")).sum()
}

fn v4(address: std::io::Result<SocketAddr>) -> SocketAddrV4 {
    match address.expect("connected") {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(address) => panic!("{address}"),
    }
}

/// Sends the sender acknowledgments with this option in its peer's name, so far ahead of all that was sent and acknowledged.
fn forge(pair: &Pair, sender: &TcpStream, ahead: u32, option: &[u8; 8]) {
    let (from, to) = (v4(sender.peer_addr()), v4(sender.local_addr()));
    let (seq, acked) = (sequence::next(sender, Queue::Receive), sequence::next(sender, Queue::Send));
    let packet = packet(from, to, seq, acked.wrapping_add(ahead), option);
    pair.right.inside(|| {
        let raw = socket(AddressFamily::Inet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::Raw).expect("root");
        let target = SockaddrIn::from(SocketAddrV4::new(*to.ip(), 0));
        for _ in 0..SEGMENTS {
            assert_eq!(sendto(raw.as_raw_fd(), &packet, &target, MsgFlags::empty()), Ok(packet.len()));
        }
    });
}

/// Transfers something, and forges. Returns whether the sender believes its peer afterwards, and how many of the forged
/// acknowledgments TCP found too old.
fn believes_after(ahead: u32) -> (bool, u64) {
    let pair = Pair::new().expect("namespaces");
    pair.right.sysctl("net/ipv4/tcp_rmem", &format!("4096 {WINDOW} {WINDOW}")).expect("a setting");
    let cgroup = Cgroup::new("forged").expect("a cgroup");
    let programs = Programs::load(STAMPS | WANTS);
    let _option = programs.attach_option(&cgroup);
    programs.attach_stamp(&pair.right);
    let plan = Plan { bytes: BYTES as usize, rate: 4_000_000, ..Plan::default() };
    let mut found = None;
    send(&pair, &plan, Some(&cgroup), Some(&cgroup), |sender| {
        // Until all is acknowledged.
        thread::sleep(Duration::from_millis(500));
        let before = feedback(&programs, sender.as_raw_fd());
        assert!(before.trusted && before.news > 50, "{before:?}");
        let count = || pair.left.inside(too_old);
        let old = count();
        forge(&pair, sender, ahead, &UNREADABLE);
        thread::sleep(Duration::from_millis(100));
        found = Some((feedback(&programs, sender.as_raw_fd()).trusted, count() - old));
    });
    found.expect("looked at")
}

#[test]
fn options_in_rejected_segments_are_ignored() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for (what, behind) in [
        ("just behind the largest window", 2 * WINDOW),
        ("from before the first byte", BYTES + 1000),
        ("behind the largest window of all", LARGEST_WINDOW + BYTES),
        ("as far behind as numbers tell", HALF_THE_NUMBERS - 1),
    ] {
        let found = believes_after(behind.wrapping_neg());
        assert_eq!(found, (true, SEGMENTS), "{what}: whether it believes, and how many were too old");
    }
    for (what, ahead) in [("never sent", 1000), ("as far ahead as numbers tell", HALF_THE_NUMBERS)] {
        assert!(believes_after(ahead).0, "{what}");
    }
}

#[test]
fn unreadable_options_in_accepted_segments_trigger_fallback() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for (what, behind) in [("the newest", 0), ("overtaken", 1000u32)] {
        let found = believes_after(behind.wrapping_neg());
        assert_eq!(found, (false, 0), "{what}: whether it believes, and how many were too old");
    }
}

/// A request makes the other end allocate memory, record arrivals and report them.
#[test]
fn request_counts_only_in_accepted_segment() {
    let Some(_alone) = needs_programs().then(alone) else { return };
    for (what, ahead, requested) in [("never sent", 1000, false), ("the newest", 0, true)] {
        let pair = Pair::new().expect("namespaces");
        let cgroup = Cgroup::new("request").expect("a cgroup");
        let programs = Programs::load(STAMPS | WANTS);
        let _option = programs.attach_option(&cgroup);
        programs.attach_stamp(&pair.right);
        let plan = Plan { bytes: BYTES as usize, rate: 4_000_000, ..Plan::default() };
        send(&pair, &plan, Some(&cgroup), Some(&cgroup), |sender| {
            thread::sleep(Duration::from_millis(500));
            let notes = || {
                let map = programs.option.maps().find(|map| map.name() == "stamps").expect("the map");
                map.lookup(&sender.as_raw_fd().to_ne_bytes(), MapFlags::ANY).expect("a lookup").is_some()
            };
            assert!(!notes(), "without a request");
            forge(&pair, sender, ahead, &QUESTION);
            thread::sleep(Duration::from_millis(100));
            assert_eq!(notes(), requested, "{what}");
        });
    }
}
