//! How a process ended, in words.

use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;

/// Exit code of a program that SIGKILL ended, as shells count: 128 and its number.
pub(super) const KILLED: i32 = 128 + Signal::SIGKILL as i32;

/// Exit code for input that is wrong.
pub(super) const WRONG: i32 = 2;

/// Signals that others send to end a program. The rest come from what its code does.
const SENT: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGKILL, Signal::SIGQUIT, Signal::SIGPIPE];

/// The end of the process that a guard watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It ended itself: the command was not done.
    Code(i32),
    /// A signal for what its code did.
    Fault(Signal),
    /// A signal that was sent.
    Sent(Signal),
    /// A call did not return.
    Stuck,
}

impl End {
    pub fn of(status: WaitStatus) -> Option<End> {
        match status {
            WaitStatus::Exited(_, code) => Some(End::Code(code)),
            WaitStatus::Signaled(_, signal, _) if SENT.contains(&signal) => Some(End::Sent(signal)),
            WaitStatus::Signaled(_, signal, _) => Some(End::Fault(signal)),
            _ => None,
        }
    }
}
