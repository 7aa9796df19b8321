//! Slots are taken and given back.

use super::connection::{listen, open};
use super::namespaces::{Bottleneck, Path};
use super::{Loaded, able, alone};
use packetscale_kernel::tcp::{self, Options, Reason};
use std::io::{Read, Write};
use std::net::TcpStream;

const FLOWS: u32 = 6;

#[test]
fn after_two_hundred_connections_every_slot_is_free_again_and_one_more_falls_to_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let rapid = Loaded::new("slots", Options { flows: FLOWS, ..Options::default() });
    let path = Path::new("slots", &Bottleneck { mbit: 1000, limit: 1_000_000 });
    let listener = listen(&path);
    let port = listener.local_addr().expect("an address").port();
    let server = std::thread::spawn(move || {
        for stream in listener.incoming().take(200 + FLOWS as usize + 1) {
            std::thread::spawn(move || {
                let mut block = [0; 4096];
                let mut stream = stream.expect("a connection");
                while stream.read(&mut block).is_ok_and(|n| n > 0) {}
            });
        }
    });
    for _ in 0..200 {
        let mut stream = open(&path, &rapid.name, port).expect("connects");
        stream.write_all(&[0; 10_000]).expect("sends");
        nix::sys::socket::setsockopt(
            &stream,
            nix::sys::socket::sockopt::Linger,
            &nix::libc::linger { l_onoff: 1, l_linger: 0 },
        )
        .expect("resets");
    }
    let status = || tcp::status(&rapid.name).expect("loaded");
    assert_eq!(status().connections.len(), 0);
    let held: Vec<TcpStream> = (0..=FLOWS).map(|_| open(&path, &rapid.name, port).expect("connects")).collect();
    let now = status();
    assert_eq!(now.connections.len(), FLOWS as usize);
    let fallen: Vec<Reason> = now.fallen.iter().map(|(_, fallen)| fallen.why()).collect();
    assert_eq!(fallen.last(), Some(&Reason::TooManyConnections), "{fallen:?}");
    assert_eq!(fallen.iter().filter(|why| **why == Reason::TooManyConnections).count(), 1);
    drop(held);
    server.join().expect("the server ends");
}
