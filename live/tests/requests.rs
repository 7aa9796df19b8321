//! A receiver on the loopback device, a client that requests one file after another as fast as it can, and another client.
//! Judges counts; prints the times of the other client's replies.

mod shared;

use live::probe::Client;
use live::send::begin;
use live::serve::{Limits, receive};
use live::store::Directory;
use live::wire::{Body, Grant, Keys};
use shared::{LOCAL, Stranger, plain};
use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const REQUEST: Grant = Grant { size: 1200, rate_bps: 50_000_000, bytes: 10_000_000, duration_ms: 60_000 };
/// Data of a segment.
const SIZE: usize = 1000;
/// Existing bytes of the first file: reading them takes a while.
const LARGE: u64 = 1 << 30;

/// Whether the other client has its answers.
static OVER: AtomicBool = AtomicBool::new(false);

/// Requests files until the session ends; returns how many.
fn flood(server: SocketAddr) -> u64 {
    let stranger = Stranger::new(server, REQUEST);
    stranger.open(7);
    let mut number = 3;
    while !OVER.load(Ordering::Relaxed) {
        // Every second request is for the large one, with a new number and `restart`.
        let name = if number % 2 == 0 { "large".to_string() } else { format!("file{number}") };
        let _ = stranger.socket.send(&plain(7, number, Body::Begin(begin(&name, SIZE, false))));
        number += 1;
    }
    u64::from(number - 3)
}

#[test]
fn file_request_flood_blocks_no_client() {
    let long = std::env::var_os("PACKETSCALE_LONG").is_some();
    let (pings, between) = if long { (200, Duration::from_millis(20)) } else { (20, Duration::from_millis(1)) };
    let folder = tempfile::tempdir().expect("a folder");
    let large = fs::File::create(folder.path().join(".large.part")).expect("made");
    large.set_len(LARGE).expect("no room is needed");
    let store = Directory::new(folder.path(), false, |_| {}).expect("a store");
    let limits = Limits { grant: Grant { duration_ms: 600_000, ..REQUEST }, ..Limits::DEFAULT };
    let address = LOCAL.parse().expect("one");
    let serving = receive(address, limits, Keys::default(), false, Box::new(store), |_| {}).expect("a receiver");
    let mut friend = Client::open(serving.address, Keys::default(), REQUEST).expect("a session");
    let server = serving.address;
    let flooding = std::thread::spawn(move || flood(server));
    let (began, mut longest) = (Instant::now(), Duration::ZERO);
    for _ in 0..pings {
        std::thread::sleep(between);
        let asked = Instant::now();
        // Ten pings, each sent up to five times, for 0.3 s each.
        friend.base_rtt_ns().expect("answers beside the flood");
        longest = longest.max(asked.elapsed());
    }
    OVER.store(true, Ordering::Relaxed);
    let (requests, seconds) = (flooding.join().expect("ended"), began.elapsed().as_secs_f64());
    eprintln!(
        "{requests} requests in {seconds:.2} s; {pings} times ten answers to another client, in {longest:?} at most"
    );
    drop(friend);
    serving.end();
    let files = fs::read_dir(folder.path()).expect("read").count();
    assert!(files as f64 <= 2.0 + seconds, "{files} files in {seconds} s");
}
