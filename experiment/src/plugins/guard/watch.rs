//! The guard: a process that waits for the end of the one that runs users' code.

use crate::plugins::guard::ended::{End, WRONG};
use crate::plugins::guard::seats::{Shared, file_of};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigHandler, SigSet, Signal, kill, raise, signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsFd;
use std::path::Path;

/// Time between two looks at the calls under way.
const BETWEEN_LOOKS_MS: u16 = 1000;

/// Looks at which a call is the same until it is taken for endless. Calls take microseconds.
const LONGEST_CALL_LOOKS: u32 = 20;

/// Generations of processes that are ended. Code that forks without end outlives them.
const MOST_GENERATIONS: usize = 100;

/// Signals that the guard waits for: the end of the process, and those that it passes on.
pub(super) fn signals() -> SigSet {
    SigSet::from_iter([Signal::SIGCHLD, Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
}

/// The guard's process.
pub(super) struct Watch {
    /// The one that it watches.
    pub child: Pid,
    /// Children that were there before.
    pub others: Vec<Pid>,
    pub shared: &'static Shared,
    pub names: Option<File>,
    pub say: fn(&str),
}

impl Watch {
    /// Waits for the end of the other process, and ends this one as it has ended.
    pub fn until_end(self, signals: &SigSet) -> ! {
        let Watch { child, others, shared, names, say } = self;
        let end = wait(child, shared, signals);
        let inside: Vec<usize> = shared.calls().filter_map(file_of).collect();
        let left = end_processes_left(&others);
        let names = named(names);
        let say = |inside: &[usize], found: &str| {
            let file = names_of(inside, &names);
            say(&format!("{file}: found {found}; expected functions that return, in the same process"));
        };
        let code = match (end, shared.is_done()) {
            (End::Code(code), true) => {
                let forked = shared.forked();
                if left || forked.is_some() {
                    say(forked.as_slice(), "a call that forked; its processes were ended");
                }
                code
            }
            (End::Sent(signal), _) => end_by(signal, signals),
            (end, _) => {
                say(&inside, &words(end, !inside.is_empty()));
                WRONG
            }
        };
        // Safety: what the command leaves for its end is done by the process that has run it.
        unsafe { libc::_exit(code) }
    }
}

fn words(end: End, in_call: bool) -> String {
    let what = if in_call { "a call" } else { "code" };
    match end {
        End::Code(code) => format!("{what} that ended the program with exit code {code}"),
        End::Fault(signal) | End::Sent(signal) => format!("{what} that ended the program by {signal}"),
        End::Stuck => {
            let s = LONGEST_CALL_LOOKS * u32::from(BETWEEN_LOOKS_MS) / 1000;
            format!("{what} that had not returned after {s} s")
        }
    }
}

/// The files with a call under way, or all.
fn names_of(inside: &[usize], names: &[String]) -> String {
    let mut known: Vec<&str> = inside.iter().filter_map(|file| names.get(*file)).map(String::as_str).collect();
    if known.is_empty() {
        known = names.iter().map(String::as_str).collect();
    }
    known.dedup();
    if known.is_empty() { "a controller's file".to_string() } else { known.join(" or ") }
}

fn named(names: Option<File>) -> Vec<String> {
    let mut text = String::new();
    let read = names.map(|mut names| names.rewind().and_then(|()| names.read_to_string(&mut text)));
    if !matches!(read, Some(Ok(_))) {
        return Vec::new();
    }
    text.split_terminator('\0').map(str::to_string).collect()
}

/// How the process has ended.
fn wait(child: Pid, shared: &Shared, signals: &SigSet) -> End {
    let mut looks = Looks::default();
    let incoming = SignalFd::with_flags(signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).ok();
    loop {
        if let Some(end) = waitpid(child, Some(WaitPidFlag::WNOHANG)).ok().and_then(End::of) {
            return end;
        }
        let mut waiting: Vec<PollFd<'_>> =
            incoming.iter().map(|incoming| PollFd::new(incoming.as_fd(), PollFlags::POLLIN)).collect();
        if poll(&mut waiting, PollTimeout::from(BETWEEN_LOOKS_MS)) == Ok(0) && looks.is_stuck(child, shared) {
            let _ = kill(child, Signal::SIGKILL);
            let _ = waitpid(child, None);
            return End::Stuck;
        }
        if let Some(Ok(Some(signal))) = incoming.as_ref().map(SignalFd::read_signal) {
            pass_on(child, &signal);
        }
    }
}

/// Passes a signal on that was sent to this process alone. (A terminal sends it to both.)
fn pass_on(child: Pid, signal: &libc::signalfd_siginfo) {
    let number = i32::try_from(signal.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok());
    if let Some(number) = number.filter(|number| *number != Signal::SIGCHLD && signal.ssi_code <= 0) {
        let _ = kill(child, number);
    }
}

/// What was seen of the calls under way.
#[derive(Default)]
struct Looks {
    /// By seat: the call, and how often it was seen.
    calls: Vec<(u64, u32)>,
}

impl Looks {
    /// Whether a call has been under way for too many looks. A process that a debugger has stopped does not count.
    fn is_stuck(&mut self, child: Pid, shared: &Shared) -> bool {
        if is_stopped(child) {
            return false;
        }
        let calls: Vec<u64> = shared.calls().collect();
        self.calls.resize(calls.len(), (0, 0));
        for (seen, call) in self.calls.iter_mut().zip(calls) {
            *seen = if seen.0 == call { (call, seen.1 + 1) } else { (call, 1) };
        }
        self.calls.iter().any(|(call, times)| file_of(*call).is_some() && *times > LONGEST_CALL_LOOKS)
    }
}

/// State and parent of a process, from `/proc/PID/stat`.
fn stat(process: &Path) -> Option<(char, i32)> {
    let text = std::fs::read_to_string(process.join("stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn is_stopped(process: Pid) -> bool {
    stat(&Path::new("/proc").join(process.to_string())).is_some_and(|(state, _)| matches!(state, 'T' | 't'))
}

/// The children of this process.
pub(super) fn children() -> Vec<Pid> {
    let own = nix::unistd::getpid().as_raw();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_own = processes.filter(|entry| stat(&entry.path()).is_some_and(|(_, parent)| parent == own));
    of_own.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).map(Pid::from_raw).collect()
}

/// Ends the processes that the ended one has left, which hold its locks. Returns whether there were any.
fn end_processes_left(others: &[Pid]) -> bool {
    let mut any = false;
    // The children of those that end become children of this process.
    for _ in 0..MOST_GENERATIONS {
        let left: Vec<Pid> = children().into_iter().filter(|pid| !others.contains(pid)).collect();
        if left.is_empty() {
            break;
        }
        any = true;
        for pid in left {
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, None);
        }
    }
    any
}

/// Ends this process by the signal that has ended the other.
fn end_by(which: Signal, blocked: &SigSet) -> i32 {
    // Safety: the default is no handler.
    let _ = unsafe { signal(which, SigHandler::SigDfl) };
    let _ = raise(which);
    let _ = blocked.thread_unblock();
    128 + which as i32
}
