//! Linux's congestion controls and those here in situations other than a steady path: each is a scenario in `linux/situations`.

use super::{LAWS, Read, kernel, sides, there_of};
use ::linux::virtual_time::Virtual;
use experiment::results::Run;
use experiment::scenario::{Experiment, Scenario};
use harness::runner::Refusal;
use packetscale_models::settings::Settings;
use packetscale_models::units::Span;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The situations, by the names of their files, and the runs of each in Linux: one where chance plays no part.
pub const SITUATIONS: [(&str, u64); 9] = [
    ("bulk", 1),
    ("application", 1),
    ("idle", 1),
    ("rate", 1),
    ("delay", 1),
    ("reordering", 2),
    ("jitter", 2),
    ("overtaking", 2),
    ("bursts", 2),
];
const SEEDS_HERE: u64 = 12;

/// Laws that the situations are about: DCTCP without marks is NewReno.
pub fn laws() -> impl Iterator<Item = &'static str> {
    LAWS.into_iter().filter(|law| *law != "dctcp")
}

/// The largest factor between a figure here and in Linux.
const FACTOR: f64 = 1.25;

/// Cells that differ by more: law, situation, figure, and the known reason.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    ("vegas", "reordering", "rtt p95", DISORDER),
    ("vegas", "overtaking", "rtt p95", DISORDER),
    ("htcp", "overtaking", "throughput", REPEATS),
    ("newreno", "overtaking", "needless", REPEATS),
    ("cubic", "overtaking", "needless", REPEATS),
    ("bbr1", "overtaking", "needless", REPEATS),
    ("westwood", "overtaking", "needless", REPEATS),
    ("htcp", "overtaking", "needless", REPEATS),
    ("illinois", "overtaking", "needless", REPEATS),
    ("highspeed", "overtaking", "needless", REPEATS),
    ("scalable", "overtaking", "needless", REPEATS),
    ("hybla", "overtaking", "needless", REPEATS),
    ("bic", "overtaking", "needless", REPEATS),
    ("yeah", "overtaking", "needless", REPEATS),
    ("lp", "overtaking", "needless", REPEATS),
];

const DISORDER: &str =
    "while any packet is late, Linux suspends Vegas and grows as Reno (tcp_vegas_state), so it fills the queue";
const REPEATS: &str = "Linux repeats 0.1 to 1.7 % of the packets needlessly, here 0.01 to 0.05 %, and H-TCP's window falls with them; why \
    was not isolated: the jitter is not longer than RACK's reordering window, a quarter of the least round trip";

/// What is known of a cell that differs.
pub fn known_difference(law: &str, situation: &str, figure: &str) -> Option<&'static str> {
    let cell = (law, situation, figure);
    DIFFERENCES.iter().find(|(law, situation, figure, _)| (*law, *situation, *figure) == cell).map(|(.., why)| *why)
}

/// What is compared, of one run. Retransmissions are of the whole run, the others of the time after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub throughput_mbps: f64,
    /// Retransmissions less packets dropped or lost, in percent of the packets sent.
    pub needless_percent: f64,
    /// 95th percentile of the smoothed round-trip time, sampled every 10 ms.
    pub rtt_p95_ms: f64,
}

/// The figures, and differences that are too small to count.
pub const JUDGED: [(Read<Figures>, f64); 3] = [
    (("throughput", |figures| figures.throughput_mbps), 0.0),
    (("needless", |figures| figures.needless_percent), 0.1),
    (("rtt p95", |figures| figures.rtt_p95_ms), 0.0),
];

pub fn experiment(situation: &str, law: &str, settings: &Settings, seed: u64) -> Experiment {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("linux/situations/{situation}.toml"));
    let scenario = Scenario::read(&file, &[format!("flow.0.controller=\"{law}\"")]);
    let mut experiment = scenario.unwrap_or_else(|error| panic!("{error}")).plan().remove(0);
    experiment.flows[0].controller.settings.clone_from(settings);
    experiment.seed = seed;
    experiment
}

fn figures(run: &Run, warmup: Span) -> Figures {
    let flow = &run.flows[0];
    let needless = flow.retransmitted_packets.saturating_sub(flow.dropped_packets + flow.lost_packets);
    let curve = run.series.iter().find(|series| series.metric == "rtt").expect("a curve of round trips");
    let warm = |i: usize| curve.start_s + curve.step_s * i as f64 >= warmup.as_secs_f64();
    let mut rtts: Vec<f32> =
        curve.values.iter().enumerate().filter(|(i, _)| warm(*i)).filter_map(|(_, rtt)| *rtt).collect();
    rtts.sort_by(f32::total_cmp);
    let round = |value: f64| (value * 1e4).round() / 1e4;
    Figures {
        throughput_mbps: round(run.summary.throughput_bps.expect("packets arrived") / 1e6),
        needless_percent: round(100.0 * needless as f64 / flow.sent_packets as f64),
        rtt_p95_ms: round(f64::from(rtts[(rtts.len() - 1) * 95 / 100]) * 1e3),
    }
}

/// A row of the table: a run in Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub kernel: String,
    pub situation: String,
    pub law: String,
    pub seed: u64,
    pub figures: Figures,
}

impl Row {
    pub fn is_of(&self, situation: &str, law: &str) -> bool {
        (self.situation.as_str(), self.law.as_str()) == (situation, law)
    }
}

pub fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("linux/situations.ndjson")
}

/// Makes the runs here, with the setting for what Linux does where a law has one.
pub fn here(situation: &str, law: &str) -> Vec<Figures> {
    let settings = &sides(law).pop().expect("the law itself").1;
    let by_chance = SITUATIONS.iter().any(|(name, runs)| *name == situation && *runs > 1);
    let runs = (1..=if by_chance { SEEDS_HERE } else { 1 }).into_par_iter().map(|seed| {
        let experiment = experiment(situation, law, settings, seed);
        figures(&crate::path::run(&experiment), experiment.warmup)
    });
    runs.collect()
}

pub fn there(host: &Virtual, situation: &str, law: &str, seed: u64) -> Result<Row, Refusal> {
    let experiment = experiment(situation, law, &Settings::new(), seed);
    let figures = figures(&there_of(host, &experiment)?, experiment.warmup);
    Ok(Row { kernel: kernel(host), situation: situation.to_string(), law: law.to_string(), seed, figures })
}

/// A figure here and in Linux: the mean and the range over runs here, the mean over runs there.
pub struct Judged {
    here: f64,
    range: (f64, f64),
    there: f64,
    /// Whether Linux's mean is further than the factor from the mean here, and outside the range of single runs here.
    pub far: bool,
}

pub fn judge(here: &[Figures], there: &[Figures], (_, of): Read<Figures>, small: f64) -> Judged {
    let mean = |all: &[Figures]| all.iter().map(of).sum::<f64>() / all.len() as f64;
    let (mean_here, mean_there) = (mean(here), mean(there));
    let range = here.iter().map(of).fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    let factor = mean_here.max(mean_there) > FACTOR * mean_here.min(mean_there);
    let by_chance = range.0 < range.1 && (range.0..=range.1).contains(&mean_there);
    let far = factor && (mean_here - mean_there).abs() > small && !by_chance;
    Judged { here: mean_here, range, there: mean_there, far }
}

impl fmt::Display for Judged {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Judged { here, range: (low, high), there, .. } = self;
        write!(to, "{here:.2} ({low:.2} to {high:.2}) | {there:.2}")
    }
}
