//! A guard for commands that run users' code: one that ends the program, or does not return, ends no command silently.
//!
//! ```text
//! command ── first file ──> fork ──> the rest of the command: reads files, makes runs, writes results
//!                            └─────> the guard: waits for its end, forwards signals, says which file ended it
//! ```
//!
//! A process cannot see its own end by `_exit`, a signal or an endless call; its parent can. Without a guard, as in Python,
//! such code ends or blocks the program that has loaded it.

mod ended;
mod seats;
mod watch;

pub(crate) use seats::call;

use nix::sys::signal::{SigHandler, SigmaskHow, Signal, signal};
use nix::unistd::{ForkResult, fork};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Once, OnceLock};

/// What the guard says its lines with, if a command asks for it.
static ASKED: OnceLock<fn(&str)> = OnceLock::new();

/// The names of files, each with a zero behind it, for the guard.
static NAMES: OnceLock<Option<File>> = OnceLock::new();

/// Runs a command to its exit code. From its first file of a controller on, it runs in a process of its own. `say`: prints a line
/// for the user.
pub fn guarded(say: fn(&str), command: impl FnOnce() -> u8) -> u8 {
    ASKED.get_or_init(|| say);
    let code = command();
    done();
    code
}

/// Ends the program within a command, with this exit code.
pub fn end(code: i32) -> ! {
    done();
    std::process::exit(code)
}

fn done() {
    if let (Some(_), Some(shared)) = (NAMES.get(), seats::shared()) {
        shared.set_done();
    }
}

/// The number of a file that is about to be loaded. Before the first, the guard begins.
pub(crate) fn number(file: &Path) -> u16 {
    static COUNT: AtomicU16 = AtomicU16::new(0);
    static BEGUN: Once = Once::new();
    BEGUN.call_once(begin);
    if let Some(mut names) = NAMES.get().and_then(Option::as_ref) {
        // Without its name, the file is still guarded.
        let _ = write!(names, "{}\0", file.display());
    }
    COUNT.fetch_add(1, Ordering::SeqCst)
}

/// Forks where a command asks for it. A program with other threads is left alone: its copy would lack them.
fn begin() {
    let is_alone = || std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    let (Some(shared), Some(say), true) = (seats::shared(), ASKED.get(), is_alone()) else { return };
    let names = crate::plugins::memory::file(c"packetscale-controllers").ok();
    let signals = watch::signals();
    let Ok(before) = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK) else { return };
    // An inherited "ignore" would take away the end of the copy.
    // Safety: the default is no handler.
    let _ = unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) };
    let _ = nix::sys::prctl::set_child_subreaper(true);
    let (own, others) = (nix::unistd::getpid(), watch::children());
    // Safety: there is one thread, so the copy is whole.
    match unsafe { fork() } {
        Ok(ForkResult::Parent { child }) => {
            watch::Watch { child, others, shared, names, say: *say }.until_end(&signals)
        }
        Ok(ForkResult::Child) => {
            let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
            if nix::unistd::getppid() != own {
                // The guard ended before it could be followed.
                std::process::exit(ended::KILLED);
            }
        }
        // Unguarded.
        Err(_) => {
            let _ = nix::sys::prctl::set_child_subreaper(false);
        }
    }
    let _ = before.thread_set_mask();
    let _ = NAMES.set(names);
}
