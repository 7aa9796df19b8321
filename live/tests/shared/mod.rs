//! A server, packets of unknown clients, and the server's replies.
#![allow(dead_code, reason = "each program of tests needs a part")]

use live::probe::Client;
use live::serve::{Counters, Limits, Now, Reaction, Server, Serving, serve};
use live::socket::{Arrival, Mark, Time};
use live::wire::{Body, Cookie, Grant, Header, Keys, Ordered, Packet, Source};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

pub const REQUEST: Grant = Grant { size: 1472, rate_bps: 100_000_000, bytes: 1_000_000, duration_ms: 60_000 };
pub const LOCAL: &str = "127.0.0.1:0";

/// A stream of `count` packets of a size, at 40 to 60 Mbit/s.
pub const fn stream(count: u32, size: u16) -> Ordered {
    Ordered { first: 0, count, lowest_bps: 40_000_000, highest_bps: 60_000_000, levels: 4, size }
}

pub fn keys(byte: &str) -> Keys {
    Keys::parse(&format!("7 {}", byte.repeat(16))).expect("a key")
}

/// A server of this machine, and its counters.
pub fn serving(address: &str, limits: Limits, keys: Keys) -> (Serving, Receiver<Counters>) {
    let (counters_tx, counters_rx) = mpsc::channel();
    let serving = serve(address.parse().expect("an address"), limits, keys, false, move |counters| {
        let _ = counters_tx.send(*counters);
    });
    (serving.expect("a server"), counters_rx)
}

/// A server of this machine without keys, and a session of it.
pub fn session(address: &str, request: Grant) -> (Serving, Receiver<Counters>, Client) {
    let (serving, counters_rx) = serving(address, Limits::DEFAULT, Keys::default());
    let client = Client::open(serving.address, Keys::default(), request).expect("a session");
    (serving, counters_rx, client)
}

pub fn at(ms: u64) -> Now {
    Now { ms, wall_ms: 1_790_000_000_000 + ms, steps: 0 }
}

/// A server that is called directly, without a clock.
pub fn called(limits: Limits, keys: Keys) -> Server {
    Server::new(limits, keys, at(0), || [7; 32])
}

/// The address of a client.
pub fn client(number: u64) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(0x0a00_0000 + number as u32), 5000))
}

/// A packet without a key.
pub fn plain(session: u64, number: u32, body: Body) -> Vec<u8> {
    Packet { header: Header { key: 0, session, number }, body }.write(&Keys::default(), 0)
}

pub fn hello(session: u64, request: Grant, cookie: Cookie) -> Vec<u8> {
    plain(session, 1, Body::Hello { request, cookie })
}

pub fn take(server: &mut Server, datagram: &[u8], from: SocketAddr, ms: u64) -> Reaction {
    let time = Time { ns: ms * 1_000_000, source: Source::Kernel, card_ns: None };
    server.receive(datagram, &Arrival { length: datagram.len(), from, time, mark: Mark::Ect1 }, at(ms))
}

pub fn answer(server: &mut Server, datagram: &[u8], from: SocketAddr, ms: u64) -> Option<Body> {
    let answer = take(server, datagram, from, ms).answer?;
    Some(Packet::read(&answer).expect("a packet").body)
}

/// Opens a session; returns the answer to the second hello, or `None` where there was no challenge, and that hello.
pub fn open(
    server: &mut Server,
    session: u64,
    from: SocketAddr,
    request: Grant,
    ms: u64,
) -> Option<(Option<Body>, Vec<u8>)> {
    let Some(Body::Challenge(cookie)) = answer(server, &hello(session, request, Cookie::default()), from, ms) else {
        return None;
    };
    let hello = hello(session, request, cookie);
    Some((answer(server, &hello, from, ms), hello))
}

/// A socket that writes packets of the wire format by hand.
pub struct Stranger {
    pub socket: UdpSocket,
    request: Grant,
}

impl Stranger {
    pub fn new(server: SocketAddr, request: Grant) -> Stranger {
        let socket = UdpSocket::bind(LOCAL).expect("a socket");
        socket.connect(server).expect("connects");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("set");
        Stranger { socket, request }
    }

    pub fn send(&self, session: u64, number: u32, body: Body) {
        self.socket.send(&plain(session, number, body)).expect("sent");
    }

    /// The next packet, unless none comes in time.
    pub fn received(&self) -> Option<Body> {
        let mut buffer = [0; 2000];
        let length = self.socket.recv(&mut buffer).ok()?;
        Some(Packet::read(&buffer[..length]).expect("a packet").body)
    }

    pub fn challenged(&self, session: u64) -> Cookie {
        self.send(session, 1, Body::Hello { request: self.request, cookie: Cookie::default() });
        match self.received() {
            Some(Body::Challenge(cookie)) => cookie,
            other => panic!("{other:?}"),
        }
    }

    pub fn open(&self, session: u64) {
        let cookie = self.challenged(session);
        self.send(session, 2, Body::Hello { request: self.request, cookie });
        assert!(matches!(self.received(), Some(Body::Accept { .. })));
    }
}

/// The test vectors of docs/wire-format.md: names and datagrams.
pub fn vectors() -> Vec<(&'static str, Vec<u8>)> {
    let page = include_str!("../../../docs/wire-format.md");
    let (_, after) = page.split_once("## Test vectors").expect("the section");
    let mut found = Vec::new();
    let mut blocks = after.split("```");
    while let (Some(before), Some(block)) = (blocks.next(), blocks.next()) {
        let name = before.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let digits: Vec<u8> =
            block.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).expect("hex") as u8).collect();
        found.push((name.trim_end_matches(':'), digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()));
    }
    found
}
