//! A client's session for transfers: open it with retries, begin flows, drive them over its socket.

use super::drive::{Session, drive};
use super::{ALIVE, Driven, Ends, Flows, Wired};
use crate::probe::{Client, ProbeError};
use crate::socket::realtime_ns;
use crate::wire::{Begin, Begun, Body, Grant, HASH, Keys, Reason, segment_overhead};
use packetscale_models::units::Span;
use std::net::SocketAddr;
use std::time::Duration;

/// Number and maximum length of waits after a refusal of a session. A lost session ends within that.
const TRIES: u32 = 3;
pub(crate) const LONGEST_RETRY: Duration = Duration::from_millis(6_000);
/// Number of requests, 1.5 s each, to a receiver that must read a partial file or write one to its disk.
const PATIENT: u32 = 40;

/// Earlier first retries: most disks are quick, and the first reply is never final, since another thread writes it.
const SOON_NS: [u64; 5] = [10_000_000, 20_000_000, 40_000_000, 80_000_000, 160_000_000];

/// Why a flow could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The session.
    #[error("{0}")]
    Session(#[from] ProbeError),
    /// The server refuses, for this reason; retry after this number of milliseconds.
    #[error("{text}")]
    Refused {
        /// Why.
        reason: Reason,
        /// Why, in words.
        text: String,
        /// When to retry; 0: unknown.
        retry_ms: u32,
    },
}

impl Client {
    /// Opens a session as [`Client::open`] does, and retries when the server says when.
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn open_patiently(server: SocketAddr, keys: &Keys, request: Grant) -> Result<Client, ProbeError> {
        for _ in 1..TRIES {
            match Client::open(server, keys.clone(), request) {
                Err(ProbeError::Refused { retry_ms: after @ 1.., .. })
                    if u128::from(after) <= LONGEST_RETRY.as_millis() =>
                {
                    std::thread::sleep(Duration::from_millis(u64::from(after)));
                }
                other => return other,
            }
        }
        Client::open(server, keys.clone(), request)
    }

    /// Begins a flow; returns its number.
    ///
    /// # Errors
    /// The server refuses it, there is no reply, or a system error.
    pub fn begin(&mut self, begin: Begin) -> Result<(u32, Begun), SessionError> {
        let is_answer = |body: &Body| matches!(body, Body::Begun(_) | Body::Refuse { .. });
        match self.patiently(|client| client.request(Body::Begin(begin.clone()), is_answer))? {
            Body::Begun(begun) => Ok((self.number, begun)),
            Body::Refuse { code: reason, text, retry_ms } => Err(SessionError::Refused { reason, text, retry_ms }),
            _ => Err(ProbeError::NoAnswer(self.server).into()),
        }
    }

    /// Drives flows that have begun until they end. `patience` without a packet from the server ends the session.
    ///
    /// # Errors
    /// Why they end before that.
    pub fn drive(&mut self, patience: Span, flows: &mut dyn Flows) -> Result<Driven, Ends> {
        let wall_ms = realtime_ns() / 1_000_000;
        let (id, key, grant) = (self.session, self.key, self.grant);
        let session = Session { id, keys: &self.keys, key, grant, wall_ms, patience };
        drive(&mut Wired::new(&self.socket, self.server, self.pacer), session, flows)
    }

    /// Reports that all of a file is acknowledged.
    ///
    /// # Errors
    /// The receiver cannot save it and says why; it does not answer; or a system error.
    pub fn finish(&mut self, flow: u32, bytes: u64, hash: [u8; HASH]) -> Result<(), SessionError> {
        let is_answer = |body: &Body| matches!(body, Body::Finished | Body::Refuse { .. });
        let finish = Body::Finish { bytes, hash };
        for patience_ns in SOON_NS {
            if let Some(answer) = self.ask(flow, &finish, is_answer, patience_ns)? {
                return finished(answer);
            }
        }
        finished(self.patiently(|client| client.request_as(flow, finish.clone(), is_answer))?)
    }

    /// Repeats a request that may take a receiver long: reading a file, or writing it to its disk.
    fn patiently(&mut self, mut ask: impl FnMut(&mut Client) -> Result<Body, ProbeError>) -> Result<Body, ProbeError> {
        for _ in 1..PATIENT {
            match ask(self) {
                Err(ProbeError::NoAnswer(_)) => {}
                other => return other,
            }
        }
        ask(self)
    }

    /// Holds the session open for this long, without data.
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

    /// Bytes of headers in an IP packet of a flow.
    pub fn data_overhead(&self) -> usize {
        usize::from(self.overhead()) + segment_overhead(self.key)
    }

    /// Pseudo-random bytes.
    pub fn filling(&self) -> Vec<u8> {
        self.filling.clone()
    }
}

/// The receiver's verdict on a whole file.
fn finished(answer: Body) -> Result<(), SessionError> {
    match answer {
        Body::Refuse { code: reason, text, retry_ms } => Err(SessionError::Refused { reason, text, retry_ms }),
        _ => Ok(()),
    }
}
