//! What Rapid does can be seen: counters of all connections, events, and who has a connection now.

use super::connection::{listen, open};
use super::flow::{Flow, Set};
use super::namespaces::MANY_SEGMENTS;
use super::{Loaded, SECOND, alone, few, judge};
use linux::tcp::{self, Activity, Counters, Limit, Options, Reason, Status};
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Waits until the kernel has freed what was closed; returns the last state.
fn until(rapid: &Loaded, there: impl Fn(&Status) -> bool) -> Status {
    let began = Instant::now();
    loop {
        let status = rapid.status();
        if there(&status) || began.elapsed() > 5 * SECOND {
            return status;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Seconds for which each limit held between these counters.
fn limited_s(before: &Counters, after: &Counters) -> [f64; 3] {
    Limit::ALL.map(|limit| (after.limited_ns(limit) - before.limited_ns(limit)) as f64 / 1e9)
}

#[test]
fn connections_are_counted_as_they_begin_fall_and_end() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::with("count", few("", 1), 100, 100_000);
    // The trial at load was one: its kernel may free it a moment later.
    until(&rapid, |status| status.counters.now() == 0);
    let before = rapid.counters();
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
#[ignore = "long: make test-long"]
fn listeners_hear_of_a_fall_with_the_state_at_the_hand_over() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("event", 50, 100_000);
    path.segments(MANY_SEGMENTS);
    let (done, mut heard) = (AtomicBool::new(false), Vec::new());
    std::thread::scope(|scope| {
        let listener = scope.spawn(|| {
            let mut falls = Vec::new();
            let go_on = || !done.load(Ordering::Relaxed);
            tcp::follow_falls(&rapid.name, |fall| falls.push(fall), go_on).expect("follows");
            falls
        });
        std::thread::sleep(SECOND / 5);
        let mut flow = rapid.flow(&path);
        flow.bulk(SECOND);
        let rate = flow.mbps(SECOND);
        assert!(rate > 40.0, "CUBIC fills the path: {rate:.1} Mbit/s of 50");
        // What the flow is called, and CUBIC's state shortly after.
        assert_eq!(rapid.status().open.len(), 1);
        std::thread::sleep(SECOND / 5);
        done.store(true, Ordering::Relaxed);
        heard = listener.join().expect("no panic");
        let [fall] = heard[..] else { panic!("{heard:?}") };
        assert_eq!(fall.address.local(), flow.stream.local_addr().expect("an address"));
        assert_eq!(fall.address.remote(), flow.stream.peer_addr().expect("an address"));
    });
    let fallen = heard[0].fallen;
    eprintln!("{fallen:?}");
    assert_eq!(fallen.why(), Reason::Bursts);
    assert_eq!(rapid.counters().fallen(Reason::Bursts), 1);
    // fall.h hands over as many packets as the rate sends in a round trip, but 10 at least.
    let packets = fallen.rate as f64 * fallen.srtt_ns as f64 / 1e9 / 1500.0;
    assert!(fallen.rate > 0 && fallen.packets >= 64, "{fallen:?}");
    assert!(f64::from(fallen.cwnd) < 10.0 + 1.5 * packets, "{fallen:?}, where {packets:.0} packets fill a round trip");
    assert_eq!(fallen.ssthresh, 0x7fff_ffff, "CUBIC starts slowly");
    assert_eq!(rapid.counters().unreported, 0);
}

#[test]
fn time_without_data_to_send_is_counted() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("idle", 20, 100_000);
    let mut flow = rapid.flow(&path);
    flow.bulk(2 * SECOND);
    flow.settle();
    let (before, began) = (rapid.counters(), Instant::now());
    std::thread::sleep(3 * SECOND);
    flow.complete(100_000);
    let took = began.elapsed().as_secs_f64();
    let [application, receiver, window] = limited_s(&before, &rapid.counters());
    // Nothing was to be sent for 3 s, and from the last acknowledgment before `settle` on.
    let holds = application > 2.9 && application < took + 0.2 && receiver < 0.1 && window == 0.0;
    judge(
        holds,
        format_args!("in {took:.2} s: application {application:.2}, receiver {receiver:.2}, window {window:.2}"),
    );
    let own = rapid.report().limited_ns[Limit::Application as usize] as f64 / 1e9;
    assert!(own >= application, "the connection counts {own:.2} s, all together {application:.2} s");
}

#[test]
#[ignore = "long: make test-long"]
fn time_with_a_shut_receive_window_is_counted() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("full", 20, 100_000);
    let mut flow = rapid.flow(&path);
    flow.bulk(2 * SECOND);
    let before = rapid.counters();
    flow.read(false);
    let mut last = flow.look();
    let (began, mut stood) = (Instant::now(), None);
    // The socket takes all that it can; when acknowledgments bring nothing any more, the window is shut.
    while began.elapsed() < 5 * SECOND {
        flow.bulk(SECOND / 10);
        let look = flow.look();
        if look.bytes_acked > last.bytes_acked {
            (last, stood) = (look, None);
        } else {
            stood.get_or_insert_with(Instant::now);
        }
    }
    let shut = stood.expect("the window is shut").elapsed().as_secs_f64();
    flow.read(true);
    flow.bulk(SECOND);
    let [application, receiver, _] = limited_s(&before, &rapid.counters());
    let holds = receiver > 0.9 * shut && receiver < shut + 1.0 && application < 0.5;
    judge(holds, format_args!("shut for about {shut:.2} s: receiver {receiver:.2}, application {application:.2} s"));
}

