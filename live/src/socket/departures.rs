//! Departure times: the kernel puts them on the socket's error queue, with the packet's number among those sent by the socket
//! (SOF_TIMESTAMPING_OPT_ID).
//!
//! Several threads may send through one socket. A thread that reads the queue stores the others' times for them. Unread times
//! take buffer space from arriving packets: they are enabled only while a [`DepartureReader`] exists.

use super::{ARRIVALS, Mark, Stamped, realtime_ns, times_of};
use crate::wire::Source;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage, TimestampingFlag, Timestamps, recvmsg, setsockopt, sockopt,
};
use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::{MutexGuard, PoisonError};

/// When a packet left.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The number that [`DepartureReader::send`] returned.
    pub number: u32,
    /// When, in nanoseconds of CLOCK_REALTIME.
    pub ns: u64,
    /// Clock that took the time.
    pub source: Source,
}

/// A socket's state of sent packets.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// How many the kernel has numbered. It wraps.
    numbers: u32,
    /// Ids of the readers, and the last id given.
    readers: Vec<u64>,
    last: u64,
    /// Packets whose time is awaited: the reader, and when they were handed to the kernel.
    pending: BTreeMap<u32, (u64, u64)>,
    /// Times that have come.
    received: BTreeMap<u64, Vec<Departure>>,
}

/// Sends packets and reads their departure times. Dropping it discards unread times.
#[derive(Debug)]
pub struct DepartureReader<'a> {
    socket: &'a Stamped,
    name: u64,
}

impl<'a> DepartureReader<'a> {
    /// Enables departure times.
    ///
    /// # Errors
    /// The kernel reports no departure times.
    pub fn begin(socket: &'a Stamped) -> io::Result<DepartureReader<'a>> {
        let mut sent = socket.sent();
        if sent.readers.is_empty() {
            let departures = TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE;
            setsockopt(&socket.socket, sockopt::Timestamping, &(ARRIVALS | departures))?;
        }
        sent.last += 1;
        let name = sent.last;
        sent.readers.push(name);
        Ok(DepartureReader { socket, name })
    }

    /// Sends a datagram; returns its number.
    ///
    /// # Errors
    /// As [`Stamped::send`].
    pub fn send(&self, datagram: &[u8], to: SocketAddr, mark: Mark) -> io::Result<u32> {
        self.socket.numbered(datagram, to, mark, Some(self.name))
    }

    /// The times of its packets that have left since the last call.
    ///
    /// # Errors
    /// The system's.
    pub fn departures(&self) -> io::Result<Vec<Departure>> {
        let mut sent = self.socket.sent();
        sent.file(self.socket.read()?);
        Ok(sent.received.remove(&self.name).unwrap_or_default())
    }
}

impl Drop for DepartureReader<'_> {
    fn drop(&mut self) {
        let mut sent = self.socket.sent();
        sent.readers.retain(|name| *name != self.name);
        sent.pending.retain(|_, (name, _)| *name != self.name);
        sent.received.remove(&self.name);
        if sent.readers.is_empty() {
            // If this fails, the next reader's setsockopt reports it.
            let _ = setsockopt(&self.socket.socket, sockopt::Timestamping, &ARRIVALS);
            let _ = self.socket.read();
        }
    }
}

impl Sent {
    /// Distributes times to the readers that wait for them.
    fn file(&mut self, read: Vec<Departure>) {
        for one in read {
            match self.pending.remove(&one.number) {
                // A packet that has left before this one was there had the same number.
                Some((name, since_ns)) if one.ns >= since_ns => self.received.entry(name).or_default().push(one),
                Some(pending) => drop(self.pending.insert(one.number, pending)),
                None => {}
            }
        }
    }
}

impl Stamped {
    pub(super) fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a datagram; returns its number. `name`: the reader that waits for its departure time.
    pub(super) fn numbered(&self, datagram: &[u8], to: SocketAddr, mark: Mark, name: Option<u64>) -> io::Result<u32> {
        let mut sent = self.sent();
        let reading = !sent.readers.is_empty();
        let since_ns = if name.is_some() { realtime_ns() } else { 0 };
        if let Err(error) = self.put(datagram, to, mark) {
            if reading {
                self.renumber(&mut sent)?;
            }
            return Err(error);
        }
        let number = sent.numbers;
        sent.numbers = number.wrapping_add(u32::from(reading));
        sent.pending.extend(name.map(|name| (number, (name, since_ns))));
        Ok(number)
    }

    /// Restarts the numbers at 0, since kernels differ in whether they number a packet that they refuse. Times of packets in
    /// flight are lost.
    fn renumber(&self, sent: &mut Sent) -> io::Result<()> {
        sent.file(self.read()?);
        sent.pending.clear();
        let departures = ARRIVALS | TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE;
        setsockopt(&self.socket, sockopt::Timestamping, &(departures - TimestampingFlag::SOF_TIMESTAMPING_OPT_ID))?;
        setsockopt(&self.socket, sockopt::Timestamping, &departures)?;
        sent.numbers = 0;
        Ok(())
    }

    /// Reads the error queue.
    fn read(&self) -> io::Result<Vec<Departure>> {
        let mut found = Vec::new();
        let mut payload = [0u8; 1];
        loop {
            let mut space = cmsg_space!(Timestamps, libc::sock_extended_err, libc::sockaddr_in6);
            let mut parts = [IoSliceMut::new(&mut payload)];
            let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
            match recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), flags) {
                Ok(message) => {
                    if let (Some(ns), Some(number)) = (times_of(&message).0, number_of(&message)) {
                        found.push(Departure { number, ns, source: Source::Kernel });
                    }
                }
                Err(Errno::EAGAIN) => return Ok(found),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The packet number in a message of the error queue.
fn number_of(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Option<u32> {
    message.cmsgs().ok()?.find_map(|one| match one {
        ControlMessageOwned::Ipv4RecvErr(received, _) | ControlMessageOwned::Ipv6RecvErr(received, _)
            if received.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING =>
        {
            Some(received.ee_data)
        }
        _ => None,
    })
}
