//! A sender with forged arrivals (`liar.bpf.c`): only its guard limits it.

use super::connection::{sample, transfer};
use super::flow::{Flow, Set};
use super::lockstep::{ARRIVAL, recorded};
use super::namespaces::{Bottleneck, Path};
use super::seen::counters;
use super::{Loaded, able, alone, clang, long};
use linux::tcp::{self, Options};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// `enum lie` of `liar.bpf.c`, from 1.
const LIES: [&str; 9] =
    ["zero", "frozen", "random", "backwards", "fast", "slow", A_LITTLE_FAST, A_LITTLE_SLOW, NO_QUEUE];
/// By 4 %.
pub const A_LITTLE_FAST: &str = "a little fast";
/// By 1/70, which passes for a clock.
const A_LITTLE_SLOW: &str = "a little slow";
/// All packets are as long on their way.
const NO_QUEUE: &str = "no queue";

/// Of the path on which a sender pauses.
const RTT: Duration = Duration::from_millis(40);

/// The senders with each forgery, compiled.
pub fn liars() -> impl Iterator<Item = Vec<u8>> {
    (1..=LIES.len()).map(liar)
}

/// The sender with the forgery of this number.
fn liar(number: usize) -> Vec<u8> {
    clang::compiled("tests/tcp/liar.bpf.c", &[&format!("-DLIE={number}")])
}

/// The sender with this forgery.
pub fn teller(lie: &str) -> Vec<u8> {
    liar(1 + LIES.iter().position(|known| *known == lie).expect("a lie"))
}

/// Whether this machine can run it; prints why not.
pub fn can_lie() -> bool {
    let installed = clang::is_installed();
    if !installed {
        eprintln!("skipped: clang is not installed");
    }
    installed && able()
}

#[test]
fn lying_receiver_reports_only_lies() {
    if !can_lie() {
        return;
    }
    let _alone = alone();
    let calls = recorded(Options { sender: Some(liar(1)), ..Options::default() });
    let arrivals: Vec<u64> = calls.iter().filter(|call| call.call == ARRIVAL).map(|call| call.argument).collect();
    assert!(arrivals.len() > 500, "{} arrivals", arrivals.len());
    assert!(arrivals.iter().all(|&arrival| arrival == 0), "{arrivals:?}");
}

#[test]
#[ignore = "long: make test-long"]
fn forged_arrivals_neither_exceed_acks_nor_stall() {
    if !can_lie() {
        return;
    }
    let _alone = alone();
    let path = Path::new("lies", &Bottleneck { mbit: 50, limit: 50_000 });
    for (number, lie) in (1..).zip(LIES) {
        let rapid = Loaded::new("lies", Options { flows: 2, sender: Some(liar(number)), ..Options::default() });
        path.inside("b", || tcp::note_arrivals(&rapid.name, "in").expect("tc"));
        let samples = transfer(&path, &rapid.name, Duration::from_millis(2500));
        // Half a second is more than ten round trips of a full buffer (8 ms); start-up is over by then.
        let marks: Vec<_> = (1..=4)
            .filter_map(|half| samples.iter().find(|sample| sample.at >= Duration::from_millis(500 * half)))
            .collect();
        for pair in marks.windows(2) {
            let (sent, acked) = (pair[1].bytes_sent - pair[0].bytes_sent, pair[1].bytes_acked - pair[0].bytes_acked);
            let in_flight = 100_000;
            assert!(acked > 50_000, "{lie}: stalls, {acked} bytes in half a second");
            assert!(4 * sent <= 5 * acked + in_flight, "{lie}: {sent} bytes sent, {acked} acknowledged");
        }
    }
}