#[test]
#[ignore = "long: make test-long"]
fn time_with_a_full_window_of_the_load_is_counted() {
    let Some(_alone) = alone() else { return };
    // 1650 packets per second: 330 in 200 ms, where 200 may be in flight.
    let options = Options { window: 200, ..few("", 4) };
    let (rapid, path) = Loaded::with("cap", options, 20, 200_000);
    path.delay(200);
    let mut flow = rapid.flow(&path);
    flow.bulk(3 * SECOND);
    let (before, began) = (rapid.counters(), Instant::now());
    let rate = flow.mbps(3 * SECOND);
    let took = began.elapsed().as_secs_f64();
    let [.., window] = limited_s(&before, &rapid.counters());
    let found = format!("{rate:.1} Mbit/s; window {window:.2} s of {took:.2} s; {:?}", rapid.reasons());
    judge(window > 0.5 * took && window <= took + 0.1, found);
}

#[test]
#[ignore = "long: make test-long"]
fn spurious_timeout_is_counted_as_undone() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("undo", 20, 200_000);
    path.delay(40);
    let mut flow = rapid.flow(&path);
    flow.bulk(2 * SECOND);
    assert_eq!((rapid.counters().timeouts, rapid.counters().undone), (0, 0));
    // All acknowledgments of the next moment come a second late, in order.
    path.delay(1040);
    flow.bulk(SECOND / 50);
    path.delay(40);
    flow.bulk(3 * SECOND);
    let counted = rapid.counters();
    judge((1..=counted.timeouts).contains(&counted.undone), format_args!("{counted:?}"));
}

#[test]
#[ignore = "long: make test-long"]
fn activity_tells_receivers_from_senders() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("ends", 20, 100_000);
    let mut flow = Flow::open_and(&path, &rapid.name, Set::AtBothEnds);
    flow.bulk(2 * SECOND);
    let local = flow.stream.local_addr().expect("an address");
    let connections = rapid.status().connections;
    let of = |here: bool| connections.iter().find(|report| (report.address.local() == local) == here);
    let [sender, receiver] = [true, false].map(|here| of(here).expect("both ends have a slot").activity());
    assert_eq!((sender, receiver), (Activity::Sends, Activity::Receives));
}
