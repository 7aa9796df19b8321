//! Packets never exceed the path's MTU: tested on a loopback device in a network namespace that ends with the test. Needs root,
//! and `ip`.

mod shared;

use live::socket::{DepartureReader, Mark, Stamped, is_too_large, path_mtu};
use nix::sched::{CloneFlags, unshare};
use shared::{LOCAL, REQUEST, session, stream};
use std::process::Command;
use std::time::Duration;

/// MTU of the device; IPv6 needs at least 1280.
const MTU: u16 = 1400;
/// Addresses, and the bytes of their IP and UDP headers.
const FAMILIES: [(&str, u16); 2] = [(LOCAL, 28), ("[::1]:0", 48)];

/// Runs `work` on a thread in its own network namespace.
fn narrow(work: impl FnOnce() + Send + 'static) {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: a network of its own needs root");
        return;
    }
    if let Err(error) = Command::new("ip").arg("-V").output() {
        eprintln!("skipped: no ip (Debian package iproute2): {error}");
        return;
    }
    let narrow = std::thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNET).expect("root may");
        let set = Command::new("ip").args(["link", "set", "lo", "mtu", &MTU.to_string(), "up"]).status();
        assert!(set.expect("ip starts").success());
        work();
    });
    narrow.join().expect("the test");
}

fn bind(address: &str) -> Stamped {
    Stamped::bind(address.parse().expect("an address"), Duration::from_secs(5)).expect("a socket")
}

#[test]
fn refuses_to_fragment_large_packet() {
    narrow(|| {
        for (address, headers) in FAMILIES {
            let (here, there) = (bind(address), bind(address));
            let to = there.address().expect("bound");
            assert_eq!(path_mtu(to), Some(MTU));
            let whole = usize::from(MTU - headers);
            here.send(&vec![0; whole], to).expect("it fits");
            let refused = here.send(&vec![0; whole + 1], to).expect_err("it does not");
            assert!(is_too_large(&refused), "{refused}");
            assert_eq!(there.receive(&mut [0; 2000]).expect("read").expect("one").length, whole);
        }
    });
}

/// Some kernels give a packet that they refuse a number, others do not.
#[test]
fn departures_match_packets_after_refused_send() {
    narrow(|| {
        let (here, there) = (bind(LOCAL), bind(LOCAL));
        let to = there.address().expect("bound");
        let reader = DepartureReader::begin(&here).expect("reader");
        for _ in 0..3 {
            reader.send(&[0; 2000], to, Mark::None).expect_err("too large");
            let number = reader.send(&[0; 100], to, Mark::None).expect("sent");
            there.receive(&mut [0; 200]).expect("read").expect("one");
            let numbers: Vec<u32> = reader.departures().expect("read").iter().map(|one| one.number).collect();
            assert_eq!(numbers, [number]);
        }
    });
}

#[test]
fn session_packets_fit_both_directions() {
    narrow(|| {
        for (address, headers) in FAMILIES {
            let (serving, _counters, mut client) = session(address, REQUEST);
            assert_eq!(client.grant.size, MTU - headers);
            let stream = stream(10, MTU - headers);
            for seen in [client.forward(stream).expect("there"), client.reverse(stream).expect("back")] {
                assert_eq!((seen.left.len(), seen.came.len()), (10, 10));
            }
            drop(client);
            serving.end();
        }
    });
}
