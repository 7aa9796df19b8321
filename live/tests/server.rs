//! The server against strangers: spoofed hellos, copies, truncated packets, clients that take without giving.

use live::serve::{Job, Limits, Now, Reaction, Server};
use live::socket::{Arrival, Mark, Time};
use live::wire::{Body, Cookie, Grant, Header, Keys, Ordered, Packet, Reason, Source, Stamp, What, write_data};
use std::net::{Ipv4Addr, SocketAddr};

const WISH: Grant = Grant { size: 1472, rate_bps: 100_000_000, bytes: 1_000_000, duration_ms: 10_000 };

fn at(ms: u64) -> Now {
    Now { ms, wall_ms: 1_790_000_000_000 + ms, steps: 0 }
}

fn server(limits: Limits) -> Server {
    Server::new(limits, Keys::default(), at(0), || [7; 32])
}

fn client(number: u32) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(0x0a00_0000 + number), 5000))
}

fn plain(session: u64, number: u32, body: Body) -> Vec<u8> {
    Packet { header: Header { key: 0, session, number }, body }.write(&Keys::default(), 0)
}

fn hello(session: u64, cookie: Cookie) -> Vec<u8> {
    plain(session, 1, Body::Hello { wish: WISH, cookie })
}

fn take(server: &mut Server, datagram: &[u8], from: SocketAddr, now: Now) -> Reaction {
    let time = Time { ns: now.ms * 1_000_000, source: Source::Kernel, card_ns: None };
    server.receive(datagram, &Arrival { length: datagram.len(), from, time, mark: Mark::Ect1 }, now)
}

fn answer(server: &mut Server, datagram: &[u8], from: SocketAddr, now: Now) -> Option<Body> {
    let answer = take(server, datagram, from, now).answer?;
    Some(Packet::read(&answer).expect("a packet").body)
}

fn challenged(server: &mut Server, session: u64, from: SocketAddr, now: Now) -> Cookie {
    match answer(server, &hello(session, Cookie::default()), from, now) {
        Some(Body::Challenge(cookie)) => cookie,
        other => panic!("{other:?}"),
    }
}

/// Opens a session; returns the answer to the second hello, and that hello.
fn open(server: &mut Server, session: u64, from: SocketAddr, now: Now) -> (Option<Body>, Vec<u8>) {
    let hello = hello(session, challenged(server, session, from, now));
    (answer(server, &hello, from, now), hello)
}

fn data(sequence: u64) -> Vec<u8> {
    let mut datagram = vec![0; 1472];
    write_data(1, 1, sequence, &mut datagram);
    datagram
}

#[test]
fn a_session_tells_when_packets_arrived() {
    let mut server = server(Limits::DEFAULT);
    let (accepted, _) = open(&mut server, 1, client(1), at(0));
    let Some(Body::Accept { grant, silence_ms: 5_000, memory: 4_096 }) = accepted else { panic!("{accepted:?}") };
    assert_eq!(grant, WISH);
    for (ms, sequence) in [(10, 0), (11, 1), (13, 3)] {
        assert_eq!(take(&mut server, &data(sequence), client(1), at(ms)), Reaction::default());
    }
    let ask = plain(1, 2, Body::Ask { what: What::Arrivals, first: 0, count: 5 });
    let Some(Body::Report(report)) = answer(&mut server, &ask, client(1), at(20)) else { panic!() };
    let stamp = |sequence, ms: u64| Stamp { sequence, ns: ms * 1_000_000 };
    assert_eq!(report.stamps, [stamp(0, 10), stamp(1, 11), stamp(3, 13)]);
    assert_eq!((report.total, report.first, report.count, report.source), (3, 0, 5, Source::Kernel));
    assert_eq!(answer(&mut server, &plain(1, 3, Body::Ping), client(1), at(21)), Some(Body::Pong));
    let close = plain(1, 4, Body::Close(Reason::Done));
    assert_eq!(answer(&mut server, &close, client(1), at(22)), Some(Body::Close(Reason::Done)));
    assert_eq!(server.counters().sessions, 0);
}

