//! The server against strangers: spoofed hellos, copies, truncated packets, clients that take without giving.

mod shared;

use live::serve::{Job, Limits, Reaction, Server};
use live::wire::{Body, Cookie, Grant, Header, Keys, Ordered, Packet, Reason, Source, Stamp, What, write_data};
use shared::{answer, at, called, client, keys, plain, take};
use std::net::{Ipv4Addr, SocketAddr};

const REQUEST: Grant = Grant { size: 1472, rate_bps: 100_000_000, bytes: 1_000_000, duration_ms: 10_000 };

fn server(limits: Limits) -> Server {
    called(limits, Keys::default())
}

/// A server that has the session 1 of the client 1.
fn opened(limits: Limits) -> Server {
    let mut server = server(limits);
    assert!(open(&mut server, 1, client(1), 0));
    server
}

fn hello(session: u64, cookie: Cookie) -> Vec<u8> {
    shared::hello(session, REQUEST, cookie)
}

/// The reply to a session's opening.
fn opening(server: &mut Server, session: u64, from: SocketAddr, ms: u64) -> Option<Body> {
    shared::open(server, session, from, REQUEST, ms).expect("a challenge").0
}

/// Whether a session opens.
fn open(server: &mut Server, session: u64, from: SocketAddr, ms: u64) -> bool {
    matches!(opening(server, session, from, ms), Some(Body::Accept { .. }))
}

/// The reply to client 1 in session 1.
fn ask(server: &mut Server, number: u32, body: Body, ms: u64) -> Option<Body> {
    answer(server, &plain(1, number, body), client(1), ms)
}

fn data(sequence: u64) -> Vec<u8> {
    let mut datagram = vec![0; 1472];
    write_data(1, 1, sequence, &mut datagram);
    datagram
}

#[test]
fn session_reports_when_packets_arrived() {
    let mut server = server(Limits::DEFAULT);
    let accepted = opening(&mut server, 1, client(1), 0);
    let Some(Body::Accept { grant, silence_ms: 5_000, memory: 4_096 }) = accepted else { panic!("{accepted:?}") };
    assert_eq!(grant, REQUEST);
    for (ms, sequence) in [(10, 0), (11, 1), (13, 3)] {
        assert_eq!(take(&mut server, &data(sequence), client(1), ms), Reaction::default());
    }
    let asked = Body::Ask { what: What::Arrivals, first: 0, count: 5 };
    let Some(Body::Report(report)) = ask(&mut server, 2, asked, 20) else { panic!() };
    let stamp = |sequence, ms: u64| Stamp { sequence, ns: ms * 1_000_000 };
    assert_eq!(report.stamps, [stamp(0, 10), stamp(1, 11), stamp(3, 13)]);
    assert_eq!((report.total, report.first, report.count, report.source), (3, 0, 5, Source::Kernel));
    assert_eq!(ask(&mut server, 3, Body::Ping, 21), Some(Body::Pong));
    assert_eq!(ask(&mut server, 4, Body::Close(Reason::Done), 22), Some(Body::Close(Reason::Done)));
    assert_eq!(server.counters().sessions, 0);
}

#[test]
fn half_open_handshakes_use_no_state_or_amplification() {
    let mut server = opened(Limits::DEFAULT);
    let before = server.counters();
    for number in 2..10_002 {
        let hello = hello(number, Cookie::default());
        let reaction = take(&mut server, &hello, client(number), number / 10);
        let answered = reaction.answer.expect("a challenge");
        assert!(answered.len() * 10 < hello.len(), "{} bytes for {}", answered.len(), hello.len());
        assert_eq!(reaction.job, None);
    }
    let after = server.counters();
    assert_eq!(after.challenged - before.challenged, 10_000);
    assert_eq!((after.sessions, after.promised_bps, after.begun), (1, REQUEST.rate_bps, 1));
    // The existing session is still served.
    assert_eq!(ask(&mut server, 3, Body::Ping, 1_001), Some(Body::Pong));
    assert!(open(&mut server, 2, client(2), 1_001));
}

