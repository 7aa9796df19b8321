//! Applications that send less than all they can, and receivers that do not read.

use super::flow::{Flow, Set};
use super::namespaces::{Bottleneck, Path};
use super::{Loaded, able, alone};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
/// Of all paths here.
const RTT_S: f64 = 0.04;

fn rate(rapid: &Loaded) -> f64 {
    rapid.report().rate as f64 * 8.0 / 1e6
}

#[test]
#[ignore = "long: make test-long"]
fn pausing_application_keeps_its_rate() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("pause");
    let run = |control: &str| {
        let mut flow = Flow::open(&path, control, Set::BeforeConnect);
        flow.bulk(2 * SECOND);
        flow.settle();
        let before = (control != "cubic").then(|| rate(&rapid));
        flow.trickle(1000, Duration::from_millis(20), 4 * SECOND);
        let after = (control != "cubic").then(|| rate(&rapid));
        (flow.complete(1_000_000).as_secs_f64(), before, after)
    };
    let (cubic, ..) = run("cubic");
    let (steered, before, after) = run(&rapid.name);
    eprintln!("R {before:?} -> {after:?} Mbit/s; 1 MB: rapid {steered:.3} s, cubic {cubic:.3} s");
    assert!(after > before.map(|rate| 0.8 * rate), "R falls from {before:?} to {after:?} Mbit/s");
    assert!(steered < 1.1 * cubic, "1 MB: rapid {steered:.3} s, cubic {cubic:.3} s");
}

/// Times of replies on a persistent connection: each is requested after the last, with a pause.
fn answers(path: &Path, control: &str, bytes: usize, pause: Duration, number: usize) -> Vec<f64> {
    let mut flow = Flow::open(path, control, Set::BeforeConnect);
    let mut answer = || {
        let took = flow.complete(bytes).as_secs_f64();
        std::thread::sleep(pause);
        took
    };
    (0..number).map(|_| answer()).collect()
}

/// Compares the median and the mean of Rapid's times with CUBIC's. Times include the request's way, that is one round trip.
fn compare_answers(rapid: &Loaded, path: &Path, bytes: usize, pause: Duration, number: usize) {
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        let mut took = answers(path, control, bytes, pause, number);
        eprintln!("{control}: {bytes} B after {pause:?}: {took:.3?}");
        let mean = took.iter().sum::<f64>() / number as f64;
        took.sort_by(f64::total_cmp);
        [took[number / 2], mean]
    });
    let arrivals = [0, 1].map(|i| steered[i] / cubic[i]);
    let ratios = [0, 1].map(|i| (steered[i] + RTT_S) / (cubic[i] + RTT_S));
    eprintln!("{bytes} B after {pause:?}: {ratios:.3?} times CUBIC's; without the round trip {arrivals:.3?}");
    assert!(ratios.iter().all(|ratio| *ratio < 1.1), "{bytes} B after {pause:?}: {ratios:.3?} times CUBIC's");
}

#[test]
#[ignore = "long: make test-long"]
fn answers_of_persistent_connection_match_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("answers");
    for bytes in [20_000, 100_000] {
        compare_answers(&rapid, &path, bytes, Duration::from_millis(300), 8);
    }
    for bytes in [10_000, 50_000] {
        compare_answers(&rapid, &path, bytes, Duration::from_millis(200), 30);
    }
}

/// Over 50 Mbit/s and 40 ms, after pauses that are shorter than TCP's timer: CUBIC has its window still.
fn answers_after_short_pauses(test: &str, limit: u32) {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over(test, &Bottleneck { mbit: 50, limit });
    path.delay(40);
    for bytes in [5_000, 10_000, 20_000, 30_000, 60_000, 120_000] {
        compare_answers(&rapid, &path, bytes, Duration::from_millis(100), 30);
    }
}

#[test]
#[ignore = "long: make test-long"]
fn answers_after_pauses_match_cubic() {
    answers_after_short_pauses("often", 250_000);
}

#[test]
#[ignore = "long: make test-long"]
fn answers_after_pauses_match_cubic_with_small_buffer() {
    answers_after_short_pauses("small", 30_000);
}

/// How long until the connection has four fifths of the path's 20 Mbit/s, for half a second.
fn until_it_is_back(flow: &mut Flow) -> Duration {
    let (sample, held) = (SECOND / 10, SECOND / 2);
    let (mut since, mut took) = (Duration::ZERO, Duration::ZERO);
    while took - since < held {
        took += sample;
        assert!(took < 30 * SECOND, "it does not come back");
        if flow.bulk(sample) * 8.0 / 1e6 < 0.8 * 20.0 {
            since = took;
        }
    }
    since
}

#[test]
#[ignore = "long: make test-long"]
fn paused_receiver_does_not_lower_rate() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("shut");
    let [cubic, steered] = ["cubic", &rapid.name].map(|control| {
        let mut flow = Flow::open(&path, control, Set::BeforeConnect);
        flow.bulk(2 * SECOND);
        flow.read(false);
        let meanwhile = flow.bulk(4 * SECOND) * 8.0 / 1e6;
        // The receiver's buffer takes at least a first window, 64 kB: 0.13 Mbit/s over 4 s.
        assert!((0.13..12.0).contains(&meanwhile), "{control}: {meanwhile} Mbit/s: the window was to be shut");
        flow.read(true);
        // The receiver reads its buffer at once, and the window opens.
        (until_it_is_back(&mut flow).as_secs_f64(), meanwhile, flow.bulk(SECOND) * 8.0 / 1e6)
    });
    eprintln!("s until back, Mbit/s meanwhile and then: cubic {cubic:.2?}, rapid {steered:.2?}");
    assert!(steered.0 < 1.1 * cubic.0 + 0.2, "back after {:.1} s, cubic {:.1} s", steered.0, cubic.0);
    assert!(steered.2 > 17.0, "{:.1} Mbit/s of 20", steered.2);
}
