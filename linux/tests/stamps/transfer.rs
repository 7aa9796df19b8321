//! One TCP transfer from the left to the right namespace, captured at both ends.

#![expect(unsafe_code, reason = "socket options and messages that no safe wrapper covers")]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::sockopt::{ReuseAddr, TcpCongestion};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage, setsockopt, socket};

use super::capture::{Capture, Segment};
use super::net::{Cgroup, LEFT, Pair, RIGHT};

pub const PORT: u16 = 7100;
const OWN_PORT: u16 = 7200;

/// A transfer's parameters.
pub struct Plan {
    pub bytes: usize,
    /// The longest time to send; data that is left then is not sent.
    pub limit: Duration,
    /// Payload bytes per second, paced by TCP itself.
    pub rate: u32,
    /// 0: IPv4, 1: IPv6.
    pub family: usize,
    /// The sender's congestion control; `None`: the system's default.
    pub control: Option<String>,
    /// Handshakes that the sender begins before, from the port that it then sends from, and leaves at once.
    pub abandoned: usize,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            bytes: 2_000_000,
            limit: Duration::from_secs(30),
            rate: 2_000_000,
            family: 0,
            control: None,
            abandoned: 0,
        }
    }
}

/// A transfer as packet sockets at both ends captured it.
pub struct Seen {
    pub left: Vec<Segment>,
    pub right: Vec<Segment>,
}

/// Sends. Puts the sockets of each end into its cgroup, if one is given. Calls `look` with the sender's socket before
/// closing it.
pub fn send(
    pair: &Pair,
    plan: &Plan,
    left: Option<&Cgroup>,
    right: Option<&Cgroup>,
    look: impl FnOnce(&TcpStream),
) -> Seen {
    let address = SocketAddr::new(RIGHT[plan.family].parse().expect("an address"), PORT);
    let listen = || pair.right.inside(|| TcpListener::bind(address).expect("the address is ours"));
    let listener = enter(right, listen);
    let captures = [Capture::start(&pair.left), Capture::start(&pair.right)];
    let receiver = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the sender connects");
        let mut block = vec![0u8; 1 << 16];
        let mut total = 0;
        while let Ok(n @ 1..) = stream.read(&mut block) {
            total += n;
        }
        total
    });
    for _ in 0..plan.abandoned {
        enter(left, || pair.left.inside(|| begin(address, plan)));
        thread::sleep(Duration::from_secs(1));
    }
    let stream = enter(left, || pair.left.inside(|| connect(address, plan)));
    let all = write(&stream, plan);
    look(&stream);
    if !all {
        // Discards the data that still waits in the socket.
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        set(&stream, libc::SOL_SOCKET, libc::SO_LINGER, &linger);
    }
    drop(stream);
    let received = receiver.join().expect("the receiver does not panic");
    assert!(!all || received == plan.bytes, "{received} of {} bytes received", plan.bytes);
    let [left, right] = captures.map(|c| c.expect("a packet socket").finish());
    Seen { left, right }
}

/// A socket of the sender; one that abandons handshakes has its own port.
fn open(address: SocketAddr, plan: &Plan, flags: SockFlag) -> OwnedFd {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket = socket(family, SockType::Stream, flags | SockFlag::SOCK_CLOEXEC, None).expect("a socket");
    if plan.abandoned > 0 {
        setsockopt(&socket, ReuseAddr, &true).expect("an option");
        let own = SocketAddr::new(LEFT[plan.family].parse().expect("an address"), OWN_PORT);
        nix::sys::socket::bind(socket.as_raw_fd(), &SockaddrStorage::from(own)).expect("the port is free");
    }
    socket
}

/// Begins a handshake, and closes its socket.
fn begin(address: SocketAddr, plan: &Plan) {
    let socket = open(address, plan, SockFlag::SOCK_NONBLOCK);
    let begun = nix::sys::socket::connect(socket.as_raw_fd(), &SockaddrStorage::from(address));
    assert_eq!(begun, Err(Errno::EINPROGRESS));
}

fn connect(address: SocketAddr, plan: &Plan) -> TcpStream {
    let socket = open(address, plan, SockFlag::empty());
    if let Some(control) = &plan.control {
        setsockopt(&socket, TcpCongestion, &control.into()).expect("the congestion control is registered");
    }
    nix::sys::socket::connect(socket.as_raw_fd(), &SockaddrStorage::from(address)).expect("connects");
    let stream = TcpStream::from(socket);
    set(&stream, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &plan.rate);
    stream.set_write_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    stream
}

/// Writes the data. Returns whether all of it was written in time.
fn write(mut stream: &TcpStream, plan: &Plan) -> bool {
    let (block, begin) = (vec![0x5a; 1448 * 4], Instant::now());
    let mut left = plan.bytes;
    while left > 0 {
        match stream.write(&block[..left.min(block.len())]) {
            Ok(n) => left -= n,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("the sender: {error}"),
        }
        if begin.elapsed() > plan.limit {
            return false;
        }
    }
    true
}

fn enter<T>(cgroup: Option<&Cgroup>, open: impl FnOnce() -> T) -> T {
    match cgroup {
        Some(cgroup) => cgroup.with(open),
        None => open(),
    }
}

fn set<T>(stream: &TcpStream, level: i32, option: i32, value: &T) {
    // SAFETY: the kernel reads as many bytes as the value has.
    let done = unsafe {
        libc::setsockopt(stream.as_raw_fd(), level, option, (&raw const *value).cast(), size_of::<T>() as u32)
    };
    assert_eq!(done, 0, "socket option {option}");
}
