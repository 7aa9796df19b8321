//! A name may have several addresses (`localhost` has one of each family), and a server may listen at one of them only: sends a
//! hello to all at once, and uses the first that replies (as RFC 8305 does, without its order of preference).

use super::client::{PATIENCE_NS, POLL, TRIES, any};
use crate::socket::realtime_ns;
use crate::wire::{Body, Cookie, Grant, Header, Keys, LEAST_SIZE, MOST_SIZE, Packet};
use harness::realtime::clock::monotonic_ns;
use std::net::{SocketAddr, UdpSocket};

/// The first address at which a server answers; `None`: none does. A single address is not tried.
pub fn answering(addresses: &[SocketAddr], keys: &Keys) -> Option<SocketAddr> {
    let sockets: Vec<(SocketAddr, UdpSocket)> = match addresses {
        [one] => return Some(*one),
        several => several.iter().filter_map(|address| Some((*address, towards(*address)?))).collect(),
    };
    let mut session = [0; 8];
    getrandom::fill(&mut session).ok()?;
    let header = Header { key: keys.first().unwrap_or(0), session: u64::from_be_bytes(session), number: 1 };
    for _ in 0..TRIES {
        // Requests nothing, and does not return the cookie.
        let request = Grant { size: LEAST_SIZE as u16, rate_bps: 0, bytes: 0, duration_ms: 0 };
        let hello = Packet { header, body: Body::Hello { request, cookie: Cookie::default() } };
        let datagram = hello.write(keys, realtime_ns() / 1_000_000);
        sockets.iter().for_each(|(_, socket)| drop(socket.send(&datagram)));
        let until = monotonic_ns() + PATIENCE_NS;
        while !sockets.is_empty() && monotonic_ns() < until {
            let mut all = sockets.iter();
            if let Some((address, _)) = all.find(|(_, socket)| has_answered(socket, header.session, keys)) {
                return Some(*address);
            }
        }
    }
    None
}

fn towards(address: SocketAddr) -> Option<UdpSocket> {
    let socket = UdpSocket::bind(any(address)).ok()?;
    socket.connect(address).ok()?;
    socket.set_read_timeout(Some(POLL)).ok()?;
    Some(socket)
}

fn has_answered(socket: &UdpSocket, session: u64, keys: &Keys) -> bool {
    let mut buffer = [0; MOST_SIZE];
    let Ok(length) = socket.recv(&mut buffer) else { return false };
    let datagram = &buffer[..length];
    Packet::read(datagram).is_some_and(|packet| {
        packet.header.session == session && packet.is_genuine(datagram, keys, realtime_ns() / 1_000_000)
    })
}
