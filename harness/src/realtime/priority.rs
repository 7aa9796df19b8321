//! How soon a thread has a processor: by urgency (SCHED_FIFO), or by short turns. Urgent threads sleep when they have nothing to do.

use nix::libc;
use std::io;

/// The task of a thread, and so its urgency.
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
pub fn set_priority(urgency: Urgency) -> io::Result<()> {
    schedule(libc::SCHED_FIFO, urgency as i32)
}

/// The calling thread is urgent until this is dropped.
#[derive(Debug)]
pub struct PriorityGuard(());

impl PriorityGuard {
    /// Makes the calling thread this urgent.
    ///
    /// # Errors
    /// As [`set_priority`].
    pub fn new(urgency: Urgency) -> io::Result<PriorityGuard> {
        set_priority(urgency).map(|()| PriorityGuard(()))
    }
}

impl Drop for PriorityGuard {
    fn drop(&mut self) {
        // Going back to the ordinary needs no right that could be missing.
        let _ = schedule(libc::SCHED_OTHER, 0);
    }
}

/// The shortest turn that Linux grants, in nanoseconds.
const TURN_NS: u64 = 100_000;

/// Requests short time slices. A thread that mostly sleeps then runs soon after it wakes, even while others
/// compute: its slice ends before theirs, and the scheduler prefers that (EEVDF, Linux 6.12 and later; older kernels ignore it). No right
/// is needed.
///
/// # Errors
/// The system refuses.
pub fn take_short_turns() -> io::Result<()> {
    let size = size_of::<libc::sched_attr>() as u32;
    let mut attributes = libc::sched_attr {
        size,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the pointer is to a local of that size, which outlives the call; the first 0 names the calling thread.
    match unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &mut attributes, size, 0) } {
        // All else, its niceness too, stays as it is.
        0 if attributes.sched_policy == libc::SCHED_OTHER as u32 => attributes.sched_runtime = TURN_NS,
        0 => return Ok(()),
        _ => return Err(io::Error::last_os_error()),
    }
    // SAFETY: as above; the call reads it.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &attributes, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
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
