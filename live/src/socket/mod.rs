//! An unprivileged UDP socket with timestamps and ECN marks of packets, which never fragments them.
//!
//! Arrivals carry the kernel's time, and the card's if it has one (SO_TIMESTAMPING); [`DepartureReader`] reads departure
//! times. The kernel's times are CLOCK_REALTIME; the card has its own clock.

mod departures;
mod mark;
mod size;
mod steps;
mod time;

pub use departures::{Departure, DepartureReader};
pub use mark::Mark;
pub use size::{is_too_large, path_mtu};
pub use steps::{Steps, realtime_ns};
pub use time::{Time, by_one_clock};

use crate::wire::Source;
use departures::Sent;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, RecvMsg, SockaddrStorage, TimestampingFlag, Timestamps, recvmsg,
    sendmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Mutex;
use std::time::Duration;
use steps::ns;

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its length.
    pub length: usize,
    /// Source address.
    pub from: SocketAddr,
    /// When.
    pub time: Time,
    /// Its ECN codepoint.
    pub mark: Mark,
}

/// The socket.
#[derive(Debug)]
pub struct Stamped {
    socket: UdpSocket,
    sent: Mutex<Sent>,
}

/// Size of the receive buffer, for threads that other programs delay.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Flags that are always set: arrival times. Departure times, if enabled, come with a packet number and without its data.
const ARRIVALS: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
    .union(TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_RAW_HARDWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_RX_HARDWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_ID)
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY);

impl Stamped {
    /// Binds to an address. [`Stamped::receive`] times out after `patience`.
    ///
    /// # Errors
    /// The address is not available, or the kernel refuses timestamps.
    pub fn bind(address: SocketAddr, patience: Duration) -> io::Result<Stamped> {
        let made = Stamped::made(address, patience)?;
        wait_for_stamps();
        Ok(made)
    }

    fn made(address: SocketAddr, patience: Duration) -> io::Result<Stamped> {
        let socket = UdpSocket::bind(address)?;
        socket.set_read_timeout(Some(patience))?;
        // Room for packets that arrive between reads. The system may grant less.
        setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER)?;
        setsockopt(&socket, sockopt::Timestamping, &ARRIVALS)?;
        setsockopt(&socket, sockopt::IpRecvTos, &true)?;
        if address.is_ipv6() {
            setsockopt(&socket, sockopt::Ipv6RecvTClass, &true)?;
        }
        size::never_fragment(&socket)?;
        Ok(Stamped { socket, sent: Mutex::default() })
    }

    /// Its own address.
    ///
    /// # Errors
    /// The system's.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sends a datagram as Not-ECT, without blocking: what does not fit into the socket's buffer is not sent.
    ///
    /// # Errors
    /// `WouldBlock`: not now. [`is_too_large`]: never on this path. Others are the system's.
    pub fn send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        self.send_marked(datagram, to, Mark::None)
    }

    /// As [`Stamped::send`], with an ECN codepoint.
    ///
    /// # Errors
    /// As [`Stamped::send`].
    pub fn send_marked(&self, datagram: &[u8], to: SocketAddr, mark: Mark) -> io::Result<()> {
        self.numbered(datagram, to, mark, None).map(drop)
    }

    /// Hands a datagram to the kernel.
    fn put(&self, datagram: &[u8], to: SocketAddr, mark: Mark) -> io::Result<()> {
        let (class4, class6) = (mark.bits(), i32::from(mark.bits()));
        let class = match to.ip().to_canonical() {
            IpAddr::V4(_) => ControlMessage::Ipv4Tos(&class4),
            IpAddr::V6(_) => ControlMessage::Ipv6TClass(&class6),
        };
        let messages: &[ControlMessage] = if mark == Mark::None { &[] } else { &[class] };
        let (parts, to) = ([IoSlice::new(datagram)], SockaddrStorage::from(to));
        sendmsg(self.socket.as_raw_fd(), &parts, messages, MsgFlags::MSG_DONTWAIT, Some(&to))?;
        Ok(())
    }

    /// Waits for a datagram. `None`: timeout. A longer datagram is truncated, and therefore invalid.
    ///
    /// # Errors
    /// The system's.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
        self.take(buffer, MsgFlags::empty())
    }

    /// A waiting datagram. `None`: there is none.
    ///
    /// # Errors
    /// The system's.
    pub fn receive_now(&self, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
        self.take(buffer, MsgFlags::MSG_DONTWAIT)
    }

    /// Waits for a datagram, at most this long; returns whether there is one. Unread departure times also end the wait.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&self, most: Duration) -> io::Result<bool> {
        let mut polled = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut polled, Some(TimeSpec::from_duration(most)), None) {
            Ok(_) => Ok(polled[0].revents().is_some_and(|found| found.contains(PollFlags::POLLIN))),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn take(&self, buffer: &mut [u8], flags: MsgFlags) -> io::Result<Option<Arrival>> {
        let mut space = cmsg_space!(Timestamps, u8, i32);
        let mut parts = [IoSliceMut::new(buffer)];
        let read = recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut parts, Some(&mut space), flags);
        let message = match read {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(from) = message.address.as_ref().and_then(address) else { return Ok(None) };
        let (kernel_ns, card_ns) = times_of(&message);
        let (ns, source) = kernel_ns.map_or_else(|| (realtime_ns(), Source::Program), |ns| (ns, Source::Kernel));
        let time = Time { ns, source, card_ns };
        Ok(Some(Arrival { length: message.bytes, from, time, mark: mark_of(&message) }))
    }
}

