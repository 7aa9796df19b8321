//! Loads Rapid into this machine's TCP, uses it between network namespaces, compares it, and unloads it. Needs root.

mod again;
mod brought;
#[path = "../clang/mod.rs"]
mod clang;
mod clocks;
mod completion;
mod connection;
mod flow;
mod handover;
mod hostile;
mod interrupted;
mod iperf;
mod killed;
mod life;
mod lockstep;
mod namespaces;
mod queueing;
mod seen;
mod signals;
mod slots;
mod soak;
mod spike;
mod together;
mod window;

use flow::Flow;
use linux::tcp::{self, Counters, Drained, Error, Options, Reason, Report, Status};
use namespaces::Path;
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Whether everything is to be tried, where a part is tried else: `PACKETSCALE_LONG` is set.
fn long() -> bool {
    std::env::var_os("PACKETSCALE_LONG").is_some()
}

/// Reserves the machine for one test: there may be only two processors. `None` where it cannot run Rapid; prints why.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    let reason = if !nix::unistd::geteuid().is_root() {
        "network namespaces and eBPF need root"
    } else if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        "the kernel has no type information (BTF)"
    } else if !clang::is_installed() {
        "clang is not installed"
    } else {
        return Some(ALONE.lock().unwrap_or_else(PoisonError::into_inner));
    };
    eprintln!("skipped: {reason}");
    None
}

/// Prints what was found; panics with it where it is wrong.
#[track_caller]
fn judge(is_right: bool, found: impl Display) {
    eprintln!("{found}");
    assert!(is_right, "{found}");
}

/// Slots for few connections.
fn few(name: &str, flows: u32) -> Options {
    Options { name: name.to_string(), flows, ..Options::default() }
}

/// A name of this process's own.
fn own_name(what: &str) -> String {
    format!("r_{what}_{}", std::process::id() % 10_000)
}

/// Drains. Does `work` once new connections no longer get the name.
fn drained(name: &str, limit: Duration, work: impl FnOnce(&ScopedJoinHandle<'_, Result<Drained, Error>>)) -> Drained {
    std::thread::scope(|scope| {
        let drainer = scope.spawn(|| tcp::drain(name, Some(limit)));
        while tcp::is_registered(name) {
            std::thread::sleep(Duration::from_millis(10));
        }
        work(&drainer);
        drainer.join().expect("no panic").expect("drains")
    })
}

/// A congestion control that belongs to one test and is unloaded at its end.
struct Loaded {
    name: String,
}

impl Loaded {
    fn new(what: &str, options: Options) -> Loaded {
        let name = own_name(what);
        let trial = tcp::load(&Options { name: name.clone(), ..options }).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(trial.without_option, None, "the option's programs are needed");
        Loaded { name }
    }

    /// Rapid for four connections, and a path of so many Mbit/s, with a buffer of so many bytes, at whose end arrivals are noted.
    fn over(test: &str, mbit: u32, limit: u32) -> (Loaded, Path) {
        Loaded::with(test, few("", 4), mbit, limit)
    }

    /// Rapid as the options say, and the same.
    fn with(test: &str, options: Options, mbit: u32, limit: u32) -> (Loaded, Path) {
        let rapid = Loaded::new(test, options);
        let path = Path::new(test, mbit, limit);
        rapid.note_arrivals(&path);
        (rapid, path)
    }

    /// The same over 20 Mbit/s and 40 ms.
    fn over_40_ms(test: &str) -> (Loaded, Path) {
        let (rapid, path) = Loaded::over(test, 20, 100_000);
        path.delay(40);
        (rapid, path)
    }

    fn note_arrivals(&self, path: &Path) {
        path.inside("b", || tcp::note_arrivals(&self.name, "in").expect("tc"));
    }

    /// A connection that it steers from its handshake on.
    fn flow(&self, path: &Path) -> Flow {
        Flow::open(path, &self.name)
    }

    /// The same, which has sent for a second.
    fn begun(&self, path: &Path) -> Flow {
        let mut flow = self.flow(path);
        flow.bulk(SECOND);
        flow
    }

    fn status(&self) -> Status {
        tcp::status(&self.name).expect("loaded")
    }

    fn counters(&self) -> Counters {
        tcp::counters(&self.name).expect("loaded")
    }

    /// Why connections fell to CUBIC.
    fn reasons(&self) -> Vec<Reason> {
        self.status().fallen.iter().map(|(_, fallen)| fallen.why()).collect()
    }

    /// What it knows of its first connection.
    fn report(&self) -> Report {
        let status = self.status();
        *status.connections.first().unwrap_or_else(|| panic!("CUBIC has it: {:?}", status.fallen))
    }

    /// Its first connection's rate, in Mbit/s.
    fn rate(&self) -> f64 {
        self.report().rate as f64 * 8.0 / 1e6
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        tcp::unload(&self.name).expect("unloads");
    }
}

#[test]
fn what_the_tests_need_compiles() {
    if clang::is_installed() {
        assert!(lockstep::compiled().is_file() && lockstep::compiled_thesis().is_file());
        assert!(hostile::liars().all(|object| !object.is_empty()));
        assert!(!handover::orphan().is_empty());
        assert!(brought::objects().all(|object| !object.is_empty()));
        assert!(killed::objects().iter().all(|object| !object.is_empty()));
    }
}

/// A cgroup that nobody is in: no connection agrees on arrivals.
struct Nobody(std::path::PathBuf);

impl Nobody {
    fn new(test: &str) -> Nobody {
        let path = std::path::PathBuf::from(format!("/sys/fs/cgroup/packetscale-{test}-{}", std::process::id()));
        std::fs::create_dir(&path).expect("a cgroup");
        Nobody(path)
    }
}

impl Drop for Nobody {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
