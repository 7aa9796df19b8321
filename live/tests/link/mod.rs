//! A computed link between a sender and the server itself: a rate, a drop-tail buffer, delays in both directions, losses.
//! Only the sender's waits move its clock.
#![allow(dead_code)]

use live::serve::{Limits, Now, Server};
use live::socket::{self, Arrival};
use live::transfer::{Carrier, Datagram, Outgoing, Session};
use live::wire::{Begin, Begun, Body, Cookie, Grant, HASH, Header, Keys, Packet, Source};
use packetscale_models::units::{Bytes, Ecn, Rate, Span, Time};
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// IP and UDP before a payload.
pub const HEADERS: usize = 28;
/// When the session began, and how far the server's clock is from the sender's.
const WALL_MS: u64 = 1_790_000_000_000;
const AHEAD_NS: u64 = 77_000_000_123;
pub const SESSION: u64 = 5;

/// Properties of a link.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub rate: Rate,
    pub rtt: Span,
    /// Full packets that wait at most, the one in service included.
    pub buffer: u64,
    pub packet: Bytes,
    /// One in this many datagrams is lost, in each direction; 0: none.
    pub one_in: u64,
}

/// Changes the server's packets.
pub type Lie = Box<dyn FnMut(&mut Packet)>;

pub struct Link {
    shape: Shape,
    pub server: Server,
    keys: Keys,
    now: Time,
    free: Time,
    there: VecDeque<(Time, Vec<u8>, socket::Mark)>,
    back: VecDeque<(Time, Vec<u8>)>,
    random: packetscale_models::units::Random,
    /// One in this many ECN-capable packets is marked; 0: none. And the number marked.
    pub marks_one_in: u64,
    pub marked: u64,
    /// From then on no packet passes, in either direction.
    pub dead_from: Time,
    /// Forges acknowledgments, as a hostile server would.
    pub lie: Option<Lie>,
    /// Datagrams that entered the link, and those that its buffer dropped.
    pub entered: u64,
    pub dropped: u64,
    /// Answers that do not fit into a packet: they are dropped, too.
    pub too_large: u64,
    /// The longest that a packet waited.
    pub longest: Span,
    /// One in this many of the sender's waits ends late, by this much; 0: none.
    pub late_one_in: u64,
    pub late: Span,
    waits: u64,
}

/// The client's address.
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 5000);

fn arrival(datagram: &[u8], ns: u64, mark: socket::Mark) -> Arrival {
    let time = socket::Time { ns, source: Source::Kernel, card_ns: None };
    Arrival { length: datagram.len(), from: CLIENT, time, mark }
}

impl Link {
    pub fn new(shape: Shape, limits: Limits) -> Link {
        Link::to(shape, Server::new(limits, Keys::default(), at(Time::ZERO), || [7; 32]), Keys::default())
    }

    pub fn to(shape: Shape, server: Server, keys: Keys) -> Link {
        Link {
            shape,
            server,
            keys,
            now: Time::ZERO,
            free: Time::ZERO,
            there: VecDeque::new(),
            back: VecDeque::new(),
            random: packetscale_models::units::Random::new(18),
            marks_one_in: 0,
            marked: 0,
            dead_from: Time::MAX,
            lie: None,
            entered: 0,
            dropped: 0,
            too_large: 0,
            longest: Span::ZERO,
            late_one_in: 0,
            late: Span::ZERO,
            waits: 0,
        }
    }

    /// Ends the session and drops packets in flight.
    pub fn open_again(&mut self, limits: Limits) {
        (self.there, self.back) = (VecDeque::new(), VecDeque::new());
        self.server = Server::new(limits, Keys::default(), at(self.now), || [7; 32]);
    }

    /// Lets time pass.
    pub fn pass(&mut self, long: Span) {
        self.now += long;
        self.happen(self.now);
    }

    /// The server's immediate reply to a packet, bypassing the link.
    pub fn ask(&mut self, number: u32, body: Body) -> Body {
        self.try_ask(number, body).expect("an answer")
    }

