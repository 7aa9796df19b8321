//! When packets left: the kernel puts it on the socket's error queue, with the packet's number among those that the socket
//! has sent (SOF_TIMESTAMPING_OPT_ID).
//!
//! Several threads may send by one socket. Whoever reads the queue finds the others' times there, too, and keeps them for
//! them. Times that nobody reads take the room of packets that arrive: they are asked for only while a [`Telling`] lives.

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
    /// The number that [`Telling::send`] gave it.
    pub number: u32,
    /// When, in nanoseconds of CLOCK_REALTIME.
    pub ns: u64,
    /// Who took the time.
    pub source: Source,
}

/// What a socket knows of the packets that it has sent.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// How many the kernel has numbered. It wraps.
    numbers: u32,
    /// Who wants to be told; the last one's name.
    tellings: Vec<u64>,
    last: u64,
    /// Of which packets the time is wanted, by whom, and when they were handed to the kernel.
    wanted: BTreeMap<u32, (u64, u64)>,
    /// Times that have come.
    told: BTreeMap<u64, Vec<Departure>>,
}

/// Sends packets, and is told when they left. What nobody has read is dropped at its end.
#[derive(Debug)]
pub struct Telling<'a> {
    socket: &'a Stamped,
    name: u64,
}

impl<'a> Telling<'a> {
    /// Begins.
    ///
    /// # Errors
    /// The kernel tells no departures.
    pub fn begin(socket: &'a Stamped) -> io::Result<Telling<'a>> {
        let mut sent = socket.sent();
        if sent.tellings.is_empty() {
            let departures = TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE;
            setsockopt(&socket.socket, sockopt::Timestamping, &(ARRIVALS | departures))?;
        }
        sent.last += 1;
        let name = sent.last;
        sent.tellings.push(name);
        Ok(Telling { socket, name })
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
        Ok(sent.told.remove(&self.name).unwrap_or_default())
    }
}

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        let mut sent = self.socket.sent();
        sent.tellings.retain(|name| *name != self.name);
        sent.wanted.retain(|_, (name, _)| *name != self.name);
        sent.told.remove(&self.name);
        if sent.tellings.is_empty() {
            // Where the system refuses, the next one is told of it.
            let _ = setsockopt(&self.socket.socket, sockopt::Timestamping, &ARRIVALS);
            let _ = self.socket.read();
        }
    }
}

impl Sent {
    /// Files times under those who want them.
    fn file(&mut self, read: Vec<Departure>) {
        for one in read {
            match self.wanted.remove(&one.number) {
                // A packet that has left before this one was there had the same number.
                Some((name, since_ns)) if one.ns >= since_ns => self.told.entry(name).or_default().push(one),
                Some(wanted) => drop(self.wanted.insert(one.number, wanted)),
                None => {}
            }
        }
    }
}

impl Stamped {
    pub(super) fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a datagram; returns its number. `name`: who wants to know when it left.
    pub(super) fn numbered(&self, datagram: &[u8], to: SocketAddr, mark: Mark, name: Option<u64>) -> io::Result<u32> {
        let mut sent = self.sent();
        let telling = !sent.tellings.is_empty();
        let since_ns = if name.is_some() { realtime_ns() } else { 0 };
        if let Err(error) = self.put(datagram, to, mark) {
            if telling {
                self.renumber(&mut sent)?;
            }
            return Err(error);
        }
        let number = sent.numbers;
        sent.numbers = number.wrapping_add(u32::from(telling));
        sent.wanted.extend(name.map(|name| (number, (name, since_ns))));
        Ok(number)
    }

    /// Some kernels number a packet that they then refuse, others do not: begins again at 0. Of packets that are on their
    /// way no time is told.
    fn renumber(&self, sent: &mut Sent) -> io::Result<()> {
        sent.file(self.read()?);
        sent.wanted.clear();
        let departures = ARRIVALS | TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE;
        setsockopt(&self.socket, sockopt::Timestamping, &(departures - TimestampingFlag::SOF_TIMESTAMPING_OPT_ID))?;
        setsockopt(&self.socket, sockopt::Timestamping, &departures)?;
        sent.numbers = 0;
        Ok(())
    }

    /// What is on the error queue.
    fn read(&self) -> io::Result<Vec<Departure>> {
        let mut found = Vec::new();
        let mut nothing = [0u8; 1];
        loop {
            let mut space = cmsg_space!(Timestamps, libc::sock_extended_err, libc::sockaddr_in6);
            let mut parts = [IoSliceMut::new(&mut nothing)];
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

/// The number of the packet whose departure a message of the error queue tells.
fn number_of(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Option<u32> {
    message.cmsgs().ok()?.find_map(|one| match one {
        ControlMessageOwned::Ipv4RecvErr(told, _) | ControlMessageOwned::Ipv6RecvErr(told, _)
            if told.ee_origin == libc::SO_EE_ORIGIN_TIMESTAMPING =>
        {
            Some(told.ee_data)
        }
        _ => None,
    })
}
