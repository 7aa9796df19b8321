//! A server on the loopback device and hostile clients. Judges counts, not times. One test only: it measures the memory of the
//! whole program.

mod shared;

use live::probe::Client;
use live::serve::Limits;
use live::wire::{Body, Grant, Keys, Ordered, Reason};
use shared::{LOCAL, Stranger, serving};
use std::net::SocketAddr;
use std::time::Duration;

const REQUEST: Grant = Grant { size: 1200, rate_bps: 50_000_000, bytes: 10_000_000, duration_ms: 60_000 };
const STREAM: Ordered =
    Ordered { first: 0, count: 64, lowest_bps: 10_000_000, highest_bps: 15_000_000, levels: 4, size: 1200 };
const HALF_OPEN: u64 = 10_000;
/// A hundred bytes for each half-open session would be more.
const MOST_GROWTH: u64 = 100 * HALF_OPEN;

/// Orders streams and never reports an arrival, until the server ends the session.
fn take_without_giving(server: SocketAddr, session: u64) -> Reason {
    let taker = Stranger::new(server, REQUEST);
    taker.open(session);
    taker.socket.set_read_timeout(Some(Duration::from_millis(20))).expect("set");
    for number in 3..1000 {
        taker.send(session, number, Body::Order { stream: STREAM, arrived: 0 });
        while let Some(body) = taker.received() {
            if let Body::Close(reason) = body {
                return reason;
            }
        }
    }
    panic!("it is never ended");
}

/// Bytes of memory that the program uses now.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[test]
fn floods_use_no_memory_and_block_no_client() {
    let (serving, counters_rx) = serving(LOCAL, Limits { per_address: 8, ..Limits::DEFAULT }, Keys::default());
    let mut friend = Client::open(serving.address, Keys::default(), REQUEST).expect("a session");
    let stranger = Stranger::new(serving.address, REQUEST);
    // One-time allocations first.
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
    let takers = [0, 1, 2].map(|taker| std::thread::spawn(move || take_without_giving(address, 3_000_000 + taker)));
    for _ in 0..3 {
        let seen = friend.reverse(STREAM).expect("a stream beside theirs");
        assert_eq!((seen.left.len(), seen.came.len()), (64, 64));
    }
    for taker in takers {
        assert_eq!(taker.join().expect("ended"), Reason::Silence);
    }
    drop(friend);
    // Until the server has read that: one that ends first would end the session itself.
    counters_rx.iter().find(|counters| counters.closed == 1).expect("counters");
    serving.end();
    let last = counters_rx.iter().last().expect("counters");
    assert_eq!((last.begun, last.challenged), (4, 100 + HALF_OPEN + 4));
    assert_eq!((last.silent, last.closed, last.limited, last.crowded, last.sessions), (3, 1, 0, 0, 0), "{last:?}");
    // Two streams of each taker, four of the friend.
    assert_eq!((last.streams, last.not_sent), (2 * 3 + 4, 0));
}
