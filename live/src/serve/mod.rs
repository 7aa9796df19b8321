//! The server: its protocol ([`Server`], without a socket), and its threads ([`Serving`]).
//!
//! As `docs/wire-format.md` requires: no state for an unproved address, and no reply to one that is larger than its request;
//! rate, bytes, duration, clients and memory are limited, and the limits are announced and enforced.

mod cookie;
mod counters;
mod lanes;
mod left;
mod serving;
mod session;
mod transfers;

pub use counters::Counters;
pub use serving::{ServeError, Serving, receive, serve};

use crate::socket::{Arrival, Mark};
use crate::store::Store;
use crate::transfer::Seen;
use crate::wire::{
    Body, Grant, Header, Keys, LEAST_SIZE, Ordered, Packet, Reason, SEGMENT_HEAD, Source, Stamp, segment_overhead,
};
use cookie::{Cookies, HOLDS_S};
use packetscale_models::units::Time;
use session::Session;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limits per session.
    pub grant: Grant,
    /// Total of all concurrent sessions, in bit/s.
    pub all_bps: u64,
    /// Concurrent sessions.
    pub clients: u32,
    /// Concurrent sessions per address. For IPv6 the first 64 bits are the address: one host has all of them.
    pub per_address: u32,
    /// Packets per session and direction whose times are stored.
    pub memory: u32,
    /// Milliseconds without a packet from its client after which a session ends.
    pub silence_ms: u32,
}

impl Limits {
    /// Default limits: one session at a time may use everything, for a minute.
    pub const DEFAULT: Limits = Limits {
        grant: Grant { size: 8972, rate_bps: 1_000_000_000, bytes: 100_000_000, duration_ms: 60_000 },
        all_bps: 1_000_000_000,
        clients: 32,
        per_address: 4,
        memory: 4096,
        silence_ms: 5_000,
    };
}

/// The clocks of the server.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Monotonic milliseconds, of arbitrary origin.
    pub ms: u64,
    /// Milliseconds since 1970.
    pub wall_ms: u64,
    /// Number of steps of the stamping clock.
    pub steps: u16,
}

impl Now {
    fn seconds(&self) -> u32 {
        (self.ms / 1000).min(u64::from(u32::MAX)) as u32
    }
}

/// A stream to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Destination.
    pub to: SocketAddr,
    /// Its session.
    pub session: u64,
    /// The number of its order.
    pub number: u32,
    /// The stream.
    pub stream: Ordered,
}

/// Actions after a datagram.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reaction {
    /// Reply to the datagram's source.
    pub answer: Option<Vec<u8>>,
    /// Stream to send.
    pub job: Option<Job>,
}

/// Maximum number of ended sessions whose ids are stored, so that a replayed hello opens no session.
const REMEMBERED: usize = 4096;

/// Maximum of these per address: one client cannot use up the others' entries.
const OFTEN: usize = 64;

/// State of the server. It has no clock and no socket.
pub struct Server {
    limits: Limits,
    keys: Keys,
    cookies: Cookies,
    sessions: BTreeMap<u64, Session>,
    /// Ended sessions: id, address, and when the entry expires.
    ended: VecDeque<(u64, IpAddr, u64)>,
    counters: Counters,
    /// Destination of files; `None`: files are refused.
    store: Option<Box<dyn Store>>,
    /// Lower bound of the time of the next delayed acknowledgment.
    due: Time,
}

impl Server {
    /// A server without sessions. Its secrets come from `draw`.
    pub fn new(limits: Limits, keys: Keys, now: Now, draw: fn() -> [u8; 32]) -> Server {
        let cookies = Cookies::new(now.seconds(), draw);
        let counters = Counters::default();
        let (sessions, ended) = (BTreeMap::new(), VecDeque::new());
        Server { limits, keys, cookies, sessions, ended, counters, store: None, due: Time::MAX }
    }

    /// The counts, as of now.
    pub fn counters(&self) -> Counters {
        let promised_bps = self.promised_bps();
        Counters { sessions: self.sessions.len() as u64, promised_bps, ..self.counters }
    }

    /// Whether this session exists.
    pub fn has(&self, session: u64) -> bool {
        self.sessions.contains_key(&session)
    }

    fn promised_bps(&self) -> u64 {
        self.sessions.values().map(|session| session.grant.rate_bps).sum()
    }