    /// The server's immediate reply to a packet, if any.
    pub fn try_ask(&mut self, number: u32, body: Body) -> Option<Body> {
        let keys = self.keys.clone();
        let datagram = self.write(number, body, &keys);
        self.take(&datagram)
    }

    /// A packet of the session, sealed with these keys.
    fn write(&self, number: u32, body: Body, keys: &Keys) -> Vec<u8> {
        let header = Header { key: keys.first().unwrap_or(0), session: SESSION, number };
        Packet { header, body }.write(keys, self.wall())
    }

    /// The server's immediate reply to a datagram.
    fn take(&mut self, datagram: &[u8]) -> Option<Body> {
        let answer = self.server.receive(datagram, &arrival(datagram, 0, socket::Mark::None), at(self.now)).answer;
        answer.map(|answer| Packet::read(&answer).expect("a packet").body)
    }

    fn wall(&self) -> u64 {
        at(self.now).wall_ms
    }

    /// Opens a session.
    pub fn open(&mut self, request: Grant) -> Grant {
        let Body::Challenge(cookie) = self.ask(1, Body::Hello { request, cookie: Cookie::default() }) else { panic!() };
        match self.ask(2, Body::Hello { request, cookie }) {
            Body::Accept { grant, .. } => grant,
            other => panic!("{other:?}"),
        }
    }

    /// Begins a flow.
    pub fn begin(&mut self, number: u32, begin: Begin) -> Result<Begun, String> {
        match self.ask_until(number, Body::Begin(begin)) {
            Body::Begun(begun) => Ok(begun),
            Body::Refuse { text, .. } => Err(text),
            other => panic!("{other:?}"),
        }
    }

    /// Repeats a request until there is a reply: a server thread reads and writes files.
    fn ask_until(&mut self, number: u32, body: Body) -> Body {
        loop {
            match self.try_ask(number, body.clone()) {
                Some(answer) => return answer,
                None => std::thread::yield_now(),
            }
        }
    }

    /// Reports the end of a file until its receiver knows whether it is saved.
    pub fn finish(&mut self, flow: u32, bytes: u64, hash: [u8; HASH]) -> Body {
        self.ask_until(flow, Body::Finish { bytes, hash })
    }

    /// A segment that reaches the server at once; returns the reply.
    pub fn inject(&mut self, flow: u32, sequence: u64, data: &[u8]) -> Option<Body> {
        self.forge(flow, sequence, data, &self.keys.clone())
    }

    /// A segment tagged with these keys.
    pub fn forge(&mut self, flow: u32, sequence: u64, data: &[u8], keys: &Keys) -> Option<Body> {
        let mut datagram = self.write(flow, Body::Segment { sequence, transmission: 0 }, keys);
        datagram.extend(data);
        datagram.extend(keys.tag(keys.first().unwrap_or(0), &datagram).into_iter().flatten());
        self.take(&datagram)
    }

    pub fn session<'a>(&self, keys: &'a Keys, grant: Grant, patience: Span) -> Session<'a> {
        Session { id: SESSION, keys, key: keys.first().unwrap_or(0), grant, wall_ms: self.wall(), patience }
    }

    fn loses(&mut self) -> bool {
        self.shape.one_in > 0 && self.random.bits().is_multiple_of(self.shape.one_in)
    }

    /// The server's next event, and its time.
    fn next_there(&self) -> Time {
        let first = self.there.front().map_or(Time::MAX, |(at, ..)| *at);
        first.min(self.server.next_acknowledgment())
    }

    /// Lets happen at the server what happens until then.
    fn happen(&mut self, until: Time) {
        while self.next_there() <= until {
            let when = self.next_there();
            let first = self.there.pop_front_if(|(at, ..)| *at <= when);
            let mut answers = Vec::new();
            if let Some((at_server, datagram, mark)) = first {
                let arrival = arrival(&datagram, at_server.nanos() + AHEAD_NS, mark);
                answers.extend(self.server.receive(&datagram, &arrival, at(at_server)).answer);
            } else {
                answers.extend(self.server.acknowledge(at(when)).into_iter().map(|(_, datagram)| datagram));
            }
            for answer in answers {
                self.return_way(when, answer);
            }
        }
    }

    fn return_way(&mut self, when: Time, mut answer: Vec<u8>) {
        let too_large = answer.len() + HEADERS > self.shape.packet.get() as usize;
        self.too_large += u64::from(too_large);
        if too_large || when >= self.dead_from || self.loses() {
            return;
        }
        if let Some(lie) = &mut self.lie
            && let Some(mut packet) = Packet::read(&answer)
        {
            lie(&mut packet);
            answer = packet.write(&self.keys, at(when).wall_ms);
        }
        self.back.push_back((when + self.shape.rtt / 2, answer));
    }
}

