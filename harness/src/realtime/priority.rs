//! How urgent a thread is (SCHED_FIFO). Urgent threads sleep when they have nothing to do.

use nix::libc;
use std::io;

/// What a thread does, and so how urgent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It writes and reads data, or reads records.
    Application = 1,
    /// Its lateness is an error of the path: it sends traffic, or delays packets.
    Path = 2,
}

/// Makes the calling thread this urgent, for good.
///
/// # Errors
/// The system refuses: an ordinary user may not.
pub fn hurry(urgency: Urgency) -> io::Result<()> {
    schedule(libc::SCHED_FIFO, urgency as i32)
}

/// The calling thread is urgent until this is dropped.
#[derive(Debug)]
pub struct Hurry(());

impl Hurry {
    /// Makes the calling thread this urgent.
    ///
    /// # Errors
    /// As [`hurry`].
    pub fn new(urgency: Urgency) -> io::Result<Hurry> {
        hurry(urgency).map(|()| Hurry(()))
    }
}

impl Drop for Hurry {
    fn drop(&mut self) {
        // Going back to the ordinary needs no right that could be missing.
        let _ = schedule(libc::SCHED_OTHER, 0);
    }
}

fn schedule(policy: libc::c_int, sched_priority: libc::c_int) -> io::Result<()> {
    // The kernel's call and its structure, of this one field: musl has a larger one, and a function that always fails.
    let parameters: *const libc::c_int = &sched_priority;
    // SAFETY: the pointer is to a local that outlives the call; 0 names the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
