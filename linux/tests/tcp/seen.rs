//! Observability of Rapid: totals of all connections, events, and the controller of a connection.

use super::connection::{listen, open};
use super::flow::{Flow, Set};
use super::namespaces::{Bottleneck, MANY_SEGMENTS};
use super::{Loaded, able, alone};
use linux::tcp::{self, Activity, Counters, Limit, Options, Reason, Status};
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
/// These tests need no long path.
const WITHOUT_DELAY: Bottleneck = Bottleneck { mbit: 20, limit: 100_000 };

pub fn counters(rapid: &Loaded) -> Counters {
    tcp::counters(&rapid.name).expect("loaded")
}

fn status(rapid: &Loaded) -> Status {
    tcp::status(&rapid.name).expect("loaded")
}

/// Waits until the kernel has freed what was closed; returns the last state.
fn until(rapid: &Loaded, there: impl Fn(&Status) -> bool) -> Status {
    let began = Instant::now();
    loop {
        let status = status(rapid);
        if there(&status) || began.elapsed() > 5 * SECOND {
            return status;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn limited_s(counters: &Counters, limit: Limit) -> f64 {
    counters.limited_ns(limit) as f64 / 1e9
}

#[test]
fn counts_connections_begun_fallen_and_ended() {
    if !able() {
        return;
    }
    let _alone = alone();
    let options = Options { flows: 1, ..Options::default() };
    let (rapid, path) = Loaded::with("count", options, &Bottleneck { mbit: 100, limit: 100_000 });
    // The trial at load was one: its kernel may free it a moment later.
    until(&rapid, |status| status.counters.now() == 0);
    let before = counters(&rapid);
    let listener = listen(&path);
    let port = listener.local_addr().expect("an address").port();
    let mut held: Vec<TcpStream> = (0..3).map(|_| open(&path, &rapid.name, port).expect("connects")).collect();
    held[0].write_all(&[0; 20_000]).expect("sends");
    let seen = until(&rapid, |status| status.counters.steered > before.steered);
    let since = seen.counters;
    assert_eq!((since.begun - before.begun, since.steered - before.steered, since.now()), (3, 1, 1));
    assert_eq!(since.fallen(Reason::TooManyConnections), 2);
    assert_eq!(since.all_fallen() - before.all_fallen(), 2);
    assert_eq!((seen.connections.len(), seen.fallen.len()), (1, 2), "{:?}", seen.fallen);
    if let Some(why) = seen.unlisted {
        return eprintln!("skipped: this kernel refuses the list of connections taken over: {why}");
    }
    assert_eq!(seen.open.len(), 2, "{:?}", seen.open);
    // The last has CUBIC. Once it has ended, only its past is known.
    let address = held.pop().expect("three").local_addr().expect("an address");
    drop(listener);
    let seen = until(&rapid, |status| status.open.len() == 1);
    assert!(seen.fallen.iter().any(|(known, _)| known.local() == address), "{:?}", seen.fallen);
    assert!(seen.open.iter().all(|known| known.local() != address), "{:?}", seen.open);
    drop(held);
    let seen = until(&rapid, |status| status.open.is_empty() && status.counters.now() == 0);
    assert_eq!((seen.open.len(), seen.counters.now(), seen.counters.ended - before.ended), (0, 0, 1));
}

#[test]
fn fall_event_has_state_at_handover() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("event", &Bottleneck { mbit: 50, limit: 100_000 });
    path.segments(MANY_SEGMENTS);
    let (done, mut events) = (AtomicBool::new(false), Vec::new());
    std::thread::scope(|scope| {
        let listener = scope.spawn(|| {
            let mut falls = Vec::new();
            let go_on = || !done.load(Ordering::Relaxed);
            tcp::follow_falls(&rapid.name, |fall| falls.push(fall), go_on).expect("follows");
            falls
        });
        std::thread::sleep(SECOND / 5);
        let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
        flow.bulk(2 * SECOND);
        // The flow's addresses, and CUBIC's state shortly after.
        assert_eq!(status(&rapid).open.len(), 1);
        std::thread::sleep(SECOND / 5);
        done.store(true, Ordering::Relaxed);
        events = listener.join().expect("no panic");
        let [fall] = events[..] else { panic!("{events:?}") };
        assert_eq!(fall.address.local(), flow.stream.local_addr().expect("an address"));
        assert_eq!(fall.address.remote(), flow.stream.peer_addr().expect("an address"));
    });
    let fallen = events[0].fallen;
    eprintln!("{fallen:?}");
    assert_eq!(fallen.why(), Reason::Bursts);
    assert_eq!(counters(&rapid).fallen(Reason::Bursts), 1);
    // fall.h hands over as many packets as the rate sends in a round trip, but 10 at least.
    let packets = fallen.rate as f64 * fallen.srtt_ns as f64 / 1e9 / 1500.0;
    assert!(fallen.rate > 0 && fallen.packets >= 64, "{fallen:?}");
    assert!(f64::from(fallen.cwnd) < 10.0 + 1.5 * packets, "{fallen:?}, where {packets:.0} packets fill a round trip");
    assert_eq!(fallen.ssthresh, 0x7fff_ffff, "CUBIC starts slowly");
    assert_eq!(counters(&rapid).unreported, 0);
}

#[test]
fn counts_application_limited_time() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("idle", &WITHOUT_DELAY);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(2 * SECOND);
    flow.settle();
    let (before, began) = (counters(&rapid), Instant::now());
    std::thread::sleep(3 * SECOND);
    flow.complete(100_000);
    let (after, took) = (counters(&rapid), began.elapsed().as_secs_f64());
    let [application, receiver, window] = Limit::ALL.map(|limit| limited_s(&after, limit) - limited_s(&before, limit));
    eprintln!("in {took:.2} s: application {application:.2}, receiver {receiver:.2}, window {window:.2} s");
    // No data to send for 3 s, and from the last acknowledgment before `settle` on.
    assert!(application > 2.9 && application < took + 0.2, "{application:.2} s of {took:.2} s");
    assert!(receiver < 0.1 && window == 0.0, "receiver {receiver:.2} s, window {window:.2} s");
    let own = rapid.report().limited_ns[Limit::Application as usize] as f64 / 1e9;
    assert!(own >= application, "the connection counts {own:.2} s, all together {application:.2} s");
}

#[test]
#[ignore = "long: make test-long"]
fn counts_receiver_limited_time() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("full", &WITHOUT_DELAY);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(2 * SECOND);
    let before = counters(&rapid);
    flow.read(false);
    let mut last = flow.sample();
    let (began, mut stood) = (Instant::now(), None);
    // The socket sends all that it can; when acknowledgments stop, the window is closed.
    while began.elapsed() < 5 * SECOND {
        flow.bulk(SECOND / 10);
        let sample = flow.sample();
        if sample.bytes_acked > last.bytes_acked {
            (last, stood) = (sample, None);
        } else {
            stood.get_or_insert_with(Instant::now);
        }
    }
    let shut = stood.expect("the window is shut").elapsed().as_secs_f64();
    flow.read(true);
    flow.bulk(SECOND);
    let after = counters(&rapid);
    let [application, receiver] =
        [Limit::Application, Limit::Receiver].map(|limit| limited_s(&after, limit) - limited_s(&before, limit));
    eprintln!("shut for about {shut:.2} s: receiver {receiver:.2}, application {application:.2} s");
    assert!(receiver > 0.9 * shut && receiver < shut + 1.0, "{receiver:.2} s, where it was shut for {shut:.2} s");
    assert!(application < 0.5, "{application:.2} s");
}

