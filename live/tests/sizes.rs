//! Packets are never larger than the path takes unbroken: on a loopback device of its own, in a network namespace that ends
//! with the test. Needs root.

use live::probe::Client;
use live::serve::{Limits, serve};
use live::socket::{Mark, Stamped, Telling, is_too_large, path_mtu};
use live::wire::{Grant, Keys, Ordered};
use nix::sched::{CloneFlags, unshare};
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

/// What the device takes; IPv6 wants 1280 at least.
const MTU: u16 = 1400;

/// Runs `work` on a thread with a network of its own.
fn narrow(work: impl FnOnce() + Send + 'static) {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: a network of its own needs root");
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
fn a_packet_that_is_too_large_is_refused_and_not_broken() {
    narrow(|| {
        for (address, headers) in [("127.0.0.1:0", 28), ("[::1]:0", 48)] {
            let (here, there) = (bind(address), bind(address));
            let to = there.address().expect("bound");
            assert_eq!(path_mtu(to), Some(MTU));
            let whole = usize::from(MTU) - headers;
            here.send(&vec![0; whole], to).expect("it fits");
            let refused = here.send(&vec![0; whole + 1], to).expect_err("it does not");
            assert!(is_too_large(&refused), "{refused}");
            assert_eq!(there.receive(&mut [0; 2000]).expect("read").expect("one").length, whole);
        }
    });
}

/// Some kernels give a packet that they refuse a number, others do not.
#[test]
fn departures_are_told_of_the_right_packets_after_one_was_refused() {
    narrow(|| {
        let (here, there) = (bind("127.0.0.1:0"), bind("127.0.0.1:0"));
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
fn a_session_uses_packets_that_the_path_takes_in_both_directions() {
    narrow(|| {
        for (address, headers) in [("127.0.0.1:0", 28), ("[::1]:0", 48)] {
            let address: SocketAddr = address.parse().expect("an address");
            let serving = serve(address, Limits::DEFAULT, Keys::default(), false, |_| {}).expect("a server");
            let wish = Grant { size: 1472, rate_bps: 100_000_000, bytes: 1_000_000, duration_ms: 60_000 };
            let mut client = Client::open(serving.address, Keys::default(), wish).expect("a session");
            let size = MTU - headers;
            assert_eq!(client.grant.size, size);
            let stream =
                Ordered { first: 0, count: 10, lowest_bps: 40_000_000, highest_bps: 60_000_000, levels: 4, size };
            for seen in [client.forward(stream).expect("there"), client.reverse(stream).expect("back")] {
                assert_eq!((seen.left.len(), seen.came.len()), (10, 10));
            }
            drop(client);
            serving.end();
        }
    });
}
