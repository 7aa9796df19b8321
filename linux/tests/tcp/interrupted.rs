//! Applications that send less than all they can, and receivers that do not read.

use super::flow::Flow;
use super::namespaces::Path;
use super::{Loaded, SECOND, alone, judge};
use std::time::Duration;

/// Of all paths here.
const RTT_S: f64 = 0.04;

#[test]
#[ignore = "long: make test-long"]
fn pause_of_the_application_keeps_the_rate() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("pause");
    let run = |control: &str| {
        let mut flow = Flow::open(&path, control);
        flow.bulk(2 * SECOND);
        flow.settle();
        let before = (control != "cubic").then(|| rapid.rate());
        flow.trickle(1000, Duration::from_millis(20), 4 * SECOND);
        let after = (control != "cubic").then(|| rapid.rate());
        (flow.complete(1_000_000), before, after)
    };
    let (cubic, ..) = run("cubic");
    let (steered, before, after) = run(&rapid.name);
    judge(after > before.map(|rate| 0.8 * rate), format_args!("R {before:?} -> {after:?} Mbit/s"));
    judge(steered < 1.1 * cubic, format_args!("1 MB: rapid {steered:.3} s, cubic {cubic:.3} s"));
}

/// Compares the median and the mean of how long answers of a kept connection take with CUBIC's: the next one is asked for
/// when the last is there, after a pause. Who asks waits for its way here, too, and so for a round trip.
fn compare_answers(rapid: &Loaded, path: &Path, bytes: usize, pause: Duration, number: usize) {
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(path, control);
        let mut answer = || {
            let took = flow.complete(bytes);
            std::thread::sleep(pause);
            took
        };
        let mut took: Vec<f64> = (0..number).map(|_| answer()).collect();
        eprintln!("{control}: {bytes} B after {pause:?}: {took:.3?}");
        let mean = took.iter().sum::<f64>() / number as f64;
        took.sort_by(f64::total_cmp);
        [took[number / 2], mean]
    });
    let ratios = [0, 1].map(|i| (steered[i] + RTT_S) / (cubic[i] + RTT_S));
    let found = format!("{bytes} B after {pause:?}: {ratios:.3?} times CUBIC's");
    judge(ratios.iter().all(|ratio| *ratio < 1.1), found);
}

#[test]
#[ignore = "long: make test-long"]
fn answers_of_a_kept_connection_take_no_longer_than_with_cubic() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("answers");
    for (bytes, pause_ms, number) in [(20_000, 300, 8), (100_000, 300, 8), (10_000, 200, 30), (50_000, 200, 30)] {
        compare_answers(&rapid, &path, bytes, Duration::from_millis(pause_ms), number);
    }
}

/// Over 50 Mbit/s and 40 ms, after pauses that are shorter than TCP's timer: CUBIC has its window still.
fn answers_after_short_pauses(test: &str, limit: u32) {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over(test, 50, limit);
    path.delay(40);
    for bytes in [5_000, 10_000, 20_000, 30_000, 60_000, 120_000] {
        compare_answers(&rapid, &path, bytes, Duration::from_millis(100), 30);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn answers_after_short_pauses_take_no_longer_than_with_cubic() {
    answers_after_short_pauses("often", 250_000);
}

#[test]
#[ignore = "long: make test-long"]
fn answers_after_short_pauses_over_a_small_buffer_take_no_longer_than_with_cubic() {
    answers_after_short_pauses("small", 30_000);
}

/// How long until the connection has four fifths of the path's 20 Mbit/s, for half a second.
fn until_it_is_back(flow: &mut Flow) -> Duration {
    let (look, held) = (SECOND / 10, SECOND / 2);
    let (mut since, mut took) = (Duration::ZERO, Duration::ZERO);
    while took - since < held {
        took += look;
        assert!(took < 30 * SECOND, "it does not come back");
        if flow.mbps(look) < 0.8 * 20.0 {
            since = took;
        }
    }
    since
}

#[test]
#[ignore = "long: make test-long"]
fn rate_comes_back_once_a_receiver_reads_again() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over_40_ms("shut");
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control);
        flow.bulk(2 * SECOND);
        flow.read(false);
        let meanwhile = flow.mbps(4 * SECOND);
        // The receiver's buffer takes at least a first window, 64 kB: 0.13 Mbit/s over 4 s.
        assert!((0.13..12.0).contains(&meanwhile), "{control}: {meanwhile} Mbit/s: the window was to be shut");
        flow.read(true);
        // What the receiver had is read at once, and the window opens.
        (until_it_is_back(&mut flow).as_secs_f64(), flow.mbps(SECOND))
    });
    judge(
        steered.0 < 1.1 * cubic.0 + 0.2 && steered.1 > 17.0,
        format_args!("s until back, Mbit/s of 20 then: cubic {cubic:.2?}, rapid {steered:.2?}"),
    );
}
