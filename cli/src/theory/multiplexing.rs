//! `packetscale theory multiplexing`.

use super::{Answer, refused};
use crate::Failure;
use clap::Args;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::{Serialize, Serializer};
use std::str::FromStr;
use theory::Error;
use theory::multiplexing::bounds::queue_packets;
use theory::multiplexing::laws::Law;
use theory::multiplexing::{Arrivals, Estimate, Runner, Setting, Tally, largest_utilisation, pooled, smallest_buffer};
use units::Packets;

#[derive(Args)]
pub struct Multiplexing {
    /// Number of flows
    #[arg(long, value_name = "N")]
    flows: u32,
    /// Load of all flows together, above 0 and at most 1; with --buffer and --target-loss the most it may be
    #[arg(long, value_name = "U", default_value_t = 1.0)]
    utilisation: f64,
    /// Times between arrivals of flows: uniform, exponential, pareto:INDEX (for which bounds and laws are too high at
    /// any practical number of flows); or phases, one per flow, independent
    #[arg(long, default_value = "phases")]
    arrivals: Kind,
    /// Packets that the buffer holds with the one in service, or unlimited
    #[arg(long, value_name = "PACKETS", default_value = "unlimited")]
    buffer: Buffer,
    /// The loss to plan for: finds the smallest buffer, or for a given buffer the largest utilisation
    #[arg(long, value_name = "RATIO", value_parser = ratio)]
    target_loss: Option<f64>,
    /// Independent runs
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    runs: u32,
    /// Seed of all runs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// With --json: the distribution of the queue, as `distribution`, and the queue over the period of one run, as `period`
    #[arg(long)]
    curves: bool,
    /// Prints one JSON object, and nothing else, on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy)]
struct Kind(Arrivals);

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let arrivals = match text.split_once(':') {
            None if text == "uniform" => Arrivals::Uniform,
            None if text == "exponential" => Arrivals::Exponential,
            None if text == "phases" => Arrivals::Phases,
            Some(("pareto", index)) => Arrivals::Pareto(index.parse().map_err(|_| EXPECTED_ARRIVALS.to_string())?),
            _ => return Err(EXPECTED_ARRIVALS.to_string()),
        };
        Ok(Kind(arrivals))
    }
}

const EXPECTED_ARRIVALS: &str = "expected uniform, exponential, phases, or pareto with an index as in pareto:2.1";

/// `None` is unlimited.
#[derive(Clone, Copy)]
struct Buffer(Option<u32>);

impl FromStr for Buffer {
    type Err = String;

    fn from_str(text: &str) -> Result<Buffer, String> {
        if text == "unlimited" {
            return Ok(Buffer(None));
        }
        let count = match text.parse::<Packets>() {
            Ok(packets) => u32::try_from(packets.get()).ok(),
            Err(_) => text.parse().ok(),
        };
        count.map(|packets| Buffer(Some(packets))).ok_or_else(|| "expected packets, as in 20, or unlimited".to_string())
    }
}

fn ratio(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(ratio) if (0.0..1.0).contains(&ratio) => Ok(ratio),
        _ => Err("expected a ratio, as in 0.01 for 1 %".to_string()),
    }
}

#[derive(Serialize)]
struct Figures {
    flows: u32,
    utilisation: f64,
    #[serde(serialize_with = "unlimited")]
    buffer_packets: Option<u32>,
    runs: u32,
    seed: u64,
    mean_packets: f64,
    mean_packets_se: Option<f64>,
    top1_packets: f64,
    top1_packets_se: Option<f64>,
    top5_packets: f64,
    top5_packets_se: Option<f64>,
    no_queue_fraction: f64,
    no_queue_fraction_se: Option<f64>,
    loss_ratio: f64,
    loss_ratio_se: Option<f64>,
    bound_min_packets: Option<f64>,
    bound_max_packets: Option<f64>,
    law_mean_packets: Option<f64>,
    law_top1_packets: Option<f64>,
    law_top5_packets: Option<f64>,
    /// Pairs: this share of packets finds at most so many packets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    distribution: Vec<(f64, f64)>,
    /// Pairs of the first run: the time since the period began, in packets, and the queue that a packet finds then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    period: Vec<(f64, f64)>,
}

fn unlimited<S: Serializer>(buffer: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    match buffer {
        Some(packets) => serializer.serialize_u32(*packets),
        None => serializer.serialize_str("unlimited"),
    }
}

pub fn answer(question: &Multiplexing) -> Result<Answer, Failure> {
    let setting = plan(question)?;
    let groups = run(setting, question).map_err(refused)?;
    let estimates = Estimates {
        mean: pooled(&groups, Tally::mean_packets),
        top1: pooled(&groups, |tally| tally.top_packets(0.01)),
        top5: pooled(&groups, |tally| tally.top_packets(0.05)),
        no_queue: pooled(&groups, Tally::no_queue_fraction),
        loss: pooled(&groups, Tally::loss_ratio),
    };
    let mut answer = figures(question, &setting, &estimates);
    if question.curves {
        answer.distribution = distribution(&groups);
        let mut source = source(question.seed, 0);
        let first_run = Runner::new(setting).and_then(|mut runner| runner.trace(&mut || source.next_u64()));
        answer.period = first_run.map_err(refused)?;
    }
    Answer::new(&answer, lines(&answer, &estimates))
}

