//! Measures the available bandwidth of the path to a server, or from it.

mod client;
mod observations;
mod reach;
mod search;
mod slowing;
mod streams;

pub use client::{Client, Seen};
pub use observations::{Observations, scenario};
pub use reach::answering;
pub use search::{Found, Next, Plan, Read, Search, Unsure};
pub use streams::{Row, read, rows};

use crate::pace::Gaps;
use crate::socket::Mark;
use crate::wire::{Grant, HEADER, Keys, LEAST_SIZE, Marks, Ordered, Source, seal};
use packetscale_models::units::{Bytes, Rate};
use std::io;
use std::net::SocketAddr;

/// Why a probe failed.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The socket.
    #[error("the socket: {0}")]
    Socket(io::Error),
    /// No server answers.
    #[error(
        "{0} does not answer: is packetscale live serve running there, with the same key, and does UDP get through?"
    )]
    NoAnswer(SocketAddr),
    /// The path does not take packets of that size unfragmented; the largest that it takes.
    #[error("the path takes packets of at most {0} bytes")]
    TooLarge(u16),
    /// The server refuses.
    #[error("the server refuses: {text}; try again in {} s", retry_ms.div_ceil(1000))]
    Refused {
        /// Why.
        text: String,
        /// When to retry.
        retry_ms: u32,
    },
    /// Streams of this rate would last too long.
    #[error("the fastest stream that --rate and the server allow has {0}; expected at least {SLOWEST}", SLOWEST = search::SLOWEST)]
    TooSlow(Rate),
    /// The server ended the session.
    #[error("the server ended the session: {0}")]
    Ended(&'static str),
    /// The caller stopped the probe.
    #[error("stopped; the session was closed")]
    Stopped,
    /// The system.
    #[error("{0}")]
    System(String),
}

/// Parameters of a probe.
#[derive(Clone, Debug)]
pub struct Question {
    /// The server.
    pub server: SocketAddr,
    /// Shared keys; the one of the lowest id is used.
    pub keys: Keys,
    /// Direction: from the server to here.
    pub reverse: bool,
    /// Maximum bytes of IP packets of all streams together.
    pub budget: Bytes,
    /// The fastest stream.
    pub fastest: Rate,
    /// Largest IP packet.
    pub packet: u16,
    /// How this machine makes gaps. A server uses [`Gaps::Busy`].
    pub gaps: Gaps,
    /// ECN mark of streams sent from here.
    pub mark: Mark,
}

impl Question {
    /// Default maximum of bytes sent.
    pub const BUDGET: Bytes = Bytes::new(10_000_000);
    /// Default rate of the fastest stream.
    pub const FASTEST: Rate = Rate::from_gbps(1);
    /// Default size of the largest IP packet.
    pub const PACKET: u16 = 1500;
    /// Maximum length of a session.
    const DURATION_MS: u32 = 60_000;
}

/// Result of a probe.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The available bandwidth, or why there is no estimate.
    pub found: Result<Found, Unsure>,
    /// The shortest round trip, in nanoseconds.
    pub base_rtt_ns: u64,
    /// Clocks of departures and arrivals.
    pub sources: Option<(Source, Source)>,
    /// Observations of both ends and the queue.
    pub observed: Observations,
    /// How this machine makes gaps.
    pub gaps: Gaps,
    /// Marked packets that arrived at the server, if it has counted them.
    pub marks: Option<Marks>,
    /// This machine's spinning time before each packet, in nanoseconds.
    pub margin_ns: u64,
    /// IP packet size.
    pub packet: u16,
    /// Streams that were sent.
    pub streams: u32,
    /// Bytes of IP packets that were sent.
    pub sent: Bytes,
    /// The gaps of all usable streams.
    pub rows: Vec<Row>,
}

/// Probes. `progress` receives the number of streams, their bytes and the next stream; return `false` to stop.
///
/// # Errors
/// The server does not answer or refuses, or the system.
pub fn probe(question: &Question, progress: &mut dyn FnMut(u32, Bytes, &Plan) -> bool) -> Result<Answer, ProbeError> {
    let overhead = crate::stream::overhead(question.server);
    // Twice: repetitions of streams, and requests, count as well.
    let request = Grant {
        size: question.packet.saturating_sub(overhead),
        rate_bps: question.fastest.bps(),
        bytes: question.budget.get().saturating_mul(2),
        duration_ms: Question::DURATION_MS,
    };
    let mut client = Client::open(question.server, question.keys.clone(), request)?;
    client.make(question.gaps);
    client.mark = question.mark;
    let base_rtt_ns = client.base_rtt_ns()?;
    let mut size = client.grant.size.max((HEADER + seal::TRAILER) as u16);
    // The grant counts payloads.
    let fastest = Rate::from_bps(question.fastest.bps().min(client.grant.rate_bps));
    if fastest < search::SLOWEST {
        return Err(ProbeError::TooSlow(fastest));
    }
    let mut search = Search::new(Bytes::new((size + overhead).into()), fastest, question.budget)
        .map_err(|error| ProbeError::System(error.to_string()))?;
    let (mut next, mut kept, mut sources, mut observed) = (search.first(), Vec::new(), None, Observations::default());
    let found = loop {
        let plan = match next {
            Next::Send(plan) => plan,
            Next::End(found) => break found,
        };
        let (streams, sent) = search.sent();
        if !progress(streams, sent, &plan) {
            return Err(ProbeError::Stopped);
        }
        let ordered = Ordered {
            first: 0,
            count: plan.packets,
            lowest_bps: plan.lowest.bps(),
            highest_bps: plan.highest.bps(),
            levels: plan.levels,
            size,
        };
        let seen = if question.reverse { client.reverse(ordered) } else { client.forward(ordered) };
        if let Some(smaller) = smaller(&seen, size, overhead) {
            size = smaller;
            next = search.resized(Bytes::new((size + overhead).into()), plan);
            continue;
        }
        let seen = seen?;
        sources = Some(
            sources.map_or(seen.sources, |(a, b): (Source, Source)| (a.worse(seen.sources.0), b.worse(seen.sources.1))),
        );
        observed.note(&ordered, overhead, &seen);
        let made = streams::read(&ordered, overhead, &seen);
        if let Read::Stream(_) = made {
            kept.extend(streams::rows(streams, size + overhead, &seen));
        }
        next = search.report(plan, &made);
    };
    let (streams, sent) = search.sent();
    let (margin_ns, packet) = (client.margin_ns(), size + overhead);
    let (gaps, marks) = (question.gaps, client.marks);
    Ok(Answer { found, base_rtt_ns, sources, observed, gaps, marks, margin_ns, packet, streams, sent, rows: kept })
}

/// The size of payloads to continue with, if the path did not take those of a stream: the limit that this machine's kernel
/// knows, or the minimum if the server could send none.
fn smaller(seen: &Result<Seen, ProbeError>, size: u16, overhead: u16) -> Option<u16> {
    let taken = match seen {
        Err(ProbeError::TooLarge(mtu)) => mtu.saturating_sub(overhead),
        Ok(seen) if seen.left.is_empty() && seen.came.is_empty() => LEAST_SIZE as u16,
        _ => return None,
    };
    Some(taken).filter(|taken| *taken < size)
}
