//! Loads Rapid into this machine's TCP, uses it between network namespaces, compares it, and unloads it. Needs root.

mod again;
mod capabilities;
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
mod lifecycle;
mod lockstep;
mod namespaces;
mod older;
mod queueing;
mod seen;
mod signals;
mod slots;
mod soak;
mod spike;
mod together;
mod user_controller;
mod window;

use linux::tcp::{self, Options, Report};
use namespaces::{Bottleneck, Path};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether everything is to be tried, where a part is tried else: `PACKETSCALE_LONG` is set.
fn long() -> bool {
    std::env::var_os("PACKETSCALE_LONG").is_some()
}

/// Whether this machine can run Rapid. Prints why if it cannot.
fn able() -> bool {
    let reason = if !nix::unistd::geteuid().is_root() {
        "network namespaces and eBPF need root"
    } else if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
        "the kernel has no type information (BTF)"
    } else {
        return true;
    };
    eprintln!("skipped: {reason}");
    false
}

/// Tests that measure run one at a time: the machine may have two processors only.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A congestion control that belongs to one test and is unloaded at its end.
struct Loaded {
    name: String,
}

impl Loaded {
    fn new(what: &str, options: Options) -> Loaded {
        let name = format!("r_{what}_{}", std::process::id() % 10_000);
        let trial = tcp::load(&Options { name: name.clone(), ..options }).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(trial.without_option, None, "the option's programs are needed");
        Loaded { name }
    }

    /// Rapid for four connections, and a path whose far end records arrivals.
    fn over(test: &str, bottleneck: &Bottleneck) -> (Loaded, Path) {
        Loaded::with(test, Options { flows: 4, ..Options::default() }, bottleneck)
    }

    /// The same, with these options.
    fn with(test: &str, options: Options, bottleneck: &Bottleneck) -> (Loaded, Path) {
        let rapid = Loaded::new(test, options);
        let path = Path::new(test, bottleneck);
        path.inside("b", || tcp::note_arrivals(&rapid.name, "in").expect("tc"));
        (rapid, path)
    }

    /// The same over 20 Mbit/s and 40 ms.
    fn over_40_ms(test: &str) -> (Loaded, Path) {
        let (rapid, path) = Loaded::over(test, &Bottleneck { mbit: 20, limit: 100_000 });
        path.delay(40);
        (rapid, path)
    }

    /// State of its first connection.
    fn report(&self) -> Report {
        let status = tcp::status(&self.name).expect("loaded");
        *status.connections.first().unwrap_or_else(|| panic!("CUBIC has it: {:?}", status.fallen))
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
        assert!(user_controller::objects().all(|object| !object.is_empty()));
        assert!(killed::objects().iter().all(|object| !object.is_empty()));
    }
}

/// An empty cgroup: no connection negotiates arrivals.
struct EmptyCgroup(std::path::PathBuf);

impl EmptyCgroup {
    fn new(test: &str) -> EmptyCgroup {
        let path = std::path::PathBuf::from(format!("/sys/fs/cgroup/packetscale-{test}-{}", std::process::id()));
        std::fs::create_dir(&path).expect("a cgroup");
        EmptyCgroup(path)
    }
}

impl Drop for EmptyCgroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
