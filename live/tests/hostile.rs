//! Datagrams of every kind, with random bytes changed, truncated and repeated, for a server with sessions and files: no panic,
//! no amplification to unproved addresses, bounded memory, and service for another client.

mod shared;

use live::serve::{Limits, Server};
use live::store::{Keeping, Opening, Part, Store};
use live::wire::{Begin, Begun, Body, Cookie, Grant, HASH, Keys, Packet, Purpose, Reason, What};
use packetscale_models::units::Random;
use shared::{answer, at, called, client, plain, take, vectors};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const REQUEST: Grant = Grant { size: 1472, rate_bps: 100_000_000, bytes: 1 << 40, duration_ms: 1_000_000_000 };
const LIMITS: Limits = Limits { grant: REQUEST, clients: 4, ..Limits::DEFAULT };
/// The client that means well, and where the others come from.
const FRIEND: u64 = 1;
const STRANGER: u64 = 2;

/// Counts files without storing them.
#[derive(Default)]
struct Counts {
    opened: Arc<AtomicU64>,
    appended: Arc<AtomicU64>,
}

struct Counted(Arc<AtomicU64>);

impl Store for Counts {
    fn open(&mut self, _: u64, name: &str, restart: bool) -> Opening {
        self.opened.fetch_add(1, Ordering::Relaxed);
        match name.len() % 4 {
            0 => Opening::Refused(Reason::Busy, 1, "not now".to_string()),
            1 if !restart => Opening::Later,
            _ => Opening::Open(Box::new(Counted(Arc::clone(&self.appended))), 0, [0; HASH]),
        }
    }

    fn tidy(&mut self, _: &dyn Fn(u64) -> bool) {}
}

impl Part for Counted {
    fn append(&mut self, data: &[u8]) -> io::Result<()> {
        match self.0.fetch_add(data.len() as u64, Ordering::Relaxed) % 1000 {
            999 => Err(io::Error::other("full")),
            _ => Ok(()),
        }
    }

    fn keep(&mut self, bytes: u64, _: &[u8; HASH]) -> Keeping {
        match bytes % 3 {
            0 => Keeping::Later,
            1 => Keeping::Kept,
            _ => Keeping::Refused("another hash".to_string()),
        }
    }
}

/// Opens a session, if there may be one.
fn open(server: &mut Server, session: u64, ms: u64) -> bool {
    let opening = shared::open(server, session, client(session), REQUEST, ms);
    matches!(opening, Some((Some(Body::Accept { .. }), _)))
}

/// Bodies of each kind: those of the page's vectors, and others.
fn bodies() -> Vec<Body> {
    let begin = |purpose| {
        Body::Begin(Begin { size: 1400, delayed_ack: 2, delayed_ack_us: 1000, window: 100, stamps: true, purpose })
    };
    let of_page = vectors().into_iter().map(|(_, datagram)| Packet::read(&datagram).expect("a packet").body);
    let others = [
        Body::Hello { request: REQUEST, cookie: Cookie::default() },
        Body::Accept { grant: REQUEST, silence_ms: 5, memory: 6 },
        Body::Refuse { code: Reason::Busy, retry_ms: 7, text: "why".to_string() },
        Body::Data { sequence: 3 },
        Body::Ask { what: What::Departures, first: 0, count: u32::MAX },
        Body::Ping,
        Body::Pong,
        begin(Purpose::Measure),
        begin(Purpose::File { name: "ab.txt".to_string(), restart: false }),
        Body::Begun(Begun { window: 4, offset: 0, hash: [0; HASH] }),
        Body::Segment { sequence: 0, transmission: 0 },
        Body::Segment { sequence: 1, transmission: 1 },
        Body::Finish { bytes: 1, hash: [1; HASH] },
        Body::Finished,
    ];
    of_page.chain(others).collect()
}

/// A genuine datagram of the stranger's, with some bytes changed or cut off, or none.
fn drawn(random: &mut Random, bodies: &[Body], session: u64) -> Vec<u8> {
    let body = &bodies[(random.bits() % bodies.len() as u64) as usize];
    let mut datagram = plain(session, 3 + (random.bits() % 8) as u32, body.clone());
    if matches!(body, Body::Segment { .. } | Body::Data { .. }) {
        // The place, too: a random byte of it would hardly ever be near.
        datagram[20..28].copy_from_slice(&(random.bits() % 40).to_be_bytes());
        datagram.extend((0..random.bits() % 1410).map(|byte| byte as u8));
    }
    if random.bits().is_multiple_of(4) {
        datagram.truncate((random.bits() % (datagram.len() as u64 + 1)) as usize);
    }
    for _ in 0..random.bits() % 4 {
        // Mostly in the headers.
        let at = (random.bits() % if random.bits().is_multiple_of(4) { 1472 } else { 60 }) as usize;
        if let Some(byte) = datagram.get_mut(at) {
            *byte = random.bits() as u8;
        }
    }
    datagram
}

#[test]
fn server_survives_any_datagram() {
    let many: u64 = if std::env::var_os("PACKETSCALE_LONG").is_some() { 10_000_000 } else { 100_000 };
    let counts = Counts::default();
    let opened = Arc::clone(&counts.opened);
    let mut server = called(LIMITS, Keys::default()).keeping(Box::new(counts));
    assert!(open(&mut server, FRIEND, 0));
    let (mut random, bodies) = (Random::new(18), bodies());
    let (mut session, mut sessions, mut answers) = (STRANGER, 0u64, 0u64);
    for round in 0..many {
        // A millisecond each ten datagrams. A stranger's session that has ended comes again under another number.
        let ms = round / 10;
        if !server.has(session) && round.is_multiple_of(50) {
            session += 1;
            sessions += u64::from(open(&mut server, session, ms));
        }
        let datagram = drawn(&mut random, &bodies, session);
        let reply = take(&mut server, &datagram, client(session), ms).answer;
        answers += u64::from(reply.is_some());
        if let Some(reply) = &reply {
            assert!(reply.len() <= 1472 && Packet::read(reply).is_some(), "{round}");
            assert!(server.has(session) || reply.len() <= datagram.len().max(61), "{round}: nobody has proved himself");
        }
        server.acknowledge(at(ms));
        if round.is_multiple_of(1000) {
            server.tick(at(ms));
            let pong = answer(&mut server, &plain(FRIEND, round as u32, Body::Ping), client(FRIEND), ms);
            assert_eq!(pong, Some(Body::Pong), "{round}");
        }
    }
    let counters = server.counters();
    eprintln!("{sessions} sessions, {answers} answers, {} files opened: {counters:?}", opened.load(Ordering::Relaxed));
    assert!(counters.sessions <= 2 && counters.promised_bps <= 2 * REQUEST.rate_bps);
    // Two requests at once and one a second: each session lasts much less.
    assert!(opened.load(Ordering::Relaxed) <= many / 100 + 2 * sessions + many / 10_000);
    assert!(sessions > many / 10_000 && answers > many / 10, "the test looks at nothing: {sessions} {answers}");
}
