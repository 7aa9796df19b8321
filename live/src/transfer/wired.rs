//! Sends and receives datagrams over a socket, with the kernel's times.

use super::{Carrier, Datagram};
use crate::pace::Pacer;
use crate::socket::{DepartureReader, Mark, Stamped, realtime_ns};
use harness::realtime::clock::monotonic_ns;
use nix::libc;
use packetscale_models::units::{Ecn, Time};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A socket connected to a server.
pub struct Wired<'a> {
    socket: &'a Stamped,
    server: SocketAddr,
    pacer: Pacer,
    zero_ns: u64,
    /// Reads departure times; created by the first request for one.
    reader: Option<DepartureReader<'a>>,
}

impl<'a> Wired<'a> {
    /// Starts the clock.
    pub fn new(socket: &'a Stamped, server: SocketAddr, pacer: Pacer) -> Wired<'a> {
        Wired { socket, server, pacer, zero_ns: monotonic_ns(), reader: None }
    }

    fn time(&self, ns: u64) -> Time {
        Time::from_nanos(ns.saturating_sub(self.zero_ns))
    }

    /// Converts a recent instant of CLOCK_REALTIME to the run's clock. Only a step of that clock in between matters.
    fn passed(&self, real_ns: u64) -> Time {
        let age_ns = realtime_ns().saturating_sub(real_ns);
        self.time(monotonic_ns().saturating_sub(age_ns))
    }

    /// Sends, and reads the kernel's departure time.
    fn send_timed(&mut self, datagram: &[u8], mark: Mark) -> io::Result<Option<u64>> {
        let reader = match &self.reader {
            Some(reader) => reader,
            None => self.reader.insert(DepartureReader::begin(self.socket)?),
        };
        let number = reader.send(datagram, self.server, mark)?;
        Ok(reader.departures()?.into_iter().find(|one| one.number == number).map(|one| one.ns))
    }
}

impl Carrier for Wired<'_> {
    fn now(&mut self) -> Time {
        self.time(monotonic_ns())
    }

    fn send(&mut self, datagram: &[u8], ecn: Ecn, exactly: bool) -> io::Result<Time> {
        let before = self.now();
        let mark = match ecn {
            Ecn::NotEct => Mark::None,
            Ecn::Ect0 => Mark::Ect0,
            Ecn::Ect1 => Mark::Ect1,
        };
        let sent = match exactly {
            true => self.send_timed(datagram, mark),
            false => self.socket.send_marked(datagram, self.server, mark).map(|()| None),
        };
        match sent {
            Ok(departed_ns) => {
                let after = self.now();
                // If the call was delayed, the packet may have left before that.
                Ok(departed_ns.map_or(before, |ns| self.passed(ns).clamp(before, after)))
            }
            Err(error) if is_passing(&error) => Ok(before),
            Err(error) => Err(error),
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
        loop {
            match self.socket.receive_now(buffer) {
                Ok(Some(arrival)) if is_same(arrival.from, self.server) => {
                    let at = self.passed(arrival.time.ns);
                    return Ok(Some(Datagram { length: arrival.length, at: at.min(self.now()) }));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) if is_passing(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn wait(&mut self, until: Time) -> io::Result<()> {
        let until_ns = self.zero_ns.saturating_add(until.nanos());
        let early_ns = until_ns.saturating_sub(self.pacer.early_ns(monotonic_ns(), until_ns));
        while let Some(left_ns @ 1..) = early_ns.checked_sub(monotonic_ns()) {
            if self.socket.wait(Duration::from_nanos(left_ns))? {
                return Ok(());
            }
            // A late departure time also ends a wait.
            self.reader.as_ref().map_or(Ok(Vec::new()), DepartureReader::departures)?;
        }
        self.pacer.spin_until(until_ns);
        Ok(())
    }
}

/// Converts a mapped IPv4 address to IPv4.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

/// Errors that the next packet may not meet: a full local queue, which counts as one of the path's, and a router's report on
/// an earlier packet.
fn is_passing(error: &io::Error) -> bool {
    use libc::{EAGAIN, ECONNREFUSED, EHOSTUNREACH, EINTR, ENETUNREACH, ENOBUFS, ENOMEM};
    let known = [EAGAIN, ECONNREFUSED, EHOSTUNREACH, EINTR, ENETUNREACH, ENOBUFS, ENOMEM];
    error.raw_os_error().is_some_and(|code| known.contains(&code))
}
