//! A session with a server: opens it, sends streams or orders them, and gets the times of their packets.

use super::ProbeError;
use crate::pace::{Gaps, Pacer};
use crate::socket::{Mark, Stamped, Steps, Time, by_one_clock, is_too_large, path_mtu, realtime_ns};
use crate::stream::{self, LONGEST};
use crate::wire::{
    Body, Cookie, Grant, Header, Keys, LEAST_SIZE, MOST_SIZE, Marks, Ordered, Packet, Report, Source, Stamp, What,
};
use harness::realtime::clock::monotonic_ns;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Timeout of a request, and number of attempts.
pub(super) const PATIENCE_NS: u64 = 300_000_000;
pub(super) const TRIES: u32 = 5;
/// Timeout of a receiving call.
pub(super) const POLL: Duration = Duration::from_millis(20);
const PINGS: usize = 10;
/// Pseudo-random filling of packets.
const FILLING: usize = 1 << 16;

/// The known times of a stream's packets.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Number of the first packet.
    pub first: u64,
    /// When packets left, by the sender's kernel.
    pub left: Vec<Stamp>,
    /// When they arrived.
    pub came: Vec<Stamp>,
    /// Clocks of departures and arrivals.
    pub sources: (Source, Source),
    /// Whether a clock stepped during the stream.
    pub stepped: bool,
}

/// A packet, and when it arrived.
type Datagram = (Packet, Time);

/// A session.
pub struct Client {
    pub(crate) socket: Stamped,
    pub(crate) server: SocketAddr,
    pub(crate) keys: Keys,
    pub(crate) key: u16,
    pub(crate) session: u64,
    pub(crate) number: u32,
    pub(crate) filling: Vec<u8>,
    pub(crate) pacer: Pacer,
    steps: Steps,
    far_steps: u16,
    next: u64,
    arrived_before: u32,
    /// ECN mark of the streams that it sends.
    pub mark: Mark,
    /// Marked packets that have arrived at the server, if it has counted them.
    pub marks: Option<Marks>,
    /// Granted limits.
    pub grant: Grant,
    /// Maximum number of packets of a stream whose times the server stores.
    pub memory: u32,
}

impl Client {
    /// Opens a session. With keys, uses the one of the lowest id. [`Client::grant`] has the largest packet size that the path
    /// takes unfragmented.
    ///
    /// # Errors
    /// There is no answer, the server refuses, or the system.
    pub fn open(server: SocketAddr, keys: Keys, request: Grant) -> Result<Client, ProbeError> {
        let socket = Stamped::bind(any(server), POLL).map_err(ProbeError::Socket)?;
        let mut session = [0; 8];
        let mut filling = vec![0; FILLING];
        let drawn = getrandom::fill(&mut session).and_then(|()| getrandom::fill(&mut filling));
        drawn.map_err(|error| ProbeError::System(error.to_string()))?;
        let mut client = Client {
            socket,
            server,
            key: keys.first().unwrap_or(0),
            keys,
            session: u64::from_be_bytes(session),
            number: 0,
            filling,
            pacer: Pacer::measure(Gaps::Busy),
            steps: Steps::watch(),
            far_steps: 0,
            next: 0,
            arrived_before: 0,
            mark: Mark::None,
            marks: None,
            grant: request,
            memory: 0,
        };
        client.greet_smaller(request)?;
        Ok(client)
    }

    /// Says hello with packets of the requested size if the path takes them; else with the largest size that routers report;
    /// without a report with the minimum.
    fn greet_smaller(&mut self, mut request: Grant) -> Result<(), ProbeError> {
        loop {
            let least = LEAST_SIZE as u16;
            request.size = match self.greet(request) {
                Err(ProbeError::TooLarge(mtu)) if mtu.saturating_sub(self.overhead()) < request.size => {
                    mtu.saturating_sub(self.overhead())
                }
                Err(ProbeError::NoAnswer(_)) if request.size > least => least,
                other => return other,
            };
        }
    }

    fn greet(&mut self, request: Grant) -> Result<(), ProbeError> {
        let mut cookie = Cookie::default();
        loop {
            let is_answer =
                |body: &Body| matches!(body, Body::Challenge(_) | Body::Accept { .. } | Body::Refuse { .. });
            match self.request(Body::Hello { request, cookie }, is_answer)? {
                Body::Challenge(fresh) if fresh != cookie => cookie = fresh,
                Body::Accept { grant, memory, .. } => {
                    (self.grant, self.memory) = (grant.at_most(&request), memory);
                    return Ok(());
                }
                Body::Refuse { text, retry_ms, .. } => return Err(ProbeError::Refused { text, retry_ms }),
                _ => return Err(ProbeError::NoAnswer(self.server)),
            }
        }
    }

