//! Carries datagrams between a sender and its server: a socket ([`super::Wired`]), or a computed link in tests.

use packetscale_models::units::{Ecn, Time};
use std::io;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Its length.
    pub length: usize,
    /// When it arrived; not later than now.
    pub at: Time,
}

/// Carries datagrams to one server and back. Its clock begins with the run.
pub trait Carrier {
    /// Now.
    fn now(&mut self) -> Time;

    /// Sends a datagram. Returns its departure time, within the call. `exactly`: the caller needs the exact time; otherwise
    /// the time of the call is enough.
    ///
    /// # Errors
    /// It cannot be sent, and no later one can. A drop in a queue of this machine counts as a loss on the path.
    fn send(&mut self, datagram: &[u8], ecn: Ecn, exactly: bool) -> io::Result<Time>;

    /// A datagram that is there; `None`: none is.
    ///
    /// # Errors
    /// The system's.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Datagram>>;

    /// Waits until an instant, or until shortly before if a datagram comes earlier.
    ///
    /// # Errors
    /// The system's.
    fn wait(&mut self, until: Time) -> io::Result<()>;
}