/// The setting asked about, or the one that a loss target leads to.
fn plan(question: &Multiplexing) -> Result<Setting, Failure> {
    let setting = Setting {
        flows: question.flows,
        utilisation: question.utilisation,
        arrivals: question.arrivals.0,
        buffer_packets: question.buffer.0,
    };
    setting.check().map_err(refused)?;
    let loss = |trial: Setting| Ok::<f64, Error>(pooled(&run(trial, question)?, Tally::loss_ratio).value);
    let Some(target) = question.target_loss else { return Ok(setting) };
    if setting.buffer_packets.is_some() {
        let of_load = |utilisation| loss(Setting { utilisation, ..setting });
        let utilisation = largest_utilisation(setting.utilisation, target, of_load).map_err(refused)?;
        Ok(Setting { utilisation, ..setting })
    } else {
        let of_buffer = |packets| loss(Setting { buffer_packets: Some(packets), ..setting });
        let packets = smallest_buffer(setting.flows, target, of_buffer).map_err(refused)?;
        Ok(Setting { buffer_packets: Some(packets), ..setting })
    }
}

/// Groups of runs for the standard errors.
const GROUPS: u32 = 25;

/// All runs, in groups of nearly equal size. Every run has its own random stream, so the grouping is by run number and
/// the number of cores changes nothing.
fn run(setting: Setting, question: &Multiplexing) -> Result<Vec<Tally>, Error> {
    let (runs, seed) = (question.runs, question.seed);
    let groups = runs.min(GROUPS);
    let first = |group: u32| (u64::from(runs) * u64::from(group) / u64::from(groups)) as u32;
    (0..groups)
        .into_par_iter()
        .map(|group| {
            let mut runner = Runner::new(setting)?;
            let mut tally = Tally::default();
            for number in first(group)..first(group + 1) {
                let mut source = source(seed, number);
                runner.run(&mut || source.next_u64(), &mut tally)?;
            }
            Ok(tally)
        })
        .collect()
}

/// The random numbers of a run.
fn source(seed: u64, run: u32) -> Pcg64Mcg {
    // Odd and far from a small fraction, so that neighbouring seeds share no runs.
    Pcg64Mcg::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(run)))
}

/// The queue that so many percent of all packets find at most.
fn distribution(groups: &[Tally]) -> Vec<(f64, f64)> {
    let mut all = Tally::default();
    groups.iter().for_each(|group| all.merge(group));
    // From 0.5 % to 99.5 %, in steps of half a percent.
    (1..200).map(|step| f64::from(step) / 200.0).map(|share| (share, all.top_packets(1.0 - share))).collect()
}

struct Estimates {
    mean: Estimate,
    top1: Estimate,
    top5: Estimate,
    no_queue: Estimate,
    loss: Estimate,
}

fn figures(question: &Multiplexing, setting: &Setting, of: &Estimates) -> Figures {
    // The bounds are derived for a full link.
    let bounds = queue_packets(setting.flows, setting.arrivals, 0.01).filter(|_| setting.utilisation == 1.0);
    // The laws of successive arrivals hold for queues of many packets: below one they say nothing.
    let law = Law::of(setting).filter(|law| matches!(law, Law::Periodic { .. }) || law.mean_packets() >= 1.0);
    Figures {
        flows: setting.flows,
        utilisation: setting.utilisation,
        buffer_packets: setting.buffer_packets,
        runs: question.runs,
        seed: question.seed,
        mean_packets: of.mean.value,
        mean_packets_se: of.mean.standard_error,
        top1_packets: of.top1.value,
        top1_packets_se: of.top1.standard_error,
        top5_packets: of.top5.value,
        top5_packets_se: of.top5.standard_error,
        no_queue_fraction: of.no_queue.value,
        no_queue_fraction_se: of.no_queue.standard_error,
        loss_ratio: of.loss.value,
        loss_ratio_se: of.loss.standard_error,
        bound_min_packets: bounds.map(|bounds| bounds.0),
        bound_max_packets: bounds.map(|bounds| bounds.1),
        law_mean_packets: law.map(|law| law.mean_packets()),
        law_top1_packets: law.map(|law| law.top_packets(0.01)),
        law_top5_packets: law.map(|law| law.top_packets(0.05)),
        distribution: Vec::new(),
        period: Vec::new(),
    }
}

fn lines(a: &Figures, of: &Estimates) -> Vec<(&'static str, String)> {
    let none = || "none here".to_string();
    let packets = |value: Option<f64>| value.map_or_else(none, |count| format!("{count:.2} packets"));
    let bounds = a.bound_min_packets.zip(a.bound_max_packets);
    vec![
        ("utilisation", format!("{:.4}", a.utilisation)),
        ("buffer", a.buffer_packets.map_or("unlimited".to_string(), |count| format!("{count} packets"))),
        ("queue, mean", sampled(&of.mean, " packets")),
        ("queue of the top 1 %", sampled(&of.top1, " packets")),
        ("queue of the top 5 %", sampled(&of.top5, " packets")),
        ("find less than a packet", sampled(&of.no_queue, "")),
        ("loss", sampled(&of.loss, "")),
        ("bounds of the top 1 %", bounds.map_or_else(none, |(min, max)| format!("{min:.2} to {max:.2} packets"))),
        ("law of the mean", packets(a.law_mean_packets)),
        ("law of the top 1 %", packets(a.law_top1_packets)),
        ("law of the top 5 %", packets(a.law_top5_packets)),
    ]
}

fn sampled(estimate: &Estimate, unit: &str) -> String {
    match estimate.standard_error {
        Some(error) => format!("{:.4} +- {error:.4}{unit}", estimate.value),
        None => format!("{:.4}{unit}", estimate.value),
    }
}
