//! What a session does for transfers: it is opened with patience, flows begin in it, and it is driven over its socket.

use super::drive::{Session, drive};
use super::{ALIVE, Driven, Ends, Flows, Wired};
use crate::probe::{Client, ProbeError};
use crate::socket::realtime_ns;
use crate::wire::{Begin, Begun, Body, Grant, HASH, Keys, Reason, segment_overhead};
use packetscale_models::units::Span;
use std::net::SocketAddr;
use std::time::Duration;

/// How often, and for how long at most each time, a refused session is tried again. A session that was lost ends within that.
const TRIES: u32 = 3;
pub(crate) const LONGEST_RETRY: Duration = Duration::from_millis(6_000);
/// A receiver that must read what it has of a file, or write it to its disk, is asked so many times, each for 1.5 s.
const PATIENT: u32 = 40;

/// It is asked sooner at first: most disks are quick, and its first answer is none, since it is written by another thread.
const SOON_NS: [u64; 5] = [10_000_000, 20_000_000, 40_000_000, 80_000_000, 160_000_000];

/// Why there is no flow.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The session.
    #[error("{0}")]
    Session(#[from] ProbeError),
    /// The server does not take it, for this reason; it may be asked again after so many milliseconds.
    #[error("{text}")]
    Refused {
        /// Why.
        reason: Reason,
        /// Why, in words.
        text: String,
        /// When to ask again; 0: not known.
        retry_ms: u32,
    },
}

impl Client {
    /// Opens a session as [`Client::open`] does, and tries again where a server says when.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn open_patiently(server: SocketAddr, keys: &Keys, wish: Grant) -> Result<Client, ProbeError> {
        for _ in 1..TRIES {
            match Client::open(server, keys.clone(), wish) {
                Err(ProbeError::Refused { retry_ms: after @ 1.., .. })
                    if u128::from(after) <= LONGEST_RETRY.as_millis() =>
                {
                    std::thread::sleep(Duration::from_millis(u64::from(after)));
                }
                other => return other,
            }
        }
        Client::open(server, keys.clone(), wish)
    }

    /// Begins a flow; returns its number.
    ///
    /// # Errors
    /// The server does not take it, there is no answer, or the system.
    pub fn begin(&mut self, begin: Begin) -> Result<(u32, Begun), SessionError> {
        let wanted = |body: &Body| matches!(body, Body::Begun(_) | Body::Refuse { .. });
        match self.patiently(|client| client.request(Body::Begin(begin.clone()), wanted))? {
            Body::Begun(begun) => Ok((self.number, begun)),
            Body::Refuse { code: reason, text, retry_ms } => Err(SessionError::Refused { reason, text, retry_ms }),
            _ => Err(ProbeError::NoAnswer(self.server).into()),
        }
    }

    /// Drives flows that have begun until they are over. Nothing heard for `patience` ends it.
    ///
    /// # Errors
    /// Why they end before that.
    pub fn drive(&mut self, patience: Span, flows: &mut dyn Flows) -> Result<Driven, Ends> {
        let wall_ms = realtime_ns() / 1_000_000;
        let (id, key, grant) = (self.session, self.key, self.grant);
        let session = Session { id, keys: &self.keys, key, grant, wall_ms, patience };
        drive(&mut Wired::new(&self.socket, self.server, self.pacer), session, flows)
    }

    /// Says that all of a file is acknowledged.
    ///
    /// # Errors
    /// The receiver does not keep it, and says why; there is no answer; or the system.
    pub fn finish(&mut self, flow: u32, bytes: u64, hash: [u8; HASH]) -> Result<(), SessionError> {
        let wanted = |body: &Body| matches!(body, Body::Finished | Body::Refuse { .. });
        let finish = Body::Finish { bytes, hash };
        for patience_ns in SOON_NS {
            if let Some(answer) = self.ask(flow, &finish, wanted, patience_ns)? {
                return finished(answer);
            }
        }
        finished(self.patiently(|client| client.request_as(flow, finish.clone(), wanted))?)
    }

    /// Asks again and again for what may take a receiver long: to read a file, or to write it to its disk.
    fn patiently(&mut self, mut ask: impl FnMut(&mut Client) -> Result<Body, ProbeError>) -> Result<Body, ProbeError> {
        for _ in 1..PATIENT {
            match ask(self) {
                Err(ProbeError::NoAnswer(_)) => {}
                other => return other,
            }
        }
        ask(self)
    }

    /// Keeps the session for this long, with nothing to send.
    ///
    /// # Errors
    /// There is no answer, or the server ends it.
    pub fn stay(&mut self, long: Duration) -> Result<(), ProbeError> {
        let until = std::time::Instant::now() + long;
        while let Some(left) = until.checked_duration_since(std::time::Instant::now()) {
            std::thread::sleep(left.min(Duration::from_millis(ALIVE.nanos() / 1_000_000)));
            self.request(Body::Ping, |body| *body == Body::Pong)?;
        }
        Ok(())
    }

    /// Bytes of an IP packet of a flow beside its data.
    pub fn beside_data(&self) -> usize {
        usize::from(self.overhead()) + segment_overhead(self.key)
    }

    /// Pseudo-random bytes.
    pub fn filling(&self) -> Vec<u8> {
        self.filling.clone()
    }
}

/// What a receiver says of a whole file.
fn finished(answer: Body) -> Result<(), SessionError> {
    match answer {
        Body::Refuse { code: reason, text, retry_ms } => Err(SessionError::Refused { reason, text, retry_ms }),
        _ => Ok(()),
    }
}
