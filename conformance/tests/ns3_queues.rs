//! Queue disciplines compared with ns-3's models of them (3.37, Debian packages `libns3-dev` and `g++`): five NewReno flows with
//! round trips of 20 to 60 ms over 50 Mbit/s, alone and with a step of unresponsive traffic, with and without
//! ECN.
//!
//! The parts of packets dropped and marked, and the mean, the median, the 95th and the 99th percentile of the queueing
//! delay differ by no more than 10 %, plus twice the standard error of the difference of the means over seeds. ns-3 3.37 has no DualPI2: `dualpi2.rs` judges it by its own law.

mod path;
mod peers;

use experiment::results::Run;
use experiment::scenario::{Buffer, Experiment, FlowSpec, QueueSpec, Start, TrafficKind};
use packetscale_models::units::{Packets, Rate, Span, Time};
use path::{apart, assert_none_apart, dumbbell, flow, link, mean, replicate, traffic};
use peers::ns3::Program;
use rayon::prelude::*;

const PACKET: u64 = 1500;
const WARMUP_S: u64 = 5;
const SECONDS: u64 = 30;
const FLOWS: u64 = 5;
const HERE_SEEDS: u64 = 8;
const NS3_SEEDS: u64 = 3;
/// Enough for every discipline here never to be full after the start.
const BUFFER: u64 = 1000;

/// A discipline here and in ns-3, with the attributes that make the two alike.
struct Pair {
    here: &'static str,
    there: &'static str,
    attributes: &'static [&'static str],
}

/// What is offered to it.
#[derive(Clone, Copy)]
struct Mix {
    ecn: bool,
    /// Traffic that does not respond, in the middle third.
    step_mbps: u64,
}

const METRICS: [&str; 6] = ["dropped", "marked", "mean", "median", "95th", "99th"];

fn experiment(pair: &Pair, mix: Mix) -> Experiment {
    let mut wire = link(Rate::from_mbps(50), Span::from_millis(5), Buffer::Packets(Packets::new(BUFFER)));
    wire.queue = QueueSpec::named(pair.here);
    let one = |number: u64| FlowSpec {
        ecn: mix.ecn,
        start: Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(2)),
        ..flow("newreno", PACKET, Span::from_millis(20 + 10 * number))
    };
    let mut experiment = dumbbell(wire, Span::from_secs(SECONDS));
    experiment.warmup = Span::from_secs(WARMUP_S);
    experiment.flows = (0..FLOWS).map(one).map(Into::into).collect();
    experiment.record.detail = true;
    if mix.step_mbps > 0 {
        let mut step = traffic(TrafficKind::Cbr { rate: Rate::from_mbps(mix.step_mbps) }, PACKET);
        (step.start, step.stop) = (at(SECONDS / 3), at(2 * SECONDS / 3));
        experiment.traffic = vec![step];
    }
    experiment
}

fn at(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

fn figures(run: &Run) -> [f64; METRICS.len()] {
    let summary = &run.summary;
    let delays =
        [summary.queue_delay_mean_s, summary.queue_delay_p50_s, summary.queue_delay_p95_s, summary.queue_delay_p99_s];
    let [mean, median, p95, p99] = delays.map(|delay| delay.expect("packets were served"));
    let part = |ratio: Option<f64>| ratio.expect("packets were sent");
    [part(summary.drop_ratio), part(summary.mark_ratio), mean, median, p95, p99]
}

fn in_ns3(program: &Program, pair: &Pair, mix: Mix, seed: u64) -> [f64; METRICS.len()] {
    let numbers = [u64::from(mix.ecn), mix.step_mbps, seed, WARMUP_S, SECONDS].map(|number| number.to_string());
    let words = [pair.there.to_string()].into_iter().chain(numbers);
    let found = program.run(&words.chain(pair.attributes.iter().map(|word| word.to_string())).collect::<Vec<_>>());
    let [sent, dropped, marked, mean, median, p95, p99] = found[..] else { panic!("{found:?}") };
    [dropped / sent, marked / sent, mean, median, p95, p99]
}

/// One row per metric, and whether the two differ by more than is allowed.
fn compare(program: &Program, pair: &Pair, mix: Mix) -> Vec<(String, bool)> {
    let here: Vec<_> = replicate(&experiment(pair, mix), HERE_SEEDS).iter().map(figures).collect();
    let there: Vec<_> = (1..=NS3_SEEDS).into_par_iter().map(|seed| in_ns3(program, pair, mix, seed)).collect();
    let column =
        |runs: &[[f64; METRICS.len()]], metric: usize| mean(&runs.iter().map(|run| run[metric]).collect::<Vec<_>>());
    let row = |(metric, name): (usize, &&str)| {
        let (a, b) = (column(&here, metric), column(&there, metric));
        let [here, here_error, there, there_error] = [a.0, a.1, b.0, b.1].map(|value| 1e3 * value);
        let numbers = format!("{here:.3} +- {here_error:.3} | {there:.3} +- {there_error:.3} | {:.2}", here / there);
        let Mix { ecn, step_mbps } = mix;
        (format!("{} | ecn {ecn} | step {step_mbps} | {name} | {numbers}", pair.here), apart(a, b))
    };
    METRICS.iter().enumerate().map(row).collect()
}

fn is_near(pair: Pair) {
    let libraries = &["traffic-control", "applications", "point-to-point", "internet", "network", "core"];
    let program = Program::new("queue", libraries);
    let mixes = [(false, 0), (true, 0), (false, 25)].map(|(ecn, step_mbps)| Mix { ecn, step_mbps });
    assert_none_apart(mixes.par_iter().flat_map(|mix| compare(&program, &pair, *mix)).collect());
}

#[test]
fn codel_is_as_in_ns3() {
    is_near(Pair { here: "codel", there: "CoDel", attributes: &["MaxSize=1000p"] });
}

#[test]
fn fq_codel_is_as_in_ns3() {
    is_near(Pair { here: "fq-codel", there: "FqCoDel", attributes: &["MaxSize=1000p"] });
}

#[test]
fn pie_is_as_in_ns3() {
    is_near(Pair { here: "pie", there: "Pie", attributes: &["MaxSize=1000p", "MaxBurstAllowance=150ms"] });
}
