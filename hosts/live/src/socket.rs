//! A UDP socket whose packets carry the kernel's times (SO_TIMESTAMPING): arrivals come with them, departures are read
//! from the error queue, by the packet's number among those that the socket has sent (SOF_TIMESTAMPING_OPT_ID). The times
//! are CLOCK_REALTIME's. No right is needed.

use crate::wire::Source;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage, TimestampingFlag, Timestamps, getsockopt, recvmsg,
    setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its length.
    pub length: usize,
    /// Who sent it.
    pub from: SocketAddr,
    /// When, in nanoseconds of CLOCK_REALTIME.
    pub ns: u64,
    /// Who took the time.
    pub source: Source,
}

/// When a packet left.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Its number among those whose departure was to be told; it wraps.
    pub number: u32,
    /// When, in nanoseconds of CLOCK_REALTIME.
    pub ns: u64,
    /// Who took the time.
    pub source: Source,
}

/// The socket.
#[derive(Debug)]
pub struct Stamped {
    socket: UdpSocket,
    sent: Mutex<Sent>,
}

/// Whether the kernel tells departures at present, and of how many packets it had to.
#[derive(Debug, Default)]
struct Sent {
    told: bool,
    numbers: u32,
}

/// What is always asked for: the times of arrivals. If departures are told, then by number and without their data.
const ARRIVALS: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
    .union(TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_ID)
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY);

/// Nanoseconds of CLOCK_REALTIME.
pub fn realtime_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, ns)
}

