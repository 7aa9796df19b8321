//! A sender, a router with a token bucket, a receiver, in network namespaces that end with the test.

use std::fs::File;
use std::net::Ipv4Addr;
use std::process::Command;

pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 88, 2, 1);

/// Runs a command line, which must succeed.
pub fn run(line: &str) {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().expect("a command")).args(words).output().expect("it starts");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a command and returns its output.
pub fn printed(line: &str) -> String {
    let mut words = line.split_whitespace();
    let output = Command::new(words.next().expect("a command")).args(words).output().expect("it starts");
    String::from_utf8(output.stdout).expect("text")
}

/// Sender `a`, router `r`, receiver `b`.
pub struct Path {
    name: String,
}

/// A token bucket of `mbit` Mbit/s with a queue of `limit` bytes.
pub struct Bottleneck {
    pub mbit: u32,
    pub limit: u32,
}

/// Default maximum of segments per super-packet.
pub const MANY_SEGMENTS: u32 = 65_535;

impl Path {
    pub fn new(test: &str, bottleneck: &Bottleneck) -> Path {
        let path = Path { name: format!("rt_{test}_{}", std::process::id()) };
        let [a, r, b] = ["a", "r", "b"].map(|host| path.host(host));
        for host in [&a, &r, &b] {
            run(&format!("ip netns add {host}"));
            run(&format!("ip -n {host} link set lo up"));
        }
        run(&format!("ip link add out netns {a} type veth peer name left netns {r}"));
        run(&format!("ip link add right netns {r} type veth peer name in netns {b}"));
        for (host, device, address) in
            [(&a, "out", "10.88.1.1"), (&r, "left", "10.88.1.2"), (&r, "right", "10.88.2.2"), (&b, "in", "10.88.2.1")]
        {
            run(&format!("ip -n {host} link set {device} gso_max_segs 1"));
            run(&format!("ip -n {host} addr add {address}/24 dev {device}"));
            run(&format!("ip -n {host} link set {device} up"));
        }
        run(&format!("ip netns exec {r} sysctl -qw net.ipv4.ip_forward=1"));
        run(&format!("ip -n {a} route add 10.88.2.0/24 via 10.88.1.2"));
        run(&format!("ip -n {b} route add 10.88.1.0/24 via 10.88.2.2 quickack 1"));
        let Bottleneck { mbit, limit } = bottleneck;
        run(&format!("tc -n {r} qdisc add dev right root tbf rate {mbit}mbit burst 4000 limit {limit}"));
        path
    }

    /// Holds back what comes from the receiver, in order. Needs netem.
    pub fn delay(&self, ms: u32) {
        run(&format!(
            "tc -n {} qdisc replace dev left root netem delay {ms}ms rate 10tbit limit 100000",
            self.host("r")
        ));
    }

    /// Loses everything on the way back, or no more.
    pub fn cut(&self, cut: bool) {
        let state = if cut { "down" } else { "up" };
        run(&format!("ip -n {} link set in {state}", self.host("b")));
        if !cut {
            run(&format!("ip -n {} route replace 10.88.1.0/24 via 10.88.2.2 quickack 1", self.host("b")));
        }
    }

    pub fn host(&self, host: &str) -> String {
        format!("{}_{host}", self.name)
    }

    /// Sets the sender's device maximum of segments per super-packet, initially 1, for later connections.
    pub fn segments(&self, most: u32) {
        run(&format!("ip -n {} link set out gso_max_segs {most}", self.host("a")));
    }

    /// The sender's device maximum of segments per super-packet, and the programs at its ingress.
    pub fn device(&self) -> (u32, String) {
        let host = self.host("a");
        let shown = printed(&format!("ip -n {host} -d link show dev out"));
        let mut words = shown.split_whitespace().skip_while(|word| *word != "gso_max_segs");
        let segments = words.nth(1).and_then(|word| word.parse().ok()).expect("gso_max_segs N");
        (segments, printed(&format!("tc -n {host} filter show dev out ingress")))
    }

    /// Runs `work` on a thread in the namespace of `host`.
    pub fn inside<T: Send>(&self, host: &str, work: impl FnOnce() -> T + Send) -> T {
        inside(&self.host(host), work)
    }
}

pub fn inside<T: Send>(namespace: &str, work: impl FnOnce() -> T + Send) -> T {
    let file = File::open(format!("/run/netns/{namespace}")).expect("the namespace");
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            nix::sched::setns(file, nix::sched::CloneFlags::CLONE_NEWNET).expect("enters the namespace");
            work()
        });
        worker.join().expect("the worker does not panic")
    })
}

impl Drop for Path {
    fn drop(&mut self) {
        for host in ["a", "r", "b"] {
            let _ = Command::new("ip").args(["netns", "del", &self.host(host)]).output();
        }
    }
}
