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

/// A loss in 10^7 packets, and the length and the number of our runs; what they lose at least; throughputs in the print.
const CELLS: [(u64, u64, u64, u64, &[f64]); 4] =
    [(0, 40, 1, 0, &[9.45, 9.44]), (1, 110, 4, 3, &[9.44]), (10, 60, 2, 10, &[9.41]), (100, 60, 2, 100, &[9.07])];

#[test]
fn meets_the_printed_throughput_up_to_a_loss_of_1e_5() {
    for (per_1e7, seconds, seeds, at_least, printed) in CELLS {
        let runs = runs(thesis(), per_1e7, seconds, seeds);
        let lost: u64 = runs.iter().map(|run| run.flows[0].lost_packets).sum();
        assert!(lost >= at_least, "{per_1e7}e-7: only {lost} losses: too few for a judgement");
        for printed in printed {
            let found = gbps(&runs);
            println!("{per_1e7}e-7: found {found:.3} Gbit/s, printed {printed}, ratio {:.3}", found / printed);
            assert!(
                (found / printed - 1.0).abs() <= TOLERANCE,
                "{per_1e7}e-7: found {found} Gbit/s, printed {printed}"
            );
        }
    }
}

/// The printed Reno is at 0.923 Gbit/s there: the comparison distinguishes the two.
#[test]
fn newreno_at_a_loss_of_1e_5_is_far_below() {
    assert!(gbps(&runs(flow("newreno", PACKET, rtt()), 100, 60, 2)) < 0.2 * 9.07);
}
