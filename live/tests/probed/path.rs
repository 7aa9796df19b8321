//! A client, a source of other traffic, a router with a token bucket and a server, in network namespaces that end with the
//! test. The bucket's counters give the available bandwidth.

use super::others::{Source, Traffic};
use harness::realtime::clock::{monotonic_ns, sleep_until};
use harness::realtime::priority::{Urgency, set_priority};
use nix::sched::{CloneFlags, setns};
use serde_json::Value;
use std::fs::{File, read_to_string};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// The hosts at both ends.
pub const LEFT: Ipv4Addr = Ipv4Addr::new(10, 88, 1, 1);
pub const RIGHT: Ipv4Addr = Ipv4Addr::new(10, 88, 2, 1);

/// Bytes of Ethernet that the bucket adds to an IP packet, and of UDP and IP headers of a payload.
pub const ETHERNET: f64 = 14.0;
pub const HEADERS: u64 = 28;
pub const MOST_PAYLOAD: usize = 1472;
/// Size of the probe's IP packets.
const PACKET: f64 = 1500.0;
/// The bucket holds two packets; its queue this many seconds of its rate.
const BURST: u32 = 4000;
const QUEUE_S: f64 = 0.05;
/// How long the counters are watched.
const WATCH: Duration = Duration::from_millis(500);
const SETTLE: Duration = Duration::from_millis(100);

/// Runs a command line, which must succeed, and returns what it prints.
pub fn run(line: &str) -> String {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().expect("a command")).args(words).output().expect("it starts");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Runs `work` on a thread of a namespace.
pub fn inside<T: Send + 'static>(namespace: &str, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let file = File::open(format!("/run/netns/{namespace}")).expect("the namespace");
    spawn(move || {
        setns(file, CloneFlags::CLONE_NEWNET).expect("enters the namespace");
        work()
    })
}

/// Other traffic of a rate, with Ethernet. 0: none.
struct Cross {
    bps: AtomicU64,
    /// Whether it follows the shape; else it is constant.
    shaped: AtomicBool,
    shape: Shape,
}

impl Cross {
    /// Sends, ahead of all other threads, until this is the only reference.
    fn send(self: Arc<Cross>) {
        set_priority(Urgency::Path).expect("root may");
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        let mut source = Source::new(self.shape);
        let payload = [0; MOST_PAYLOAD];
        let mut due = monotonic_ns();
        while Arc::strong_count(&self) > 1 {
            let bps = self.bps.load(Ordering::Relaxed);
            if bps == 0 {
                sleep(Duration::from_millis(1));
                due = monotonic_ns();
                continue;
            }
            let traffic = if self.shaped.load(Ordering::Relaxed) { self.shape.traffic } else { Traffic::Constant };
            let (bytes, gap_ns) = source.next(traffic, bps as f64);
            socket.send_to(&payload[..bytes], (RIGHT, 9)).expect("sent");
            due += gap_ns as u64;
            sleep_until(due);
        }
    }
}

/// The path from `left` over `router` to `right`; `other` sends other traffic.
pub struct Path {
    shape: Shape,
    cross: Arc<Cross>,
    _sink: UdpSocket,
    /// Available bandwidth in bit/s of the probe's IP packets, by the counters.
    pub free_bps: f64,
    /// Rate of the full bucket, in bit/s with Ethernet, by the counters.
    pub capacity_bps: f64,
}

/// How it is made.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Rate of the bucket.
    pub mbit: u32,
    /// Round-trip time.
    pub rtt_ms: u32,
    /// Share of the rate that others take, in per cent.
    pub taken: u32,
    /// IP bytes of their packets. Recorded ones have their own.
    pub bytes: u64,
    /// How they come.
    pub traffic: Traffic,
    /// Seed of the run.
    pub seed: u64,
}

const HOSTS: [&str; 4] = ["left", "other", "router", "right"];

