//! Threads in namespaces, and how urgent they are.

#![expect(unsafe_code, reason = "calls of libc that nix does not wrap")]

use super::namespace::Namespace;
use nix::libc;
use std::io;
use std::thread::{Builder, JoinHandle};

/// Real-time priorities (SCHED_FIFO), so that other programs do not decide when packets leave. All these threads sleep
/// when they have nothing to do.
#[derive(Clone, Copy)]
pub(super) enum Urgency {
    /// Those who write and read TCP.
    Application = 1,
    /// Those whose lateness is an error of the path: traffic and delay line.
    Path = 2,
}

/// A thread in a namespace, named for it. Its stack is small: there may be thousands.
pub(super) fn spawn<T: Send + 'static>(
    place: &Namespace,
    urgency: Urgency,
    what: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<JoinHandle<io::Result<T>>> {
    let place = place.clone();
    Builder::new().name(place.name.to_string()).stack_size(128 * 1024).spawn(move || {
        place.enter()?;
        hurry(urgency)?;
        what()
    })
}

/// Makes the calling thread that urgent, for good.
pub(super) fn hurry(urgency: Urgency) -> io::Result<()> {
    schedule(libc::SCHED_FIFO, urgency as i32)
}

/// The calling thread, urgent until this is dropped.
pub(super) struct Hurry;

impl Hurry {
    pub fn new(urgency: Urgency) -> io::Result<Hurry> {
        hurry(urgency).map(|()| Hurry)
    }
}

impl Drop for Hurry {
    fn drop(&mut self) {
        // Going back to the ordinary needs no right that could be missing.
        let _ = schedule(libc::SCHED_OTHER, 0);
    }
}

fn schedule(policy: libc::c_int, sched_priority: libc::c_int) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority };
    // SAFETY: the pointer is to a local that outlives the call; 0 names the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &parameters) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Nanoseconds of CLOCK_MONOTONIC, the clock of all records.
pub(super) fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local that outlives the call. The clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until an instant of CLOCK_MONOTONIC; returns at once when it has passed.
pub(super) fn sleep_until(ns: u64) {
    let time = libc::timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 };
    // SAFETY: the pointer is to a local that outlives the call; no remainder is asked for with an absolute time.
    while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) }
        == libc::EINTR
    {}
}