    fn write(&self, number: u32, body: Body) -> Vec<u8> {
        let header = Header { key: self.key, session: self.session, number };
        Packet { header, body }.write(&self.keys, realtime_ns() / 1_000_000)
    }

    fn send(&self, datagram: &[u8]) -> Result<(), ProbeError> {
        match self.socket.send(datagram, self.server) {
            // The request is repeated.
            Err(full) if full.kind() == io::ErrorKind::WouldBlock => Ok(()),
            other => other.map_err(|error| self.refused(error)),
        }
    }

    /// Why a packet could not be sent.
    fn refused(&self, error: io::Error) -> ProbeError {
        match path_mtu(self.server).filter(|_| is_too_large(&error)) {
            Some(mtu) => ProbeError::TooLarge(mtu),
            None => ProbeError::Socket(error),
        }
    }

    /// Repeats a request until its reply comes.
    pub(crate) fn request(&mut self, body: Body, is_answer: impl Fn(&Body) -> bool) -> Result<Body, ProbeError> {
        self.number += 1;
        self.request_as(self.number, body, is_answer)
    }

    /// Repeats a request of this number until its reply comes.
    pub(crate) fn request_as(
        &mut self,
        number: u32,
        body: Body,
        is_answer: impl Fn(&Body) -> bool,
    ) -> Result<Body, ProbeError> {
        for _ in 0..TRIES {
            if let Some(answer) = self.ask(number, &body, &is_answer, PATIENCE_NS)? {
                return Ok(answer);
            }
        }
        Err(ProbeError::NoAnswer(self.server))
    }

    /// Sends a request once, and waits this long for the reply.
    pub(crate) fn ask(
        &mut self,
        number: u32,
        body: &Body,
        is_answer: impl Fn(&Body) -> bool,
        patience_ns: u64,
    ) -> Result<Option<Body>, ProbeError> {
        self.send(&self.write(number, body.clone()))?;
        let until = monotonic_ns() + patience_ns;
        while monotonic_ns() < until {
            let Some((packet, _)) = self.receive()? else { continue };
            if packet.header.number == number && is_answer(&packet.body) {
                return Ok(Some(packet.body));
            }
        }
        Ok(None)
    }

    /// A packet of this session, with its time.
    fn receive(&mut self) -> Result<Option<Datagram>, ProbeError> {
        let mut buffer = [0; MOST_SIZE];
        let Some(arrival) = self.socket.receive(&mut buffer).map_err(ProbeError::Socket)? else { return Ok(None) };
        let datagram = &buffer[..arrival.length];
        let ours = |packet: &Packet| {
            packet.header.session == self.session
                && packet.is_genuine(datagram, &self.keys, realtime_ns() / 1_000_000)
                && arrival.from.port() == self.server.port()
                && arrival.from.ip().to_canonical() == self.server.ip().to_canonical()
        };
        match Packet::read(datagram).filter(ours) {
            Some(Packet { body: Body::Close(reason), .. }) => Err(ProbeError::Ended(reason.words())),
            other => Ok(other.map(|packet| (packet, arrival.time))),
        }
    }

    /// The minimum of some round trips, in nanoseconds.
    ///
    /// # Errors
    /// There is no answer.
    pub fn base_rtt_ns(&mut self) -> Result<u64, ProbeError> {
        let mut least = u64::MAX;
        for _ in 0..PINGS {
            let began = monotonic_ns();
            self.request(Body::Ping, |body| *body == Body::Pong)?;
            least = least.min(monotonic_ns() - began);
        }
        Ok(least)
    }

    /// Sends a stream to the server.
    ///
    /// # Errors
    /// There is no answer, or the system.
    pub fn forward(&mut self, mut stream: Ordered) -> Result<Seen, ProbeError> {
        stream.first = self.next;
        self.next += u64::from(stream.count);
        let (stepped_before, far_before) = (self.steps.update(), self.far_steps);
        let to = (self.server, self.session, self.number);
        let (left, source) =
            stream::send(&self.socket, to, (&stream, self.mark), &mut self.pacer, &self.filling, &|| true)
                .map_err(|error| self.refused(error))?;
        let (came, far_source) = self.times(What::Arrivals, &stream)?;
        let stepped = self.steps.update() != stepped_before || self.far_steps != far_before;
        Ok(Seen { first: stream.first, left, came, sources: (source, far_source), stepped })
    }