fn ns(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

impl Stamped {
    /// Binds to an address. A call of [`Stamped::receive`] ends after `patience` at the latest.
    ///
    /// # Errors
    /// The address is not to be had, or the kernel takes no times.
    pub fn bind(address: SocketAddr, patience: Duration) -> io::Result<Stamped> {
        let made = Stamped::made(address, patience)?;
        wait_for_stamps();
        Ok(made)
    }

    fn made(address: SocketAddr, patience: Duration) -> io::Result<Stamped> {
        let socket = UdpSocket::bind(address)?;
        socket.set_read_timeout(Some(patience))?;
        setsockopt(&socket, sockopt::Timestamping, &ARRIVALS)?;
        Ok(Stamped { socket, sent: Mutex::default() })
    }

    /// From now on departures are told, or not. Times that nobody reads take the room of packets that arrive, so they are
    /// asked for only while somebody reads them.
    ///
    /// # Errors
    /// The system's.
    pub fn tell_departures(&self, told: bool) -> io::Result<()> {
        let mut sent = self.sent();
        let departures = TimestampingFlag::SOF_TIMESTAMPING_TX_SOFTWARE;
        setsockopt(&self.socket, sockopt::Timestamping, &if told { ARRIVALS | departures } else { ARRIVALS })?;
        sent.told = told;
        Ok(())
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its own address.
    ///
    /// # Errors
    /// The system's.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sends a datagram; returns its number among those whose departure is told.
    ///
    /// # Errors
    /// The system's.
    pub fn send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<u32> {
        let mut sent = self.sent();
        self.socket.send_to(datagram, to)?;
        let number = sent.numbers;
        sent.numbers = number.wrapping_add(u32::from(sent.told));
        Ok(number)
    }

    /// Waits for a datagram. `None`: none came in time. What does not fit is cut off, and is then no packet.
    ///
    /// # Errors
    /// The system's.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
        let mut space = cmsg_space!(Timestamps);
        let mut parts = [IoSliceMut::new(buffer)];
        let read = recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty());
        let message = match read {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(from) = message.address.as_ref().and_then(address) else { return Ok(None) };
        let (ns, source) = stamp_of(&message).unwrap_or((realtime_ns(), Source::Program));
        Ok(Some(Arrival { length: message.bytes, from, ns, source }))
    }

    /// The times of packets that have left since the last call.
    ///
    /// # Errors
    /// The system's.
    pub fn departures(&self) -> io::Result<Vec<Departure>> {
        let mut found = Vec::new();
        let mut nothing = [0u8; 1];
        loop {
            let mut space = cmsg_space!(Timestamps, libc::sock_extended_err, libc::sockaddr_in6);
            let mut parts = [IoSliceMut::new(&mut nothing)];
            let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
            match recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), flags) {
                Ok(message) => {
                    if let (Some((ns, source)), Some(number)) = (stamp_of(&message), number_of(&message)) {
                        found.push(Departure { number, ns, source });
                    }
                }
                Err(Errno::EAGAIN) => return Ok(found),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The kernel begins to stamp arrivals a little after the first socket asked for it. Sends to itself until a stamp comes,
/// some times at most; without a loopback device not at all.
fn wait_for_stamps() {
    const TRIES: u32 = 100;
    const PATIENCE: Duration = Duration::from_millis(1);
    let Ok(own) = Stamped::made(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), PATIENCE) else { return };
    let Ok(address) = own.address() else { return };
    let stamped = |_| {
        let sent = own.send(&[0], address);
        let arrival = sent.and_then(|_| own.receive(&mut [0]));
        match arrival {
            Ok(Some(Arrival { source: Source::Program, .. })) => {
                std::thread::sleep(PATIENCE);
                false
            }
            Ok(None) => false,
            Ok(Some(_)) | Err(_) => true,
        }
    };
    let _ = (0..TRIES).any(stamped);
}

/// The largest IP packet that the path to an address takes unbroken, as far as this machine knows by now: its device's
/// limit, or what routers have told. `None` with IPv6, and where there is no route.
pub fn path_mtu(to: SocketAddr) -> Option<u16> {
    let SocketAddr::V4(to) = to else { return None };
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(to).ok()?;
    getsockopt(&socket, sockopt::IpMtu).ok().and_then(|mtu| u16::try_from(mtu).ok())
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|found| SocketAddr::V4(SocketAddrV4::from(*found)));
    v4.or_else(|| storage.as_sockaddr_in6().map(|found| SocketAddr::V6(SocketAddrV6::from(*found))))
}

/// The kernel's time of a message. A card's would be of another clock, so it is not asked for.
fn stamp_of(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Option<(u64, Source)> {
    message.cmsgs().ok()?.find_map(|one| match one {
        ControlMessageOwned::ScmTimestampsns(times) => Some((ns(times.system), Source::Kernel)),
        _ => None,
    })
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

/// Watches whether CLOCK_REALTIME steps against CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    offset_ns: i128,
    at_ns: u64,
    /// How often it stepped.
    pub count: u16,
}

/// A jump of the clock up to this is the time between its two readings; a slew adds at most one part in a thousand.
const READING_NS: u128 = 200_000;
const SLEW: u128 = 1000;

impl Steps {
    /// Begins to watch.
    pub fn watch() -> Steps {
        let (offset_ns, at_ns) = offset();
        Steps { offset_ns, at_ns, count: 0 }
    }

    /// Looks again; returns the count.
    pub fn look(&mut self) -> u16 {
        let (offset_ns, at_ns) = offset();
        let allowed = READING_NS + u128::from(at_ns.saturating_sub(self.at_ns)) / SLEW;
        if offset_ns.abs_diff(self.offset_ns) > allowed {
            self.count = self.count.wrapping_add(1);
        }
        (self.offset_ns, self.at_ns) = (offset_ns, at_ns);
        self.count
    }
}

/// CLOCK_REALTIME less CLOCK_MONOTONIC: of three readings, the one that took the least time.
fn offset() -> (i128, u64) {
    let read = |_| {
        let before = realtime::clock::monotonic_ns();
        let real = realtime_ns();
        let after = realtime::clock::monotonic_ns();
        (after - before, i128::from(real) - i128::from(before), before)
    };
    (0..3).map(read).min().map_or((0, 0), |(_, offset, at)| (offset, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_with_the_kernels_times_and_their_departures_are_told_by_number() {
        let bind = || Stamped::bind("127.0.0.1:0".parse().unwrap(), Duration::from_secs(5)).unwrap();
        let (here, there) = (bind(), bind());
        let to = there.address().unwrap();
        let mut buffer = [0; 200];
        // The first one has a stamp already.
        here.tell_departures(true).unwrap();
        let before = here.send(&[0; 100], to).unwrap();
        assert_eq!(there.receive(&mut buffer).unwrap().expect("one").source, Source::Kernel);
        here.departures().unwrap();
        let numbers: Vec<u32> = (0..3u8).map(|byte| here.send(&[byte; 100], to).unwrap()).collect();
        assert_eq!(numbers, [before + 1, before + 2, before + 3]);
        let arrivals: Vec<Arrival> = (0..3).map(|_| there.receive(&mut buffer).unwrap().expect("one")).collect();
        let departures = here.departures().unwrap();
        assert_eq!(departures.iter().map(|one| one.number).collect::<Vec<_>>(), numbers);
        for (left, came) in departures.iter().zip(&arrivals) {
            assert_eq!((left.source, came.source, came.length), (Source::Kernel, Source::Kernel, 100));
            assert!(left.ns <= came.ns, "{left:?} {came:?}");
        }
    }

    #[test]
    fn departures_that_nobody_reads_do_not_stop_arrivals() {
        let bind = || Stamped::bind("127.0.0.1:0".parse().unwrap(), Duration::from_secs(5)).unwrap();
        let (here, there) = (bind(), bind());
        let (to, back) = (there.address().unwrap(), here.address().unwrap());
        // A default error queue is full after some 270.
        for _ in 0..1000 {
            here.send(&[0; 100], to).unwrap();
            there.receive(&mut [0; 200]).unwrap().expect("one");
        }
        there.send(&[0; 100], back).unwrap();
        assert!(here.receive(&mut [0; 200]).unwrap().is_some());
        assert!(here.departures().unwrap().is_empty());
        // Numbers go on where they stopped.
        here.tell_departures(true).unwrap();
        let number = here.send(&[0; 100], to).unwrap();
        there.receive(&mut [0; 200]).unwrap().expect("one");
        assert_eq!(here.departures().unwrap().first().map(|one| one.number), Some(number));
    }
}