/// The kernel starts to stamp arrivals some time after the first socket enables it. Sends packets to itself until one is
/// stamped, a few times at most; without a loopback device it does nothing.
fn wait_for_stamps() {
    const TRIES: u32 = 100;
    const PATIENCE: Duration = Duration::from_millis(1);
    let Ok(own) = Stamped::made(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), PATIENCE) else { return };
    let Ok(address) = own.address() else { return };
    let stamped = |_| {
        let sent = own.send(&[0], address);
        let arrival = sent.and_then(|()| own.receive(&mut [0]));
        match arrival {
            Ok(Some(Arrival { time: Time { source: Source::Program, .. }, .. })) => {
                std::thread::sleep(PATIENCE);
                false
            }
            Ok(None) => false,
            Ok(Some(_)) | Err(_) => true,
        }
    };
    let _ = (0..TRIES).any(stamped);
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|found| SocketAddr::V4(SocketAddrV4::from(*found)));
    v4.or_else(|| storage.as_sockaddr_in6().map(|found| SocketAddr::V6(SocketAddrV6::from(*found))))
}

/// The kernel's and the card's times of a message; 0 if missing.
fn times_of(message: &RecvMsg<'_, '_, SockaddrStorage>) -> (Option<u64>, Option<u64>) {
    let found = message.cmsgs().ok().and_then(|mut all| {
        all.find_map(|one| match one {
            ControlMessageOwned::ScmTimestampsns(times) => Some((ns(times.system), ns(times.hw_raw))),
            _ => None,
        })
    });
    let taken = |ns: u64| Some(ns).filter(|ns| *ns > 0);
    found.map_or((None, None), |(kernel_ns, card_ns)| (taken(kernel_ns), taken(card_ns)))
}