#[test]
#[ignore = "long: make test-long"]
fn counts_window_limited_time() {
    if !able() {
        return;
    }
    let _alone = alone();
    // 1650 packets per second: 330 in 200 ms, where 200 may be in flight.
    let options = Options { flows: 4, window: 200, ..Options::default() };
    let (rapid, path) = Loaded::with("cap", options, &Bottleneck { mbit: 20, limit: 200_000 });
    path.delay(200);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(3 * SECOND);
    let (before, began) = (counters(&rapid), Instant::now());
    let rate = flow.bulk(3 * SECOND);
    let (after, took) = (counters(&rapid), began.elapsed().as_secs_f64());
    let [application, receiver, window] = Limit::ALL.map(|limit| limited_s(&after, limit) - limited_s(&before, limit));
    eprintln!(
        "{:.1} Mbit/s; in {took:.2} s: application {application:.2}, receiver {receiver:.2}, window {window:.2} s; {:?}",
        rate * 8.0 / 1e6,
        status(&rapid).fallen
    );
    assert!(window > 0.5 * took && window <= took + 0.1, "{window:.2} s of {took:.2} s");
}

#[test]
#[ignore = "long: make test-long"]
fn counts_spurious_timeout_as_undone() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("undo", &Bottleneck { mbit: 20, limit: 200_000 });
    path.delay(40);
    let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
    flow.bulk(2 * SECOND);
    assert_eq!((counters(&rapid).timeouts, counters(&rapid).undone), (0, 0));
    // All acknowledgments of the next moment come a second late, in order.
    path.delay(1040);
    flow.bulk(SECOND / 50);
    path.delay(40);
    flow.bulk(3 * SECOND);
    let counted = counters(&rapid);
    eprintln!("{counted:?}");
    assert!(counted.undone >= 1 && counted.undone <= counted.timeouts, "{counted:?}");
}

#[test]
#[ignore = "long: make test-long"]
fn receiving_end_reports_receives() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("ends", &WITHOUT_DELAY);
    let mut flow = Flow::open(&path, &rapid.name, Set::AtBothEnds);
    flow.bulk(2 * SECOND);
    let local = flow.stream.local_addr().expect("an address");
    let connections = status(&rapid).connections;
    let of = |here: bool| connections.iter().find(|report| (report.address.local() == local) == here);
    let [sender, receiver] = [true, false].map(|here| of(here).expect("both ends have a slot").activity());
    assert_eq!((sender, receiver), (Activity::Sends, Activity::Receives));
}
