//! The dissertation's law under random loss, compared with published measurements: Q. Yin, "TCP RAPID: from theory to
//! practice", table 8.2, row tau = 10 ms, eta = 1/3: 10 Gbit/s, round trip 30 ms, no other traffic.
//!
//! The print has the goodput of a testbed with its headers, its network cards and the noise of its interrupts, behind
//! which the law leaves some 5 % free. Here it is bits on the wire of a path without noise, and the law is given a margin
//! of 5 %, so 9.5 Gbit/s is the maximum. The bound is therefore 10 %. `reproduce rapid-2017/table-8.1` has the law without
//! a margin, behind the noise.
//!
//! A run of 100 s is 13 million packets. At 1e-8 most such runs lose nothing, and so did most of the printed ones
//! (5 min). That cell is therefore compared with the runs without loss and with 1e-7, which enclose it. From 1e-4 on
//! the printed values fall much faster (6.17 Gbit/s) than the law does here (9.1). Each loss cut a quarter of the rate
//! in both, but the testbed's recovery is not described. Those cells are not claimed.

mod path;

use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment, FlowSpec};
use packetscale_models::settings::Setting;
use packetscale_models::units::{Bytes, Rate, Ratio, Span};
use path::{dumbbell, flow, link, mean, replicate};

const PACKET: u64 = 9000;
const TOLERANCE: f64 = 0.1;

fn rtt() -> Span {
    Span::from_millis(30)
}

fn thesis() -> FlowSpec {
    let mut rapid = flow("rapid-thesis", PACKET, rtt());
    let settings = &mut rapid.controller.settings;
    settings.insert("tau".to_string(), Setting::Span(Span::from_millis(10)));
    settings.insert("eta".to_string(), Setting::Integer(3));
    settings.insert("margin".to_string(), Setting::Ratio(Ratio::of(5, 100)));
    rapid
}

/// Makes runs with `per_1e7` losses in 10^7 packets.
fn runs(flow: FlowSpec, per_1e7: u64, seconds: u64, seeds: u64) -> Vec<Run> {
    let mut wire = link(Rate::from_gbps(10), rtt() / 2, Buffer::Bytes(Bytes::new(37_500_000)));
    wire.loss = Ratio::of(per_1e7, 10_000_000);
    let mut experiment = Experiment { warmup: Span::from_secs(10), ..dumbbell(wire, Span::from_secs(seconds)) };
    experiment.flows = vec![flow.into()];
    replicate(&experiment, seeds)
}

fn gbps(runs: &[Run]) -> f64 {
    mean(&runs.iter().map(|run| run.summary.throughput_bps.unwrap() / 1e9).collect::<Vec<f64>>()).0
}

#[track_caller]
fn assert_printed(runs: &[Run], printed: f64) {
    let found = gbps(runs);
    println!("found {found:.3} Gbit/s, printed {printed}, ratio {:.3}", found / printed);
    assert!((found / printed - 1.0).abs() <= TOLERANCE, "found {found} Gbit/s, printed {printed}");
}

#[track_caller]
fn assert_lost(runs: &[Run], at_least: u64) {
    let lost: u64 = runs.iter().map(|run| run.flows[0].lost_packets).sum();
    assert!(lost >= at_least, "only {lost} losses: the runs say nothing");
}

#[test]
fn without_loss_and_up_to_a_loss_of_1e_7_the_printed_throughput_is_met() {
    let none = runs(thesis(), 0, 40, 1);
    assert_printed(&none, 9.45);
    assert_printed(&none, 9.44);
    let rare = runs(thesis(), 1, 110, 4);
    assert_lost(&rare, 3);
    assert_printed(&rare, 9.44);
}

#[test]
fn at_a_loss_of_1e_6_the_printed_throughput_is_met() {
    let runs = runs(thesis(), 10, 60, 2);
    assert_lost(&runs, 10);
    assert_printed(&runs, 9.41);
}

#[test]
fn at_a_loss_of_1e_5_the_printed_throughput_is_met() {
    let runs = runs(thesis(), 100, 60, 2);
    assert_lost(&runs, 100);
    assert_printed(&runs, 9.07);
}

/// The printed Reno is at 0.923 Gbit/s there: the comparison distinguishes the two.
#[test]
fn newreno_at_a_loss_of_1e_5_is_nowhere_near() {
    assert!(gbps(&runs(flow("newreno", PACKET, rtt()), 100, 60, 2)) < 0.2 * 9.07);
}
