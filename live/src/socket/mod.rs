//! A UDP socket whose packets carry times and marks, and are never broken into fragments. No right is needed.
//!
//! Arrivals come with the kernel's time, and the card's where it gives one (SO_TIMESTAMPING); when packets really left is
//! read by [`Telling`]. The kernel's times are CLOCK_REALTIME's, the card's are of a clock of its own.

mod mark;
mod size;
mod steps;
mod telling;
mod time;

pub use mark::Mark;
pub use size::{is_too_large, path_mtu};
pub use steps::{Steps, realtime_ns};
pub use telling::{Departure, Telling};
pub use time::{Time, by_one_clock};

use crate::wire::Source;
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
use telling::Sent;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its length.
    pub length: usize,
    /// Who sent it.
    pub from: SocketAddr,
    /// When.
    pub time: Time,
    /// Its mark.
    pub mark: Mark,
}

/// The socket.
#[derive(Debug)]
pub struct Stamped {
    socket: UdpSocket,
    sent: Mutex<Sent>,
}

/// Bytes of packets that wait for a thread that other programs hold up.
const ROOM: usize = 4 << 20;

/// What is always asked for: the times of arrivals. If departures are told, then by number and without their data.
const ARRIVALS: TimestampingFlag = TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE
    .union(TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_RAW_HARDWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_RX_HARDWARE)
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_ID)
    .union(TimestampingFlag::SOF_TIMESTAMPING_OPT_TSONLY);

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
        // What arrives while nobody reads has to lie somewhere. The system gives as much as it gives.
        setsockopt(&socket, sockopt::RcvBuf, &ROOM)?;
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

    /// Sends a datagram that takes no marks. Never waits: what does not fit into the socket's memory is not sent.
    ///
    /// # Errors
    /// `WouldBlock`: not now. [`is_too_large`]: never on this path. Others are the system's.
    pub fn send(&self, datagram: &[u8], to: SocketAddr) -> io::Result<()> {
        self.send_marked(datagram, to, Mark::None)
    }

    /// As [`Stamped::send`], with a mark.
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

    /// Waits for a datagram. `None`: none came in time. What does not fit is cut off, and is then no packet.
    ///
    /// # Errors
    /// The system's.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
        self.take(buffer, MsgFlags::empty())
    }

    /// A datagram that is there. `None`: none is.
    ///
    /// # Errors
    /// The system's.
    pub fn receive_now(&self, buffer: &mut [u8]) -> io::Result<Option<Arrival>> {
        self.take(buffer, MsgFlags::MSG_DONTWAIT)
    }

    /// Waits until there is a datagram, at most for so long; whether there is one. Departures that nobody has read end it,
    /// too.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&self, most: Duration) -> io::Result<bool> {
        let mut asked = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut asked, Some(TimeSpec::from_duration(most)), None) {
            Ok(_) => Ok(asked[0].revents().is_some_and(|found| found.contains(PollFlags::POLLIN))),
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

/// The kernel begins to stamp arrivals a little after the first socket asked for it. Sends to itself until a stamp comes,
/// some times at most; without a loopback device not at all.
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

/// The kernel's and the card's times of a message. One that was not taken is 0.
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
    use crate::socket::Telling;

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
    fn packets_come_with_the_kernels_times_and_their_departures_are_told_by_number() {
        for (here, there, to) in pairs() {
            let mut buffer = [0; 200];
            // The first one has a stamp already.
            let telling = Telling::begin(&here).unwrap();
            let before = telling.send(&[0; 100], to, Mark::None).unwrap();
            assert_eq!(there.receive(&mut buffer).unwrap().expect("one").time.source, Source::Kernel);
            telling.departures().unwrap();
            // An answer in between has a number, too, and is nobody's.
            here.send(&[0; 100], to).unwrap();
            there.receive(&mut buffer).unwrap().expect("one");
            let send = |byte: u8| telling.send(&[byte; 100], to, Mark::None).unwrap();
            let numbers: Vec<u32> = (0..3u8).map(send).collect();
            assert_eq!(numbers, [before + 2, before + 3, before + 4]);
            let arrivals: Vec<Arrival> = (0..3).map(|_| there.receive(&mut buffer).unwrap().expect("one")).collect();
            let departures = telling.departures().unwrap();
            assert_eq!(departures.iter().map(|one| one.number).collect::<Vec<_>>(), numbers);
            for (left, came) in departures.iter().zip(&arrivals) {
                assert_eq!((left.source, came.time.source, came.length), (Source::Kernel, Source::Kernel, 100));
                assert!(left.ns <= came.time.ns, "{left:?} {came:?}");
            }
        }
    }

    #[test]
    fn departures_that_nobody_reads_do_not_stop_arrivals() {
        let (here, there) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
        let (to, back) = (there.address().unwrap(), here.address().unwrap());
        // A default error queue is full after some 270.
        for _ in 0..1000 {
            here.send(&[0; 100], to).unwrap();
            there.receive(&mut [0; 200]).unwrap().expect("one");
        }
        there.send(&[0; 100], back).unwrap();
        assert!(here.receive(&mut [0; 200]).unwrap().is_some());
        // Numbers go on where they stopped.
        for _ in 0..2 {
            let telling = Telling::begin(&here).unwrap();
            let number = telling.send(&[0; 100], to, Mark::None).unwrap();
            there.receive(&mut [0; 200]).unwrap().expect("one");
            assert_eq!(telling.departures().unwrap().first().map(|one| one.number), Some(number));
        }
    }

    #[test]
    fn of_two_who_send_by_one_socket_each_is_told_its_own() {
        let (here, there) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
        let to = there.address().unwrap();
        let (one, other) = (Telling::begin(&here).unwrap(), Telling::begin(&here).unwrap());
        let mut sent = [Vec::new(), Vec::new()];
        for _ in 0..20 {
            for (telling, numbers) in [&one, &other].into_iter().zip(&mut sent) {
                numbers.push(telling.send(&[0; 100], to, Mark::None).unwrap());
                there.receive(&mut [0; 200]).unwrap().expect("one");
            }
        }
        let told = |telling: &Telling| telling.departures().unwrap().iter().map(|one| one.number).collect::<Vec<_>>();
        assert_eq!([told(&one), told(&other)], sent);
        // Whoever goes leaves the other's times coming.
        drop(one);
        let last = other.send(&[0; 100], to, Mark::None).unwrap();
        there.receive(&mut [0; 200]).unwrap().expect("one");
        assert_eq!(told(&other), [last]);
    }

    #[test]
    fn marks_arrive_as_they_were_sent() {
        for (here, there, to) in pairs() {
            for mark in [Mark::Ect0, Mark::None, Mark::Ect1, Mark::Ce] {
                here.send_marked(&[0; 100], to, mark).unwrap();
                assert_eq!(there.receive(&mut [0; 200]).unwrap().expect("one").mark, mark, "{to}");
            }
        }
    }
}
