//! Single flows compared with ns-2 (Debian package `ns2`): 100 Mbit/s, base round trip 60 ms, packets of 1500 B.
//!
//! Without random loss the buffer is 1/4 and 1 BDP (125 and 500 packets, the packet in service included on both
//! sides). With random loss of 1e-4 and 1e-3 a window stays far below the BDP of 500 packets, so one buffer is
//! enough. There each side is the mean of eight seeds, since the draws differ.
//!
//! Where the models differ, and how the test handles it:
//! * ns-2's CUBIC is that of Linux 2.6.22. It has no HyStart: HyStart++ is off here. Its beta is 0.8: the script sets
//!   0.7. Its Reno-friendly region grows by alpha = 3 (1 - beta) / (1 + beta) per round trip for ever; in RFC 9438
//!   growth continues at 1 once the window before the loss is reached. That region is off on both sides, so that the
//!   cubics are compared. (Where it matters, at a loss of 1e-3, CUBIC with its region is faster here than in ns-2: see
//!   README.md.)
//! * In recovery `Agent/TCP/Linux` halves its rate as Linux did then, and `Sack1` sends as in RFC 6675; here recovery
//!   is proportional rate reduction (RFC 6937).

mod path;
mod peers;

use experiment::scenario::{Buffer, Experiment, FlowSpec};
use packetscale_models::units::{Packets, Rate, Ratio, Span};
use path::{assert_none_apart, dumbbell, flow, link, mean, replicate, without};
use rayon::prelude::*;

const PACKET: u64 = 1500;
const WARMUP_S: u64 = 20;
const SEEDS: u64 = 8;

/// One path.
#[derive(Clone, Copy)]
struct Case {
    buffer: u64,
    /// One loss in this many packets; 0: none.
    one_in: u64,
    seconds: u64,
}

const QUARTER_BDP: Case = Case { buffer: 125, one_in: 0, seconds: 320 };
const ONE_BDP: Case = Case { buffer: 500, one_in: 0, seconds: 320 };
const LOSS_4: Case = Case { buffer: 125, one_in: 10_000, seconds: 420 };
const LOSS_3: Case = Case { buffer: 125, one_in: 1000, seconds: 420 };

fn rtt() -> Span {
    Span::from_millis(60)
}

fn newreno() -> FlowSpec {
    flow("newreno", PACKET, rtt())
}

/// CUBIC without what ns-2 lacks or does differently.
fn cubic() -> FlowSpec {
    without(flow("cubic", PACKET, rtt()), &["hystart", "reno_friendly"])
}

impl Case {
    fn seeds(&self) -> u64 {
        if self.one_in == 0 { 1 } else { SEEDS }
    }

    /// Throughput per seed, in bit/s.
    fn here(&self, flow: &FlowSpec) -> Vec<f64> {
        let mut wire = link(Rate::from_mbps(100), rtt() / 2, Buffer::Packets(Packets::new(self.buffer)));
        if self.one_in > 0 {
            wire.loss = Ratio::of(1, self.one_in);
        }
        let warmup = Span::from_secs(WARMUP_S);
        let mut experiment = Experiment { warmup, ..dumbbell(wire, Span::from_secs(self.seconds)) };
        experiment.flows = vec![flow.clone().into()];
        replicate(&experiment, self.seeds()).iter().map(|run| run.summary.throughput_bps.unwrap()).collect()
    }

    fn in_ns2(&self, variant: &str) -> Vec<f64> {
        let seeds: Vec<u64> = (1..=self.seeds()).collect();
        seeds.into_par_iter().map(|seed| self.one_in_ns2(variant, seed)).collect()
    }

    fn one_in_ns2(&self, variant: &str, seed: u64) -> f64 {
        let loss = if self.one_in == 0 { 0.0 } else { 1.0 / self.one_in as f64 };
        let numbers = [self.buffer as f64, loss, seed as f64, WARMUP_S as f64, self.seconds as f64];
        let packets = peers::ns2::packets(variant, &numbers);
        packets * (8 * PACKET) as f64 / (self.seconds - WARMUP_S) as f64
    }
}

/// Asserts that each path's throughput is within 10 % of ns-2's. It prints the standard errors: two means of eight runs
/// differ by some 3 % by chance.
fn assert_agrees(flow: &FlowSpec, variant: &str, cases: &[Case]) {
    let row = |case: &Case| {
        let ((here, here_error), (there, there_error)) = (mean(&case.here(flow)), mean(&case.in_ns2(variant)));
        let line = format!(
            "{} | ns-2 {variant} | {} packets, one loss in {} | {:.2} +- {:.2} | {:.2} +- {:.2} Mbit/s | {:.3}",
            flow.controller.kind,
            case.buffer,
            case.one_in,
            here / 1e6,
            here_error / 1e6,
            there / 1e6,
            there_error / 1e6,
            here / there
        );
        (line, (here / there - 1.0).abs() > 0.1)
    };
    assert_none_apart(cases.iter().map(row).collect());
}

const ALL: &[Case] = &[QUARTER_BDP, ONE_BDP, LOSS_4, LOSS_3];

#[test]
fn newreno_matches_linux_reno_in_ns2() {
    assert_agrees(&newreno(), "reno", ALL);
}

#[test]
fn newreno_is_as_fast_as_sack1_in_ns2() {
    assert_agrees(&newreno(), "sack1", ALL);
}

#[test]
fn cubic_matches_linux_cubic_in_ns2() {
    assert_agrees(&cubic(), "cubic", ALL);
}

/// The comparison distinguishes controllers.
#[test]
fn the_comparison_distinguishes_cubic_from_reno() {
    let ((reno, _), (cubic, _)) = (mean(&LOSS_3.in_ns2("reno")), mean(&LOSS_3.here(&cubic())));
    assert!((cubic / reno - 1.0).abs() > 0.1, "cubic here {cubic}, reno in ns-2 {reno}");
}
