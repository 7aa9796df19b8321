//! The sending end of a flow: a thread that connects at the flow's start and writes the scenario's data.
//!
//! An endless flow writes blocks as fast as the kernel takes them. They are small, because the kernel defers pacing
//! timers while a program holds the socket in a long `write`. An application's packets are written when they are due,
//! each as one full segment. A flow closes at its stop: the kernel still sends buffered data, so a flow with a stop limits
//! unsent data to one block.

use crate::lab::path::RECEIVER;
use crate::lab::sockets::{BLOCK, Connection, drain, port_for, stream_with};
use harness::realtime::clock::{monotonic_ns, sleep_unless, sleep_until};
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{self, MsgFlags, Shutdown, SockaddrIn, sockopt};
use nix::sys::time::TimeSpec;
use nix::{setsockopt_impl, sockopt_impl};
use packetscale_models::units::Time;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

sockopt_impl!(
    /// The most that a socket holds and has not sent yet.
    NotSentAtMost, SetOnly, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, u32
);

/// When an application hands over its packets, in order of time from the start of the run.
pub type Offers = Box<dyn Iterator<Item = Time> + Send>;

/// Data of a flow.
pub(crate) enum Supply {
    /// Unlimited.
    Endless,
    /// This many bytes.
    Amount(u64),
    /// Packets, each of a full segment, when an application hands them over.
    Offered(Offers),
}

pub(crate) struct Sender {
    pub controller: String,
    pub port: u16,
    /// The maximum segment size set in the kernel, and the payload of a full segment.
    pub segment: u64,
    pub payload: u64,
    pub supply: Supply,
    /// The run's start, the flow's start and its stop, in CLOCK_MONOTONIC; [`u64::MAX`]: no stop.
    pub zero_ns: u64,
    pub start_ns: u64,
    pub stop_ns: u64,
    pub connection: Arc<Connection>,
    /// Whether the run is over.
    pub over: Arc<AtomicBool>,
}

impl Sender {
    /// Connects and sends.
    pub fn run(mut self) -> io::Result<()> {
        sleep_until(self.start_ns);
        let socket = stream_with(&self.controller)?;
        socket::setsockopt(&socket, sockopt::TcpMaxSeg, &(self.segment as u32))?;
        if self.stops() {
            socket::setsockopt(&socket, NotSentAtMost, &(BLOCK as u32))?;
        }
        socket::bind(socket.as_raw_fd(), &SockaddrIn::new(0, 0, 0, 0, self.port))?;
        let connection = Arc::clone(&self.connection);
        let socket = connection.socket.get_or_init(|| socket);
        let to: Ipv4Addr = RECEIVER.parse().map_err(io::Error::other)?;
        let to = SockaddrIn::from(SocketAddrV4::new(to, port_for(&self.controller)));
        let connected = socket::connect(socket.as_raw_fd(), &to).map_err(io::Error::from);
        match connected
            .and_then(|()| self.supplied(socket))
            .and_then(|all| if all { self.close(socket) } else { Ok(()) })
        {
            // Connections are cut when the run ends, whatever their state.
            Err(_) if self.over.load(Ordering::Acquire) => Ok(()),
            ended => ended,
        }
    }

    fn stops(&self) -> bool {
        self.stop_ns < u64::MAX
    }

    /// Writes all data due before the stop. Returns whether they ended before the run did.
    fn supplied(&mut self, socket: &OwnedFd) -> io::Result<bool> {
        let supply = std::mem::replace(&mut self.supply, Supply::Endless);
        match supply {
            Supply::Endless => self.send(socket, u64::MAX)?,
            Supply::Amount(bytes) => self.send(socket, bytes)?,
            Supply::Offered(offers) => {
                // Segments that are full need not wait for others.
                socket::setsockopt(socket, sockopt::TcpNoDelay, &true)?;
                self.hand_over(socket, offers)?;
            }
        }
        Ok(!self.over.load(Ordering::Relaxed))
    }

    /// Writes an application's packets when they are due. An application never ends.
    fn hand_over(&self, socket: &OwnedFd, offers: Offers) -> io::Result<()> {
        let mut offers = offers.map(|at| self.zero_ns.saturating_add(at.nanos())).peekable();
        loop {
            let due_ns = offers.peek().copied().unwrap_or(u64::MAX).min(self.stop_ns);
            if !sleep_unless(&self.over, due_ns) || monotonic_ns() >= self.stop_ns {
                return Ok(());
            }
            let now_ns = monotonic_ns();
            let mut packets = 0;
            while offers.next_if(|at| *at <= now_ns).is_some() {
                packets += 1;
            }
            self.send(socket, packets * self.payload)?;
        }
    }

    /// Writes these bytes, fewer if the flow stops or the run ends before.
    fn send(&self, socket: &OwnedFd, bytes: u64) -> io::Result<()> {
        let block = [0u8; BLOCK];
        let mut left = bytes;
        let flags = MsgFlags::MSG_NOSIGNAL | if self.stops() { MsgFlags::MSG_DONTWAIT } else { MsgFlags::empty() };
        while left > 0 && !self.over.load(Ordering::Relaxed) && self.is_ready(socket)? {
            let size = left.min(BLOCK as u64) as usize;
            match socket::send(socket.as_raw_fd(), &block[..size], flags) {
                Ok(written) => left -= if bytes == u64::MAX { 0 } else { written as u64 },
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits until the kernel takes more, where the flow stops. Returns false if it stops before.
    fn is_ready(&self, socket: &OwnedFd) -> io::Result<bool> {
        while self.stops() {
            let left_ns = self.stop_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                return Ok(false);
            }
            let mut asked = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
            match ppoll(&mut asked, Some(TimeSpec::from_duration(Duration::from_nanos(left_ns))), None) {
                Ok(1..) => return Ok(true),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Shuts down the sending side, and waits until the receiver has everything.
    fn close(&self, socket: &OwnedFd) -> io::Result<()> {
        socket::shutdown(socket.as_raw_fd(), Shutdown::Write)?;
        // The receiver closes when it has everything.
        drain(socket)?;
        if !self.over.load(Ordering::Acquire) {
            self.connection.completed_ns.store(monotonic_ns(), Ordering::Release);
        }
        Ok(())
    }
}