fn at(time: Time) -> Now {
    let ms = time.nanos() / 1_000_000;
    Now { ms, wall_ms: WALL_MS + ms, steps: 0 }
}

impl Carrier for Link {
    fn now(&mut self) -> Time {
        self.now
    }

    fn send(&mut self, datagram: &[u8], ecn: Ecn, _: bool) -> io::Result<Time> {
        self.entered += 1;
        let size = Bytes::new((datagram.len() + HEADERS) as u64);
        let waits = self.free.saturating_since(self.now);
        if waits >= self.shape.rate.time_for(self.shape.packet) * self.shape.buffer {
            self.dropped += 1;
            return Ok(self.now);
        }
        self.longest = self.longest.max(waits);
        self.free = self.free.max(self.now) + self.shape.rate.time_for(size);
        if self.now < self.dead_from && !self.loses() {
            let marks = ecn.is_capable() && self.marks_one_in > 0 && self.entered.is_multiple_of(self.marks_one_in);
            self.marked += u64::from(marks);
            let mark = if marks { socket::Mark::Ce } else { socket::Mark::None };
            self.there.push_back((self.free + self.shape.rtt / 2, datagram.to_vec(), mark));
        }
        Ok(self.now)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<Datagram>> {
        self.happen(self.now);
        let Some((at, datagram)) = self.back.pop_front_if(|(at, _)| *at <= self.now) else { return Ok(None) };
        buffer[..datagram.len()].copy_from_slice(&datagram);
        Ok(Some(Datagram { length: datagram.len(), at }))
    }

    fn wait(&mut self, until: Time) -> io::Result<()> {
        // Answers come no earlier than half a round trip after what happens at the server.
        loop {
            let comes = self.back.front().map_or(Time::MAX, |(at, _)| *at);
            let there = self.next_there();
            if there == Time::MAX || there + self.shape.rtt / 2 > comes.min(until) {
                self.happen(comes.min(until));
                let comes = self.back.front().map_or(Time::MAX, |(at, _)| *at);
                self.now = self.now.max(comes.min(until));
                self.waits += 1;
                if self.late_one_in > 0 && self.waits.is_multiple_of(self.late_one_in) {
                    self.pass(self.late);
                }
                return Ok(());
            }
            self.happen(there);
        }
    }
}

/// Flows that measure, each with a controller.
pub struct Measured {
    pub flows: Vec<(u32, Outgoing)>,
    pub until: Time,
}

impl live::transfer::Flows for Measured {
    fn count(&self) -> usize {
        self.flows.len()
    }

    fn flow(&mut self, flow: usize) -> Option<(u32, &mut Outgoing)> {
        self.flows.get_mut(flow).map(|(number, outgoing)| (*number, outgoing))
    }

    fn fill(&mut self, _: usize, segment: &packetscale_models::transport::Segment, _: &mut [u8]) -> usize {
        segment.size.get() as usize - HEADERS - live::wire::SEGMENT_HEAD
    }

    fn step(&mut self, now: Time) -> Result<live::transfer::Next, live::transfer::Ends> {
        use live::transfer::Next;
        Ok(if now >= self.until { Next::Over } else { Next::At(self.until) })
    }
}
