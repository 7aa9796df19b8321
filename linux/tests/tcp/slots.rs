//! Connections take slots and give them back.

use super::connection::{listen, open};
use super::namespaces::{Bottleneck, Path};
use super::{Loaded, able, alone, long};
use linux::tcp::{self, Options, Reason, Status};
use nix::libc;
use nix::sys::socket::{Backlog, setsockopt, sockopt};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Rapid between two namespaces, and a server that reads from every connection.
struct Many {
    rapid: Loaded,
    path: Path,
    port: u16,
}

impl Many {
    fn new(test: &str, flows: u32) -> Many {
        let options = Options { flows, ..Options::default() };
        let (rapid, path) = Loaded::with(test, options, &Bottleneck { mbit: 1000, limit: 1_000_000 });
        let listener = listen(&path);
        // A SYN that finds the queue of the listener full goes out again without the option.
        let backlog = Backlog::new(flows as i32 + 1).expect("a backlog");
        nix::sys::socket::listen(&listener, backlog).expect("listens");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                // A thousand of these wait concurrently.
                let reader = std::thread::Builder::new().stack_size(64 << 10);
                let read = move || while stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {};
                reader.spawn(read).expect("a thread");
            }
        });
        Many { rapid, path, port }
    }

    fn open(&self) -> TcpStream {
        open(&self.path, &self.rapid.name, self.port).expect("connects")
    }

    /// Opens connections one after the other; dropping each ends it at once.
    fn open_and_close(&self, times: usize) {
        for _ in 0..times {
            let mut stream = self.open();
            stream.write_all(&[0; 10_000]).expect("sends");
            setsockopt(&stream, sockopt::Linger, &libc::linger { l_onoff: 1, l_linger: 0 }).expect("resets");
        }
    }

    fn status(&self) -> Status {
        tcp::status(&self.rapid.name).expect("loaded")
    }
}

fn had_no_slot(status: &Status) -> usize {
    status.fallen.iter().filter(|(_, fallen)| fallen.why() == Reason::TooManyConnections).count()
}

#[test]
fn connection_beyond_slots_falls_back_to_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let many = Many::new("slots", 6);
    let held: Vec<TcpStream> = (0..7).map(|_| many.open()).collect();
    let status = many.status();
    assert_eq!((status.connections.len(), had_no_slot(&status)), (6, 1), "{:?}", status.fallen);
    drop(held);
}

#[test]
#[ignore = "long: make test-long"]
fn evicts_idle_connection_for_new_one() {
    if !able() {
        return;
    }
    let _alone = alone();
    let many = Many::new("sleep", 2);
    let held = |stream: &TcpStream| {
        let own = stream.local_addr().expect("an address").port();
        many.status().connections.iter().any(|report| report.address.local().port() == own)
    };
    let mut sleepers = [many.open(), many.open()];
    for stream in &mut sleepers {
        stream.write_all(&[0; 20_000]).expect("sends");
    }
    // No connection is idle yet.
    drop(many.open());
    assert_eq!((many.status().connections.len(), had_no_slot(&many.status())), (2, 1));
    std::thread::sleep(Duration::from_secs(61));
    assert_eq!(many.status().connections.len(), 2, "where none is wanted, none is taken");
    let awake = many.open();
    assert!(held(&awake) && !held(&sleepers[0]), "{:?}", many.status().fallen);
    // A connection that resumes takes another slot, or goes to CUBIC if none is free. Its data arrive.
    let data = vec![0; 1_000_000];
    sleepers[0].write_all(&data).expect("sends");
    assert!(held(&sleepers[0]), "{:?}", many.status().fallen);
    sleepers[1].write_all(&data).expect("sends");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((many.status().connections.len(), had_no_slot(&many.status())), (2, 2));
    let steered = |status: &Status| status.connections.iter().any(|report| report.delivered > 600);
    assert!(steered(&many.status()), "it is steered again: {:?}", many.status().connections);
    drop((awake, sleepers));
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!((many.status().connections.len(), many.status().counters.now()), (0, 0), "{:?}", many.status().counters);
}

#[test]
#[ignore = "long: make test-long"]
fn rapid_steers_thousand_concurrent_connections() {
    if !able() {
        return;
    }
    let _alone = alone();
    let many = Many::new("thousand", 1000);
    let mut held: Vec<TcpStream> = (0..1000).map(|_| many.open()).collect();
    for stream in &mut held {
        stream.write_all(&[0; 20_000]).expect("sends");
    }
    let status = many.status();
    assert_eq!((status.connections.len(), had_no_slot(&status)), (1000, 0));
    drop(held);
}

/// With `PACKETSCALE_LONG` ten thousand of them, otherwise a fifth.
#[test]
#[ignore = "long: make test-long"]
fn slots_are_free_after_thousands_of_connections() {
    if !able() {
        return;
    }
    let _alone = alone();
    let many = Many::new("ten", 6);
    many.open_and_close(if long() { 10_000 } else { 2_000 });
    let status = many.status();
    assert_eq!((status.connections.len(), had_no_slot(&status)), (0, 0), "{:?}", status.fallen);
    let held: Vec<TcpStream> = (0..6).map(|_| many.open()).collect();
    let status = many.status();
    assert_eq!((status.connections.len(), had_no_slot(&status)), (6, 0), "{:?}", status.fallen);
    drop(held);
}
