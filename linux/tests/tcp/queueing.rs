//! Compares the closed loop with CUBIC on the same path.

use super::connection::{goodput, median, round_trip, transfer};
use super::namespaces::{Bottleneck, MANY_SEGMENTS};
use super::{Loaded, able, alone};
use linux::tcp::{self, Reason};
use std::time::Duration;

const LONG: Duration = Duration::from_millis(2500);
const AFTER: Duration = Duration::from_millis(700);

#[test]
#[ignore = "long: make test-long"]
fn rapid_fills_path_with_shorter_queue_than_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("queue", &Bottleneck { mbit: 50, limit: 100_000 });
    let runs = |control: &str| {
        let runs: Vec<_> = (0..3).map(|_| transfer(&path, control, LONG)).collect();
        let of = |figure: fn(&[_], _) -> f64| median(runs.iter().map(|run| figure(run, AFTER)).collect());
        (of(goodput), of(round_trip))
    };
    let (cubic_goodput, cubic_round_trip) = runs("cubic");
    let (rapid_goodput, rapid_round_trip) = runs(&rapid.name);
    // A full buffer is 16 ms; CUBIC keeps it more than half full.
    assert!(cubic_round_trip > 8000.0, "{cubic_round_trip} us: the path is not what it should be");
    assert!(rapid_goodput > 0.9 * cubic_goodput, "{rapid_goodput} against {cubic_goodput} bit/s");
    assert!(rapid_round_trip < cubic_round_trip / 3.0, "{rapid_round_trip} against {cubic_round_trip} us");
}

#[test]
#[ignore = "long: make test-long"]
fn segmentation_offload_causes_fallback_with_reason() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("bursts", &Bottleneck { mbit: 50, limit: 100_000 });
    path.segments(MANY_SEGMENTS);
    let samples = transfer(&path, &rapid.name, LONG);
    let status = tcp::status(&rapid.name).expect("loaded");
    let why: Vec<Reason> = status.fallen.iter().map(|(_, fallen)| fallen.why()).collect();
    assert!(why.contains(&Reason::Bursts), "{why:?}, {:?}", status.connections);
    assert!(goodput(&samples, AFTER) > 40e6, "{} bit/s", goodput(&samples, AFTER));
}