#[test]
fn ten_thousand_half_open_handshakes_keep_nothing_and_are_answered_with_less_than_they_sent() {
    let mut server = server(Limits::DEFAULT);
    assert!(matches!(open(&mut server, 1, client(1), at(0)).0, Some(Body::Accept { .. })));
    let before = server.counters();
    for number in 2..10_002 {
        let hello = hello(u64::from(number), Cookie::default());
        let reaction = take(&mut server, &hello, client(number), at(u64::from(number) / 10));
        let answered = reaction.answer.expect("a challenge");
        assert!(answered.len() * 10 < hello.len(), "{} bytes for {}", answered.len(), hello.len());
        assert_eq!(reaction.job, None);
    }
    let after = server.counters();
    assert_eq!(after.challenged - before.challenged, 10_000);
    assert_eq!((after.sessions, after.promised_bps, after.begun), (1, WISH.rate_bps, 1));
    // Who was there before is served as before.
    assert_eq!(answer(&mut server, &plain(1, 3, Body::Ping), client(1), at(1_001)), Some(Body::Pong));
    assert!(matches!(open(&mut server, 2, client(2), at(1_001)).0, Some(Body::Accept { .. })));
}

#[test]
fn a_hello_that_is_not_padded_or_not_sealed_is_dropped() {
    let mut server = server(Limits::DEFAULT);
    let whole = hello(1, Cookie::default());
    for length in [0, 3, 20, 59, 1199, 1200, 1471] {
        assert_eq!(take(&mut server, &whole[..length], client(1), at(0)), Reaction::default(), "{length}");
    }
    let small = plain(1, 1, Body::Hello { wish: Grant { size: 1199, ..WISH }, cookie: Cookie::default() });
    assert_eq!(take(&mut server, &small, client(1), at(0)), Reaction::default());
    assert_eq!(server.counters().dropped, 8);

    let keys = Keys::parse("7 000102030405060708090a0b0c0d0e0f").unwrap();
    let other = Keys::parse("7 ff0102030405060708090a0b0c0d0e0f").unwrap();
    let mut keyed = Server::new(Limits::DEFAULT, keys.clone(), at(0), || [7; 32]);
    assert_eq!(take(&mut keyed, &whole, client(1), at(0)), Reaction::default(), "no seal");
    let packet = Packet {
        header: Header { key: 7, session: 1, number: 1 },
        body: Body::Hello { wish: WISH, cookie: Cookie::default() },
    };
    let sealed = |keys: &Keys, wall_ms| packet.write(keys, wall_ms);
    let wall_ms = at(0).wall_ms;
    assert_eq!(take(&mut keyed, &sealed(&other, wall_ms), client(1), at(0)), Reaction::default(), "another key");
    assert_eq!(take(&mut keyed, &sealed(&keys, wall_ms - 5_001), client(1), at(0)), Reaction::default(), "too old");
    let answered = take(&mut keyed, &sealed(&keys, wall_ms), client(1), at(0)).answer.expect("a challenge");
    assert!(keys.is_sealed(7, wall_ms, &answered) && answered.len() < sealed(&keys, wall_ms).len());
}

#[test]
fn a_cookie_of_another_address_or_of_an_ended_session_begins_nothing() {
    let mut server = server(Limits::DEFAULT);
    let (_, opening) = open(&mut server, 1, client(1), at(0));
    // Another address sends a copy: it is asked to prove itself, and gets no session.
    assert!(matches!(answer(&mut server, &opening, client(2), at(1)), Some(Body::Challenge(_))));
    // Its owner's copy gets the same answer again.
    assert!(matches!(answer(&mut server, &opening, client(1), at(2)), Some(Body::Accept { .. })));
    assert_eq!(server.counters().begun, 1);
    // Packets of the session from elsewhere are dropped, orders first of all.
    for body in [Body::Ping, Body::Close(Reason::Done), order(0, 64), Body::Data { sequence: 0 }] {
        assert_eq!(take(&mut server, &plain(1, 9, body), client(2), at(3)), Reaction::default());
    }
    answer(&mut server, &plain(1, 10, Body::Close(Reason::Done)), client(1), at(4));
    for ms in [5, 9_000] {
        assert_eq!(take(&mut server, &opening, client(1), at(ms)), Reaction::default(), "a copy at {ms} ms");
    }
    assert!(matches!(answer(&mut server, &opening, client(1), at(12_000)), Some(Body::Challenge(_))));
    assert_eq!((server.counters().begun, server.counters().sessions), (1, 0));
}