    /// Handles a datagram.
    pub fn receive(&mut self, datagram: &[u8], arrival: &Arrival, now: Now) -> Reaction {
        let genuine = |packet: &Packet| packet.is_genuine(datagram, &self.keys, now.wall_ms);
        let reaction = match Packet::read(datagram).filter(genuine) {
            None => None,
            Some(Packet { header, body: Body::Hello { request, cookie } }) => {
                let padded = datagram.len() == usize::from(request.size) && datagram.len() >= LEAST_SIZE;
                padded.then(|| self.greeted(header, request, &cookie, arrival.from, now)).flatten().map(answered)
            }
            Some(packet) => self.of_session(packet, datagram, arrival, now),
        };
        if reaction.is_none() {
            self.counters.dropped += 1;
        }
        reaction.unwrap_or_default()
    }

    fn greeted(
        &mut self,
        header: Header,
        request: Grant,
        cookie: &crate::wire::Cookie,
        from: SocketAddr,
        now: Now,
    ) -> Option<Vec<u8>> {
        let session = header.session;
        if !self.cookies.proves(cookie, from, session, now.seconds()) {
            self.counters.challenged += 1;
            let body = Body::Challenge(self.cookies.make(from, session, now.seconds()));
            return Some(self.written(header, body, now));
        }
        if let Some(known) = self.sessions.get(&session) {
            let same = known.client == from;
            return same.then(|| self.accepted(header, known.grant, now));
        }
        self.forget(now.ms);
        if self.ended.iter().any(|(ended, ..)| *ended == session) {
            return None;
        }
        let limits = self.limits;
        let most = limits.grant;
        let grant = request.at_most(&most);
        if let Some(text) = self.too_many(place(from)) {
            self.counters.crowded += 1;
            return Some(self.refused(header, text, now));
        }
        let has_capacity = limits.all_bps.saturating_sub(self.promised_bps()) >= grant.rate_bps;
        if !has_capacity || self.sessions.len() >= limits.clients as usize || self.ended.len() >= REMEMBERED {
            self.counters.refused += 1;
            return Some(self.refused(header, Reason::Busy.words().to_string(), now));
        }
        self.counters.begun += 1;
        self.sessions.insert(session, Session::new(from, grant, header.key, now.ms, &limits, now.steps));
        Some(self.accepted(header, grant, now))
    }

    /// Why an address gets no further session, if so.
    fn too_many(&self, from: IpAddr) -> Option<String> {
        let there = self.sessions.values().filter(|session| place(session.client) == from).count();
        let ended = self.ended.iter().filter(|(_, client, _)| *client == from).count();
        match self.limits.per_address as usize {
            most if there >= most => Some(format!("found {there} sessions of this address; the server allows {most}")),
            _ if ended >= OFTEN => {
                Some(format!("found {ended} recent sessions of this address; the server allows {OFTEN}"))
            }
            _ => None,
        }
    }

    /// Refuses a session because the server is full, with the time until one must end.
    fn refused(&self, header: Header, text: String, now: Now) -> Vec<u8> {
        let retry_ms = self.sessions.values().map(|session| session.rest_ms(now.ms)).min().unwrap_or(0);
        self.written(header, Body::Refuse { code: Reason::Busy, retry_ms, text }, now)
    }

    fn accepted(&self, header: Header, grant: Grant, now: Now) -> Vec<u8> {
        let Limits { silence_ms, memory, .. } = self.limits;
        self.written(header, Body::Accept { grant, silence_ms, memory }, now)
    }

    /// Handles a session's packet from its client's address. Drops anything else.
    fn of_session(
        &mut self,
        Packet { header, body }: Packet,
        datagram: &[u8],
        arrival: &Arrival,
        now: Now,
    ) -> Option<Reaction> {
        let (from, bytes) = (arrival.from, arrival.length as u64);
        let session = self.sessions.get_mut(&header.session)?;
        let is_data = matches!(body, Body::Data { .. });
        if session.client != from || !(is_data || session.key == header.key) {
            return None;
        }
        session.received_ms = now.ms;
        let has_capacity = session.payload_limit();
        let answer = match body {
            Body::Data { sequence } => {
                self.counters.received_bytes += bytes;
                self.counters.marked += u64::from(arrival.mark == Mark::Ce);
                if session.arrived(sequence, arrival, now.ms) {
                    return Some(Reaction::default());
                }
                return Some(self.ended(header, Reason::Limit, now));
            }
            Body::Ask { what, first, count } => {
                Body::Report(session.report(what, now.steps, first, count, has_capacity))
            }
            Body::Ping => Body::Pong,
            Body::Order { stream, arrived } => match session.orders(header.number, &stream, arrived) {
                Err(reason) => return Some(self.ended(header, reason, now)),
                Ok(false) => return Some(Reaction::default()),
                Ok(true) => {
                    self.counters.streams += 1;
                    self.counters.sent_bytes += u64::from(stream.count) * u64::from(stream.size);
                    let job = Job { to: from, session: header.session, number: header.number, stream };
                    return Some(Reaction { answer: None, job: Some(job) });
                }
            },
            Body::Close(_) => return Some(self.ended(header, Reason::Done, now)),
            Body::Begin(begin) => return self.begins(header, &begin, now),
            Body::Segment { sequence, transmission } => {
                self.counters.received_bytes += bytes;
                if !session.may_send(bytes, now.ms) {
                    return Some(self.ended(header, Reason::Limit, now));
                }
                let end = datagram.len() + SEGMENT_HEAD - segment_overhead(header.key);
                let data = datagram.get(SEGMENT_HEAD..end).unwrap_or_default();
                let (time, marked) = (arrival.time, Some(arrival.mark == Mark::Ce));
                let seen = Seen { sequence, transmission, data, ns: time.ns, source: time.source, marked };
                return self.segment(header, &seen, now);
            }
            Body::Finish { bytes, hash } => return self.finishes(header, bytes, &hash, now),
            // Packets that only servers send.
            Body::Hello { .. }
            | Body::Challenge(_)
            | Body::Accept { .. }
            | Body::Refuse { .. }
            | Body::Report(_)
            | Body::Begun(_)
            | Body::Ack(_)
            | Body::Finished
            | Body::Pong => return None,
        };
        Some(answered(self.written(header, answer, now)))
    }

