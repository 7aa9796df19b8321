//! Loads Rapid into this machine's TCP, uses it between network namespaces, compares it, and unloads it. Needs root.

#[path = "../clang/mod.rs"]
mod clang;
mod connection;
mod flow;
mod handover;
mod hostile;
mod interrupted;
mod lifecycle;
mod lockstep;
mod namespaces;
mod queueing;
mod signals;
mod slots;
mod spike;

use packetscale_tcp::{self as tcp, Options};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Tests that measure run one at a time: there may be only two processors.
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
}

impl Drop for Loaded {
    fn drop(&mut self) {
        tcp::unload(&self.name).expect("unloads");
    }
}

#[test]
fn what_the_tests_need_compiles() {
    if clang::is_installed() {
        assert!(lockstep::compiled().is_file());
        assert!(hostile::liars().all(|object| !object.is_empty()));
    }
}