fn mark_of(message: &RecvMsg<'_, '_, SockaddrStorage>) -> Mark {
    let found = message.cmsgs().ok().and_then(|mut all| {
        all.find_map(|one| match one {
            ControlMessageOwned::Ipv4Tos(class) => Some(class),
            ControlMessageOwned::Ipv6TClass(class) => Some(class as u8),
            _ => None,
        })
    });
    found.map_or(Mark::None, Mark::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::DepartureReader;

    fn bind(address: &str) -> Stamped {
        Stamped::bind(address.parse().unwrap(), Duration::from_secs(5)).unwrap()
    }

    /// Two sockets and the other's address, with IPv4, IPv6, and IPv4 over a socket of IPv6.
    fn pairs() -> [(Stamped, Stamped, SocketAddr); 3] {
        ["127.0.0.1:0", "[::1]:0", "[::]:0"].map(|address| {
            let (here, there) = (bind(address), bind(address));
            let port = there.address().unwrap().port();
            let to =
                if address == "[::]:0" { "::ffff:127.0.0.1".parse().unwrap() } else { there.address().unwrap().ip() };
            (here, there, SocketAddr::new(to, port))
        })
    }

    #[test]
    fn reports_kernel_times_and_numbered_departures() {
        for (here, there, to) in pairs() {
            let mut buffer = [0; 200];
            // The first one has a stamp already.
            let reader = DepartureReader::begin(&here).unwrap();
            let before = reader.send(&[0; 100], to, Mark::None).unwrap();
            assert_eq!(there.receive(&mut buffer).unwrap().expect("one").time.source, Source::Kernel);
            reader.departures().unwrap();
            // A datagram sent outside the reader also takes a number; nobody reads its time.
            here.send(&[0; 100], to).unwrap();
            there.receive(&mut buffer).unwrap().expect("one");
            let send = |byte: u8| reader.send(&[byte; 100], to, Mark::None).unwrap();
            let numbers: Vec<u32> = (0..3u8).map(send).collect();
            assert_eq!(numbers, [before + 2, before + 3, before + 4]);
            let arrivals: Vec<Arrival> = (0..3).map(|_| there.receive(&mut buffer).unwrap().expect("one")).collect();
            let departures = reader.departures().unwrap();
            assert_eq!(departures.iter().map(|one| one.number).collect::<Vec<_>>(), numbers);
            for (left, came) in departures.iter().zip(&arrivals) {
                assert_eq!((left.source, came.time.source, came.length), (Source::Kernel, Source::Kernel, 100));
                assert!(left.ns <= came.time.ns, "{left:?} {came:?}");
            }
        }
    }

    #[test]
    fn unread_departures_do_not_block_arrivals() {
        let (here, there) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
        let (to, back) = (there.address().unwrap(), here.address().unwrap());
        // A default error queue holds some 270.
        for _ in 0..1000 {
            here.send(&[0; 100], to).unwrap();
            there.receive(&mut [0; 200]).unwrap().expect("one");
        }
        there.send(&[0; 100], back).unwrap();
        assert!(here.receive(&mut [0; 200]).unwrap().is_some());
        // Numbers continue.
        for _ in 0..2 {
            let reader = DepartureReader::begin(&here).unwrap();
            let number = reader.send(&[0; 100], to, Mark::None).unwrap();
            there.receive(&mut [0; 200]).unwrap().expect("one");
            assert_eq!(reader.departures().unwrap().first().map(|one| one.number), Some(number));
        }
    }

    #[test]
    fn two_readers_get_only_their_departures() {
        let (here, there) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
        let to = there.address().unwrap();
        let (one, other) = (DepartureReader::begin(&here).unwrap(), DepartureReader::begin(&here).unwrap());
        let mut sent = [Vec::new(), Vec::new()];
        for _ in 0..20 {
            for (reader, numbers) in [&one, &other].into_iter().zip(&mut sent) {
                numbers.push(reader.send(&[0; 100], to, Mark::None).unwrap());
                there.receive(&mut [0; 200]).unwrap().expect("one");
            }
        }
        let numbers_of =
            |reader: &DepartureReader| reader.departures().unwrap().iter().map(|one| one.number).collect::<Vec<_>>();
        assert_eq!([numbers_of(&one), numbers_of(&other)], sent);
        // Dropping one reader does not disturb the other.
        drop(one);
        let last = other.send(&[0; 100], to, Mark::None).unwrap();
        there.receive(&mut [0; 200]).unwrap().expect("one");
        assert_eq!(numbers_of(&other), [last]);
    }

    #[test]
    fn ecn_marks_arrive_unchanged() {
        for (here, there, to) in pairs() {
            for mark in [Mark::Ect0, Mark::None, Mark::Ect1, Mark::Ce] {
                here.send_marked(&[0; 100], to, mark).unwrap();
                assert_eq!(there.receive(&mut [0; 200]).unwrap().expect("one").mark, mark, "{to}");
            }
        }
    }
}
