//! Arrival times on their way back to the sender: the option, its programs, and dishonest peers.

mod capture;
#[path = "../clang/mod.rs"]
#[allow(dead_code, reason = "what only programs for user space need")]
mod clang;
mod crafted;
mod forged;
mod hostile;
mod life;
mod negotiation;
mod net;
mod paths;
mod programs;
mod sequence;
mod transfer;
#[path = "../wire/mod.rs"]
mod wire;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether this machine can run the programs. Prints why if it cannot.
fn needs_programs() -> bool {
    match programs::refusal() {
        Some(reason) => {
            eprintln!("skipped: {reason}");
            false
        }
        None => true,
    }
}

/// Tests that measure, or move the process between cgroups, run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn what_the_tests_need_compiles() {
    if clang::is_installed() {
        programs::SOURCES.iter().for_each(|source| assert!(!clang::compiled(source, &[]).is_empty(), "{source}"));
    }
}
