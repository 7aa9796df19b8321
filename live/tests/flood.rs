//! A server on the loopback device and clients that mean no good. Counts are judged, not times. One test: it looks at the
//! memory of the whole program.

use live::probe::Client;
use live::serve::{Counters, Limits, serve};
use live::wire::{Body, Cookie, Grant, Header, Keys, Ordered, Packet, Reason};
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::time::Duration;

const WISH: Grant = Grant { size: 1200, rate_bps: 50_000_000, bytes: 10_000_000, duration_ms: 60_000 };
const STREAM: Ordered =
    Ordered { first: 0, count: 64, lowest_bps: 10_000_000, highest_bps: 15_000_000, levels: 4, size: 1200 };
const HALF_OPEN: u64 = 10_000;
/// A hundred bytes for each half-open session would be more.
const MOST_GROWTH: u64 = 100 * HALF_OPEN;

/// A socket that writes packets of the wire format by hand.
struct Stranger {
    socket: UdpSocket,
    server: SocketAddr,
}

impl Stranger {
    fn new(server: SocketAddr) -> Stranger {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("set");
        Stranger { socket, server }
    }

    fn say(&self, session: u64, number: u32, body: Body) {
        let packet = Packet { header: Header { key: 0, session, number }, body };
        self.socket.send_to(&packet.write(&Keys::default(), 0), self.server).expect("sent");
    }

    /// The next packet that is no data.
    fn hear(&self) -> Body {
        let mut buffer = [0; 2000];
        loop {
            let length = self.socket.recv(&mut buffer).expect("an answer");
            match Packet::read(&buffer[..length]).expect("a packet").body {
                Body::Data { .. } => {}
                other => return other,
            }
        }
    }

    fn challenged(&self, session: u64) -> Cookie {
        self.say(session, 1, Body::Hello { wish: WISH, cookie: Cookie::default() });
        match self.hear() {
            Body::Challenge(cookie) => cookie,
            other => panic!("{other:?}"),
        }
    }

    /// Orders streams and never says that any of it arrived, until the server ends the session.
    fn take_without_giving(&self, session: u64) -> Reason {
        let cookie = self.challenged(session);
        self.say(session, 2, Body::Hello { wish: WISH, cookie });
        assert!(matches!(self.hear(), Body::Accept { .. }));
        let mut number = 3;
        self.socket.set_read_timeout(Some(Duration::from_millis(20))).expect("set");
        loop {
            self.say(session, number, Body::Order { stream: STREAM, arrived: 0 });
            number += 1;
            let mut buffer = [0; 2000];
            while let Ok(length) = self.socket.recv(&mut buffer) {
                if let Some(Packet { body: Body::Close(reason), .. }) = Packet::read(&buffer[..length]) {
                    return reason;
                }
            }
            assert!(number < 1000, "it is never ended");
        }
    }
}

/// Bytes of memory that the program uses now.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[test]
fn floods_and_takers_keep_no_memory_and_harm_nobody() {
    let (tell, told) = mpsc::channel();
    let limits = Limits { per_address: 8, ..Limits::DEFAULT };
    let serving =
        serve("127.0.0.1:0".parse().expect("one"), limits, Keys::default(), false, move |counters: &Counters| {
            let _ = tell.send(*counters);
        })
        .expect("a server");
    let mut friend = Client::open(serving.address, Keys::default(), WISH).expect("a session");
    let stranger = Stranger::new(serving.address);
    // What is allocated once is there.
    for session in 0..100 {
        stranger.challenged(1_000_000 + session);
    }
    friend.reverse(STREAM).expect("a stream");
    let before = resident();
    for session in 0..HALF_OPEN {
        stranger.challenged(2_000_000 + session);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < MOST_GROWTH, "{grown} bytes");

    let address = serving.address;
    let takers: Vec<_> = (0..3)
        .map(|taker| std::thread::spawn(move || Stranger::new(address).take_without_giving(3_000_000 + taker)))
        .collect();
    for _ in 0..3 {
        let seen = friend.reverse(STREAM).expect("a stream beside theirs");
        assert_eq!((seen.left.len(), seen.came.len()), (64, 64));
    }
    for taker in takers {
        assert_eq!(taker.join().expect("ended"), Reason::Silence);
    }
    drop(friend);
    // Until the server has read that: one that ends first would end the session itself.
    told.iter().find(|counters| counters.closed == 1).expect("counters");
    serving.end();
    let last = told.iter().last().expect("counters");
    assert_eq!((last.begun, last.challenged), (4, 100 + HALF_OPEN + 4));
    assert_eq!((last.silent, last.closed, last.limited, last.crowded, last.sessions), (3, 1, 0, 0, 0), "{last:?}");
    // Two streams of each taker, four of the friend.
    assert_eq!((last.streams, last.not_sent), (2 * 3 + 4, 0));
}