#[test]
fn drops_unpadded_or_unsealed_hello() {
    let mut server = server(Limits::DEFAULT);
    let whole = hello(1, Cookie::default());
    let small = shared::hello(1, Grant { size: 1199, ..REQUEST }, Cookie::default());
    for datagram in [0, 3, 20, 59, 1199, 1200, 1471].map(|length| &whole[..length]).into_iter().chain([&small[..]]) {
        assert_eq!(take(&mut server, datagram, client(1), 0), Reaction::default(), "{} bytes", datagram.len());
    }
    assert_eq!(server.counters().dropped, 8);

    let (own, other) = (keys("0f"), keys("f0"));
    let mut keyed = called(Limits::DEFAULT, own.clone());
    let hello = Body::Hello { request: REQUEST, cookie: Cookie::default() };
    let packet = Packet { header: Header { key: 7, session: 1, number: 1 }, body: hello };
    let wall_ms = at(0).wall_ms;
    for (what, datagram) in [
        ("no seal", whole),
        ("another key", packet.write(&other, wall_ms)),
        ("too old", packet.write(&own, wall_ms - 5_001)),
    ] {
        assert_eq!(take(&mut keyed, &datagram, client(1), 0), Reaction::default(), "{what}");
    }
    let sealed = packet.write(&own, wall_ms);
    let answered = take(&mut keyed, &sealed, client(1), 0).answer.expect("a challenge");
    assert!(own.is_sealed(7, wall_ms, &answered) && answered.len() < sealed.len());
}

#[test]
fn rejects_cookie_of_other_address_or_session() {
    let mut server = server(Limits::DEFAULT);
    let (_, opening) = shared::open(&mut server, 1, client(1), REQUEST, 0).expect("a challenge");
    // Another address replays it: it is challenged, and gets no session.
    assert!(matches!(answer(&mut server, &opening, client(2), 1), Some(Body::Challenge(_))));
    // Its owner's copy gets the same answer again.
    assert!(matches!(answer(&mut server, &opening, client(1), 2), Some(Body::Accept { .. })));
    assert_eq!(server.counters().begun, 1);
    // Packets of the session from elsewhere are dropped, orders first of all.
    for body in [Body::Ping, Body::Close(Reason::Done), order(0, 64), Body::Data { sequence: 0 }] {
        assert_eq!(take(&mut server, &plain(1, 9, body), client(2), 3), Reaction::default());
    }
    ask(&mut server, 10, Body::Close(Reason::Done), 4);
    for ms in [5, 9_000] {
        assert_eq!(take(&mut server, &opening, client(1), ms), Reaction::default(), "a copy at {ms} ms");
    }
    assert!(matches!(answer(&mut server, &opening, client(1), 12_000), Some(Body::Challenge(_))));
    assert_eq!((server.counters().begun, server.counters().sessions), (1, 0));
}

const GOOD: Ordered =
    Ordered { first: 0, count: 64, lowest_bps: 10_000_000, highest_bps: 15_000_000, levels: 4, size: 1472 };

fn order(arrived: u32, count: u32) -> Body {
    Body::Order { stream: Ordered { count, ..GOOD }, arrived }
}

/// Orders a stream, which leaves at once.
fn ordered(server: &mut Server, number: u32, body: Body) -> Reaction {
    let reaction = take(server, &plain(1, number, body), client(1), 10);
    server.departed(1, &[], Source::Kernel);
    reaction
}

#[test]
fn sends_stream_once_and_within_grant() {
    let mut server = opened(Limits::DEFAULT);
    let mut send = |number, body| ordered(&mut server, number, body);
    let Some(Job { to, session: 1, stream, .. }) = send(5, order(0, 64)).job else { panic!() };
    assert_eq!((to, stream.count), (client(1), 64));
    assert_eq!(send(5, order(0, 64)), Reaction::default(), "a copy");
    assert_eq!(send(4, order(0, 64)), Reaction::default(), "an older one");
    // 64 * 1472 bytes were used; ten more would pass the 1 000 000 granted.
    for number in 6..15 {
        assert!(send(number, order(64, 64)).job.is_some(), "{number}");
    }
    let ended = send(15, order(64, 64));
    assert_eq!(ended.job, None);
    assert_eq!(Packet::read(&ended.answer.unwrap()).unwrap().body, Body::Close(Reason::Limit));
    assert_eq!((server.counters().limited, server.counters().sessions), (1, 0));
}

#[test]
fn invalid_orders_end_session() {
    for (wrong, expected) in [
        (Ordered { highest_bps: REQUEST.rate_bps + 1, ..GOOD }, Reason::Limit),
        (Ordered { size: 1473, ..GOOD }, Reason::Wrong),
        (Ordered { size: 8, ..GOOD }, Reason::Wrong),
        (Ordered { lowest_bps: 0, ..GOOD }, Reason::Wrong),
        (Ordered { lowest_bps: 80_000, ..GOOD }, Reason::Wrong),
        (Ordered { lowest_bps: 16_000_000, ..GOOD }, Reason::Wrong),
        (Ordered { count: u32::MAX, ..GOOD }, Reason::Wrong),
        (Ordered { first: u64::MAX, ..GOOD }, Reason::Wrong),
        // 28 bytes of payload and 28 of headers: 448 bits. 1000 packets take 2.24 s, their payloads 1.12 s.
        (
            Ordered { count: 1000, lowest_bps: 200_000, highest_bps: 200_000, levels: 1, size: 28, ..GOOD },
            Reason::Wrong,
        ),
    ] {
        let mut server = opened(Limits::DEFAULT);
        let found = ask(&mut server, 5, Body::Order { stream: wrong, arrived: 1 }, 1);
        assert_eq!(found, Some(Body::Close(expected)), "{wrong:?}");
    }
}