    /// Ends a session at its client's request, and confirms it.
    fn ended(&mut self, header: Header, reason: Reason, now: Now) -> Reaction {
        let key = self.remove(header.session, reason, now.ms).map_or(0, |session| session.key);
        answered(self.written(Header { key, ..header }, Body::Close(reason), now))
    }

    fn remove(&mut self, session: u64, reason: Reason, now_ms: u64) -> Option<Session> {
        let removed = self.sessions.remove(&session)?;
        self.ended.push_back((session, place(removed.client), now_ms + 1000 * u64::from(HOLDS_S + 1)));
        match reason {
            Reason::Limit => self.counters.limited += 1,
            Reason::Silence => self.counters.silent += 1,
            Reason::Done => self.counters.closed += 1,
            Reason::Wrong => self.counters.wrong += 1,
            Reason::Busy | Reason::Ends | Reason::Unwanted => {}
        }
        Some(removed)
    }

    fn forget(&mut self, now_ms: u64) {
        while self.ended.front().is_some_and(|(.., until_ms)| *until_ms <= now_ms) {
            self.ended.pop_front();
        }
    }

    /// Ends expired sessions; returns the messages to their clients.
    pub fn tick(&mut self, now: Now) -> Vec<(SocketAddr, Vec<u8>)> {
        self.forget(now.ms);
        let over = |(id, session): (&u64, &Session)| Some((*id, session.over(now.ms, &self.limits)?));
        let over: Vec<(u64, Reason)> = self.sessions.iter().filter_map(over).collect();
        let messages = over.into_iter().filter_map(|(id, reason)| self.farewell(id, reason, now)).collect();
        if let Some(store) = &mut self.store {
            store.tidy(&|session| self.sessions.contains_key(&session));
        }
        messages
    }

    /// Ends all sessions; returns the messages to their clients.
    pub fn end(&mut self, now: Now) -> Vec<(SocketAddr, Vec<u8>)> {
        let all: Vec<u64> = self.sessions.keys().copied().collect();
        all.into_iter().filter_map(|id| self.farewell(id, Reason::Ends, now)).collect()
    }

    fn farewell(&mut self, session: u64, reason: Reason, now: Now) -> Option<(SocketAddr, Vec<u8>)> {
        let removed = self.remove(session, reason, now.ms)?;
        let header = Header { key: removed.key, session, number: 0 };
        Some((removed.client, self.written(header, Body::Close(reason), now)))
    }

    /// Records the departures of a stream.
    pub fn departed(&mut self, session: u64, stamps: &[Stamp], source: Source) {
        self.counters.not_sent += u64::from(stamps.is_empty());
        if let Some(session) = self.sessions.get_mut(&session) {
            session.departed(stamps, source);
        }
    }

    fn written(&self, header: Header, body: Body, now: Now) -> Vec<u8> {
        Packet { header, body }.write(&self.keys, now.wall_ms)
    }
}

/// Address by which sessions are counted.
fn place(client: SocketAddr) -> IpAddr {
    const HOST_BITS: u32 = 64;
    match client.ip().to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> HOST_BITS << HOST_BITS)),
        v4 => v4,
    }
}

fn answered(answer: Vec<u8>) -> Reaction {
    Reaction { answer: Some(answer), job: None }
}
