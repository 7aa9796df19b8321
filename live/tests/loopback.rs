//! A client and a server over the loopback device understand each other. The available bandwidth and this machine's timing are
//! not judged.

mod shared;

use live::pace::Gaps;
use live::probe::{Client, ProbeError, Question, probe};
use live::serve::{Counters, Limits, ServeError, serve};
use live::socket::Mark;
use live::wire::{Grant, Keys, Ordered, Source};
use shared::{LOCAL, REQUEST, keys, serving, session, stream};
use std::net::SocketAddr;

const STREAM: Ordered = stream(64, 1472);

/// Streams in both directions, with their times; the last counters.
fn exchanged(address: &str, keys: &Keys) -> Counters {
    let (serving, counters_rx) = serving(address, Limits::DEFAULT, keys.clone());
    let mut client = Client::open(serving.address, keys.clone(), REQUEST).expect("a session");
    assert_eq!(client.grant, REQUEST);
    client.base_rtt_ns().expect("pongs");
    let forward = client.forward(STREAM).expect("a stream there");
    let reverse = client.reverse(STREAM).expect("a stream back");
    for (seen, first) in [(forward, 0), (reverse, 64)] {
        let numbers: Vec<u64> = (first..first + 64).collect();
        for stamps in [&seen.left, &seen.came] {
            assert_eq!(stamps.iter().map(|stamp| stamp.sequence).collect::<Vec<_>>(), numbers);
        }
        assert_eq!(seen.sources, (Source::Kernel, Source::Kernel));
        // Both times are of one kernel here: no packet arrives before it leaves.
        assert!(seen.left.iter().zip(&seen.came).all(|(left, came)| left.ns <= came.ns));
    }
    drop(client);
    serving.end();
    counters_rx.iter().last().expect("counters")
}

#[test]
fn streams_in_both_directions_have_kernel_times() {
    for address in [LOCAL, "[::1]:0"] {
        let counters = exchanged(address, &Keys::default());
        assert_eq!((counters.begun, counters.sessions, counters.dropped), (1, 0, 0), "{address}: {counters:?}");
        assert_eq!((counters.received_bytes, counters.sent_bytes), (64 * 1472, 64 * 1472));
    }
}

/// The kernel keeps the times of 277 packets by default until they are read.
#[test]
fn reports_all_times_of_long_stream() {
    let (serving, _counters, mut client) = session(LOCAL, Grant { bytes: 2_000_000, ..REQUEST });
    let long = stream(600, 1472);
    for seen in [client.forward(long).expect("a stream there"), client.reverse(long).expect("a stream back")] {
        assert_eq!(seen.left.len(), 600);
    }
    serving.end();
}

#[test]
fn counts_marks_of_stream() {
    let (serving, _counters, mut client) = session(LOCAL, REQUEST);
    for (mark, expected) in [(Mark::Ect1, (0, 64)), (Mark::Ce, (64, 64)), (Mark::Ect0, (64, 64))] {
        client.mark = mark;
        client.forward(STREAM).expect("a stream");
        let marks = client.marks.expect("the server counts them");
        assert_eq!((marks.ce, marks.ect1), expected, "{mark:?}");
    }
    serving.end();
}

#[test]
fn server_with_key_ignores_clients_without() {
    assert_eq!(exchanged(LOCAL, &keys("a5")).begun, 1);
    let (serving, counters_rx) = serving(LOCAL, Limits::DEFAULT, keys("a5"));
    for other in [keys("5a"), Keys::default()] {
        let refused = Client::open(serving.address, other, REQUEST);
        assert!(matches!(refused, Err(ProbeError::NoAnswer(_))), "{:?}", refused.err());
    }
    serving.end();
    let counters = counters_rx.iter().last().expect("counters");
    assert_eq!((counters.begun, counters.challenged), (0, 0));
    assert!(counters.dropped >= 10, "{counters:?}");
}

#[test]
fn anonymous_clients_need_open_server() {
    let any: SocketAddr = "0.0.0.0:0".parse().expect("an address");
    let closed = serve(any, Limits::DEFAULT, Keys::default(), false, |_| {});
    assert!(matches!(closed, Err(ServeError::Closed(address)) if address == any));
    for (keys, open) in [(Keys::default(), true), (keys("a5"), false)] {
        serve(any, Limits::DEFAULT, keys, open, |_| {}).expect("a server").end();
    }
}

#[test]
fn stopped_probe_closes_its_session() {
    let (serving, counters_rx) = serving(LOCAL, Limits::DEFAULT, Keys::default());
    let question = Question {
        server: serving.address,
        keys: Keys::default(),
        reverse: false,
        budget: Question::BUDGET,
        fastest: Question::FASTEST,
        packet: Question::PACKET,
        gaps: Gaps::Timer,
        mark: Mark::None,
    };
    let stopped = probe(&question, &mut |streams, _, _| streams < 2);
    assert!(matches!(stopped, Err(ProbeError::Stopped)), "{stopped:?}");
    // Until the server has read it: one that ends first would end the session itself.
    let counters = counters_rx.iter().find(|counters| counters.closed == 1).expect("counters");
    assert_eq!((counters.begun, counters.sessions), (1, 0));
    serving.end();
}

#[test]
fn ending_server_notifies_clients() {
    let (serving, _counters, mut client) = session(LOCAL, REQUEST);
    serving.end();
    let ended = client.base_rtt_ns();
    assert!(matches!(ended, Err(ProbeError::Ended("the server is shutting down"))), "{ended:?}");
}
