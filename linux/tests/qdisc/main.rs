//! QLBP as a queue discipline of this machine's Linux, between two network namespaces. Needs root, and Linux 6.16 or later with
//! `CONFIG_NET_SCH_BPF`.

mod fixed_points;
mod life;

use linux::qdisc::{self, Qlbp, Queue};
use packetscale_models::units::{Packets, Rate};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::process::Command;

/// The sender's device, and its peer's address.
const DEVICE: &str = "out";
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 88, 3, 2);
/// Bytes of a packet's payload, and of its headers: UDP, IPv4, Ethernet.
const PAYLOAD: usize = 1400;
const FRAME: u64 = PAYLOAD as u64 + 8 + 20 + 14;

const PACER: Qlbp = Qlbp {
    rate_min: Rate::from_mbps(5),
    rate_max: Rate::from_mbps(50),
    q_max: Packets::new(60),
    limit: Packets::new(200),
};

fn run(line: &str) {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().expect("a command")).args(words).output().expect("it starts");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn printed(line: &str) -> String {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().expect("a command")).args(words).output().expect("it starts");
    String::from_utf8(output.stdout).expect("text")
}

/// Two namespaces and a wire between them.
struct Pair(String);

impl Pair {
    fn new(test: &str) -> Pair {
        let pair = Pair(test.to_string());
        let (a, b) = (pair.host("a"), pair.host("b"));
        for host in [&a, &b] {
            run(&format!("ip netns add {host}"));
            run(&format!("ip -n {host} link set lo up"));
        }
        run(&format!("ip link add {DEVICE} netns {a} type veth peer name in netns {b}"));
        for (host, device, address) in [(&a, DEVICE, "10.88.3.1"), (&b, "in", "10.88.3.2")] {
            run(&format!("ip -n {host} addr add {address}/24 dev {device}"));
            run(&format!("ip -n {host} link set {device} up"));
        }
        // The first packet asks for no address.
        let other = printed(&format!("ip -n {b} -br link show dev in"));
        let address = other.split_whitespace().nth(2).expect("an address");
        run(&format!("ip -n {a} neigh replace {RECEIVER} lladdr {address} dev {DEVICE} nud permanent"));
        pair
    }

    fn host(&self, host: &str) -> String {
        format!("{}_{host}", self.0)
    }

    /// Runs `work` on a thread in the sender's namespace.
    fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let file = File::open(format!("/run/netns/{}", self.host("a"))).expect("the namespace");
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                nix::sched::setns(file, nix::sched::CloneFlags::CLONE_NEWNET).expect("enters the namespace");
                work()
            });
            worker.join().expect("the worker does not panic")
        })
    }

    /// The discipline of the sender's device.
    fn shown(&self) -> String {
        printed(&format!("tc -n {} -s qdisc show dev {DEVICE}", self.host("a")))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for host in ["a", "b"] {
            let _ = Command::new("ip").args(["netns", "del", &self.host(host)]).output();
        }
    }
}

/// A socket whose buffer holds more packets than any queue here.
fn socket() -> UdpSocket {
    const BUFFER: usize = 8 << 20;
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    nix::sys::socket::setsockopt(&socket, nix::sys::socket::sockopt::SndBufForce, &BUFFER).expect("a buffer");
    socket.connect(SocketAddrV4::new(RECEIVER, 9)).expect("an address");
    socket
}

fn queue() -> Queue {
    let found = qdisc::status().expect("the state");
    found.into_iter().find(|queue| queue.device.as_deref() == Some(DEVICE)).expect("the queue")
}