impl Path {
    pub fn new(shape: Shape) -> Path {
        let Shape { mbit, rtt_ms, .. } = shape;
        for host in HOSTS {
            run(&format!("ip netns add {host}"));
            run(&format!("ip -n {host} link set lo up"));
        }
        for (host, device, at, net, address) in [
            ("left", "end_left", "from_left", 1, LEFT),
            ("right", "end_right", "to_right", 2, RIGHT),
            ("other", "end_other", "from_other", 3, Ipv4Addr::new(10, 88, 3, 1)),
        ] {
            run(&format!("ip link add {device} netns {host} type veth peer name {at} netns router"));
            run(&format!("ip -n {host} addr add {address}/24 dev {device}"));
            run(&format!("ip -n router addr add 10.88.{net}.2/24 dev {at}"));
            run(&format!("ip -n {host} link set {device} up"));
            run(&format!("ip -n router link set {at} up"));
            run(&format!("ip -n {host} route add default via 10.88.{net}.2"));
        }
        run("ip netns exec router sysctl -qw net.ipv4.ip_forward=1");
        let limit = f64::from(mbit) * 1e6 / 8.0 * QUEUE_S;
        run(&format!("tc -n router qdisc add dev to_right root tbf rate {mbit}mbit burst {BURST} limit {limit:.0}"));
        run(&format!("tc -n router qdisc add dev from_left root netem delay {rtt_ms}ms limit 100000"));
        // Never read: it only prevents ICMP replies.
        let sink = inside("right", || UdpSocket::bind((RIGHT, 9)).expect("a socket")).join().expect("bound");
        let cross = Arc::new(Cross { bps: AtomicU64::new(0), shaped: AtomicBool::new(false), shape });
        let sending = Arc::clone(&cross);
        inside("other", move || sending.send());
        let mut path = Path { shape, cross, _sink: sink, free_bps: 0.0, capacity_bps: 0.0 };
        path.capacity_bps = path.watched(f64::from(mbit) * 1.3e6);
        // The queue that this made must be gone: other traffic would drain it slowly.
        path.watched(0.0);
        path.cross.shaped.store(true, Ordering::Relaxed);
        let taken_bps = path.watched(path.taken());
        path.free_bps = (path.capacity_bps - taken_bps) * PACKET / (PACKET + ETHERNET);
        path
    }

    /// Mean rate of other traffic, in bit/s with Ethernet.
    fn taken(&self) -> f64 {
        f64::from(self.shape.mbit * self.shape.taken) * 1e4
    }

    /// Does something; returns what was free meanwhile, in bit/s of the probe's IP packets: by the counters of the device
    /// at which the others' packets arrive.
    pub fn free_during<T>(&self, work: impl FnOnce() -> T) -> (T, f64) {
        let (began, before) = (monotonic_ns(), arrived());
        let done = work();
        let (ended, after) = (monotonic_ns(), arrived());
        let taken_bps = (after - before) as f64 * 8e9 / (ended - began) as f64;
        (done, (self.capacity_bps - taken_bps) * PACKET / (PACKET + ETHERNET))
    }

    /// Limits the MTU to the right from now on.
    pub fn narrow(&self, mtu: u16) {
        run(&format!("ip -n router link set to_right mtu {mtu}"));
        run(&format!("ip -n right link set end_right mtu {mtu}"));
    }

    /// How many fragments hosts on the left have made.
    pub fn fragments(&self) -> u64 {
        let output = inside("left", || read_to_string("/proc/thread-self/net/snmp")).join().expect("a thread");
        let output = output.expect("the kernel's counters");
        let mut lines = output.lines().filter_map(|line| line.strip_prefix("Ip: ")).map(str::split_whitespace);
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let found = names.zip(values).find(|(name, _)| *name == "FragCreates");
        found.and_then(|(_, value)| value.parse().ok()).expect("a count")
    }

    /// Sends other traffic of a rate from now on; returns the rate that the bucket passes. Rates include Ethernet.
    fn watched(&self, bps: f64) -> f64 {
        self.cross.bps.store(bps as u64, Ordering::Relaxed);
        sleep(Duration::from_secs_f64(QUEUE_S) + SETTLE);
        let (began, before) = (monotonic_ns(), passed());
        sleep(WATCH);
        let (ended, after) = (monotonic_ns(), passed());
        (after - before) as f64 * 8e9 / (ended - began) as f64
    }
}

/// Bytes that the bucket has passed.
fn passed() -> u64 {
    let output = run("tc -n router -s -j qdisc show dev to_right");
    let output: Value = serde_json::from_str(&output).expect("JSON");
    output[0]["bytes"].as_u64().expect("bytes")
}

/// Bytes of others that have arrived at the router.
fn arrived() -> u64 {
    let output: Value = serde_json::from_str(&run("ip -n router -s -j link show from_other")).expect("JSON");
    output[0]["stats64"]["rx"]["bytes"].as_u64().expect("bytes")
}

impl Drop for Path {
    fn drop(&mut self) {
        for host in HOSTS {
            let _ = Command::new("ip").args(["netns", "del", host]).output();
        }
    }
}
