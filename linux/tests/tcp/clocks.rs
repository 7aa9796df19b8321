//! Receivers whose clock runs at another rate, and paths that drop most acknowledgments.

use super::flow::{Flow, Set};
use super::hostile::{A_LITTLE_FAST, can_lie, teller};
use super::namespaces::{Bottleneck, Path, run};
use super::{Loaded, able, alone};
use linux::tcp::{self, Options};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Rapid at a path, with this forgery or honest arrivals.
fn hearing(path: &Path, lie: Option<&str>) -> Loaded {
    let rapid = Loaded::new("clock", Options { flows: 4, sender: lie.map(teller), ..Options::default() });
    path.inside("b", || tcp::note_arrivals(&rapid.name, "in").expect("tc"));
    rapid
}

#[test]
#[ignore = "long: make test-long"]
fn clock_four_percent_fast_costs_under_five_points() {
    if !can_lie() {
        return;
    }
    let _alone = alone();
    let path = Path::new("pace", &Bottleneck { mbit: 20, limit: 100_000 });
    path.delay(40);
    let [right, fast] = [None, Some(A_LITTLE_FAST)].map(|lie| {
        let rapid = hearing(&path, lie);
        let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
        flow.bulk(2 * SECOND);
        flow.bulk(3 * SECOND) * 8.0 / 1e6
    });
    eprintln!("a clock 4 % fast: {fast:.2} Mbit/s of 20, {right:.2} with one that is right");
    assert!(fast > right - 0.05 * 20.0, "{fast:.2} Mbit/s of 20, {right:.2} with a clock that is right");
}

#[test]
#[ignore = "long: make test-long"]
fn ack_loss_costs_under_five_points() {
    if !able() {
        return;
    }
    let _alone = alone();
    let (rapid, path) = Loaded::over("thin", &Bottleneck { mbit: 60, limit: 450_000 });
    path.delay(60);
    let rates = ["0%", "95%"].map(|lost| {
        let mut flow = Flow::open(&path, &rapid.name, Set::BeforeConnect);
        flow.bulk(SECOND);
        // Two acknowledgments of 20 arrive: one covers 40 packets in the mean, and reports eleven of them.
        run(&format!("tc -n {} qdisc replace dev in root netem loss {lost} limit 10000", path.host("b")));
        flow.bulk(2 * SECOND);
        let rate = flow.bulk(3 * SECOND) * 8.0 / 1e6;
        run(&format!("tc -n {} qdisc del dev in root", path.host("b")));
        let seen = rapid.report();
        eprintln!(
            "{lost} of acknowledgments lost: {rate:.1} Mbit/s of 60, unusable {} of {}",
            seen.unusable, seen.streams
        );
        rate
    });
    assert!(rates[1] > rates[0] - 0.05 * 60.0, "{:.1} Mbit/s of 60, {:.1} with all", rates[1], rates[0]);
}
