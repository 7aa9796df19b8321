//! What carries datagrams between a sender and its server: a socket ([`super::Wired`]), or in tests a link that is computed.

use packetscale_models::units::{Ecn, Time};
use std::io;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Its length.
    pub length: usize,
    /// When it arrived; not later than now.
    pub at: Time,
}

/// Carries datagrams to one server and back. Its clock begins with the run.
pub trait Carrier {
    /// Now.
    fn now(&mut self) -> Time;

    /// Sends a datagram. Returns when it really left: not before the call, not after its end. `exactly`: who asks makes
    /// something of that time; else the call's is good enough.
    ///
    /// # Errors
    /// It cannot be sent, and no later one can. What a queue of this machine drops is lost as on the path.
    fn send(&mut self, datagram: &[u8], ecn: Ecn, exactly: bool) -> io::Result<Time>;

    /// A datagram that is there; `None`: none is.
    ///
    /// # Errors
    /// The system's.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Heard>>;

    /// Waits until an instant, or until shortly before if a datagram comes earlier.
    ///
    /// # Errors
    /// The system's.
    fn wait(&mut self, until: Time) -> io::Result<()>;
}
