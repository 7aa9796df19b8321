//! Many flows of constant rate on one link ([`packetscale_models::theory::multiplexing`]), sampled on all cores.

mod parameters;

use crate::analysis::NoAnswer;
use crate::analysis::reading::{optional, within, written};
use packetscale_models::theory::Error;
use packetscale_models::theory::multiplexing::bounds::queue_packets;
use packetscale_models::theory::multiplexing::laws::Law;
use packetscale_models::theory::multiplexing::{
    Estimate, Runner, Setting, Tally, largest_utilisation, pooled, smallest_buffer,
};
pub use parameters::{ArrivalLaw, Buffer, LossTarget};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize};
use std::ops::RangeInclusive;

/// The question. Its fields are documented as the command shows them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct Multiplexing {
    /// Number of flows
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub flows: u32,
    /// Load of all flows together, above 0 and at most 1; with --buffer and --target-loss the most it may be
    #[serde(default = "full_load")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "U", default_value_t = full_load()))]
    pub utilisation: f64,
    /// Times between arrivals of flows: uniform, exponential, pareto:INDEX (for which bounds and laws are too high at
    /// any practical number of flows); or phases, one per flow, independent
    #[serde(default, deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, default_value_t))]
    pub arrivals: ArrivalLaw,
    /// Packets that the buffer holds with the one in service, or unlimited
    #[serde(default, deserialize_with = "written")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "PACKETS", default_value_t))]
    pub buffer: Buffer,
    /// The loss to plan for: finds the smallest buffer, or for a given buffer the largest utilisation
    #[serde(default, deserialize_with = "optional")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATIO"))]
    pub target_loss: Option<LossTarget>,
    /// Independent runs
    #[serde(default = "thousand", deserialize_with = "runs")]
    #[cfg_attr(feature = "clap", arg(long, default_value_t = thousand(), value_parser = clap::value_parser!(u32).range(RUNS)))]
    pub runs: u32,
    /// Seed of all runs
    #[serde(default = "first_seed")]
    #[cfg_attr(feature = "clap", arg(long, default_value_t = first_seed()))]
    pub seed: u64,
    /// With --json: the distribution of the queue, as `distribution`, and the queue over the period of one run, as `period`
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long))]
    pub curves: bool,
}

/// Allowed number of runs.
const RUNS: RangeInclusive<i64> = 1..=10_000_000;

fn full_load() -> f64 {
    1.0
}

fn thousand() -> u32 {
    1000
}

fn first_seed() -> u64 {
    1
}

fn runs<'de, D: Deserializer<'de>>(value: D) -> Result<u32, D::Error> {
    within(value, RUNS)
}

/// The answer. A single run has no standard errors.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Number of flows.
    pub flows: u32,
    /// Load: the given one, or the one that meets a loss target.
    pub utilisation: f64,
    /// Buffer: the given one, or the one that meets a loss target; no number is unlimited.
    pub buffer_packets: Buffer,
    /// Independent runs.
    pub runs: u32,
    /// Their seed.
    pub seed: u64,
    /// The queue that a packet finds on average.
    pub mean_packets: f64,
    /// Its standard error.
    pub mean_packets_se: Option<f64>,
    /// The queue that 1 % of the packets exceed.
    pub top1_packets: f64,
    /// Its standard error.
    pub top1_packets_se: Option<f64>,
    /// The queue that 5 % of the packets exceed.
    pub top5_packets: f64,
    /// Its standard error.
    pub top5_packets_se: Option<f64>,
    /// Share of the packets that find less than one packet.
    pub no_queue_fraction: f64,
    /// Its standard error.
    pub no_queue_fraction_se: Option<f64>,
    /// Share of the packets that are lost.
    pub loss_ratio: f64,
    /// Its standard error.
    pub loss_ratio_se: Option<f64>,
    /// Lower bound of the queue of the top 1 %, where the link is full.
    pub bound_min_packets: Option<f64>,
    /// Upper bound of the queue of the top 1 %, where the link is full.
    pub bound_max_packets: Option<f64>,
    /// Lower bound of the queue of the top 5 %.
    pub bound_min_top5_packets: Option<f64>,
    /// Upper bound of the queue of the top 5 %.
    pub bound_max_top5_packets: Option<f64>,
    /// The mean queue by the law, where there is one.
    pub law_mean_packets: Option<f64>,
    /// The queue of the top 1 % by the law.
    pub law_top1_packets: Option<f64>,
    /// The queue of the top 5 % by the law.
    pub law_top5_packets: Option<f64>,
    /// Pairs of a share of packets and the maximum number of packets that they find.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<(f64, f64)>,
    /// Pairs of the first run: the time since the period began, in packets, and the queue that a packet finds then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub period: Vec<(f64, f64)>,
}

