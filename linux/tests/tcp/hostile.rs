//! A sender that hears lies about arrivals (`liar.bpf.c`): what remains to bound it is its guard.

use super::connection::{look, transfer};
use super::flow::Flow;
use super::lockstep::{ARRIVAL, recorded};
use super::namespaces::Path;
use super::{Loaded, SECOND, alone, clang, few, judge, long};
use linux::tcp::Options;
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

/// The senders that hear each lie, compiled.
pub fn liars() -> impl Iterator<Item = Vec<u8>> {
    LIES.iter().map(|lie| teller(lie))
}

/// The sender that hears this lie.
fn teller(lie: &str) -> Vec<u8> {
    let number = 1 + LIES.iter().position(|known| *known == lie).expect("a lie");
    clang::compiled("tests/tcp/liar.bpf.c", &[&format!("-DLIE={number}")])
}

/// Rapid that hears this lie, or the truth, at a path.
pub fn told(path: &Path, what: &str, lie: Option<&str>) -> Loaded {
    let rapid = Loaded::new(what, Options { sender: lie.map(teller), ..few("", 2) });
    rapid.note_arrivals(path);
    rapid
}

#[test]
fn sender_that_is_lied_to_hears_nothing_else() {
    let Some(_alone) = alone() else { return };
    let calls = recorded(Options { sender: Some(teller("zero")), ..Options::default() });
    let arrivals: Vec<u64> = calls.iter().filter(|call| call.call == ARRIVAL).map(|call| call.argument).collect();
    assert!(arrivals.len() > 500, "{} arrivals", arrivals.len());
    assert!(arrivals.iter().all(|&arrival| arrival == 0), "{arrivals:?}");
}

#[test]
#[ignore = "long: make test-long"]
fn no_lie_about_arrivals_makes_a_sender_exceed_what_is_acknowledged_or_stall() {
    let Some(_alone) = alone() else { return };
    let path = Path::new("lies", 50, 50_000);
    for lie in LIES {
        let rapid = told(&path, "lies", Some(lie));
        let looks = transfer(&path, &rapid.name, Duration::from_millis(2500));
        // Half a second is more than ten round trips of a full buffer (8 ms); start-up is over by then.
        let marks: Vec<_> =
            (1..=4).filter_map(|half| looks.iter().find(|look| look.at >= Duration::from_millis(500 * half))).collect();
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
                let now = look(&socket, began);
                if fallen.is_none() && rapid.counters().all_fallen() > 0 {
                    fallen = Some(now.at);
                }
                let steered = fallen.is_none_or(|at| now.at < at + 5 * RTT);
                if steered && now.at > 2 * SECOND {
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

/// Over 50 Mbit/s and 40 ms with a buffer of sixteen bandwidth-delay products, which loses nothing: six answers of eight
/// products, then six of 20 kB, and so on. Pauses lift the bound of the rate; that of what is in flight holds.
#[test]
#[ignore = "long: make test-long"]
fn no_lie_makes_a_sender_that_pauses_put_more_than_five_products_in_flight() {
    let Some(_alone) = alone() else { return };
    let product = 250_000;
    let path = Path::new("pauses", 50, 16 * product);
    path.delay(40);
    let answers = [[8 * product as usize; 6], [20_000; 6]].concat();
    for lie in [NO_QUEUE, "fast", "frozen"] {
        let rapid = told(&path, "pauses", Some(lie));
        let mut flow = rapid.flow(&path);
        let most = most_in_flight(&rapid, &mut flow, &answers, Duration::from_millis(100), 6 * SECOND);
        let (met, products) = (rapid.counters().guarded, most as f64 / f64::from(product));
        let found = format!("{lie}: {products:.2} products in flight, guard met {met} times");
        judge((1.0..=5.0).contains(&products) && met > 0, found);
    }
}

/// Who sends beside a victim.
#[derive(Clone, Copy, Debug)]
enum Rival {
    Honest,
    Lied(&'static str),
    /// What a receiver gets that tells nothing.
    Cubic,
}

/// What a connection beside one of Rapid gets, as a multiple of its fair share, from the second second on.
fn beside_a_victim(rival: Rival) -> f64 {
    let path = Path::new("victim", 20, 100_000);
    path.delay(40);
    let lie = if let Rival::Lied(lie) = rival { Some(lie) } else { None };
    let (lied_to, victim) = (told(&path, "rival", lie), Loaded::new("victim", few("", 2)));
    let first = if matches!(rival, Rival::Cubic) { "cubic" } else { &lied_to.name };
    let mut flows = [first, &victim.name].map(|control| Flow::open(&path, control));
    let rates = std::thread::scope(|scope| {
        let running = flows.each_mut().map(|flow| {
            scope.spawn(|| {
                flow.bulk(2 * SECOND);
                flow.mbps(8 * SECOND)
            })
        });
        running.map(|one| one.join().expect("no panic"))
    });
    let share = 2.0 * rates[0] / (rates[0] + rates[1]);
    eprintln!("{rival:?}: {rates:.2?} Mbit/s of 20, {share:.2} times the fair share");
    share
}

/// One whose clock passes for one. A receiver that says nothing gets CUBIC, which takes more than any bound here would leave
/// it: that, and a lie behind all that finds lies out, are told and not judged, with `PACKETSCALE_LONG`.
#[test]
#[ignore = "long: make test-long"]
fn receiver_clock_that_is_a_little_slow_takes_at_most_a_quarter_more_than_its_share() {
    let Some(_alone) = alone() else { return };
    if long() {
        for rival in [Rival::Honest, Rival::Cubic, Rival::Lied(NO_QUEUE)] {
            beside_a_victim(rival);
        }
    }
    let share = beside_a_victim(Rival::Lied(A_LITTLE_SLOW));
    assert!(share < 1.25, "{share:.2} times the fair share");
}