    /// Orders a stream from the server.
    ///
    /// # Errors
    /// There is no answer, the server ends the session, or the system.
    pub fn reverse(&mut self, mut stream: Ordered) -> Result<Seen, ProbeError> {
        stream.first = self.next;
        self.next += u64::from(stream.count);
        let (stepped_before, far_before) = (self.steps.update(), self.far_steps);
        self.number += 1;
        let length_ns: f64 = stream::gaps_ns(&stream, stream::overhead(self.server)).iter().sum();
        let order = self.write(self.number, Body::Order { stream, arrived: self.arrived_before });
        let mut came: BTreeMap<u64, Time> = BTreeMap::new();
        let end = stream.first + u64::from(stream.count);
        for _ in 0..TRIES {
            self.send(&order)?;
            let mut until = monotonic_ns() + PATIENCE_NS + length_ns as u64;
            while monotonic_ns() < until && came.len() < stream.count as usize {
                let Some((packet, time)) = self.receive()? else { continue };
                if let Body::Data { sequence } = packet.body
                    && (stream.first..end).contains(&sequence)
                {
                    came.entry(sequence).or_insert(time);
                    // The last packet may be lost: wait for it only briefly.
                    if sequence + 1 == end {
                        until = until.min(monotonic_ns() + POLL.as_nanos() as u64);
                    }
                }
            }
            if !came.is_empty() {
                break;
            }
        }
        self.arrived_before = came.len() as u32;
        let (came, source) = by_one_clock(&came.into_iter().collect::<Vec<_>>());
        let (left, far_source) = self.times(What::Departures, &stream)?;
        let stepped = self.steps.update() != stepped_before || self.far_steps != far_before;
        Ok(Seen { first: stream.first, left, came, sources: (far_source, source), stepped })
    }

    /// Requests the times of a stream's packets until all are known, or no more come.
    fn times(&mut self, what: What, stream: &Ordered) -> Result<(Vec<Stamp>, Source), ProbeError> {
        // The last arrivals may still be queued: repeat while more are reported. Departures are reported at once, after the
        // ordered streams have left; two may wait.
        const ROUNDS: u32 = 4;
        let until = monotonic_ns() + 2 * LONGEST.nanos() + PATIENCE_NS;
        let mut best: Vec<Stamp> = Vec::new();
        let mut source = Source::Kernel;
        let mut round = 0;
        loop {
            let (stamps, by, pending) = self.asked(what, stream)?;
            let more = stamps.len() > best.len();
            if more {
                (best, source) = (stamps, by);
            }
            round += 1;
            let enough = match what {
                What::Departures => !pending || monotonic_ns() > until,
                What::Arrivals => round >= ROUNDS || (round > 2 && !more),
            };
            if best.len() == stream.count as usize || enough {
                break;
            }
            std::thread::sleep(POLL);
        }
        Ok((best, source))
    }

    /// The times that are known, their clock, and whether more will follow.
    fn asked(&mut self, what: What, stream: &Ordered) -> Result<(Vec<Stamp>, Source, bool), ProbeError> {
        let end = stream.first + u64::from(stream.count);
        let (mut first, mut stamps, mut source) = (stream.first, Vec::new(), Source::Card);
        let mut is_pending = false;
        while first < end {
            let ask = Body::Ask { what, first, count: (end - first) as u32 };
            let answers =
                |body: &Body| matches!(body, Body::Report(report) if report.what == what && report.first == first);
            let Body::Report(Report { count, stamps: new, source: by, steps, marks, pending, .. }) =
                self.request(ask, answers)?
            else {
                break;
            };
            is_pending |= pending;
            self.far_steps = steps;
            self.marks = marks.or(self.marks);
            if !new.is_empty() {
                source = source.worse(by);
            }
            stamps.extend(new);
            if count == 0 {
                break;
            }
            first += u64::from(count);
        }
        Ok((stamps, source, is_pending))
    }

    /// Sets how gaps are made.
    pub fn make(&mut self, gaps: Gaps) {
        if gaps != self.pacer.gaps {
            self.pacer = Pacer::measure(gaps);
        }
    }

    /// This end's spinning time before each packet, in nanoseconds.
    pub fn margin_ns(&self) -> u64 {
        self.pacer.margin_ns
    }

    /// Whether other programs compete for this end's processors.
    pub fn is_busy(&self) -> bool {
        self.pacer.is_busy()
    }

    /// Header bytes that rates include.
    pub fn overhead(&self) -> u16 {
        stream::overhead(self.server)
    }
}

/// The unspecified address and port of the same family as an address.
pub(super) fn any(there: SocketAddr) -> SocketAddr {
    if there.is_ipv4() { SocketAddr::from(([0; 4], 0)) } else { SocketAddr::from(([0u16; 8], 0)) }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.send(&self.write(self.number.wrapping_add(1), Body::Close(crate::wire::Reason::Done)));
    }
}