impl Multiplexing {
    /// Answers the question.
    ///
    /// # Errors
    /// Parameters that the method does not cover.
    pub fn answer(&self) -> Result<Answer, NoAnswer> {
        let setting = self.plan()?;
        let groups = self.sample(setting)?;
        let mut answer = self.figures(&setting, &groups);
        if self.curves {
            answer.distribution = distribution(&groups);
            let mut source = source(self.seed, 0);
            answer.period = Runner::new(setting)?.trace(&mut || source.next_u64())?;
        }
        Ok(answer)
    }

    /// The given setting, or the one that meets a loss target.
    fn plan(&self) -> Result<Setting, Error> {
        let setting = Setting {
            flows: self.flows,
            utilisation: self.utilisation,
            arrivals: self.arrivals.0,
            buffer_packets: self.buffer.0,
        };
        setting.check()?;
        let loss = |trial: Setting| Ok::<f64, Error>(pooled(&self.sample(trial)?, Tally::loss_ratio).value);
        let Some(LossTarget(target)) = self.target_loss else { return Ok(setting) };
        if setting.buffer_packets.is_some() {
            let of_load = |utilisation| loss(Setting { utilisation, ..setting });
            let utilisation = largest_utilisation(setting.utilisation, target, of_load)?;
            Ok(Setting { utilisation, ..setting })
        } else {
            let of_buffer = |packets| loss(Setting { buffer_packets: Some(packets), ..setting });
            let packets = smallest_buffer(setting.flows, target, of_buffer)?;
            Ok(Setting { buffer_packets: Some(packets), ..setting })
        }
    }

    /// All runs, in groups of nearly equal size. Every run has its own random stream, so results do not depend on the number of
    /// cores.
    fn sample(&self, setting: Setting) -> Result<Vec<Tally>, Error> {
        let groups = self.runs.min(GROUPS);
        let first = |group: u32| (u64::from(self.runs) * u64::from(group) / u64::from(groups)) as u32;
        (0..groups)
            .into_par_iter()
            .map(|group| {
                let mut runner = Runner::new(setting)?;
                let mut tally = Tally::default();
                for number in first(group)..first(group + 1) {
                    let mut source = source(self.seed, number);
                    runner.run(&mut || source.next_u64(), &mut tally)?;
                }
                Ok(tally)
            })
            .collect()
    }

    fn figures(&self, setting: &Setting, groups: &[Tally]) -> Answer {
        let split = |estimate: Estimate| (estimate.value, estimate.standard_error);
        let (mean_packets, mean_packets_se) = split(pooled(groups, Tally::mean_packets));
        let (top1_packets, top1_packets_se) = split(pooled(groups, |tally| tally.top_packets(0.01)));
        let (top5_packets, top5_packets_se) = split(pooled(groups, |tally| tally.top_packets(0.05)));
        let (no_queue_fraction, no_queue_fraction_se) = split(pooled(groups, Tally::no_queue_fraction));
        let (loss_ratio, loss_ratio_se) = split(pooled(groups, Tally::loss_ratio));
        // The bounds are derived for a full link.
        let bounds = |top| queue_packets(setting.flows, setting.arrivals, top).filter(|_| setting.utilisation == 1.0);
        let (top1, top5) = (bounds(0.01), bounds(0.05));
        // The laws of successive arrivals hold for queues of many packets, not below one.
        let law = Law::of(setting).filter(|law| matches!(law, Law::Periodic { .. }) || law.mean_packets() >= 1.0);
        Answer {
            flows: setting.flows,
            utilisation: setting.utilisation,
            buffer_packets: Buffer(setting.buffer_packets),
            runs: self.runs,
            seed: self.seed,
            mean_packets,
            mean_packets_se,
            top1_packets,
            top1_packets_se,
            top5_packets,
            top5_packets_se,
            no_queue_fraction,
            no_queue_fraction_se,
            loss_ratio,
            loss_ratio_se,
            bound_min_packets: top1.map(|bounds| bounds.0),
            bound_max_packets: top1.map(|bounds| bounds.1),
            bound_min_top5_packets: top5.map(|bounds| bounds.0),
            bound_max_top5_packets: top5.map(|bounds| bounds.1),
            law_mean_packets: law.map(|law| law.mean_packets()),
            law_top1_packets: law.map(|law| law.top_packets(0.01)),
            law_top5_packets: law.map(|law| law.top_packets(0.05)),
            distribution: Vec::new(),
            period: Vec::new(),
        }
    }
}

/// Groups of runs for the standard errors.
const GROUPS: u32 = 25;

/// The random numbers of a run.
fn source(seed: u64, run: u32) -> Pcg64Mcg {
    // Odd and far from a small fraction, so that neighbouring seeds share no runs.
    Pcg64Mcg::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(run)))
}

/// The queue that a share of all packets finds at most, from 0.5 % to 99.5 % in steps of half a percent.
fn distribution(groups: &[Tally]) -> Vec<(f64, f64)> {
    let mut all = Tally::default();
    groups.iter().for_each(|group| all.merge(group));
    (1..200).map(|step| f64::from(step) / 200.0).map(|share| (share, all.top_packets(1.0 - share))).collect()
}