#[test]
fn stops_after_two_streams_without_arrivals() {
    let mut server = opened(Limits::DEFAULT);
    let streams = (5..20).filter(|number| ordered(&mut server, *number, order(0, 10)).job.is_some());
    assert_eq!(streams.count(), 2);
    assert_eq!((server.counters().silent, server.counters().sessions), (1, 0));
}

#[test]
fn closes_session_above_granted_rate() {
    let mut server =
        opened(Limits { grant: Grant { rate_bps: 8_000_000, ..Limits::DEFAULT.grant }, ..Limits::DEFAULT });
    // 1000 bytes per ms are granted. Twice as much, in packets of 1472 bytes, is 100 kB ahead after 100 ms, plus the refill of
    // the first 100 ms; the depth is 0.1 s of the rate: 100 kB.
    let taken = (0..1000)
        .take_while(|sequence| take(&mut server, &data(*sequence), client(1), sequence * 736 / 1000).answer.is_none());
    let taken = taken.count() * 1472;
    assert!((190_000..=202_000).contains(&taken), "{taken} bytes");
    assert_eq!(server.counters().limited, 1);
}

#[test]
fn sessions_have_limits_and_expire() {
    let mut server = opened(Limits { all_bps: 250_000_000, clients: 32, ..Limits::DEFAULT });
    assert!(open(&mut server, 2, client(2), 0));
    // 200 of 250 Mbit/s are promised: 100 more are not there, until the others' 10 s are over.
    let refused = opening(&mut server, 3, client(3), 4_000);
    let Some(Body::Refuse { code: Reason::Busy, retry_ms: 6_000, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(server.counters().promised_bps, 200_000_000);
    ask(&mut server, 3, Body::Ping, 4_500);
    let notified: Vec<SocketAddr> = server.tick(at(5_000)).into_iter().map(|(to, _)| to).collect();
    assert_eq!(notified, [client(2)], "silent for 5 s");
    assert!(open(&mut server, 4, client(4), 5_001));
    assert_eq!(server.end(at(5_002)).len(), 2);
    assert_eq!((server.counters().sessions, server.counters().silent), (0, 1));
}

#[test]
fn limits_sessions_per_address() {
    let mut server = server(Limits { per_address: 2, all_bps: 10_000_000_000, ..Limits::DEFAULT });
    let port = |port| SocketAddr::from((Ipv4Addr::new(10, 0, 0, 1), port));
    let host = |host: &str| SocketAddr::new(host.parse().expect("an address"), 5000);
    // An IPv6 host has 2^64 addresses.
    for (session, from, accepted) in [
        (1, port(1), true),
        (2, port(2), true),
        (3, port(3), false),
        (4, client(2), true),
        (5, host("2001:db8::1"), true),
        (6, host("2001:db8::2"), true),
        (7, host("2001:db8::3"), false),
        (8, host("2001:db8:0:1::1"), true),
    ] {
        match opening(&mut server, session, from, session) {
            Some(Body::Accept { .. }) if accepted => {}
            Some(Body::Refuse { code: Reason::Busy, text, .. }) if !accepted => {
                assert_eq!(text, "found 2 sessions of this address; the server allows 2");
            }
            other => panic!("{from}: {other:?}"),
        }
    }
    assert_eq!((server.counters().crowded, server.counters().refused), (2, 0));
}

#[test]
fn limits_session_churn_per_address() {
    let mut server = server(Limits::DEFAULT);
    let mut accepted = 0;
    for session in 1..=5_000 {
        accepted += u32::from(open(&mut server, session, client(1), session / 5));
        take(&mut server, &plain(session, 9, Body::Close(Reason::Done)), client(1), session / 5);
    }
    assert_eq!((accepted, server.counters().closed), (64, 64));
    assert!(open(&mut server, 9_999, client(2), 1_001));
    assert!(open(&mut server, 10_000, client(1), 13_000), "later");
}

#[test]
fn session_limits_waiting_streams() {
    let mut server = opened(Limits::DEFAULT);
    let orders = |number, server: &mut Server| {
        take(server, &plain(1, number, order(1, 64)), client(1), u64::from(number)).job.is_some()
    };
    assert_eq!([2, 3, 4].map(|number| orders(number, &mut server)), [true, true, false]);
    assert_eq!(server.counters().sent_bytes, 2 * 64 * 1472, "what is not sent is not charged");
    server.departed(1, &[], Source::Kernel);
    assert!(orders(4, &mut server), "it was asked for again");
}
