//! Applications that send less than all they can, and receivers that do not read.

use super::flow::{Flow, Set};
use super::{Loaded, able, alone};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn rate(rapid: &Loaded) -> f64 {
    rapid.report().rate as f64 * 8.0 / 1e6
}

#[test]
fn an_application_that_pauses_keeps_its_rate() {
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

#[test]
fn answers_of_a_kept_connection_take_no_longer_than_with_cubic() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over_40_ms("answers");
    for bytes in [20_000, 100_000] {
        let run = |control: &str| {
            let mut flow = Flow::open(&path, control, Set::BeforeConnect);
            let mut took: Vec<f64> = (0..8)
                .map(|_| {
                    let took = flow.complete(bytes).as_secs_f64();
                    std::thread::sleep(Duration::from_millis(300));
                    took
                })
                .collect();
            took.sort_by(f64::total_cmp);
            took[4]
        };
        let (cubic, steered) = (run("cubic"), run(&rapid.name));
        eprintln!("{bytes} B: rapid {steered:.3} s, cubic {cubic:.3} s");
        assert!(steered < 1.1 * cubic, "{bytes} B: rapid {steered:.3} s, cubic {cubic:.3} s");
    }
}

/// How long until the connection has four fifths of the path's 20 Mbit/s, for half a second.
fn until_it_is_back(flow: &mut Flow) -> Duration {
    let (look, held) = (SECOND / 10, SECOND / 2);
    let (mut since, mut took) = (Duration::ZERO, Duration::ZERO);
    while took - since < held {
        took += look;
        assert!(took < 30 * SECOND, "it does not come back");
        if flow.bulk(look) * 8.0 / 1e6 < 0.8 * 20.0 {
            since = took;
        }
    }
    since
}

#[test]
fn a_receiver_that_stops_reading_is_no_slow_path() {
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
        // What the receiver had is read at once, and the window opens.
        (until_it_is_back(&mut flow).as_secs_f64(), meanwhile, flow.bulk(SECOND) * 8.0 / 1e6)
    });
    eprintln!("s until back, Mbit/s meanwhile and then: cubic {cubic:.2?}, rapid {steered:.2?}");
    assert!(steered.0 < 1.1 * cubic.0 + 0.2, "back after {:.1} s, cubic {:.1} s", steered.0, cubic.0);
    assert!(steered.2 > 17.0, "{:.1} Mbit/s of 20", steered.2);
}
