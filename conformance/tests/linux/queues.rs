//! Linux's queue disciplines and those here: five flows with round trips of 20 to 60 ms over 25 Mbit/s, NewReno alone and
//! beside a step of traffic that does not respond, and DCTCP, whose packets are marked.

use super::{Read, kernel, there_of};
use crate::path::{dumbbell, flow, link, replicate, traffic};
use results::Run;
use runner::Refusal;
use scenario::{Buffer, Experiment, FlowSpec, QueueSpec, Start, TrafficKind};
use serde::{Deserialize, Serialize};
use settings::{Setting, Settings};
use std::path::{Path, PathBuf};
use units::{Packets, Rate, Span, Time};
use virtual_time::Virtual;

const PACKET: u64 = 1514;
const WARMUP_S: u64 = 5;
const SECONDS: u64 = 25;
const FLOWS: u64 = 5;
/// Enough never to be full after the start.
const BUFFER: u64 = 1000;

/// What is offered to a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The discipline's name here and in Linux.
    pub here: &'static str,
    pub there: &'static str,
    pub controller: &'static str,
    /// Traffic that does not respond, in the middle.
    pub step_mbps: u64,
}

const fn alone(here: &'static str, there: &'static str) -> Cell {
    Cell { here, there, controller: "newreno", step_mbps: 0 }
}

const fn beside_a_step(cell: Cell) -> Cell {
    Cell { step_mbps: 12, ..cell }
}

const CODEL: Cell = alone("codel", "codel");
const FQ_CODEL: Cell = alone("fq-codel", "fq_codel");
const PIE: Cell = alone("pie", "pie");

/// Linux marks only in FQ-CoDel unless it is told otherwise.
pub const CELLS: [Cell; 7] = [
    CODEL,
    beside_a_step(CODEL),
    FQ_CODEL,
    beside_a_step(FQ_CODEL),
    PIE,
    beside_a_step(PIE),
    Cell { controller: "dctcp", ..FQ_CODEL },
];
pub const SEEDS_THERE: u64 = 2;
const SEEDS_HERE: u64 = 12;

pub fn experiment(discipline: &str, cell: &Cell, seed: u64) -> Experiment {
    let mut wire = link(Rate::from_mbps(25), Span::from_millis(5), Buffer::Packets(Packets::new(BUFFER)));
    wire.queue = QueueSpec::named(discipline);
    let one = |number: u64| FlowSpec {
        start: Start::Uniform(Time::ZERO, Time::ZERO + Span::from_secs(2)),
        ecn: cell.controller == "dctcp",
        ..flow(cell.controller, PACKET, Span::from_millis(20 + 10 * number))
    };
    let mut experiment = dumbbell(wire, Span::from_secs(SECONDS));
    experiment.warmup = Span::from_secs(WARMUP_S);
    experiment.flows = (0..FLOWS).map(one).map(Into::into).collect();
    experiment.record.detail = true;
    experiment.seed = seed;
    super::as_in_linux(&mut experiment);
    if cell.step_mbps > 0 {
        let mut step = traffic(TrafficKind::Cbr { rate: Rate::from_mbps(cell.step_mbps) }, PACKET);
        (step.start, step.stop) = (at(10), at(18));
        experiment.traffic = vec![step];
    }
    experiment
}

fn at(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

/// What is compared, of one run: packets dropped in percent of those sent in the whole run, and waits after the warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub dropped_percent: f64,
    pub mean_ms: f64,
    pub median_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
}

/// The figures, all judged.
pub const JUDGED: [Read<Figures>; 5] = [
    ("dropped", |figures| figures.dropped_percent),
    ("mean", |figures| figures.mean_ms),
    ("median", |figures| figures.median_ms),
    ("95th", |figures| figures.p95_ms),
    ("99th", |figures| figures.p99_ms),
];

fn figures(run: &Run) -> Figures {
    let summary = &run.summary;
    let rounded = |value: Option<f64>, factor: f64| (value.expect("packets were served") * factor * 1e4).round() / 1e4;
    Figures {
        dropped_percent: rounded(summary.drop_ratio, 100.0),
        mean_ms: rounded(summary.queue_delay_mean_s, 1e3),
        median_ms: rounded(summary.queue_delay_p50_s, 1e3),
        p95_ms: rounded(summary.queue_delay_p95_s, 1e3),
        p99_ms: rounded(summary.queue_delay_p99_s, 1e3),
    }
}

/// A row of the table: a run in Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub kernel: String,
    pub discipline: String,
    pub controller: String,
    pub step_mbps: u64,
    pub seed: u64,
    pub figures: Figures,
}

pub fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("linux/queues.ndjson")
}

/// What is compared: the discipline here, and where it has a setting for what Linux does, with that, too.
pub fn sides(cell: &Cell) -> Vec<(String, Settings)> {
    let plain = (format!("{} with {}", cell.here, cell.controller), Settings::new());
    let spaced = || {
        let settings = Settings::from([("derandomise".to_string(), Setting::Switch(true))]);
        (format!("{}, derandomise = true", plain.0), settings)
    };
    let as_linux = (cell.here == "pie").then(spaced);
    [plain].into_iter().chain(as_linux).collect()
}

pub fn here(cell: &Cell, settings: &Settings) -> Vec<Figures> {
    let mut experiment = experiment(cell.here, cell, 1);
    experiment.links[0].queue.settings.clone_from(settings);
    replicate(&experiment, SEEDS_HERE).iter().map(figures).collect()
}

pub fn there(host: &Virtual, cell: &Cell, seed: u64) -> Result<Row, Refusal> {
    let figures = there_of(host, &experiment(cell.there, cell, seed)).map(|run| figures(&run))?;
    let (discipline, controller) = (cell.there.to_string(), cell.controller.to_string());
    Ok(Row { kernel: kernel(host), discipline, controller, step_mbps: cell.step_mbps, seed, figures })
}

impl Row {
    pub fn is_of(&self, cell: &Cell) -> bool {
        (self.discipline.as_str(), self.controller.as_str(), self.step_mbps)
            == (cell.there, cell.controller, cell.step_mbps)
    }
}
