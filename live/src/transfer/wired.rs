//! A socket that carries datagrams, with the kernel's times.

use super::{Carrier, Heard};
use crate::pace::Pacer;
use crate::socket::{Mark, Stamped, Telling, realtime_ns};
use harness::realtime::clock::monotonic_ns;
use nix::libc;
use packetscale_models::units::{Ecn, Time};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A socket that talks to a server.
pub struct Wired<'a> {
    socket: &'a Stamped,
    server: SocketAddr,
    pacer: Pacer,
    zero_ns: u64,
    /// Tells departures, from the first that was asked for.
    telling: Option<Telling<'a>>,
}

impl<'a> Wired<'a> {
    /// The clock begins now.
    pub fn new(socket: &'a Stamped, server: SocketAddr, pacer: Pacer) -> Wired<'a> {
        Wired { socket, server, pacer, zero_ns: monotonic_ns(), telling: None }
    }

    fn time(&self, ns: u64) -> Time {
        Time::from_nanos(ns.saturating_sub(self.zero_ns))
    }

    /// An instant of CLOCK_REALTIME that has just passed, on the run's clock. A step of that clock in between is the only one
    /// that matters.
    fn passed(&self, real_ns: u64) -> Time {
        let age_ns = realtime_ns().saturating_sub(real_ns);
        self.time(monotonic_ns().saturating_sub(age_ns))
    }

    /// Sends, and asks the kernel when that was.
    fn send_told(&mut self, datagram: &[u8], mark: Mark) -> io::Result<Option<u64>> {
        let telling = match &self.telling {
            Some(telling) => telling,
            None => self.telling.insert(Telling::begin(self.socket)?),
        };
        let number = telling.send(datagram, self.server, mark)?;
        Ok(telling.departures()?.into_iter().find(|told| told.number == number).map(|told| told.ns))
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
            true => self.send_told(datagram, mark),
            false => self.socket.send_marked(datagram, self.server, mark).map(|()| None),
        };
        match sent {
            Ok(told_ns) => {
                let after = self.now();
                // Who is held up in the call may have been so after the packet left.
                Ok(told_ns.map_or(before, |ns| self.passed(ns).clamp(before, after)))
            }
            Err(error) if is_passing(&error) => Ok(before),
            Err(error) => Err(error),
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Heard>> {
        loop {
            match self.socket.receive_now(buffer) {
                Ok(Some(arrival)) if is_same(arrival.from, self.server) => {
                    let at = self.passed(arrival.time.ns);
                    return Ok(Some(Heard { length: arrival.length, at: at.min(self.now()) }));
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
            // A departure that was told late ends a wait, too.
            self.telling.as_ref().map_or(Ok(Vec::new()), Telling::departures)?;
        }
        self.pacer.spin_until(until_ns);
        Ok(())
    }
}

/// A mapped IPv4 address is IPv4's.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port() && one.ip().to_canonical() == other.ip().to_canonical()
}

/// Errors that the next packet need not meet: a full queue here, which is one of the path's, and what a router has said of an
/// earlier packet.
fn is_passing(error: &io::Error) -> bool {
    use libc::{EAGAIN, ECONNREFUSED, EHOSTUNREACH, EINTR, ENETUNREACH, ENOBUFS, ENOMEM};
    let known = [EAGAIN, ECONNREFUSED, EHOSTUNREACH, EINTR, ENETUNREACH, ENOBUFS, ENOMEM];
    error.raw_os_error().is_some_and(|code| known.contains(&code))
}
