//! Acknowledgments that are late, without a loss.

use super::flow::{Flow, Set};
use super::namespaces::{Bottleneck, Path};
use super::{Loaded, able, alone, long};
use linux::tcp;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Sends over 20 Mbit/s and 40 ms; all acknowledgments of one moment and the time after it come `late_ms` late, in order.
fn after_a_spike(path: &Path, control: &str, late_ms: u32) -> [f64; 6] {
    let mut flow = Flow::open(path, control, Set::BeforeConnect);
    flow.bulk(2 * SECOND);
    path.delay(40 + late_ms);
    flow.bulk(Duration::from_millis(20));
    path.delay(40);
    flow.bulk(Duration::from_millis(u64::from(late_ms)));
    [(); 6].map(|()| flow.bulk(SECOND) * 8.0 / 1e6)
}

/// TCP's reaction to a silence depends on the state of its timer: the long version tries many phases.
fn lateness_ms() -> Vec<u32> {
    let mut tried = vec![500, 1000];
    if long() {
        tried.extend((900..1200).step_by(12));
    }
    tried
}

#[test]
#[ignore = "long: make test-long"]
fn late_acknowledgments_are_forgiven() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("spike", &Bottleneck { mbit: 20, limit: 200_000 });
    path.delay(40);
    let cubic = after_a_spike(&path, "cubic", 500);
    eprintln!("500 ms: cubic {cubic:.1?} Mbit/s");
    for late_ms in lateness_ms() {
        let seconds = after_a_spike(&path, &rapid.name, late_ms);
        let fallen = tcp::status(&rapid.name).expect("loaded").fallen;
        eprintln!("{late_ms} ms: rapid {seconds:.1?} Mbit/s, fallen {fallen:?}");
        assert!(fallen.is_empty(), "{late_ms} ms late: {fallen:?}, {seconds:.1?} Mbit/s");
        assert!(
            seconds[1] > 16.0 && seconds[2..].iter().all(|&rate| rate > 17.0),
            "{late_ms} ms: {seconds:.1?} Mbit/s"
        );
    }
}

/// The probe stream's phase at the outage decides which packets TCP's timer sends: the long version tries many.
fn phases_ms() -> impl Iterator<Item = u64> {
    let tried = if long() { 16 } else { 1 };
    (0..tried).map(|k| 13 * k)
}

/// Sends over a path that is cut for a while; Mbit/s of the seconds after the first acknowledgment.
fn after_an_outage(path: &Path, control: &str, long: Duration, phase_ms: u64) -> [f64; 6] {
    let mut flow = Flow::open(path, control, Set::BeforeConnect);
    flow.bulk(2 * SECOND + Duration::from_millis(phase_ms));
    path.cut(true);
    flow.bulk(long);
    path.cut(false);
    // When the next retransmission is due is TCP's affair, and the same for all: up to the outage's length later.
    let waited = flow.wait_for_ack();
    assert!(waited < long, "{control}: {waited:?} until an acknowledgment");
    [(); 6].map(|()| flow.bulk(SECOND) * 8.0 / 1e6)
}

fn is_over_after(test: &str, long: Duration) {
    let (rapid, path) = Loaded::over(test, &Bottleneck { mbit: 20, limit: 200_000 });
    path.delay(40);
    let carried = |seconds: [f64; 6]| seconds.iter().sum::<f64>();
    let cubic = after_an_outage(&path, "cubic", long, 0);
    eprintln!("after {long:?}: cubic {cubic:.1?} Mbit/s");
    for phase_ms in phases_ms() {
        let steered = after_an_outage(&path, &rapid.name, long, phase_ms);
        let fallen = tcp::status(&rapid.name).expect("loaded").fallen;
        eprintln!("{phase_ms} ms later: rapid {steered:.1?} Mbit/s, fallen {fallen:?}");
        assert!(fallen.is_empty(), "{fallen:?}");
        assert!(carried(steered) > 0.9 * carried(cubic), "cubic {cubic:.1?}, rapid {steered:.1?} Mbit/s");
    }
}

#[test]
#[ignore = "long: make test-long"]
fn recovers_after_outage() {
    if !able() {
        return;
    }
    let _alone = alone();
    is_over_after("outage", 2 * SECOND);
}

/// Everything in flight is retransmitted, and retransmissions report no arrivals.
#[test]
#[ignore = "long: make test-long"]
fn recovers_after_long_outage() {
    if !able() {
        return;
    }
    let _alone = alone();
    is_over_after("outage5", 5 * SECOND);
}