fn order(arrived: u32, count: u32) -> Body {
    let stream = Ordered { first: 0, count, lowest_bps: 10_000_000, highest_bps: 15_000_000, levels: 4, size: 1472 };
    Body::Order { stream, arrived }
}

#[test]
fn a_stream_is_sent_once_for_its_order_and_never_beyond_the_grant() {
    let mut server = server(Limits::DEFAULT);
    open(&mut server, 1, client(1), at(0));
    let mut send = |number, body| {
        let reaction = take(&mut server, &plain(1, number, body), client(1), at(10));
        server.departed(1, &[], Source::Kernel);
        reaction
    };
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
fn orders_that_do_not_fit_end_the_session() {
    let good = Ordered { first: 0, count: 64, lowest_bps: 10_000_000, highest_bps: 15_000_000, levels: 4, size: 1472 };
    for (wrong, expected) in [
        (Ordered { highest_bps: WISH.rate_bps + 1, ..good }, Reason::Limit),
        (Ordered { size: 1473, ..good }, Reason::Wrong),
        (Ordered { size: 8, ..good }, Reason::Wrong),
        (Ordered { lowest_bps: 0, ..good }, Reason::Wrong),
        (Ordered { lowest_bps: 80_000, ..good }, Reason::Wrong),
        (Ordered { lowest_bps: 16_000_000, ..good }, Reason::Wrong),
        (Ordered { count: u32::MAX, ..good }, Reason::Wrong),
        (Ordered { first: u64::MAX, ..good }, Reason::Wrong),
    ] {
        let mut server = server(Limits::DEFAULT);
        open(&mut server, 1, client(1), at(0));
        let order = plain(1, 5, Body::Order { stream: wrong, arrived: 0 });
        let found = answer(&mut server, &order, client(1), at(1));
        assert_eq!(found, Some(Body::Close(expected)), "{wrong:?}");
    }
}

#[test]
fn a_client_to_which_nothing_arrives_is_sent_no_more_after_two_streams() {
    let mut server = server(Limits::DEFAULT);
    open(&mut server, 1, client(1), at(0));
    let streams = (5..20).filter(|number| {
        let reaction = take(&mut server, &plain(1, *number, order(0, 10)), client(1), at(10));
        server.departed(1, &[], Source::Kernel);
        reaction.job.is_some()
    });
    assert_eq!(streams.count(), 2);
    assert_eq!((server.counters().silent, server.counters().sessions), (1, 0));
}

#[test]
fn a_client_that_sends_faster_than_granted_is_cut_off() {
    let mut server =
        server(Limits { grant: Grant { rate_bps: 8_000_000, ..Limits::DEFAULT.grant }, ..Limits::DEFAULT });
    open(&mut server, 1, client(1), at(0));
    // 1000 bytes per ms are granted. Twice as much, in packets of 1472 bytes, is 100 kB ahead after 100 ms, plus what the
    // first 100 ms bring; the depth is 0.1 s of the rate: 100 kB.
    let mut taken = 0;
    for sequence in 0..1000 {
        let reaction = take(&mut server, &data(sequence), client(1), at(sequence * 736 / 1000));
        if reaction.answer.is_some() {
            break;
        }
        taken += 1472;
    }
    assert!((190_000..=202_000).contains(&taken), "{taken} bytes");
    assert_eq!(server.counters().limited, 1);
}

#[test]
fn sessions_have_a_rate_a_number_and_an_end() {
    let limits = Limits { all_bps: 250_000_000, clients: 32, ..Limits::DEFAULT };
    let mut server = server(limits);
    for number in 1..=2 {
        assert!(matches!(open(&mut server, u64::from(number), client(number), at(0)).0, Some(Body::Accept { .. })));
    }
    // 200 of 250 Mbit/s are promised: 100 more are not there, until the others' 10 s are over.
    let refused = open(&mut server, 3, client(3), at(4_000)).0;
    let Some(Body::Refuse { code: Reason::Busy, retry_ms: 6_000, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(server.counters().promised_bps, 200_000_000);
    answer(&mut server, &plain(1, 3, Body::Ping), client(1), at(4_500));
    let told: Vec<SocketAddr> = server.tick(at(5_000)).into_iter().map(|(to, _)| to).collect();
    assert_eq!(told, [client(2)], "silent for 5 s");
    assert!(matches!(open(&mut server, 4, client(4), at(5_001)).0, Some(Body::Accept { .. })));
    assert_eq!(server.end(at(5_002)).len(), 2);
    assert_eq!((server.counters().sessions, server.counters().silent), (0, 1));
}

#[test]
fn an_address_has_so_many_sessions_and_is_told_so() {
    let mut server = server(Limits { per_address: 2, all_bps: 10_000_000_000, ..Limits::DEFAULT });
    let port = |port| SocketAddr::from((Ipv4Addr::new(10, 0, 0, 1), port));
    let host = |host: &str| SocketAddr::new(host.parse().expect("an address"), 5000);
    let found = |server: &mut Server, session, from| open(server, session, from, at(session)).0;
    for session in [1, 2] {
        assert!(matches!(found(&mut server, session, port(session as u16)), Some(Body::Accept { .. })));
    }
    let Some(Body::Refuse { code: Reason::Busy, text, .. }) = found(&mut server, 3, port(3)) else { panic!() };
    assert_eq!(text, "2 sessions of this address are there, the most that it may have");
    assert!(matches!(found(&mut server, 4, client(2)), Some(Body::Accept { .. })), "another address");
    // A host with IPv6 has 2^64 addresses of its own.
    for (session, ip, accepted) in
        [(5, "2001:db8::1", true), (6, "2001:db8::2", true), (7, "2001:db8::3", false), (8, "2001:db8:0:1::1", true)]
    {
        let answer = found(&mut server, session, host(ip));
        assert_eq!(matches!(answer, Some(Body::Accept { .. })), accepted, "{ip}: {answer:?}");
    }
    assert_eq!((server.counters().crowded, server.counters().refused), (2, 0));
}

#[test]
fn an_address_that_comes_and_goes_leaves_room_for_others() {
    let mut server = server(Limits::DEFAULT);
    let mut accepted = 0;
    for session in 1..=5_000 {
        let found = open(&mut server, session, client(1), at(session / 5)).0;
        accepted += u32::from(matches!(found, Some(Body::Accept { .. })));
        take(&mut server, &plain(session, 9, Body::Close(Reason::Done)), client(1), at(session / 5));
    }
    assert_eq!((accepted, server.counters().closed), (64, 64));
    assert!(matches!(open(&mut server, 9_999, client(2), at(1_001)).0, Some(Body::Accept { .. })));
    assert!(matches!(open(&mut server, 10_000, client(1), at(13_000)).0, Some(Body::Accept { .. })), "later");
}

#[test]
fn a_session_waits_for_its_streams_before_it_orders_more() {
    let mut server = server(Limits::DEFAULT);
    open(&mut server, 1, client(1), at(0));
    let orders = |number, server: &mut Server| {
        take(server, &plain(1, number, order(1, 64)), client(1), at(u64::from(number))).job.is_some()
    };
    assert_eq!([2, 3, 4].map(|number| orders(number, &mut server)), [true, true, false]);
    let charged = server.counters().sent_bytes;
    assert_eq!(charged, 2 * 64 * 1472, "what is not sent is not charged");
    server.departed(1, &[], Source::Kernel);
    assert!(orders(4, &mut server), "it was asked for again");
}

#[test]
fn a_stream_of_small_packets_lasts_no_longer_either() {
    let mut server = server(Limits::DEFAULT);
    open(&mut server, 1, client(1), at(0));
    // 28 bytes of payload and 28 of headers: 448 bits. 1000 packets at 200 kbit/s take 2.24 s, their payloads 1.12 s.
    let stream = Ordered { first: 0, count: 1000, lowest_bps: 200_000, highest_bps: 200_000, levels: 1, size: 28 };
    let order = plain(1, 2, Body::Order { stream, arrived: 1 });
    assert_eq!(answer(&mut server, &order, client(1), at(1)), Some(Body::Close(Reason::Wrong)));
}
