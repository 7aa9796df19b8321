//! Packets are never larger than the path takes unbroken: on a loopback device of its own, in a network namespace that ends
//! with the test. Needs root, and `ip`.

mod shared;

use live::socket::{Mark, Stamped, Telling, is_too_large, path_mtu};
use nix::sched::{CloneFlags, unshare};
use shared::{LOCAL, WISH, session, stream};
use std::process::Command;
use std::time::Duration;

/// What the device takes; IPv6 wants 1280 at least.
const MTU: u16 = 1400;
/// Addresses, and the bytes of their IP and UDP headers.
const FAMILIES: [(&str, u16); 2] = [(LOCAL, 28), ("[::1]:0", 48)];

/// Runs `work` on a thread with a network of its own.
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
fn packet_that_is_too_large_is_refused_and_not_fragmented() {
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
fn departures_are_of_the_right_packets_after_one_was_refused() {
    narrow(|| {
        let (here, there) = (bind(LOCAL), bind(LOCAL));
        let to = there.address().expect("bound");
        let telling = Telling::begin(&here).expect("told");
        for _ in 0..3 {
            telling.send(&[0; 2000], to, Mark::None).expect_err("too large");
            let number = telling.send(&[0; 100], to, Mark::None).expect("sent");
            there.receive(&mut [0; 200]).expect("read").expect("one");
            let told: Vec<u32> = telling.departures().expect("read").iter().map(|one| one.number).collect();
            assert_eq!(told, [number]);
        }
    });
}

#[test]
fn session_uses_packets_that_the_path_takes_in_both_directions() {
    narrow(|| {
        for (address, headers) in FAMILIES {
            let (serving, _told, mut client) = session(address, WISH);
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