/// Sends answers of these sizes over and over, with a pause after each; returns the most that was in flight after two seconds, in
/// bytes, looked at every two milliseconds. CUBIC may take the connection over: its first five round trips are looked at, too.
fn most_in_flight(rapid: &Loaded, flow: &mut Flow, answers: &[usize], pause: Duration, long: Duration) -> u64 {
    let (began, socket) = (Instant::now(), flow.stream.try_clone().expect("the same socket"));
    let (over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut fallen = None;
            while !over.load(Ordering::Relaxed) {
                let now = sample(&socket, began);
                if fallen.is_none() && counters(rapid).all_fallen() > 0 {
                    fallen = Some(now.at);
                }
                let steered = fallen.is_none_or(|at| now.at < at + 5 * RTT);
                if steered && now.at > Duration::from_secs(2) {
                    most.fetch_max(now.bytes_in_flight, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        for &bytes in answers.iter().cycle() {
            if began.elapsed() > long {
                break;
            }
            flow.complete(bytes);
            std::thread::sleep(pause);
        }
        over.store(true, Ordering::Relaxed);
    });
    most.into_inner()
}

/// Over 50 Mbit/s and 40 ms with a buffer of sixteen BDPs, which loses no packet: six replies of eight BDPs, then six of 20 kB,
/// and so on. Pauses lift the limit of the rate; the limit of packets in flight holds.
#[test]
#[ignore = "long: make test-long"]
fn forged_arrivals_keep_flight_below_five_bdps() {
    if !can_lie() {
        return;
    }
    let _alone = alone();
    let product = 250_000;
    let path = Path::new("pauses", &Bottleneck { mbit: 50, limit: 16 * product });
    path.delay(40);
    let answers = [[8 * product as usize; 6], [20_000; 6]].concat();
    for lie in [NO_QUEUE, "fast", "frozen"] {
        let rapid = Loaded::new("pauses", Options { flows: 2, sender: Some(teller(lie)), ..Options::default() });
        path.inside("b", || tcp::note_arrivals(&rapid.name, "in").expect("tc"));
        let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
        let long = Duration::from_secs(6);
        let most = most_in_flight(&rapid, &mut flow, &answers, Duration::from_millis(100), long);
        let found = counters(&rapid);
        let products = most as f64 / f64::from(product);
        eprintln!(
            "{lie}: {products:.2} products in flight, guard {} times, fallen {}",
            found.guarded,
            found.all_fallen()
        );
        assert!((1.0..=5.0).contains(&products), "{lie}: {products:.2} products in flight");
        assert!(found.guarded > 0, "{lie}: the guard was never met");
    }
}

/// Competitor of a victim.
#[derive(Clone, Copy, Debug)]
enum Rival {
    Honest,
    Lied(&'static str),
    /// The fallback of a receiver without arrivals.
    Cubic,
}

/// Throughput of a connection that competes with one of Rapid, as a multiple of its fair share, after the first second.
fn beside_a_victim(rival: Rival) -> f64 {
    let path = Path::new("victim", &Bottleneck { mbit: 20, limit: 100_000 });
    path.delay(40);
    let lie = if let Rival::Lied(lie) = rival { Some(teller(lie)) } else { None };
    let loaded = |what: &str, sender| Loaded::new(what, Options { flows: 2, sender, ..Options::default() });
    let both = [loaded("rival", lie), loaded("victim", None)];
    path.inside("b", || tcp::note_arrivals(&both[0].name, "in").expect("tc"));
    let first = if matches!(rival, Rival::Cubic) { "cubic" } else { &both[0].name };
    let mut flows = [first, &both[1].name].map(|control| Flow::open(&path, control, Set::BeforeConnect));
    let rates = std::thread::scope(|scope| {
        let running = flows.each_mut().map(|flow| {
            scope.spawn(|| {
                flow.bulk(Duration::from_secs(2));
                flow.bulk(Duration::from_secs(8)) * 8.0 / 1e6
            })
        });
        running.map(|one| one.join().expect("no panic"))
    });
    let share = 2.0 * rates[0] / (rates[0] + rates[1]);
    eprintln!("{rival:?}: {rates:.2?} Mbit/s of 20, {share:.2} times the fair share");
    share
}

/// A forged clock that passes as genuine. A receiver without arrivals gets CUBIC, which exceeds any bound here: that case, and
/// a forgery that no check detects, are printed but not judged, with `PACKETSCALE_LONG`.
#[test]
#[ignore = "long: make test-long"]
fn slightly_slow_clock_gains_at_most_a_quarter() {
    if !can_lie() {
        return;
    }
    let _alone = alone();
    if long() {
        for rival in [Rival::Honest, Rival::Cubic, Rival::Lied(NO_QUEUE)] {
            beside_a_victim(rival);
        }
    }
    let share = beside_a_victim(Rival::Lied(A_LITTLE_SLOW));
    assert!(share < 1.25, "{share:.2} times the fair share");
}
