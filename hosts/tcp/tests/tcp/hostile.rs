//! A sender that hears lies about arrivals (`liar.bpf.c`): what remains to bound it is its guard.

use super::connection::transfer;
use super::lockstep::{ARRIVAL, recorded};
use super::namespaces::{Bottleneck, Path};
use super::{Loaded, able, alone, clang};
use packetscale_tcp::{self as tcp, Options};
use std::time::Duration;

/// `enum lie` of `liar.bpf.c`, from 1.
const LIES: [&str; 8] = ["zero", "frozen", "random", "backwards", "fast", "slow", A_LITTLE_FAST, "a little slow"];
/// By 4 %.
pub const A_LITTLE_FAST: &str = "a little fast";

/// The senders that hear each lie, compiled.
pub fn liars() -> impl Iterator<Item = Vec<u8>> {
    (1..=LIES.len()).map(liar)
}

/// The sender that hears the lie of this number.
fn liar(number: usize) -> Vec<u8> {
    clang::compiled("tests/tcp/liar.bpf.c", &[&format!("-DLIE={number}")])
}

/// The sender that hears this lie.
pub fn teller(lie: &str) -> Vec<u8> {
    liar(1 + LIES.iter().position(|known| *known == lie).expect("a lie"))
}

/// Whether this machine can run it; says why not where it cannot.
pub fn can_lie() -> bool {
    let installed = clang::is_installed();
    if !installed {
        eprintln!("skipped: clang is not installed");
    }
    installed && able()
}

#[test]
fn a_sender_that_is_lied_to_hears_nothing_else() {
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
fn no_lie_about_arrivals_makes_a_sender_exceed_what_is_acknowledged_or_stall() {
    if !can_lie() {
        return;
    }
    let _alone = alone();
    let path = Path::new("lies", &Bottleneck { mbit: 50, limit: 50_000 });
    for (number, lie) in (1..).zip(LIES) {
        let rapid = Loaded::new("lies", Options { flows: 2, sender: Some(liar(number)), ..Options::default() });
        path.inside("b", || tcp::note_arrivals(&rapid.name, "in").expect("tc"));
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
