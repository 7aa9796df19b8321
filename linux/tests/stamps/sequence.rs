//! A connection's sequence numbers, read by socket repair.

#![expect(unsafe_code, reason = "socket options that no safe wrapper covers")]

use std::net::TcpStream;
use std::os::fd::AsRawFd;

use nix::libc;

/// Of linux/tcp.h.
const REPAIR: i32 = 19;
const REPAIR_QUEUE: i32 = 20;
const QUEUE_SEQ: i32 = 21;
const ON: i32 = 1;
const OFF_WITHOUT_PROBE: i32 = -1;

/// One of a connection's queues.
#[derive(Clone, Copy)]
pub enum Queue {
    Receive = 1,
    Send = 2,
}

/// The sequence number that comes next: that the receiver waits for, or that the sender writes at.
pub fn next(stream: &TcpStream, queue: Queue) -> u32 {
    let socket = stream.as_raw_fd();
    let set = |option: i32, value: i32| {
        // SAFETY: the kernel reads one integer.
        let failed = unsafe { libc::setsockopt(socket, libc::IPPROTO_TCP, option, (&raw const value).cast(), 4) };
        assert_eq!(failed, 0, "socket option {option}");
    };
    set(REPAIR, ON);
    set(REPAIR_QUEUE, queue as i32);
    let (mut next, mut size) = (0u32, 4);
    // SAFETY: the kernel writes one integer.
    let failed =
        unsafe { libc::getsockopt(socket, libc::IPPROTO_TCP, QUEUE_SEQ, (&raw mut next).cast(), &raw mut size) };
    assert_eq!(failed, 0);
    set(REPAIR, OFF_WITHOUT_PROBE);
    next
}
