//! Network namespaces without names, which vanish with the process, however it ends.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io, thread};

use nix::sched::{CloneFlags, setns, unshare};

/// A network namespace of this process.
pub struct Namespace(File);

impl Namespace {
    pub fn new() -> io::Result<Namespace> {
        let made = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net").map(Namespace)
        });
        let namespace = made.join().expect("no panic")?;
        namespace.ip("link set lo up")?;
        Ok(namespace)
    }

    /// Runs `work` with this thread inside.
    pub fn inside<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Back(File);
        impl Drop for Back {
            fn drop(&mut self) {
                setns(&self.0, CloneFlags::CLONE_NEWNET).expect("where we came from");
            }
        }
        let _back = Back(File::open("/proc/thread-self/ns/net").expect("every thread has one"));
        setns(&self.0, CloneFlags::CLONE_NEWNET).expect("our own namespace");
        work()
    }

    /// Returns a path by which other programs find it.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// Runs a program inside, its arguments separated by spaces.
    pub fn command(&self, program: &str, arguments: &str) -> io::Result<()> {
        let output = self.inside(|| Command::new(program).args(arguments.split_whitespace()).output())?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("{program} {arguments}: {}", String::from_utf8_lossy(&output.stderr))))
    }

    pub fn ip(&self, arguments: &str) -> io::Result<()> {
        self.command("ip", arguments)
    }

    /// Writes a setting of the namespace's network.
    pub fn sysctl(&self, name: &str, value: &str) -> io::Result<()> {
        self.inside(|| fs::write(Path::new("/proc/sys").join(name), value))
    }
}

/// A cgroup2 that the process enters for as long as it opens a socket.
pub struct Cgroup {
    path: PathBuf,
    before: PathBuf,
}

impl Cgroup {
    pub fn new(name: &str) -> io::Result<Cgroup> {
        let root = cgroup2_root()?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or("");
        let path = root.join(format!("packetscale-test-{}-{name}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Cgroup { path, before: root.join(own) })
    }

    /// Runs `open`; the sockets that it opens belong to the cgroup.
    pub fn with<T>(&self, open: impl FnOnce() -> T) -> T {
        fs::write(self.path.join("cgroup.procs"), "0").expect("our own cgroup");
        let opened = open();
        fs::write(self.before.join("cgroup.procs"), "0").expect("where we came from");
        opened
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn open(&self) -> io::Result<File> {
        File::open(&self.path)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.before.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&self.path);
    }
}

/// Returns where cgroup2 is mounted.
pub fn cgroup2_root() -> io::Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts")?;
    mounts
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .find(|fields| fields.get(2) == Some(&"cgroup2"))
        .map(|fields| PathBuf::from(fields[1]))
        .ok_or_else(|| io::Error::other("no cgroup2 is mounted"))
}

/// Two namespaces, `left` and `right`, connected by their devices `wire`.
pub struct Pair {
    pub left: Namespace,
    pub right: Namespace,
    /// The bridge between the two, if there is one.
    _between: Option<Namespace>,
}

pub const LEFT: [&str; 2] = ["10.77.0.1", "fd77::1"];
pub const RIGHT: [&str; 2] = ["10.77.0.2", "fd77::2"];

impl Pair {
    /// Makes two namespaces that a pair of devices joins.
    pub fn new() -> io::Result<Pair> {
        let pair = Pair { left: Namespace::new()?, right: Namespace::new()?, _between: None };
        let right = pair.right.path();
        pair.left.ip(&format!("link add wire type veth peer name wire netns {right}"))?;
        pair.settle()
    }

    /// Makes two namespaces that a bridge joins. The bridge sends to the right at `mbit` Mbit/s and queues at most
    /// `limit` bytes.
    pub fn behind_bottleneck(mbit: u32, limit: u32) -> io::Result<Pair> {
        let (left, right, between) = (Namespace::new()?, Namespace::new()?, Namespace::new()?);
        between.ip("link add joint type bridge")?;
        for (port, end) in [("port0", &left), ("port1", &right)] {
            between.ip(&format!("link add {port} type veth peer name wire netns {}", end.path()))?;
            between.ip(&format!("link set {port} master joint up"))?;
        }
        between.ip("link set joint up")?;
        let bucket = format!("qdisc add dev port1 root tbf rate {mbit}mbit burst 4000 limit {limit}");
        between.command("tc", &bucket)?;
        Pair { left, right, _between: Some(between) }.settle()
    }

    fn settle(self) -> io::Result<Pair> {
        for (end, [v4, v6]) in [(&self.left, LEFT), (&self.right, RIGHT)] {
            // One packet per segment, as the controller sends them.
            end.ip("link set wire gso_max_segs 1")?;
            end.ip(&format!("addr add {v4}/24 dev wire"))?;
            end.ip(&format!("addr add {v6}/64 dev wire nodad"))?;
            end.ip("link set wire up")?;
        }
        Ok(self)
    }
}
