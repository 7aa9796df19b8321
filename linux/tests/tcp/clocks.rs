//! Receivers whose clock runs at another pace, and acknowledgments of which most are lost.

use super::flow::Flow;
use super::hostile::{A_LITTLE_FAST, told};
use super::namespaces::{Path, run};
use super::{Loaded, SECOND, alone, judge};

#[test]
#[ignore = "long: make test-long"]
fn receiver_clock_that_is_4_per_cent_fast_costs_less_than_5_points() {
    let Some(_alone) = alone() else { return };
    let path = Path::new("pace", 20, 100_000);
    path.delay(40);
    let [right, fast] = [None, Some(A_LITTLE_FAST)].map(|lie| {
        let rapid = told(&path, "clock", lie);
        let mut flow = rapid.flow(&path);
        flow.bulk(2 * SECOND);
        flow.mbps(3 * SECOND)
    });
    let found = format!("a clock 4 % fast: {fast:.2} Mbit/s of 20, {right:.2} with one that is right");
    judge(fast > right - 0.05 * 20.0, found);
}

#[test]
#[ignore = "long: make test-long"]
fn loss_of_most_acknowledgments_costs_less_than_5_points() {
    let Some(_alone) = alone() else { return };
    let (rapid, path) = Loaded::over("thin", 60, 450_000);
    path.delay(60);
    let b = path.host("b");
    let rates = ["0%", "95%"].map(|lost| {
        let mut flow = Flow::open(&path, &rapid.name);
        flow.bulk(SECOND);
        // An acknowledgment of 2 packets in 20 arrives: it covers 40 in the mean, and tells eleven of them.
        run(&format!("tc -n {b} qdisc replace dev in root netem loss {lost} limit 10000"));
        flow.bulk(2 * SECOND);
        let rate = flow.mbps(3 * SECOND);
        run(&format!("tc -n {b} qdisc del dev in root"));
        let seen = rapid.report();
        eprintln!("{lost} of acknowledgments lost: unusable {} of {}", seen.unusable, seen.streams);
        rate
    });
    judge(rates[1] > rates[0] - 0.05 * 60.0, format_args!("{:.1} Mbit/s of 60, {:.1} with all", rates[1], rates[0]));
}
